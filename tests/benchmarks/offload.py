"""Tokens per second of a model bigger than memory, beside llama.cpp on the same weights under the same memory limit.

    python -m tests.benchmarks.offload --shape olmoe|qwen3|mixtral --limit 0.5|0.25 --stream uniform|zipf|text
        --dial exact|balanced|fast [--json]

Each is a process of its own in a control group that may take that share of the quantized model's bytes, everything
counted. The peer maps its file, as it does by default (its two other ways, a copy in memory and repacked weights, are
killed under such a limit), once with the common read-ahead of 128 KiB and once with this machine's own. Both read the
same tokens in turns; who has no turn is stopped. Before each start the system's caches are emptied. Needs an
administrator's rights on Linux. `ratio` is against 128 KiB, `ratio_default` against this machine's read-ahead, each of
turns in the same minutes, in which ours had `ours` and `ours_default` tokens per second. `floor` is the seconds a token
takes at least: the greater of bytes missed by the disk's rate and bytes used by the memory's, both measured between
turns (`roof`, GB/s); `of_floor` its share of the time taken. `together` and `of_together` are the same as disk and
memory slow each other while both are read (`disk_beside`, `memory_beside`). Without the peer (`--alone`) its figures
are null.

--prompts 64,500,2000: prompts of these lengths instead, of uniform tokens, without the peer. Another process of ours
with all the memory it wants takes turns with them; between prompts the limited one decodes some tokens, as in a chat.
By length: `ours`: seconds until the answer begins. `reading`: bytes read by the disk's rate in this turn. `computing`:
what the unlimited one takes. `floor`: the longer of both. `times_floor`: ours over it, the median of the turns.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.bench import CONTEXT, Bench, calibrated, counted, fitting
from tests.benchmarks.blockdevice import drop_caches, read_ahead, read_ahead_file
from tests.benchmarks.cgroup import limited
from tests.benchmarks.common import emit, limit_options, medians, milliseconds, orderly, say, several
from tests.benchmarks.naive import narrowest, run_naive
from tests.benchmarks.ours import OursAlone, Turn
from tests.benchmarks.peer.client import Peer
from tests.benchmarks.prepare import Rival, prepare_model, prepare_pair
from tests.benchmarks.roofs import floors, middle
from tests.random_models.shapes import large

READ_AHEAD = 128  # KiB, what most systems have
BETWEEN = 16  # tokens decoded between prompts
SPARE = 64  # tokens of context beside the longest prompt and those between


@dataclass(frozen=True)
class Round:
    """Turns of both with one read-ahead. peer: seconds a token and bytes fetched for it; anonymous: its bytes."""

    ours: tuple[Turn, ...]
    peer: tuple[tuple[float, float], ...]
    read_ahead: int
    anonymous: int

    def report(self, name: str) -> dict[str, Any]:
        """Figures, by names that end like this. ours: in turns with this peer; ratio: how many times faster that is."""
        seconds, ours = median([s for s, _ in self.peer]), median([t.per_token for t in self.ours])
        return {
            f"ours{name}": round(1 / ours, 3),
            f"peer{name}": round(1 / seconds, 3),
            f"ratio{name}": round(seconds / ours, 3),
            f"peer{name}_bytes": int(median([nbytes for _, nbytes in self.peer])),
            f"peer{name}_anonymous": self.anonymous,
            f"peer{name}_read_ahead": self.read_ahead,
        }


class Contest:
    """Our engine under its limit, warm, and turns against peers that come and go."""

    def __init__(self, bench: Bench, ours: OursAlone) -> None:
        self._bench, self._args, self._ours = bench, bench.args, ours
        self.turns: list[Turn] = []
        self._at = bench.args.warm
        ours.turn(bench.tokens[: self._at])

    def turn(self) -> list[int]:
        """One turn of ours, after a look at the roofs. Returns its tokens."""
        tokens = self._bench.tokens[self._at : self._at + self._args.segment]
        self._at += self._args.segment
        self._bench.look()
        self.turns.append(self._ours.turn(tokens))
        return tokens

    def round(self, rival: Rival, kib: int, device: Path, segment: int) -> Round:
        """Turns against a peer that was started cold with this read-ahead. segment: tokens of its turns."""
        args, theirs, first = self._args, [], len(self.turns)
        with read_ahead(device, kib), limited("peer", self._bench.limit) as group:
            drop_caches()
            say(f"Opening the peer with a read-ahead of {kib} KiB")
            with Peer(rival.python, rival.file, args.threads, CONTEXT, repack=False, group=group) as peer:
                peer.turn(self._bench.tokens[: min(args.peer_warm, 4 * segment)])
                for number in range(args.repeats):
                    say(f"Turn {number + 1} of {args.repeats}")
                    tokens = self.turn()
                    seconds, nbytes = peer.turn(tokens[:segment])
                    theirs.append((seconds / segment, nbytes / segment))
                anonymous = group.anonymous()
        return Round(tuple(self.turns[first:]), tuple(theirs), kib, anonymous)

    def rounds(self, rival: Rival | None) -> list[Round]:
        """With the common read-ahead and with this machine's own; none without a rival."""
        args = self._args
        if rival is None:
            for _ in range(args.repeats):
                self.turn()
            return []
        device = read_ahead_file(rival.file)
        own = int(device.read_text())
        few = self.round(rival, READ_AHEAD, device, args.segment)
        return [few, few if own == READ_AHEAD else self.round(rival, own, device, args.peer_segment)]

    def floors(self) -> dict[str, float]:
        """Of all turns of ours, by the rates before and behind each."""
        rates = [*self._bench.roofs.taken, self._bench.roofs.taken[-1]]
        return floors(self.turns, [middle(near) for near in pairwise(rates)])


def tokens(args: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Decoding, beside the peer."""
    count = fitting(args.warm + 2 * args.repeats * args.segment)
    shape, rival = large(args.shape, args.layers), None
    if args.alone:
        model = prepare_model(shape, args.tier, args.folder, keep_only=args.keep_only)
    else:
        model, rival = prepare_pair(shape, args.tier, args.folder, keep_only=args.keep_only)
    bench = Bench(args, stack, count, model)
    with bench.opened("ours", {}) as (ours, group):
        thresholds = calibrated(args, ours, shape, args.dial)
        contest = Contest(bench, ours)
        rounds = contest.rounds(rival)
        memory = {"ours_most": group.most(), "ours_anonymous": group.anonymous(), "kills": group.kills()}
    turns = contest.turns
    result = {
        "ours": round(1 / median([t.per_token for t in turns]), 3),
        **dict.fromkeys(("peer", "peer_default", "ratio", "ours_default", "ratio_default")),
        **contest.floors(),
        **counted(turns),
        "memory": {"limit": bench.limit, "model": model.nbytes, **memory},
        "seconds": {"ours": milliseconds(t.per_token for t in turns)},
        "plan": ours.about,
        **bench.about(thresholds=thresholds),
    }
    for name, found in zip(("", "_default"), rounds):
        result["seconds"][f"peer{name}"] = milliseconds(s for s, _ in found.peer)
        result |= found.report(name)
    if args.naive:
        cut = narrowest(shape, args.limit)
        naive = run_naive(cut, args.limit, args.threads, bench.tokens[: args.naive_tokens + 1], args.folder)
        token = median(naive["seconds"]) * shape.layers / cut.layers  # all of it is in the layers
        result["naive"] = {"tokens_per_second": round(1 / token, 4), **naive}
    return result


def prompts(args: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Prompts, held against the disk and against computing with all in memory."""
    bench = Bench(args, stack, 1 << 20)
    drawn = iter(bench.tokens)
    values = {"dense": "auto", "context_length": max(args.prompts) + BETWEEN + SPARE}

    def some(count: int) -> list[int]:
        return [next(drawn) for _ in range(count)]

    turns: dict[int, list[dict[str, float]]] = {length: [] for length in args.prompts}
    ours, _ = stack.enter_context(bench.opened("prompts", values))
    whole = stack.enter_context(OursAlone(bench.model.store, None, {"dial": args.dial, **values}))
    if whole.about["cache_share"] < 1:
        raise SystemExit(f"Not every expert fits in memory: {' '.join(whole.about['plan'])}")
    for length in args.prompts:
        for _ in range(2):  # the first fills the cache, or is the first of its length
            ours.prompt(some(length))
        while whole.prompt_read(some(length))[1]:
            pass
        for _ in range(args.repeats):
            bench.look()
            ours.turn(some(BETWEEN))
            taken, read = ours.prompt_read(some(length))
            reading, computing = read / bench.roofs.taken[-1].disk, whole.prompt(some(length))
            floor = max(reading, computing)
            turns[length].append({"ours": taken, "reading": reading, "computing": computing, "floor": floor,
                                  "times_floor": taken / floor, "gb_read": read / 1e9})  # fmt: skip
    by_length = {
        length: {name: round(value, 3) for name, value in medians(found).items()}
        | {"turns": [round(turn["times_floor"], 3) for turn in found]}
        for length, found in turns.items()
    }
    return {
        "ours": {length: row["ours"] for length, row in by_length.items()},
        "ratio": {length: row["times_floor"] for length, row in by_length.items()},
        "by_length": by_length,
        **bench.about(chunk=ours.about["chunk"], cache_share=round(ours.about["cache_share"], 3)),
    }


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
    parser.add_argument(
        "--prompts", type=several(int), help="read prompts of these lengths, separated by commas, instead"
    )
    args = parser.parse_args()
    if args.disk == "ram" and not (args.alone or args.prompts):
        parser.error("--disk ram copies our store only: add --alone")
    with orderly(), ExitStack() as stack:
        emit((prompts if args.prompts else tokens)(args, stack), args.json)


if __name__ == "__main__":
    main()
