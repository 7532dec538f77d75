"""Tokens per second of a model bigger than memory, beside llama.cpp on the same weights under the same memory limit.

    python -m tests.benchmarks.offload --shape olmoe|qwen3|mixtral --limit 0.5|0.25 --stream uniform|zipf|text
        --dial exact|balanced|fast [--json]

Each is a process of its own in a control group that may take that share of the quantized model's bytes, everything
counted. The peer maps its file, as it does by default (its two other ways, a copy in memory and repacked weights, are
killed under such a limit), once with the common read-ahead of 128 KiB and once with this machine's own. Both read the
same tokens in turns; who has no turn is stopped. Before each start the system's caches are emptied. Needs an
administrator's rights on Linux. `ratio` is against 128 KiB, `ratio_default` against this machine's read-ahead. `floor`
is the seconds a token takes at least: the greater of bytes missed by the disk's rate and bytes used by the memory's,
both measured between turns (`roof`, GB/s); `of_floor` its share of the time taken. `together` and `of_together` are
the same as disk and memory slow each other while both are read (`disk_beside`, `memory_beside`). Without the peer
(`--alone`) its figures are null.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine.hardware.machine import GB
from tests.benchmarks.blockdevice import drop_caches, read_ahead, read_ahead_file
from tests.benchmarks.cgroup import limited
from tests.benchmarks.common import Quiet, conditions, emit, limit_options, median, orderly
from tests.benchmarks.naive import narrowest, run_naive
from tests.benchmarks.ours_client import OursAlone, Turn
from tests.benchmarks.peer.client import Peer
from tests.benchmarks.prepare import Model, Rival, prepare_model, prepare_pair, say
from tests.benchmarks.roofs import Roofs, floors, middle
from tests.random_models.shapes import Shape, large
from tests.random_models.tokens import stream

CALIBRATION = 128  # tokens that T1 and T2 are found on: of a stream of their own
CONTEXT = 512  # tokens, of both: memory for it counts too
PREFERRED = {8: "int8", 4: "int4", 2: "int4"}  # how dense weights are held beside experts of this tier
READ_AHEAD = 128  # KiB, what most systems have


@dataclass(frozen=True)
class Round:
    """Turns of both with one read-ahead. peer: seconds a token and bytes fetched for it; anonymous: its bytes."""

    ours: tuple[Turn, ...]
    peer: tuple[tuple[float, float], ...]
    read_ahead: int
    anonymous: int

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return median([s for s, _ in self.peer]) / median([t.per_token for t in self.ours])


class Contest:
    """Our engine under its limit, warm, and turns against peers that come and go."""

    def __init__(self, args: argparse.Namespace, model: Model, tokens: list[int], ours: OursAlone) -> None:
        self._args, self._tokens, self._ours = args, tokens, ours
        self._limit = limit_of(args, model)
        self.roofs = Roofs(model.store, args.tier, args.threads)
        self.quiet = Quiet(args.patience)
        self.turns: list[Turn] = []
        self._at = 0

    def warm(self) -> Turn:
        """The first tokens of ours."""
        self._at = self._args.warm
        return self._ours.turn(self._tokens[: self._at])

    def turn(self) -> list[int]:
        """One turn of ours, after a look at the roofs. Returns its tokens."""
        tokens = self._tokens[self._at : self._at + self._args.segment]
        self._at += self._args.segment
        self.quiet.wait()
        self.roofs.measure()
        self.turns.append(self._ours.turn(tokens))
        return tokens

    def round(self, rival: Rival, kib: int, device: Path, segment: int) -> Round:
        """Turns against a peer that was started cold with this read-ahead. segment: tokens of its turns."""
        args, theirs, first = self._args, [], len(self.turns)
        with read_ahead(device, kib), limited("peer", self._limit) as group:
            drop_caches()
            say(f"Opening the peer with a read-ahead of {kib} KiB")
            with Peer(rival.python, rival.file, args.threads, CONTEXT, repack=False, group=group) as peer:
                peer.turn(self._tokens[: min(args.peer_warm, 4 * segment)])
                for number in range(args.repeats):
                    say(f"Turn {number + 1} of {args.repeats}")
                    tokens = self.turn()
                    seconds, nbytes = peer.turn(tokens[:segment])
                    theirs.append((seconds / segment, nbytes / segment))
                anonymous = group.anonymous()
        return Round(tuple(self.turns[first:]), tuple(theirs), kib, anonymous)

    def floors(self) -> dict[str, float]:
        """Of all turns of ours, by the rates before and behind each."""
        rates = [*self.roofs.taken, self.roofs.taken[-1]]
        return floors(self.turns, [middle(near) for near in pairwise(rates)])


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


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    count = fitting(args.warm + 2 * args.repeats * args.segment)
    shape, rival = large(args.shape, args.layers), None
    if args.alone:
        model = prepare_model(shape, args.tier, args.folder, keep_only=args.keep_only)
    else:
        model, rival = prepare_pair(shape, args.tier, args.folder, keep_only=args.keep_only)
    tokens = stream(args.stream, shape.vocabulary, count)
    limit = limit_of(args, model)
    with orderly(), ExitStack() as stack:
        group = stack.enter_context(limited("ours", limit))
        drop_caches()
        say("Opening and warming ours")
        ours = stack.enter_context(OursAlone(model.store, shape, chosen(args, limit), group))
        thresholds = calibrated(args, ours, shape, args.dial)
        contest = Contest(args, model, tokens, ours)
        stack.callback(contest.roofs.close)
        warm = contest.warm()
        rounds = _rounds(args, contest, rival)
        memory = {"ours_most": group.most(), "ours_anonymous": group.anonymous(), "kills": group.kills()}
    turns = contest.turns
    result = {
        "ours": round(1 / median([t.per_token for t in turns]), 3),
        "peer": None,
        "peer_default": None,
        "ratio": None,
        "ratio_default": None,
        **contest.floors(),
        "roof": contest.roofs.report(),
        **counted(turns),
        "memory": {"limit": limit, "model": model.nbytes, **memory},
        "seconds": {"warm": [round(s, 3) for s in warm.seconds], "ours": _spread([t.per_token for t in turns])},
        "plan": ours.about,
        "conditions": conditions(
            args, isa=contest.roofs.isa, thresholds=thresholds, others=[round(x, 2) for x in contest.quiet.others]
        ),
    }  # fmt: skip
    for name, found in zip(("", "_default"), rounds):
        seconds = [s for s, _ in found.peer]
        result["seconds"][f"peer{name}"] = _spread(seconds)
        result |= {
            f"peer{name}": round(1 / median(seconds), 3),
            f"ratio{name}": round(found.ratio, 3),
            f"peer{name}_bytes": int(median([nbytes for _, nbytes in found.peer])),
            f"peer{name}_anonymous": found.anonymous,
            f"peer{name}_read_ahead": found.read_ahead,
        }
    if args.naive:
        cut = narrowest(shape, args.limit)
        naive = run_naive(cut, args.limit, args.threads, tokens[: args.naive_tokens + 1], args.folder)
        result["naive"] = naive.report(shape.layers)
    return result


def _rounds(args: argparse.Namespace, contest: Contest, rival: Rival | None) -> list[Round]:
    """With the common read-ahead and with this machine's own; none without a rival."""
    if rival is None:
        for _ in range(args.repeats):
            contest.turn()
        return []
    device = read_ahead_file(rival.file)
    own = int(device.read_text())
    few = contest.round(rival, READ_AHEAD, device, args.segment)
    return [few, few if own == READ_AHEAD else contest.round(rival, own, device, args.peer_segment)]


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


def _spread(seconds: list[float]) -> list[float]:
    return [round(1e3 * s, 2) for s in sorted(seconds)]


def main() -> None:
    """Print the figures."""
    parser = limit_options(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each, with each read-ahead")
    parser.add_argument("--segment", type=int, default=16, help="tokens in one turn")
    parser.add_argument("--peer-segment", type=int, default=4, help="of the peer's with this machine's own read-ahead")
    parser.add_argument("--warm", type=int, default=48, help="tokens of ours before the first turn")
    parser.add_argument("--peer-warm", type=int, default=24, help="of the peer; at most as many as four of its turns")
    parser.add_argument("--alone", action="store_true", help="ours without the peer")
    parser.add_argument("--naive", action="store_true", help="also accelerate's disk offload, on a cut, in bf16")
    parser.add_argument("--naive-tokens", type=int, default=3)
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
