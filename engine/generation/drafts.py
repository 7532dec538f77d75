"""Drafts: what may come next is guessed, and checked several tokens at a time.

Quotes, names, code that is changed a little: much of an answer stands in its chat already, and what followed the last
words where they stood before may follow once more. Some models propose a few tokens besides. A pass over a few tokens
takes less than as many passes, since weights are read once, so tokens that are guessed right cost less; those that are
guessed wrong are taken back, and behind them the text may go on as it did but for that word. (Speculative decoding,
Leviathan et al. 2023, with the text itself as the draft model, as in prompt lookup decoding, Saxena 2023, or with
multi-token prediction, models/mtp.py.) Whoever chooses tokens does so from the same logits as ever: no answer changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

BEHIND = 3  # tokens that have to stand there before: fewer are found everywhere, and go on in many ways
MANY = 8  # tokens that stand there before, of which it is likely that more follow
SIZES = (3, 7, 15)  # tokens of a draft: with the one before them 4, 8 and 16, as many as a pass may take
PROPOSED = 3  # tokens that a model proposes at most: each is made of the one before it
GAINS = 1.05  # by which a draft has to be faster than no draft, to be tried
LEARN = 0.2  # weight of the last pass in how long one takes
LEARN_SOON = 0.5  # of one that is tried behind a rest: what slowed passes down before may be over
KEPT = 0.9  # of what was seen of drafts, with each that is checked
# Drafts that are left out once they do not pay, and twice as many each time until they do: what a trial costs, a few
# tokens' time with what a model reads before it proposes anything, is to be 2 % at most. As many as at most at once
# where passes take so long that drafts would not pay if all of them were right.
REST, MOST_REST = 32, 512
# Of a pass over n tokens, where none was seen yet: 1 + HOPED (n - 1) times one over a single token. Too little, so that
# it is tried once.
HOPED = 0.1


@dataclass
class DraftCosts:
    """How long passes take on this machine, for this model. seconds: by tokens of a pass. several: from how many on a
    pass is one that checks a draft."""

    seconds: dict[int, float] = field(default_factory=dict)
    several: int = 2

    def took(self, tokens: int, seconds: float, trial: bool = False) -> None:
        """A pass over so many tokens took so long. trial: behind a rest, and says as much of all over several."""
        known = self.seconds.setdefault(tokens, seconds)
        if not trial:
            self.seconds[tokens] += LEARN * (seconds - known)
            return
        for several in (size for size in self.seconds if size >= self.several):
            self.seconds[several] *= 1 + LEARN_SOON * (seconds / known - 1)

    def of(self, tokens: int) -> float:
        """What it is expected to take; 0 until a single token was seen."""
        return self.seconds.get(tokens, self.single * (1 + HOPED * (tokens - 1)))

    @property
    def single(self) -> float:
        """Of one token, no longer than of several: where each pass checks a draft, it was seen long ago. 0: never."""
        return min(self.seconds.values()) if 1 in self.seconds else 0.0


@dataclass
class ProposalCosts(DraftCosts):
    """How long it takes to propose tokens. seconds: by their number."""

    several: int = 1

    def of(self, tokens: int) -> float:
        """What it is expected to take; 0 until it was seen of any number."""
        each = min((seconds / known for known, seconds in self.seconds.items()), default=0.0)
        return self.seconds.get(tokens, each * tokens)


class DraftEvidence(Enum):
    """Why a draft is made. Each is right so often, and rests for itself once it is not."""

    FEW = "a few tokens stand there before"
    MANY = "many tokens stand there before"
    EDITED = "the last draft was right but for its last token, which may have been replaced"


@dataclass
class DraftRecord:
    """How drafts of one kind of evidence did lately. right, tried: tokens that were right; those and the first of each
    draft that was not. Both begin with what is expected of such drafts anywhere, `expected` of them.
    """

    expected: tuple[float, float]
    right: float = 0.0
    tried: float = 0.0
    rest: int = 0  # drafts to be left out
    next_rest: int = REST
    trials: int = 0  # drafts to be made behind a rest, whatever they are expected to bring

    @property
    def share(self) -> float:
        """How likely the next token of a draft is right, if all before it are."""
        return (self.expected[0] + self.right) / (self.expected[1] + self.tried)

    def checked(self, drafted: int, accepted: int) -> None:
        """Of a draft of so many tokens so many were right."""
        self.right = KEPT * self.right + accepted
        self.tried = KEPT * self.tried + accepted + (accepted < drafted)
        if accepted == drafted:
            self.next_rest = REST
        if self.trials and not accepted:
            self._leave()
        self.trials = max(0, self.trials - 1)

    def rests(self, trials: int = 1) -> bool:
        """Whether the next draft is left out. trials: drafts to be made behind the last that is."""
        if not self.rest:
            return False
        self.rest -= 1
        if not self.rest:
            self.right = self.tried = 0.0
            self.trials = trials
        return True

    def pays(self, gain: float, hopeless: bool) -> bool:
        """Whether to make a draft with which tokens are expected to come so many times as fast; else it rests, longer
        than the last time. hopeless: it would not pay if all of it were right."""
        if self.trials or gain >= GAINS:
            return True
        self._leave()
        if hopeless:
            self.rest = MOST_REST
        return False

    def _leave(self) -> None:
        self.rest, self.next_rest = self.next_rest, min(MOST_REST, 2 * self.next_rest)
        self.trials = 0


@dataclass
class DraftHistory:
    """What the answers of an open model taught about drafts.

    proposing, proposed: of what the model proposes, how long that takes, and how the first of those tokens did, the
    second and so on. All of them rest with the first.
    """

    costs: DraftCosts = field(default_factory=DraftCosts)
    proposing: DraftCosts = field(default_factory=ProposalCosts)
    proposed: tuple[DraftRecord, ...] = field(
        default_factory=lambda: tuple(DraftRecord((0.8, 1.0)) for _ in range(PROPOSED))
    )
    records: dict[DraftEvidence, DraftRecord] = field(
        default_factory=lambda: {
            DraftEvidence.FEW: DraftRecord((1.5, 2.0)),
            DraftEvidence.MANY: DraftRecord((1.8, 2.0)),
            DraftEvidence.EDITED: DraftRecord((1.5, 2.0)),
        }
    )

    def new_answer(self) -> None:
        """It may be of another kind than those before: what rests is tried again soon, but for what is hopeless."""
        if not self.hopeless:
            for record in self.records.values():
                record.rest = min(record.rest, REST)
        if not self.proposals_hopeless:
            self.proposed[0].rest = min(self.proposed[0].rest, REST)

    @property
    def hopeless(self) -> bool:
        """Whether drafts from text would not pay if all of them were right."""
        return all((1 + size) * self.costs.single < GAINS * self.costs.of(1 + size) for size in SIZES)

    @property
    def proposals_hopeless(self) -> bool:
        """The same of what the model proposes."""
        return all((1 + size) * self.costs.single < GAINS * self.drafted(size) for size in range(1, PROPOSED + 1))

    def drafted(self, size: int) -> float:
        """Seconds that it takes to propose so many tokens and to check them."""
        return self.costs.of(1 + size) + self.proposing.of(size)


class PromptLookup:
    """Drafts of one answer from earlier text. most: tokens of a pass."""

    def __init__(self, ids: Sequence[int], history: DraftHistory, most: int) -> None:
        """ids: all tokens so far."""
        self._history, self._costs, self._records = history, history.costs, history.records
        self._sizes = [size for size in SIZES if size < most]
        self._ids: list[int] = []
        self._behind: dict[tuple[int, ...], int] = {}  # where what stands behind such tokens begins, the last time
        self._goes_on: int | None = None  # where the text goes on from which the last draft was taken
        self._made_of: tuple[DraftEvidence, int] | None = None  # the last draft, and where it was found
        for token in ids:
            self.add(token)

    def add(self, token: int) -> None:
        """The next token of the chat."""
        if len(self._ids) >= BEHIND:
            self._behind[tuple(self._ids[-BEHIND:])] = len(self._ids)
        self._ids.append(token)
        if self._goes_on is not None:
            self._goes_on += 1

    def draft(self, room: int, than: float = 0.0) -> list[int]:
        """What may come next; [] where nothing is known, or guessing would not pay. room: most tokens. than: how many
        times as fast tokens come with another draft.
        """
        sizes = [size for size in self._sizes if size <= room]
        place = self._place()
        if place is None or not sizes or not self._costs.single:
            return []
        evidence, at = place
        record = self._records[evidence]
        if record.rests():
            return []
        size = sizes[0] if record.trials else max(sizes, key=lambda size: self._gain(size, record.share))
        gain = self._gain(size, record.share)
        if not record.pays(gain, self._history.hopeless):
            return []
        if gain < than:
            return []
        self._made_of = place
        return self._text(at, size)

    @property
    def tries(self) -> bool:
        """Whether the last draft was made behind a rest."""
        return self._made_of is not None and bool(self._records[self._made_of[0]].trials)

    def checked(self, drafted: int, accepted: int) -> None:
        """Of the last draft, of so many tokens, so many were right; they, and the one behind them, were added."""
        assert self._made_of is not None
        evidence, at = self._made_of
        self._records[evidence].checked(drafted, accepted)
        lost = evidence is DraftEvidence.EDITED and not accepted  # two in a row are no longer one that was replaced
        self._goes_on = None if lost else at + accepted + 1

    def _place(self) -> tuple[DraftEvidence, int] | None:
        """Why a draft can be made, and from where in the text."""
        ids = self._ids
        at = self._behind.get(tuple(ids[-BEHIND:])) if len(ids) >= BEHIND else None
        if at is not None:
            many = at >= MANY and ids[at - MANY : at] == ids[-MANY:]
            return DraftEvidence.MANY if many else DraftEvidence.FEW, at
        if self._goes_on is not None and self._goes_on < len(ids):
            return DraftEvidence.EDITED, self._goes_on
        return None

    def _text(self, at: int, size: int) -> list[int]:
        found: list[int] = []
        for place in range(at, at + size):  # what repeats itself goes on repeating itself
            token = self._ids[place] if place < len(self._ids) else found[place - len(self._ids)]
            if token < 0:  # a part of an image, which no answer has
                break
            found.append(token)
        return found

    def _gain(self, size: int, share: float) -> float:
        """How many times as fast tokens are expected to come with a draft of so many."""
        tokens = sum(share**n for n in range(size + 1))  # the one that comes in any case, and those that are right
        return tokens * self._costs.single / self._costs.of(size + 1)


# Of so many tokens: which they are, and how long it takes to propose them; 0 where it took longer than it will again.
Propose = Callable[[int], tuple[list[int], float]]


class AnswerDrafts:
    """Drafts of one answer: what its text or its model promises more of. drafted, accepted: tokens so far."""

    def __init__(self, ids: Sequence[int], history: DraftHistory, most: int) -> None:
        """ids: all tokens so far. most: tokens of a pass."""
        self.drafted = self.accepted = 0
        history.new_answer()
        self._lookup, self._history, self._most = PromptLookup(ids, history, most), history, most
        self._proposed = False  # the last draft

    def add(self, token: int) -> None:
        """The next token of the chat."""
        self._lookup.add(token)

    def draft(self, room: int, propose: Propose | None = None) -> list[int]:
        """What may come next; [] where nothing is known, or guessing would not pay. room: most tokens. propose: of the
        model; None: it does not. Raises what that raises.
        """
        gain, size = (0.0, 0) if propose is None else self._best(min(room, self._most - 1))
        found = self._lookup.draft(room, gain)
        self._proposed = not found and bool(size)
        if propose is None or not self._proposed:
            return found
        found, seconds = propose(size)
        if seconds:
            self._history.proposing.took(size, seconds, bool(self._history.proposed[0].trials))
        return found

    def checked(self, drafted: int, accepted: int, seconds: float) -> None:
        """See PromptLookup.checked. seconds: that checking took."""
        self.drafted += drafted
        self.accepted += accepted
        tries = bool(self._history.proposed[0].trials) if self._proposed else self._lookup.tries
        self._history.costs.took(1 + drafted, seconds, tries)
        if not self._proposed:
            self._lookup.checked(drafted, accepted)
            return
        for at, record in enumerate(self._history.proposed[: min(drafted, accepted + 1)]):
            record.checked(1, int(at < accepted))

    def _best(self, room: int) -> tuple[float, int]:
        """How many times as fast tokens come with what the model proposes, and of how many; zeros: it does not pay."""
        known, first = self._history, self._history.proposed[0]
        # Of two the second alone says how long it takes to propose: the first one reads what was answered meanwhile.
        if room < 1 or not known.costs.single or first.rests(2 if known.proposals_hopeless else 1):
            return 0.0, 0
        tokens = likely = 1.0  # of a pass: the one that comes in any case, and those that are right
        best = 0.0, 0
        for size, record in enumerate(known.proposed[:room], 1):
            likely *= record.share
            tokens += likely
            best = max(best, (tokens * known.costs.single / known.drafted(size), size))
        return best if first.pays(best[0], known.proposals_hopeless) else (0.0, 0)
