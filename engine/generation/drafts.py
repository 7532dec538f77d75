"""Prompt lookup: what followed the last words where they stood before is checked several tokens at a time.

Quotes, names, code that is changed a little: much of an answer stands in its chat already. A pass over a few tokens
takes less than as many passes, since weights are read once, so tokens that are guessed right cost less; those that are
guessed wrong are taken back. (Speculative decoding, Leviathan et al. 2023, with the text itself as the draft model, as
in prompt lookup decoding, Saxena 2023.) Whoever chooses tokens does so from the same logits as ever: no answer changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

BEHIND = 3  # tokens that have to stand there before: fewer are found everywhere, and go on in many ways
SIZES = (3, 7, 15)  # tokens of a draft: with the one before them 4, 8 and 16, as many as a pass may take
GAINS = 1.05  # by which a draft has to be faster than no draft, to be tried
LEARN = 0.2  # weight of the last pass in how long one takes
KEPT = 0.9  # of what was seen of drafts, with each that is checked
REST, MOST_REST = 16, 512  # drafts that are left out once they do not pay, and twice as many each time until one does
CHEAPER = 0.9  # as which part of its time a longer pass is taken behind a rest: what slowed it down may be over
# Of a pass over n tokens, where none was seen yet: 1 + HOPED (n - 1) times one over a single token. Too little, so that
# it is tried once.
HOPED = 0.1


@dataclass
class DraftCosts:
    """How long passes take on this machine, for this model. seconds: by tokens of a pass."""

    seconds: dict[int, float] = field(default_factory=dict)

    def took(self, tokens: int, seconds: float) -> None:
        """A pass over so many tokens took so long."""
        known = self.seconds.get(tokens, seconds)
        self.seconds[tokens] = known + LEARN * (seconds - known)

    def of(self, tokens: int) -> float:
        """What it is expected to take; 0 until a single token was seen."""
        return self.seconds.get(tokens, self.seconds.get(1, 0.0) * (1 + HOPED * (tokens - 1)))

    def hope(self) -> None:
        """What was slow may be faster by now."""
        for tokens in self.seconds:
            if tokens > 1:
                self.seconds[tokens] *= CHEAPER


class PromptLookup:
    """Drafts for one answer. most: tokens of a pass. drafted, accepted: tokens so far."""

    def __init__(self, ids: Sequence[int], costs: DraftCosts, most: int) -> None:
        """ids: all tokens so far."""
        self.drafted = self.accepted = 0
        self._costs = costs
        self._sizes = [size for size in SIZES if size < most]
        self._right = self._tried = 0.0  # tokens of drafts, lately: each that was right, and the first that was not
        self._rest, self._next_rest = 0, REST
        self._ids: list[int] = []
        self._behind: dict[tuple[int, ...], int] = {}  # where what stands behind such tokens begins, the last time
        for token in ids:
            self.add(token)

    def add(self, token: int) -> None:
        """The next token of the chat."""
        if len(self._ids) >= BEHIND:
            self._behind[tuple(self._ids[-BEHIND:])] = len(self._ids)
        self._ids.append(token)

    def draft(self, room: int) -> list[int]:
        """What may come next; [] where nothing is known, or guessing would not pay. room: most tokens."""
        at = self._behind.get(tuple(self._ids[-BEHIND:])) if len(self._ids) >= BEHIND else None
        sizes = [size for size in self._sizes if size <= room]
        if at is None or not sizes:
            return []
        if self._rest:
            self._rest -= 1
            if not self._rest:  # another try
                self._right = self._tried = 0.0
                self._costs.hope()
            return []
        size = max(sizes, key=self._gain)
        if self._gain(size) < GAINS:
            self._rest, self._next_rest = self._next_rest, min(MOST_REST, 2 * self._next_rest)
            return []
        found: list[int] = []
        for place in range(at, at + size):  # what repeats itself goes on repeating itself
            token = self._ids[place] if place < len(self._ids) else found[place - len(self._ids)]
            if token < 0:  # a part of an image, which no answer has
                break
            found.append(token)
        return found

    def checked(self, drafted: int, accepted: int) -> None:
        """Of a draft of so many tokens so many were right."""
        self.drafted += drafted
        self.accepted += accepted
        self._right = KEPT * self._right + accepted
        self._tried = KEPT * self._tried + accepted + (accepted < drafted)
        if accepted == drafted:
            self._next_rest = REST

    def _gain(self, size: int) -> float:
        """How many times as fast tokens are expected to come with a draft of so many."""
        right = (self._right + 1) / (self._tried + 2)
        tokens = sum(right**n for n in range(size + 1))  # the one that comes in any case, and those that are right
        passes = self._costs.of(size + 1)
        return tokens * self._costs.of(1) / passes if passes else 0.0
