"""What does this computer's graphics card make of a model? Needs a card.

    python -m tests.benchmarks.card [--shape qwen3] [--layers 48] [--threads 6] [--turns 8] [--cold] [--profile]
        [--with cpu-assisted[,cpu-assisted@8][,gpu@8][,gpu:off@8]] [--no-kernels]

First the kernels of both flavours on the card against the processor's, and microseconds of a token's experts there.
Then the same tokens through the same store, by the processor alone and with the card in each way: tokens a second of
each turn, how often what the plan expected of it was seen in the last one, and whether the logits have the same bits.
--with: modes; @8: another program leaves 8 GB of the card free; gpu:off: nothing is prefetched. The card is filled
first, as the app does while nothing is asked; --cold: by the answer itself. --profile: instead, microseconds of each
kernel of a token, and of all of it in one go. --no-kernels: without the first part.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from engine import settings
from engine.calibration.calibrator import open_calibrated
from engine.cuda.commands import LAUNCH, CardCommand, CommandList
from engine.cuda.device import CardDevice
from engine.cuda.driver import open_driver
from engine.cuda.expert_kernels import CardWork, ExpertKernels
from engine.cuda.ptx_files import read_ptx
from engine.hardware.machine import GB
from engine.kernels.activation import Activation
from engine.kernels.call import Work
from engine.kernels.native import NativeKernel
from engine.planning.offload import ASSISTED, CPU
from engine.record.layout import ExpertSpec
from tests.benchmarks.common import arguments
from tests.benchmarks.ours import OursAlone
from tests.benchmarks.prepare import prepare_model
from tests.engine.cuda.kernels.card import FLAVOURS
from tests.engine.cuda.test_expert_kernels import PLAIN, SPEC, placed
from tests.engine.kernels.records import random_experts
from tests.random_models.shapes import large
from tests.random_models.tokens import stream

SILU, RELU = Activation(), Activation("relu2")
QWEN, GPT = ExpertSpec(2048, 768, 8, 64), ExpertSpec(2880, 2880, 8, 32)
COUNTS = ((1, 1, 1), (3,), (4, 1), (9, 2), (40,), (1,) * 8, (70, 33, 5))  # slots of each expert
SLAB = 1 << 28
CONTEXT, PROMPT, TURN = 2048, 128, 64  # tokens


def compare(device: CardDevice, ptx: bytes, *, exact: bool) -> float:
    """The largest difference of a row from the processor's, relative to its norm."""
    worst, kernels = 0.0, ExpertKernels(device, ptx, [SPEC, PLAIN, QWEN, GPT], 256, exact=exact)
    for spec, activation in ((SPEC, SILU), (PLAIN, RELU), (QWEN, SILU), (GPT, SILU)):
        for counts in COUNTS:
            experts, slots = random_experts(spec, len(counts), [2, 4, spec.top]), sum(counts)
            x = torch.randn(1 if max(counts) == 1 else slots, spec.hidden)
            firsts = [sum(counts[:i]) for i in range(len(counts))]
            work = [Work(experts[i], range(at, at + n)) for i, (at, n) in enumerate(zip(firsts, counts, strict=True))]
            expected = torch.empty(slots, spec.hidden)
            with closing(NativeKernel(exact=exact)) as kernel:
                kernel.run(spec, activation, work, x.expand(slots, -1).contiguous(), 1, expected)
            there = [placed(device, experts[i]) for i in range(len(counts))]
            kernels.begin(CardWork(spec, activation, there, counts, x.data_ptr(), len(x)))
            found = torch.from_numpy(kernels.finish().copy())
            rows = (found - expected).norm(dim=1) / expected.norm(dim=1)
            worst = max(worst, float(rows.nan_to_num(torch.inf).max()))
    return worst


def microseconds(device: CardDevice, ptx: bytes, spec: ExpertSpec, tier: int, k: int) -> dict[str, float]:
    """Of one token's k experts, others each time so that none is in the card's cache."""
    kernels, made = ExpertKernels(device, ptx, [spec], k, exact=False), random_experts(spec, 2, [tier])
    nbytes = spec.layout.bytes_for(tier)
    there = [placed(device, made[i % 2]) for i in range(max(4 * k, min(160, int(4e8 // nbytes))))]
    x, seconds, wall = torch.randn(1, spec.hidden), [], []
    for turn in range(60):
        chosen = [there[(turn * k + i) % len(there)] for i in range(k)]
        start = time.perf_counter()
        kernels.begin(CardWork(spec, SILU, chosen, [1] * k, x.data_ptr(), 1))
        kernels.finish()
        wall.append(time.perf_counter() - start)
        seconds.append(kernels.seconds)
    card, whole = (1e6 * statistics.median(times[10:]) for times in (seconds, wall))
    return {"bytes": k * nbytes, "card_us": card, "wall_us": whole, "GB/s": k * nbytes / card / 1e3}


def decode(store: Any, shape: Any, mode: str, threads: int, turns: int, *, warm: bool) -> dict[str, Any]:
    """Tokens a second of each turn, and digests of the logits behind every token. warm: fill the card first."""
    mode, _, off = mode.partition(":")
    chosen = {"mode": mode, "dial": "exact", "context_length": CONTEXT, "threads": threads}
    if off:
        chosen["prefetch"] = off
    tokens = stream("text", shape.vocabulary, PROMPT + turns * TURN)
    with closing(OursAlone(store, shape, chosen)) as ours:
        if ours.about["mode"] != mode:
            raise SystemExit("\n".join(["The card does not compute:", *ours.about["plan"]]))
        filled = ours.warm() if warm else 0.0
        prompt, _ = ours.prompt_read(tokens[:PROMPT])
        cut = [tokens[at : at + TURN] for at in range(PROMPT, len(tokens), TURN)]
        found = [ours.turn(part, digest=True) for part in cut]
        digests = [digest for turn in found for digest in turn.digests]
        rates = [round(1 / turn.per_token, 1) for turn in found]
        low, high = ours.about["speed"]
        return {
            "mode": mode, "rates": rates, "expected": [round(low, 1), round(high, 1)],
            "seen / expected": [round(rates[-1] / high, 2), round(rates[-1] / low, 2)],
            "prompt seconds": round(prompt, 2),
            "filled seconds": round(filled, 1), "plan": ours.about["plan"], "digests": digests,
        }  # fmt: skip


def profile(store: Path, threads: int) -> dict[str, Any]:
    """Of a token that the card computes by itself: by kernel and grid, launches and microseconds of each, run by
    itself; and microseconds of all in one go."""
    chosen = {"mode": ASSISTED, "dial": "exact", "context_length": CONTEXT, "threads": threads}
    session = open_calibrated(str(store), settings.validated(chosen, settings.ENGINE))
    try:
        mode = session.card_mode.mode
        if mode is None or mode.ahead is None:
            raise SystemExit("\n".join(["The card does not compute whole layers:", *map(str, session.sentences)]))
        keys = list(session.runtime.cache.keys)
        while mode.fill(keys):
            pass
        device, stretches = mode.device, mode.ahead.stretches
        device.driver.synchronize(device.copy)
        mode.held.commit()
        mode.held.there.send()
        driver, began, ended = device.driver, device.event(timed=True), device.event(timed=True)
        whole = stretches.commands(0, stretches.layers)  # has to live as long as what is made of it
        packed = whole.packed()

        def took(commands: Sequence[CardCommand]) -> float:
            listed = CommandList()
            listed.record(began)
            for command in commands:
                listed.again(command)
            listed.record(ended)
            for _ in range(3):
                driver.submit(listed, device.compute)
                driver.wait_for(ended)
            return 1e6 * driver.seconds(began, ended)

        token = took(packed[:-2])  # first, since kernels read what others have written
        launches = Counter((own.handle, tuple(own.grid)) for own in packed if own.kind == LAUNCH)
        first = {(own.handle, tuple(own.grid)): own for own in reversed(packed) if own.kind == LAUNCH}
        each = {key: took([own] * 50) / 50 for key, own in first.items()}
        rows = [
            {"kernel": device.name_of(key[0]), "grid": key[1], "launches": n, "us": round(each[key], 1)}
            for key, n in launches.items()
        ]
        rows.sort(key=lambda row: -row["launches"] * row["us"])
        return {"kernels": rows, "sum": sum(n * each[key] for key, n in launches.items()), "token": token}
    finally:
        session.close()


@contextmanager
def held(left: float) -> Iterator[None]:
    """All of the card's memory but so many bytes taken."""
    with closing(CardDevice(open_driver(), 0)) as device:
        while device.free_memory() - left > SLAB:
            device.memory(SLAB)
        yield


def show_kernels() -> None:
    """Print what the kernels give."""
    driver = open_driver()
    print(json.dumps({"driver": driver.version(), "card": driver.card(0)._asdict()}))
    for flavour in FLAVOURS:
        ptx = read_ptx(flavour) + b"\0"
        for exact in (False, True):
            with closing(CardDevice(driver, 0)) as device:
                print(json.dumps({"flavour": flavour, "exact": exact, "worst": compare(device, ptx, exact=exact)}))
    for name, spec, k in (("Qwen3-30B-A3B", QWEN, 8), ("gpt-oss-20b", GPT, 4)):
        for tier in spec.tiers:
            with closing(CardDevice(driver, 0)) as device:
                print(json.dumps({"experts": name, "tier": tier, **microseconds(device, ptx, spec, tier, k)}))


def main(given: Sequence[str] | None = None) -> None:
    """See the head of this file."""
    parser = arguments(__doc__, "folder", json=False)
    parser.add_argument("--shape", default="qwen3")
    parser.add_argument("--layers", type=int, default=48)
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--turns", type=int, default=8, help=f"of {TURN} tokens")
    parser.add_argument("--with", dest="ways", default=ASSISTED, help="modes, each with what there is of the card")
    parser.add_argument("--cold", action="store_true", help="nothing lies on the card before the answer")
    parser.add_argument("--profile", action="store_true", help="of each kernel of a token")
    parser.add_argument("--no-kernels", action="store_true", help="no kernels by themselves")
    args = parser.parse_args(given)
    shape = large(args.shape, args.layers)
    store = prepare_model(shape, 4, args.folder, top=4).store
    if args.profile:
        found = profile(store, args.threads)
        for row in found.pop("kernels"):
            print(json.dumps(row))
        print(json.dumps(found))
        return
    if not args.no_kernels:
        show_kernels()
    alone = decode(store, shape, CPU, args.threads, args.turns, warm=True)
    digests = alone.pop("digests")
    print(json.dumps(alone), flush=True)
    for way in args.ways.split(","):
        mode, _, free = way.partition("@")
        with held(float(free) * GB) if free else nullcontext():
            beside = decode(store, shape, mode, args.threads, args.turns, warm=not args.cold)
        same = sum(one == other for one, other in zip(digests, beside.pop("digests"), strict=True))
        print(json.dumps({"way": way, **beside, "same bits": f"{same} of {len(digests)}"}), flush=True)


if __name__ == "__main__":
    main()
