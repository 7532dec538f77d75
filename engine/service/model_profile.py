"""What a model costs on this computer, as seen of real answers: opening it, a run of answers, and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

KEPT = 0.9  # of the weight of what was seen before, with every new run of answers
NEW = 0.3  # of a new time to open it, or of a pass; the rest is what was known
PLATEAU = 0.05  # more seconds for each answer than at the best number of them: a greater batch gains no more
MOST = 1e15  # no figure is as large


@dataclass(frozen=True, kw_only=True)
class MemoryCosts:
    """What an open model takes, and what less of it costs. dense: bytes beside experts; least: of experts, at least.

    refill: seconds to read a byte of missing experts. pace: seconds of a token, as the plan reckons it, with more of
    its experts in memory in equal steps, from none to all of them.
    """

    dense: int = 0
    least: int = 0
    refill: float = 0.0
    pace: tuple[float, ...] = ()

    def seconds(self, share: float) -> float:
        """Of a token with this share of the experts in memory; 0 where it is not known."""
        if len(self.pace) < 2:
            return 0.0
        at = min(1.0, max(0.0, share)) * (len(self.pace) - 1)
        low = min(int(at), len(self.pace) - 2)
        return self.pace[low] + (at - low) * (self.pace[low + 1] - self.pace[low])


@dataclass(frozen=True, kw_only=True)
class ModelProfile:
    """Seconds and bytes. load: to open it; nbytes: that it takes when open, with all experts; costs: of that memory.
    context: bytes of one conversation. passes: of a pass over one answer, over two at once, and so on; 0: not seen.

    The other numbers are decayed sums over runs of `n` answers, one behind another or at once, without another model
    between them: weight, n, seconds, n * n, n * seconds.
    """

    load: float = 0.0
    nbytes: int = 0
    costs: MemoryCosts = MemoryCosts()
    context: int = 0
    passes: tuple[float, ...] = ()
    weight: float = 0.0
    n: float = 0.0
    seconds: float = 0.0
    nn: float = 0.0
    ns: float = 0.0

    def opened(self, seconds: float, nbytes: int) -> ModelProfile:
        """It was opened in so many seconds."""
        load = seconds if not self.load else self.load + NEW * (seconds - self.load)
        return replace(self, load=load, nbytes=nbytes)

    def needing(self, costs: MemoryCosts) -> ModelProfile:
        """What its memory costs, as was found when it was opened."""
        return replace(self, costs=costs)

    def computed(self, context: int, passes: Mapping[int, float]) -> ModelProfile:
        """While it answered its conversations took so many bytes each, and passes over so many answers so long."""
        known = dict(enumerate(self.passes, 1))
        for n, seconds in passes.items():
            known[n] = known[n] + NEW * (seconds - known[n]) if known.get(n) else seconds
        found = tuple(known.get(n, 0.0) for n in range(1, max(known, default=0) + 1))
        context = context if not self.context else self.context + int(NEW * (context - self.context))
        return replace(self, context=context, passes=found)

    @property
    def greatest_batch(self) -> int:
        """Answers at once beyond which none is answered sooner (coserve, section 4.5); 0 where that is not known."""
        each = {n: seconds / n for n, seconds in enumerate(self.passes, 1) if seconds}
        best = min(each.values(), default=0.0)
        return next((n for n, seconds in each.items() if seconds <= best * (1 + PLATEAU)), 0)

    @property
    def run_length(self) -> float:
        """Answers of a run, in the mean; 1 where none was seen."""
        return max(1.0, self.n / self.weight) if self.weight else 1.0

    def answered(self, n: int, seconds: float) -> ModelProfile:
        """A run of n answers took so long."""
        sums = (self.weight, self.n, self.seconds, self.nn, self.ns)
        new = (1.0, n, seconds, n * n, n * seconds)
        weight, total, took, nn, ns = (KEPT * old + one for old, one in zip(sums, new, strict=True))
        return replace(self, weight=weight, n=total, seconds=took, nn=nn, ns=ns)

    @property
    def latency(self) -> tuple[float, float]:
        """K and B of a run's latency K * n + B (coserve, section 4.2), by least squares; neither is ever negative.

        Where all runs were equally long, B cannot be told from K and is 0.
        """
        if not self.weight:
            return 0.0, 0.0
        spread = self.weight * self.nn - self.n * self.n
        mean = self.seconds / self.n
        if spread <= 1e-6 * self.n * self.n:
            return mean, 0.0
        k = (self.weight * self.ns - self.n * self.seconds) / spread
        b = (self.seconds - k * self.n) / self.weight
        if k < 0:
            return 0.0, self.seconds / self.weight
        return (k, b) if b >= 0 else (mean, 0.0)

    def additional(self, n: int, *, joins: bool, loaded: bool) -> float:
        """Seconds that n more requests take on an executor. joins: the model runs or is queued there already, so that
        the run's B and the loading are paid for; loaded: it is open."""
        k, b = self.latency
        return k * n + (0.0 if joins else b + (0.0 if loaded else self.load))

    def to_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> ModelProfile:
        """Raises what a damaged file makes it raise: KeyError, TypeError, ValueError."""
        costs = found["costs"]
        return cls(
            load=_number(found["load"]),
            nbytes=int(_number(found["nbytes"])),
            costs=MemoryCosts(
                dense=int(_number(costs["dense"])),
                least=int(_number(costs["least"])),
                refill=_number(costs["refill"]),
                pace=tuple(map(_number, costs["pace"])),
            ),
            context=int(_number(found["context"])),
            passes=tuple(map(_number, found["passes"])),
            **{name: _number(found[name]) for name in ("weight", "n", "seconds", "nn", "ns")},
        )


def _number(value: Any) -> float:
    number = float(value)
    if not 0 <= number < MOST:  # NaN, too
        raise ValueError(f"not a figure of a profile: {value}")
    return number


class RunMeter:
    """Times runs of answers of one model: one behind another, or at once. Used from one thread.

    ended: told of each run: the model's key, its answers, and the seconds in which there was one.
    """

    def __init__(self, ended: Callable[[str, int, float], None], now: Callable[[], float] = time.monotonic) -> None:
        self._ended, self._now = ended, now
        self._key = ""
        self._answers = 0
        self._seconds = 0.0
        self._under_way = 0
        self._mixed = False  # an answer of another model was made while one of these was: its time cannot be told apart

    @contextmanager
    def answering(self, key: str, answers: int = 1) -> Iterator[None]:
        """An answer of this model. One that fails or is stopped counts as none, and so does its run. answers: 0 for the
        rest of those that have joined."""
        if self._under_way and key != self._key:
            self._mixed = True
        elif key != self._key:
            self.end()
            self._key = key
        begun, self._under_way = self._now(), self._under_way + 1
        try:
            yield
        except BaseException:
            self._mixed = True
            raise
        finally:
            self._under_way -= 1
            self._answers += answers
            if not self._under_way:
                self._seconds += self._now() - begun

    def joined(self) -> None:
        """One more answer is made together with that under way."""
        self._answers += 1

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Answers that have joined are made to their end."""
        if self._key:
            with self.answering(self._key, 0):
                yield
        else:
            yield

    def end(self) -> None:
        """The run is over, if there is one and nothing of it is under way."""
        if self._under_way:
            return
        if self._answers and not self._mixed:
            self._ended(self._key, self._answers, self._seconds)
        self._key, self._answers, self._seconds, self._mixed = "", 0, 0.0, False
