"""How likely each model is the next one asked for, and behind which other: decayed counts of the user's requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Requests after which one counts half: what was used last week still tells, what was last year does not.
HALF_LIFE = 200
DECAY = 0.5 ** (1 / HALF_LIFE)
LEAST = 0.01  # counts below which a model or a pair is forgotten; some 1,300 requests after its last use


@dataclass
class ModelUsage:
    """Counts by model, whatever it is called by. after: of the requests of a model, those that went on from another's
    answer, by that other one and the model (coserve, section 4.5: usage probabilities and dependencies).
    """

    uses: dict[str, float] = field(default_factory=dict)
    after: dict[tuple[str, str], float] = field(default_factory=dict)

    def note(self, model: str, preliminary: str = "") -> None:
        """One request. preliminary: the model whose answer it goes on from; '' where it is the first of its chain."""
        self.uses = _decayed(self.uses)
        self.after = _decayed(self.after)
        self.uses[model] = self.uses.get(model, 0.0) + 1
        if preliminary:
            pair = preliminary, model
            self.after[pair] = self.after.get(pair, 0.0) + 1

    def probability(self, model: str) -> float:
        """Of the next request being for this model; 0 where it was never asked for."""
        total = sum(self.uses.values())
        return self.uses.get(model, 0.0) / total if total else 0.0

    def preliminaries(self, model: str) -> frozenset[str]:
        """The models that this one goes on from; none where it is the first of its chain half the time or more."""
        found = {first: count for (first, then), count in self.after.items() if then == model}
        return frozenset(found) if 2 * sum(found.values()) > self.uses.get(model, 0.0) else frozenset()

    def knows(self, model: str) -> bool:
        """Whether anything is known of it."""
        return model in self.uses or any(model in pair for pair in self.after)

    def forget(self, model: str) -> None:
        """Remove all that is known of it."""
        self.uses.pop(model, None)
        self.after = {pair: count for pair, count in self.after.items() if model not in pair}

    def to_json(self) -> dict[str, Any]:
        """For a file."""
        return {"uses": self.uses, "after": [[*pair, count] for pair, count in self.after.items()]}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> ModelUsage:
        """Raises what a damaged file makes it raise: KeyError, TypeError, ValueError, AttributeError."""
        uses = {str(model): _count(count) for model, count in found["uses"].items()}
        return cls(uses, {(str(first), str(then)): _count(count) for first, then, count in found["after"]})


def lacks_preliminary(usage: ModelUsage, model: str, there: Iterable[str]) -> bool:
    """Whether it is only asked for behind models none of which is `there`: it will not run before one of them is."""
    needed = usage.preliminaries(model)
    return bool(needed) and needed.isdisjoint(there)


def _count(value: Any) -> float:
    count = float(value)
    if not 0 <= count < 1e6:  # NaN, too
        raise ValueError(f"not a count: {value}")
    return count


def _decayed(counts: dict[Any, float]) -> dict[Any, float]:
    return {key: count * DECAY for key, count in counts.items() if count >= LEAST}
