"""A model bigger than memory on the bench: prepared, opened under its limit, and what is looked at around its turns."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from engine.hardware.machine import GB
from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import Group, limited
from tests.benchmarks.common import Quiet, conditions, say
from tests.benchmarks.other_disks import on_disk
from tests.benchmarks.ours import OursAlone, Turn
from tests.benchmarks.prepare import Model, prepare_model
from tests.benchmarks.roofs import Roofs
from tests.random_models.shapes import Shape, large
from tests.random_models.tokens import stream

CALIBRATION = 128  # tokens that T1 and T2 are found on: of a stream of their own
CONTEXT = 512  # tokens, of both: memory for it counts too
PREFERRED = {8: "int8", 4: "int4", 2: "int4"}  # how dense weights are held beside experts of this tier
OVERLAP = "overlap"  # no setting: see OursAlone


class Bench:
    """The model, its limit and its tokens; disk, memory and other programs are looked at between turns."""

    def __init__(
        self, args: argparse.Namespace, stack: ExitStack, count: int, model: Model | None = None, engines: int = 1
    ) -> None:
        """count: tokens that are drawn. model: None makes it, where it is not there. engines: open at once."""
        self.args = args
        shape = large(args.shape, args.layers)
        self.model = model or prepare_model(shape, args.tier, args.folder, keep_only=args.keep_only)
        self.limit = limit_of(args, self.model)
        disk = on_disk(args.disk, self.model.store, engines * self.limit)
        self.model = replace(self.model, store=stack.enter_context(disk))
        self.tokens = stream(args.stream, shape.vocabulary, count)
        self.roofs, self.quiet = Roofs(self.model.store, args.tier, args.threads), Quiet(args.patience)
        stack.callback(self.roofs.close)

    @contextmanager
    def opened(self, name: str, values: dict[str, Any]) -> Iterator[tuple[OursAlone, Group]]:
        """Our engine under the limit with these settings, cold."""
        say(f"Opening {name}")
        given = {**chosen(self.args, self.limit), **values}
        overlap = given.pop(OVERLAP, True)
        with limited(name, self.limit) as group:
            drop_caches()
            with OursAlone(self.model.store, self.model.shape, given, group, overlap=overlap) as ours:
                yield ours, group

    def look(self) -> None:
        """Wait for other programs' rest, and measure disk and memory."""
        self.quiet.wait()
        self.roofs.measure()

    def about(self, **more: Any) -> dict[str, Any]:
        """What all results end with."""
        known = conditions(self.args, isa=self.roofs.isa, others=self.quiet.others, **more)
        return {"roof": self.roofs.report(), "conditions": known}


def fitting(tokens: int) -> int:
    """That many, if the context has room for them; else SystemExit says so."""
    if tokens > CONTEXT:
        raise SystemExit(f"{tokens} tokens are more than the context of {CONTEXT}: take fewer turns, or shorter ones.")
    return tokens


def limit_of(args: argparse.Namespace, model: Model) -> int:
    """Bytes that a process may take."""
    return int(model.nbytes * args.limit)


def chosen(args: argparse.Namespace, limit: int, context: int = CONTEXT) -> dict[str, Any]:
    """Settings of our engine. Those given by hand come last."""
    given = {
        "dial": args.dial,
        "tier": str(args.tier),
        "dense": PREFERRED[args.tier],
        "threads": args.threads,
        "context_length": context,
        "memory_gb": limit / GB,
    }
    return {**given, **dict(args.set)}


def calibrated(args: argparse.Namespace, ours: OursAlone, shape: Shape, dial: str) -> tuple[float, float] | None:
    """T1 and T2 of the dial, found for this model and in force, where neither is given by hand; None under Exact."""
    if dial == "exact" or {"t1", "t2"} & set(dict(args.set)):
        return None
    return ours.calibrate(stream("uniform", shape.vocabulary, CALIBRATION, seed=1), dial)


def counted(turns: Sequence[Turn]) -> dict[str, Any]:
    """What the turns of our engine met. Bytes are of a token. disk_busy: share of the time with any read under way, in
    which the disk gave `disk_given` GB/s."""
    count, busy = sum(len(t.seconds) for t in turns), sum(t.busy for t in turns)
    return {
        "hit_rate": round(sum(t.hits for t in turns) / max(1, sum(t.hits + t.misses for t in turns)), 4),
        "missed_bytes": sum(t.bytes_read - t.wasted_bytes for t in turns) // count,
        "wasted_bytes": sum(t.wasted_bytes for t in turns) // count,
        "system_bytes": sum(t.system_bytes for t in turns) // count,
        "used_bytes": sum(t.used_bytes for t in turns) // count,
        "disk_busy": round(busy / sum(sum(t.seconds) for t in turns), 3),
        "disk_given": round(sum(t.bytes_read for t in turns) / max(1e-9, busy) / 1e9, 3),
        "coarse": round(sum(t.coarse for t in turns) / max(1, sum(t.uses for t in turns)), 4),
    }
