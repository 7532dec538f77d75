"""Train until a given hour: `python -m training.train --packed DIR --run DIR --until 2026-01-31T22:30`.

The learning rate follows the clock (warm-up, flat to 40 %, linear decay), so the run ends in time however busy the
machine is. Stop it with SIGTERM and start it again with the same --run to go on where it stopped.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier

import torch

from training.batches import Sampler, held_out
from training.model import Model
from training.run import Run
from training.shape import Shape
from training.workers import Workers

_BALANCE, _Z = 0.06, 0.001  # weights of the load-balancing loss and of the router's z-loss
_WARM_UP_STEPS = 25
_FLAT = 0.4  # share of the time before the learning rate decays
_FLOOR = 0.03  # lowest share of the learning rate
_SHORT, _LONG = 256, 1024  # sequence lengths; the second for the end of the run, so that long chats work
_LOG_STEPS = 20
_SAVE_SECONDS = 180.0


def rate(step: int, progress: float) -> float:
    """Share of the full learning rate."""
    warm_up = min(1.0, (step + 1) / _WARM_UP_STEPS)
    return warm_up * (1.0 if progress < _FLAT else max(_FLOOR, (1 - progress) / (1 - _FLAT)))


@torch.no_grad()
def evaluate(model: Model, packed: Path, count: int) -> str:
    """Mean cross entropy of answer tokens, per source, in nats."""
    figures = []
    for name, batch in held_out(packed, count, _SHORT).items():
        per_token = model(*batch).per_token.view_as(batch.weights)
        figures.append(f"{name} {float((per_token * batch.weights).sum() / batch.weights.sum()):.3f}")
    return " ".join(figures)


def train(rank: int, args: argparse.Namespace, memory: torch.Tensor | None = None, gate: Barrier | None = None) -> None:
    """The loop of process `rank`; the first of them looks at the clock, writes and saves."""
    if args.processes > 1 and hasattr(os, "setsid"):
        os.setsid()  # Linux divides a busy processor among sessions, whatever they hold
    workers = Workers(rank, args.processes, memory, gate)
    torch.set_num_threads(max(1, args.threads // args.processes))
    torch.manual_seed(0)
    until = args.until.replace(tzinfo=UTC).timestamp()
    compute = getattr(torch, args.precision)
    chosen = {"begin": args.begin, "workers": workers, "muon_experts": args.experts == "muon"}
    run = Run(args.run, until, Shape(), compute=compute, **chosen)
    count = run.counters
    sampler = Sampler(args.packed, seed=count["step"] * args.processes + rank)
    stop: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda n, _: stop.append(n))
    saved = last = time.time()
    window = (count["seconds"], count["tokens"])
    smooth = 0.0
    next_eval = run.progress() + 0.1
    while True:
        stopped, progress = workers.agree([len(stop), run.progress()])
        if stopped or progress >= 1:
            break
        length = _LONG if progress >= args.long_from else _SHORT
        sequences = args.batch * _SHORT // length
        share = args.peak * rate(count["step"], progress)
        losses = run.model(*sampler.draw(max(1, sequences // args.processes), length))
        (losses.weighted + _BALANCE * losses.balance + _Z * losses.z).backward()
        norm = run.update(share)
        now = time.time()
        count["step"] += 1
        count["tokens"] += sequences * length
        count["seconds"] += now - last
        last = now
        if rank:
            continue
        value = losses.weighted.item()
        smooth = 0.97 * smooth + 0.03 * value if smooth else value
        if count["step"] % _LOG_STEPS == 0:
            speed = (count["tokens"] - window[1]) / (count["seconds"] - window[0])
            window = (count["seconds"], count["tokens"])
            load = losses.load * run.model.shape.experts
            print(
                f"{datetime.now(UTC):%H:%M} step {count['step']} tokens {count['tokens'] / 1e6:.2f}M loss {smooth:.3f} "
                f"balance {losses.balance.item():.3f} norm {norm:.2f} rate {share:.2f} "
                f"load {load.min().item():.2f}-{load.max().item():.2f} {speed:.0f} tokens/s",
                flush=True,
            )
        if now - saved > _SAVE_SECONDS:
            run.save()
            saved = time.time()
        if progress >= next_eval:
            next_eval += 0.1
            print(
                f"held out at {count['tokens'] / 1e6:.2f}M: {evaluate(run.model, args.packed, args.batch)}", flush=True
            )
            last = time.time()
    if not rank:
        run.save()
        print(f"held out at {count['tokens'] / 1e6:.2f}M: {evaluate(run.model, args.packed, args.batch)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--until", type=datetime.fromisoformat, required=True, help="UTC")
    parser.add_argument("--batch", type=int, default=16, help="sequences of 256 tokens")
    parser.add_argument("--long-from", type=float, default=0.9, help="share of the time after which length is 1024")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processes", type=int, default=1, help="that divide batch and threads among them")
    parser.add_argument("--begin", type=Path, help="a new run begins with the weights of this exported checkpoint")
    parser.add_argument("--peak", type=float, default=1.0, help="highest share of the full learning rates")
    parser.add_argument("--precision", choices=("bfloat16", "float32"), default="bfloat16", help="of the products")
    parser.add_argument("--experts", choices=("muon", "adam"), default="muon", help="the optimizer of the experts")
    args = parser.parse_args()
    args.run.mkdir(parents=True, exist_ok=True)
    if args.processes == 1:
        train(0, args)
    else:
        size = sum(p.numel() for p in Model(Shape()).parameters())
        memory = torch.zeros(args.processes, size).share_memory_()
        gate = torch.multiprocessing.get_context("spawn").Barrier(args.processes)
        torch.multiprocessing.spawn(train, (args, memory, gate), nprocs=args.processes)


if __name__ == "__main__":
    main()
