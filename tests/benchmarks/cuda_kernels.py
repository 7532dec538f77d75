"""What the card's kernels move and need, counted without a card: python -m tests.benchmarks.cuda_kernels

One decode step through experts of a model's size runs on the machine that interprets PTX. For each launch: bytes of
device memory that it touches at least once, against the floor (what the experts' parts hold), bytes that its warps ask
for, and instructions of warps. With ptxas on the path: registers, spills and how many warps fit on a multiprocessor.
Times are arithmetic: bytes over a card's rate, or instructions over what its schedulers issue, the longer of both.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import torch

from engine.cuda.ptx_files import read_ptx
from engine.record.layout import ExpertSpec
from tests.engine.cuda.kernels.card import FLAVOURS, Card
from tests.engine.kernels.records import random_experts


class CardModel(NamedTuple):
    """A card as its maker states it: GB/s, multiprocessors, GHz."""

    name: str
    rate: float
    processors: int
    clock: float


CARDS = (
    CardModel("RTX 4060 Laptop", 256, 24, 2.0),
    CardModel("RTX 3070 Ti Laptop", 448, 46, 1.4),
    CardModel("RTX 2070", 448, 36, 1.6),
    CardModel("RTX 4090", 1008, 128, 2.5),
)
SCHEDULERS = 4  # of a multiprocessor since Volta, each one instruction a cycle
LATENCY = 600  # ns from a load to its bytes, out of the memory of a busy card: an assumption
REGISTERS, WARPS = 65_536, 48  # of a multiprocessor of Ampere and Ada
SHAPES = {"Qwen3-30B-A3B": (2048, 768, 8), "gpt-oss-20b": (2880, 2880, 4), "Mixtral-8x7B": (4096, 14336, 2)}


def assembled(flavour: str) -> dict[str, tuple[int, int]]:
    """Registers and bytes spilled of each kernel; empty without ptxas."""
    if shutil.which("ptxas") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.ptx"
        source.write_bytes(read_ptx(flavour))
        command = ["ptxas", f"-arch={flavour}", "-v", str(source), "-o", str(Path(folder) / "out")]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.findall(r"function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", told, re.DOTALL)
    return {name: (int(registers), int(spills)) for name, spills, registers in found}


def warps_of(registers: int) -> int:
    """Warps that fit on a multiprocessor, in blocks of four; registers are had in steps of eight."""
    return min(WARPS, 4 * (REGISTERS // (4 * 32 * -(-registers // 8) * 8)))


class KernelFigures(NamedTuple):
    """One launch: bytes that it touches, bytes that its warps ask for, instructions of warps; and what ptxas says."""

    kernel: str
    touched: int
    requested: int
    instructions: int
    registers: int
    spills: int


class Step(NamedTuple):
    """One token through some experts of a layer. floor: bytes of their parts; group: bytes of 16 rows by 64 columns."""

    floor: int
    group: int
    warps: int  # of gate and up together
    launches: list[KernelFigures]


def measure(model: str, tier: int, experts: int, flavour: str) -> Step:
    """Count what one token through so many experts of a layer takes."""
    hidden, inner, _ = SHAPES[model]
    spec = ExpertSpec(hidden, inner, 8, 64)
    card = Card(flavour, apart=False)
    made = random_experts(spec, 1, [tier])
    card.layer(spec, dict.fromkeys(range(experts), made[0]), torch.randn(1, hidden), torch.arange(experts)[None], "1")
    figures, launches = assembled(flavour), []
    for name, report in card.reports:
        touched = sum(n for _, n in report.reads) + sum(n for _, n in report.writes)
        launches.append(KernelFigures(name, touched, report.requested, report.executed, *figures.get(name, (0, 0))))
    group = 16 * 64 * tier // 8 + 64
    return Step(experts * spec.layout.bytes_for(tier), group, experts * 2 * -(-inner // 16), launches)


def on_card(step: Step, card: CardModel) -> dict[str, float]:
    """Microseconds by arithmetic, and bytes on their way to a multiprocessor against what its share of rate needs."""
    touched, instructions = (sum(getattr(k, what) for k in step.launches) for what in ("touched", "instructions"))
    gate_up = next(k for k in step.launches if k.kernel.startswith("uh_gate_up"))
    there = min(step.warps / card.processors, warps_of(gate_up.registers) if gate_up.registers else WARPS)
    return {
        "floor_us": step.floor / card.rate / 1e3,
        "bytes_us": touched / card.rate / 1e3,
        "issue_us": instructions / (SCHEDULERS * card.processors * card.clock) / 1e3,
        # two groups are on their way to a warp whenever it waits for one: AHEAD of uh_dots_one
        "on_the_way": 2 * there * step.group,
        "needed": card.rate / card.processors * LATENCY,
    }


def show(title: str, step: Step) -> None:
    """For people."""
    touched = sum(k.touched for k in step.launches)
    print(f"{title}: floor {step.floor:,} bytes, touched {touched:,}, of which weights {step.floor / touched:.1%}")
    for k in step.launches:
        print(
            f"  {k.kernel:<16} touched {k.touched:>12,}  requested {k.requested:>12,}  ran {k.instructions:>9,}"
            f"  registers {k.registers:>3}  spills {k.spills}"
        )
    for card in CARDS:
        times = on_card(step, card)
        print(
            f"  {card.name:<20} floor {times['floor_us']:6.1f} us, bytes {times['bytes_us']:6.1f} us, instructions "
            f"{times['issue_us']:5.1f} us; on their way {times['on_the_way']:7,.0f} bytes of {times['needed']:,.0f}"
        )


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=SHAPES, default="Qwen3-30B-A3B")
    parser.add_argument("--tiers", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--experts", type=int, default=3, help="of a layer, for one token; default: 3")
    parser.add_argument("--flavours", nargs="+", choices=FLAVOURS, default=list(FLAVOURS[-1:]))
    parser.add_argument("--json", action="store_true", help="one object a line")
    options = parser.parse_args()
    for flavour in options.flavours:
        for tier in options.tiers:
            step = measure(options.model, tier, options.experts, flavour)
            title = f"{options.model}, {options.experts} experts of {tier} bits, {flavour}"
            if options.json:
                cards = {card.name: on_card(step, card) for card in CARDS}
                launches = [launch._asdict() for launch in step.launches]
                print(json.dumps({"title": title, **step._asdict(), "launches": launches, "cards": cards}))
            else:
                show(title, step)


if __name__ == "__main__":
    main()
