"""What a plan expects of a model here, held against what the model then does.

    python -m tests.benchmarks.forecast --shape olmoe|qwen3|mixtral|builtin [--limit 1|0.5|0.25] [--json]

The computer is measured as `underhill-cli probe` does, the model opened as anybody would under Exact (with less than 1:
as ceiling and in a control group of that share of its bytes, which needs an administrator's rights on Linux), and fed
tokens until its cache is full. Then disk and memory are looked at before and after every turn of tokens, each token
read, followed by the choice of a next one and its text, as in an answer; then around every prompt.

`ours`: tokens a second. `expected`: the plan's range when it was opened; `end`: that which uniform tokens should meet.
`off`: the end over ours, less 1; `off_now`: the same with the rates around each turn. `prompt`: seconds to the first
token behind as many as the plan speaks of; its middle, the geometric mean of the range, counts. Medians over turns.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from engine.hardware.computer import on_battery
from engine.hardware.fingerprint import fingerprint, keep, look
from engine.hardware.full_probe import probe_fully
from engine.hardware.machine import GB
from engine.hardware.rates import Rates as Known
from engine.library import library, speed_record
from engine.library.computer import LARGE
from engine.native.library import default_threads
from engine.planning.speed import PROMPT
from engine.session.speed_check import is_full
from engine.store.reader import load_manifest
from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import Group, limited
from tests.benchmarks.common import Quiet, arguments, conditions, emit, orderly, say
from tests.benchmarks.ours import OursAlone, Turn
from tests.benchmarks.prepare import TOPS, prepare_model
from tests.benchmarks.roofs import Rates, Roofs
from tests.random_models.shapes import SHAPES, large
from tests.random_models.tokens import stream

BUILTIN = "builtin"
TIER = 4  # bits of the experts of all but the built-in model
FILLING, MOST_FILLS = 16, 40  # tokens decoded in a row until it is; and how often
LEAST, MOST = 8, 200  # tokens of a turn


@dataclass(frozen=True)
class Subject:
    """What runs. vocabulary: words to draw tokens from. nbytes: the limit; None without."""

    store: Path
    vocabulary: int
    tier: int
    nbytes: int | None


def subject(args: argparse.Namespace) -> Subject:
    """The model of this name, made where it is not there, as if it never had run."""
    if args.shape == BUILTIN:
        store = library.prepare(BUILTIN)
        manifest = load_manifest(store)
        return Subject(store, int(manifest.config["vocab_size"]), manifest.specs[0].top, None)
    shape = large(args.shape, args.layers)
    model = prepare_model(shape, TIER, args.folder)
    (model.store / speed_record.FILE).unlink(missing_ok=True)
    return Subject(
        model.store, shape.vocabulary, TOPS[TIER], int(model.nbytes * args.limit) if args.limit < 1 else None
    )


def known(store: Path, *, again: bool) -> Known:
    """What a full probe says of this computer and the disk under a store: kept in the home folder, for who opens it."""
    home, place, power = library.home(), fingerprint(store), on_battery()
    found = look(home, place, power).rates
    if found is None or again:
        say("Measuring this computer")
        large_ones = [path for path in sorted(store.glob("*.safetensors")) if path.stat().st_size >= LARGE]
        found = probe_fully(store, large_ones)
        keep(home, place, power, found)
    return found


class Trial:
    """An open model, its turns, and the rates around them."""

    def __init__(self, args: argparse.Namespace, what: Subject, ours: OursAlone) -> None:
        self._args, self._what, self._ours = args, what, ours
        self._stream = iter(stream("uniform", what.vocabulary, 1 << 17))
        self._context = int(ours.about["context"])
        self._length = 0
        self._segment = LEAST
        self._record = load_manifest(what.store).specs[0].layout.bytes_for(what.tier)
        self.roofs = Roofs(what.store, what.tier, default_threads())
        self.quiet = Quiet(args.patience)
        self.filled = 0  # tokens decoded until the cache was full
        self.speeds: list[float] = []
        self.off: list[float] = []
        self.turns: list[Turn] = []
        self.prompts: list[float] = []
        self.prompts_off: list[float] = []

    def fill(self) -> None:
        """Prompts and tokens until the cache is full and, if all experts fit, nothing is missed."""
        say("Filling the cache")
        whole = self._ours.about["cache_share"] >= 1
        for _ in range(MOST_FILLS):
            if whole or not self.filled:
                self._prompt()
            turn = self._decode(FILLING)
            self.filled += FILLING
            if is_full(self._ours.held(), self._ours.about["cache_bytes"], self._record) or (whole and not turn.misses):
                if whole and turn.misses:
                    continue
                self._segment = max(LEAST, min(MOST, self._context // 4, round(self._args.seconds / turn.per_token)))
                return
        raise SystemExit("The cache is still not full.")

    def decode(self) -> None:
        """A turn of tokens."""
        before = self._look()
        turn = self._decode(self._segment)
        expected = self._at(before, self._look())
        self.turns.append(turn)
        self.speeds.append(1 / turn.per_token)
        self.off.append(expected["decode"][0] * turn.per_token - 1)

    def prompt(self) -> None:
        """A prompt, between a few tokens each."""
        self._decode(FILLING)
        before = self._look()
        taken = self._prompt()
        expected = self._at(before, self._look())
        self.prompts.append(taken)
        self.prompts_off.append(middle(expected["first_token"]) / taken - 1)

    def _look(self) -> Rates:
        self.quiet.wait()
        self.roofs.measure()
        return self.roofs.taken[-1]

    def _at(self, before: Rates, after: Rates) -> dict[str, Any]:
        """What would be expected with the means of these rates."""
        return self._ours.expected((before.memory + after.memory) / 2, (before.disk + after.disk) / 2)

    def _decode(self, count: int) -> Turn:
        if self._length + count > self._context:
            self._ours.clear()
            self._length = 0
        self._length += count
        return self._ours.turn(self._tokens(count), answering=True)

    def _prompt(self) -> float:
        self._length = PROMPT
        return self._ours.prompt(self._tokens(PROMPT))

    def _tokens(self, count: int) -> list[int]:
        return [next(self._stream) for _ in range(count)]


def middle(ends: Sequence[float]) -> float:
    """Between the two ends of a range of which nothing says which is nearer."""
    return math.sqrt(ends[0] * ends[1])


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    with orderly(), ExitStack() as stack:
        home = args.home or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(patch.dict(os.environ, {library.HOME: str(home)}))
        what = subject(args)
        rates = known(what.store, again=args.home is None)
        group: Group | None = None
        chosen = {"dial": "exact", **dict(args.set)}
        if what.nbytes is not None:
            group = stack.enter_context(limited("forecast", what.nbytes))
            chosen["memory_gb"] = what.nbytes / GB
        drop_caches()
        say("Opening the model")
        ours = stack.enter_context(OursAlone(what.store, None, chosen, group))
        about = ours.about
        if what.nbytes is None and about["cache_share"] < 1:
            raise SystemExit(f"Not every expert fits in memory: {' '.join(about['plan'])}")
        trial = Trial(args, what, ours)
        stack.callback(trial.roofs.close)
        trial.fill()
        for _ in range(args.repeats):
            trial.decode()
        for _ in range(args.prompts):
            trial.prompt()
    speed, (low, high), first = median(trial.speeds), about["speed"], about["first_token"]
    prompt = median(trial.prompts)
    uses = sum(t.hits + t.misses for t in trial.turns)
    return {
        "ours": round(speed, 3),
        "expected": {"range": [round(low, 3), round(high, 3)], "end": round(low, 3)},
        "off": round(low / speed - 1, 3),
        "off_now": round(median(trial.off), 3),
        "prompt": {
            "measured": round(prompt, 3),
            "expected": [round(s, 3) for s in first],
            "off": round(middle(first) / prompt - 1, 3),
            "off_now": round(median(trial.prompts_off), 3),
        },
        "roof": trial.roofs.report(),
        "opened_at": {name: round(about[name] / 1e9, 3) for name in ("memory_rate", "disk_rate")},
        "probed": {"memory_rate": round(rates.memory_rate / 1e9, 2),
                   "products": {tokens: round(rate / 1e9, 1) for tokens, rate in rates.products.items()},
                   "kernel_shares": {tier: round(share, 3) for tier, share in rates.kernel_shares.items()}},
        "hit_rate": round(sum(t.hits for t in trial.turns) / max(1, uses), 4),
        "turns": {
            "tokens": [round(s, 3) for s in trial.speeds],
            "off_now": [round(x, 3) for x in trial.off],
            "prompts": [round(s, 3) for s in trial.prompts],
            "memory": [round(r.memory / 1e9, 1) for r in trial.roofs.taken],
            "disk": [round(r.disk / 1e9, 2) for r in trial.roofs.taken],
        },
        "plan": about,
        "conditions": conditions(args, filled=trial.filled, segment=len(trial.turns[0].seconds),
                                 others=trial.quiet.others),
    }  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__, "layers", "set", "patience", "folder")
    parser.add_argument("--shape", choices=(*SHAPES, BUILTIN), required=True)
    parser.add_argument("--limit", type=float, default=1.0, help="most memory, as a share of the model's bytes; 1: any")
    parser.add_argument("--repeats", type=int, default=5, help="turns of tokens")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a turn, about")
    parser.add_argument("--prompts", type=int, default=3)
    parser.add_argument("--home", type=Path, help="where the probe's figures stay; without, they are measured anew")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
