"""How much of the memory idle models keep: a decay window over what the user's own runs of answers would take."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.service.model_profile import ModelProfile
from engine.service.model_usage import ModelUsage
from engine.service.pool import IDLE_SHARE, Chosen, MemoryParts, Pool, Report
from engine.translatable import Translatable, translated

WINDOW = 15  # percent of the budget: the first window (coserve, section 5.3: of experts)
DECAY = 1 - WINDOW / 100  # of every next window (eq. 1), so that all of them together reach the whole budget
ERROR = 0.05  # a throughput that stays so far below the fitted line ends the search (eq. 3, section 5.3)
FIRST = 3  # throughputs that the line is fitted to (eq. 2)
LEAST = 0.01  # of the budget: a smaller window tells nothing
RUNS = 200  # of the sample that is rehearsed
GAIN = 1.01  # times the throughput of the usual share, below which that stays


@dataclass(frozen=True)
class MemorySplit:
    """share: of the budget, what idle models keep together; budget: bytes it was found for.

    throughput, usual: answers a second that are expected with it, and with IDLE_SHARE.
    """

    share: float
    budget: int
    throughput: float
    usual: float

    def to_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> MemorySplit:
        """Raises what a damaged file makes it raise: KeyError, TypeError, ValueError."""
        made = cls(float(found["share"]), int(found["budget"]), float(found["throughput"]), float(found["usual"]))
        if not (0 <= made.share <= 1 and made.budget >= 0):  # NaN, too
            raise ValueError(f"not a split: {made}")
        return made


@dataclass(frozen=True)
class ModelRun:
    """Answers of one model, one behind another or at once, without another model between them."""

    model: str
    answers: int


class SplitSearch:
    """The decay window search of coserve (section 4.4) for the share of the budget that idle models keep.

    There: how many experts to load, and the rest is for batches of the one that runs. Here models are what is loaded,
    in parts: what idle ones keep (other weights, contexts, the most used experts) need not be read again when they are
    asked next, and the model in use has so much less for its own experts and contexts. A window slides over that share
    and shrinks, until the throughput at its upper bound falls short of the line through the first ones; the best bound
    that was tried is `found`.

    Nothing is answered for it. A sample of runs, drawn from the user's counts of requests and of what went on from
    what, is rehearsed: the pool itself moves models of the recorded sizes, and a run takes what the profiles say,
    loading, missing experts, B and K * n, slowed as the plan reckons it where the model in use has fewer experts in
    memory. Steps are of some milliseconds each, so that a command hardly waits.
    """

    def __init__(self, usage: ModelUsage, profiles: Mapping[str, ModelProfile], budget: int) -> None:
        """profiles: by the names that `usage` has; models without costs, or too large for the budget, are left out."""
        self._usage, self._budget = usage, budget
        self._profiles = {key: one for key, one in profiles.items() if key in usage.uses and _fits(one, budget)}
        self._runs = sample_runs(usage, self._profiles, RUNS)
        self._bounds = _bounds()
        self._tried: list[tuple[float, float]] = []  # shares, and their throughput
        self.over = len({run.model for run in self._runs}) < 2  # one model has all the memory, whatever the share
        self.found: MemorySplit | None = None

    def step(self) -> None:
        """Try the next bound; `over` once that was the last, and then `found` is what is best."""
        bound = next(self._bounds, None)
        if bound is not None:
            self._tried.append((bound, self._throughput(bound)))
            if not _falls_short(self._tried):
                return
        self.over, usual = True, self._throughput(IDLE_SHARE)
        share, best = max(self._tried, key=lambda one: one[1])
        if best < GAIN * usual:
            share, best = IDLE_SHARE, usual
        self.found = MemorySplit(share, self._budget, best, usual)

    def _throughput(self, share: float) -> float:
        """Answers a second of the sample's runs."""
        return rehearse(self._runs, self._usage, self._profiles, self._budget, share)


def sample_runs(usage: ModelUsage, profiles: Mapping[str, ModelProfile], count: int) -> list[ModelRun]:
    """About so many runs as they come here: of chains, each begun by a model that is asked first, and gone on by others
    as often as they were. The same for the same counts."""
    behind = {key: sum(n for (_, then), n in usage.after.items() if then == key) for key in profiles}
    lengths = {key: one.run_length for key, one in profiles.items()}
    firsts = {key: max(0.0, usage.uses[key] - behind[key]) / lengths[key] for key in profiles}
    if not any(firsts.values()):
        return []
    dice, runs = random.Random(0), list[ModelRun]()
    while len(runs) < count:
        model = dice.choices(list(firsts), list(firsts.values()))[0]
        for _ in range(len(profiles)):  # no chain is longer, though counts may go in circles
            runs.append(ModelRun(model, round(lengths[model])))
            then = {key: usage.after.get((model, key), 0.0) for key in profiles}
            ends = max(0.0, usage.uses[model] - sum(then.values()))
            going_on = dice.choices([*then, ""], [*then.values(), ends or 1e-9])[0]
            if not going_on:
                break
            model = going_on
    return runs


def rehearse(
    runs: Sequence[ModelRun], usage: ModelUsage, profiles: Mapping[str, ModelProfile], budget: int, share: float
) -> float:
    """Answers a second of these runs, were idle models to keep this share of the budget; see SplitSearch."""
    stage = _Stage(profiles, budget)
    pool = Pool(stage.open_model, stage, _Counts(usage, share))
    for run in runs:
        stage.needs = stage.conversations(run)
        model: _Rehearsed = pool.acquire(run.model, {}, _quiet)
        model.answer(run.answers)
    return sum(run.answers for run in runs) / stage.seconds if stage.seconds else 0.0


def _bounds() -> Iterator[float]:
    """Upper bounds of the windows, as shares: 0 first, at which nothing is kept."""
    bound, window = 0.0, WINDOW / 100
    while window >= LEAST:
        yield bound
        bound, window = bound + window, window * DECAY


def _falls_short(tried: Sequence[tuple[float, float]]) -> bool:
    """Whether the last throughput is more than ERROR below the line through the first ones, or below the best one.

    tried: shares, and their throughputs. Where it rises and then stays level it falls short of the line, too.
    """
    *before, (share, last) = tried
    if len(before) < FIRST:
        return False
    first = before[:FIRST]
    middle, mean = sum(x for x, _ in first) / FIRST, sum(y for _, y in first) / FIRST
    slope = sum((x - middle) * y for x, y in first) / sum((x - middle) ** 2 for x, _ in first)
    line = mean + slope * (share - middle)
    return last < (1 - ERROR) * max(line, max(y for _, y in before))


def _fits(profile: ModelProfile, budget: int) -> bool:
    costs = profile.costs
    return bool(costs.pace) and bool(profile.weight) and costs.dense + costs.least + profile.context <= budget


class _Counts:
    """The user's counts, with the share that is tried."""

    def __init__(self, usage: ModelUsage, idle_share: float) -> None:
        self.usage, self.idle_share = usage, idle_share

    def key(self, model: str) -> str:
        """Models are called by their keys here."""
        return model


class _Stage:
    """A memory in which models are rehearsed. seconds: that all of it would have taken; needs: bytes of contexts of the
    run that comes."""

    def __init__(self, profiles: Mapping[str, ModelProfile], budget: int) -> None:
        self.profiles, self.budget = profiles, budget
        self.open: list[_Rehearsed] = []
        self.seconds, self.needs = 0.0, 0

    def free(self, chosen: Chosen) -> int:
        """See pool.MemoryBudget."""
        return self.budget - sum(one.parts.total for one in self.open)

    def demand(self, model: str, chosen: Chosen) -> int | None:
        """See pool.MemoryBudget."""
        return self.profiles[model].nbytes + self.needs

    def conversations(self, run: ModelRun) -> int:
        """Bytes of as many conversations as gain by being answered at once (coserve, section 4.4)."""
        profile = self.profiles[run.model]
        return profile.context * min(run.answers, max(1, profile.greatest_batch))

    def open_model(self, model: str, chosen: Chosen, report: Report) -> _Rehearsed:
        """As OpenModel."""
        return _Rehearsed(self, model)


class _Rehearsed:
    """A model of its recorded size. capacity: bytes of experts that it may keep, of which some are there."""

    def __init__(self, stage: _Stage, key: str) -> None:
        self._stage, self.key, self.leases = stage, key, 0
        self._profile = stage.profiles[key]
        self._whole = max(0, self._profile.nbytes - self._profile.costs.dense)
        self._context = self._there = self._capacity = 0
        if stage.free({}) - self._profile.costs.dense - stage.needs < min(self._whole, self._profile.costs.least):
            raise UnderhillError(Kind.OUT_OF_MEMORY, translated("no room"))
        stage.seconds += self._profile.load
        stage.open.append(self)
        self.restore()

    @property
    def parts(self) -> MemoryParts:
        """See pool.Open."""
        costs = self._profile.costs
        return MemoryParts(costs.dense, self._context, self._capacity, costs.least, self._whole)

    def keep_experts(self, nbytes: int) -> None:
        """See pool.Open."""
        self._capacity = nbytes
        self._there = min(self._there, nbytes)

    def drop_context(self) -> None:
        """See pool.Open."""
        self._context = 0

    def restore(self) -> None:
        """See pool.Open."""
        context = max(self._context, self._stage.needs)
        room = self._stage.free({}) + self._capacity + self._context - context
        self._capacity = max(min(self._whole, self._profile.costs.least), min(self._whole, room))

    def close(self) -> None:
        """See pool.Open."""
        self._stage.open.remove(self)

    def answer(self, n: int) -> None:
        """What a run takes: the experts that are missing come first, as prompts ask for nearly all of them."""
        stage, costs, (k, b) = self._stage, self._profile.costs, self._profile.latency
        self.restore()
        self._context = max(self._context, stage.needs)
        stage.seconds += costs.refill * max(0, self._capacity - self._there)
        self._there = self._capacity
        alone = min(self._whole, stage.budget - costs.dense - self._context)  # as it mostly was when K was measured
        slower = 1.0
        if self._whole and (usual := costs.seconds(alone / self._whole)):
            slower = costs.seconds(self._capacity / self._whole) / usual
        stage.seconds += b + k * n * slower


def _quiet(text: Translatable, done: int, total: int) -> None:
    """Report nothing."""
