"""Drafts: what is guessed from earlier text or proposed by the model, and when it is left."""

from __future__ import annotations

import itertools
import random

from engine.generation.drafts import MOST_REST, REST, AnswerDrafts, DraftEvidence, DraftHistory, PromptLookup


def history(*, single: float = 1.0, four: float = 1.2, eight: float = 1.5, sixteen: float = 2.0) -> DraftHistory:
    made = DraftHistory()
    for tokens, seconds in ((1, single), (4, four), (8, eight), (16, sixteen)):
        made.costs.took(tokens, seconds)
    return made


def sure(ids: list[int], most: int = 16) -> PromptLookup:
    """Drafts that were right until now, so that long ones pay."""
    known = history()
    for record in known.records.values():
        record.checked(40, 40)
    return PromptLookup(ids, known, most)


def answered(drafts: PromptLookup, answer: list[int]) -> list[list[int]]:
    """The drafts that are made while this is answered."""
    made: list[list[int]] = []
    at = 0
    while at < len(answer):
        found = drafts.draft(len(answer) - at - 1)
        right = 0
        while right < len(found) and found[right] == answer[at + right]:
            right += 1
        for token in answer[at : at + right + 1]:
            drafts.add(token)
        if found:
            made.append(found)
            drafts.checked(len(found), right)
        at += right + 1
    return made


def test_it_goes_on_as_the_text_did_the_last_time() -> None:
    ids = [1, 2, 3, 4, 5, 9, 1, 2, 3, 7, 8, 6, 5, 4, 10, 11, 12, 13, 1, 2, 3]
    drafts = sure(ids)
    assert drafts.draft(3) == [7, 8, 6]
    assert drafts.draft(7) == [7, 8, 6, 5, 4, 10, 11]
    assert drafts.draft(2) == []  # no draft is so short
    drafts.add(99)
    assert drafts.draft(15) == []
    assert sure([1, 2, 3]).draft(15) == []


def test_images_are_never_drafted() -> None:
    before = [1, 2, 3, 8, -5, -6, 4, 9, 1, 2, 3]
    assert sure(before).draft(7) == [8]
    assert sure([1, 2, 3, -5, -6, 1, 2, 3]).draft(7) == []


def test_what_repeats_itself_goes_on_doing_so() -> None:
    for ids, most, expected in (([5, 1, 2, 1, 2, 1, 2, 1], 7, [2, 1, 2, 1, 2, 1, 2]), ([7] * 4, 15, [7] * 15)):
        drafts = sure(ids)
        assert drafts.draft(most) == expected


def test_it_finds_what_a_search_through_all_of_it_finds() -> None:
    rest = random.Random(3)
    ids = [rest.randrange(4) for _ in range(400)]
    drafts = sure(ids[:3], 4)
    for n in range(3, len(ids)):
        known = ids[:n]
        ends = [at for at in range(3, n) if known[at - 3 : at] == known[-3:]]
        assert bool(drafts.draft(3)) == bool(ends)
        if ends and ends[-1] + 3 <= n:
            assert drafts.draft(3) == known[ends[-1] : ends[-1] + 3]
        drafts.add(ids[n])


def test_no_more_tokens_than_a_pass_takes() -> None:
    for most, longest in ((1, 0), (3, 0), (4, 3), (8, 7), (16, 15)):
        drafts = sure([7] * 9, most)
        assert len(drafts.draft(100)) == longest


def test_behind_a_word_that_was_replaced_the_text_goes_on() -> None:
    text = list(range(100, 140))
    drafts = sure(text)
    assert answered(drafts, [*text[:10], 7, *text[11:30], 8, *text[31:]])[1:] == [text[11:26], text[27:34], text[31:38]]


def test_two_wrong_drafts_in_a_row_say_nothing_of_the_text_behind_them() -> None:
    text = list(range(100, 140))
    drafts = sure(text)
    assert drafts.draft(15) == []
    found = answered(drafts, [*text[:10], 7, 8, 9, 1, 2, 3, 4, 5])
    assert found == [text[3:10], text[11:14]]
    assert drafts.draft(15) == []
    assert answered(drafts, text[20:30]) == [text[23:26]]


def test_wrong_guesses_end_it_for_a_while_and_not_for_ever() -> None:
    seconds = {1: 1.0, 4: 1.5, 8: 2.5, 16: 4.0}
    known = history(four=1.5, eight=2.5, sixteen=4.0)
    drafts, tried = PromptLookup([7] * 9, known, 16), []
    for step in range(4000):
        if found := drafts.draft(15):
            tried.append(step)
            known.costs.took(1 + len(found), seconds[1 + len(found)])
            drafts.checked(len(found), 0)
    assert tried[0] == 0
    assert 4 < len(tried) < 60  # so often it was wrong in vain
    assert max(later - earlier for earlier, later in itertools.pairwise(tried)) > 256


def test_what_one_answer_taught_the_next_one_knows() -> None:
    known = history(four=2.3, eight=3.7, sixteen=6.0)
    text = list(range(100, 200))
    assert max(map(len, answered(PromptLookup(text, known, 16), text[:64]))) == 15
    assert len(PromptLookup([*text, *text[:20]], known, 16).draft(15)) == 15
    for record in known.records.values():
        record.rest = MOST_REST
    AnswerDrafts(text, known, 16)  # of which nothing is known yet, so that it is tried soon
    assert {record.rest for record in known.records.values()} == {REST}


def test_each_kind_of_evidence_rests_for_itself() -> None:
    known = history(four=2.3, eight=3.7, sixteen=6.0)
    known.records[DraftEvidence.FEW].rest = 5
    text = list(range(100, 160))
    assert PromptLookup([*text, *text[:4]], known, 16).draft(15) == []
    assert PromptLookup([*text, *text[:12]], known, 16).draft(15) != []
    assert known.records[DraftEvidence.FEW].rest == 4


def test_slow_passes_are_not_worth_it_and_are_tried_again_one_day() -> None:
    drafts = PromptLookup([7] * 9, history(four=5.0, eight=9.0, sixteen=17.0), 16)
    rested = 0
    while not drafts.draft(15):
        rested += 1
        assert rested < 10_000
    assert rested > 50


def test_what_would_not_pay_if_it_were_right_rests_long_over_answers() -> None:
    known = history(four=5.0, eight=9.0, sixteen=17.0)
    assert PromptLookup([7] * 9, known, 16).draft(15) == []
    assert known.records[DraftEvidence.MANY].rest == MOST_REST
    AnswerDrafts([7] * 9, known, 16)
    assert known.records[DraftEvidence.MANY].rest == MOST_REST


def test_one_trial_says_what_all_longer_passes_take_by_now() -> None:
    known = history(four=5.0, eight=9.0, sixteen=17.0)
    known.costs.took(4, 1.0, trial=True)
    assert [round(known.costs.of(tokens), 9) for tokens in (1, 4, 8, 16)] == [1.0, 3.0, 5.4, 10.2]


def test_unknown_passes_are_tried_once_a_single_one_was_seen() -> None:
    nothing = DraftHistory()
    assert PromptLookup([7] * 9, nothing, 16).draft(15) == []
    nothing.costs.took(1, 0.01)
    assert PromptLookup([7] * 9, nothing, 16).draft(15) != []


# ---- what the model proposes ---------------------------------------------------------------------------------------

PASSES = {1: 1.0, 2: 1.2, 3: 1.4, 4: 1.5, 8: 2.5, 16: 4.0}


class Proposer:
    """The first `right` tokens that it proposes are right; each takes so many seconds. asked: for how many it was."""

    def __init__(self, right: int, seconds: float = 0.05) -> None:
        self.right, self.seconds = right, seconds
        self.asked: list[int] = []

    def __call__(self, count: int) -> tuple[list[int], float]:
        self.asked.append(count)
        return [7] * count, count * self.seconds


def sped_up(
    proposer: Proposer, tokens: int = 2000, passes: dict[int, float] = PASSES, known: DraftHistory | None = None
) -> float:
    """How many times as fast an answer comes whose text says nothing of it."""
    known, taken, at = known or DraftHistory(), 0.0, 0
    drafts = AnswerDrafts([], known, 16)
    while at < tokens:
        found = drafts.draft(16, proposer)
        seconds = passes[1 + len(found)]
        if not found:
            known.costs.took(1, seconds)
        taken += seconds + len(found) * proposer.seconds
        right = min(len(found), proposer.right)
        for _ in range(right + 1):
            drafts.add(at)
            at += 1
        if found:
            drafts.checked(len(found), right, seconds)
    return at * passes[1] / taken


def test_what_is_proposed_well_makes_it_faster() -> None:
    sure, first = Proposer(3), Proposer(1)
    assert sped_up(sure) > 2.2
    assert set(sure.asked[20:]) == {3}
    assert sped_up(first) > 1.5
    assert first.asked.count(1) > 0.9 * len(first.asked)


def test_what_is_proposed_badly_rests() -> None:
    wrong = Proposer(0)
    assert sped_up(wrong) > 0.99
    assert 1 < len(wrong.asked) < 50  # so often in 2000 tokens it was wrong in vain


def test_what_was_slow_for_a_while_is_found_to_be_fast_again() -> None:
    slow = {tokens: seconds if tokens == 1 else 3 * seconds for tokens, seconds in PASSES.items()}
    proposer, known = Proposer(3), DraftHistory()
    assert sped_up(proposer, 1000, slow, known) > 0.98
    rested = len(proposer.asked)
    assert rested < 20
    sped_up(proposer, 3000, PASSES, known)
    assert len(proposer.asked) - rested > 400


def test_the_time_of_proposing_counts() -> None:
    slow = Proposer(3, seconds=2.0)
    assert sped_up(slow) > 0.98
    assert len(slow.asked) < 20
    known = history()
    assert AnswerDrafts([], known, 16).draft(16, lambda count: ([7] * count, 0.0))
    assert not known.proposing.seconds


def test_the_better_of_text_and_model_is_checked() -> None:
    known = history(four=1.2, eight=1.5, sixteen=2.0)
    repeats = [7, 8] * 20
    for record in known.records.values():
        record.checked(40, 40)
    model = Proposer(3)
    text = AnswerDrafts(repeats, known, 16)
    assert len(text.draft(15, model)) == 15
    text.checked(15, 15, 2.0)
    assert not model.asked
    known.records[DraftEvidence.MANY].checked(15, 0)
    for _ in range(20):
        known.records[DraftEvidence.MANY].checked(15, 0)
    text = AnswerDrafts(repeats, known, 16)
    assert text.draft(15, model) == [7] * 3
    text.checked(3, 2, 1.2)
    assert (text.drafted, text.accepted) == (3, 2)
    assert AnswerDrafts(repeats, known, 16).draft(0, model) == []
    assert AnswerDrafts([1], known, 16).draft(15, None) == []
