"""Prompt lookup: what it guesses, and when it leaves it."""

from __future__ import annotations

import itertools
import random

from engine.generation.drafts import DraftCosts, PromptLookup


def costs(*, single: float = 1.0, four: float = 1.2, eight: float = 1.5, sixteen: float = 2.0) -> DraftCosts:
    made = DraftCosts()
    for tokens, seconds in ((1, single), (4, four), (8, eight), (16, sixteen)):
        made.took(tokens, seconds)
    return made


def test_it_goes_on_as_the_text_did_the_last_time() -> None:
    ids = [1, 2, 3, 4, 5, 9, 1, 2, 3, 7, 8, 6, 5, 4, 10, 11, 12, 13, 1, 2, 3]
    drafts = PromptLookup(ids, costs(), 16)
    drafts.checked(40, 40)  # so that long drafts pay
    assert drafts.draft(3) == [7, 8, 6]
    assert drafts.draft(7) == [7, 8, 6, 5, 4, 10, 11]
    assert drafts.draft(2) == []  # no draft is so short
    drafts.add(99)
    assert drafts.draft(15) == []
    assert PromptLookup([1, 2, 3], costs(), 16).draft(15) == []


def test_images_are_never_drafted() -> None:
    before = [1, 2, 3, 8, -5, -6, 4, 9, 1, 2, 3]
    assert PromptLookup(before, costs(), 16).draft(7) == [8]
    assert PromptLookup([1, 2, 3, -5, -6, 1, 2, 3], costs(), 16).draft(7) == []


def test_what_repeats_itself_goes_on_doing_so() -> None:
    for ids, most, expected in (([5, 1, 2, 1, 2, 1, 2, 1], 7, [2, 1, 2, 1, 2, 1, 2]), ([7] * 4, 15, [7] * 15)):
        drafts = PromptLookup(ids, costs(), 16)
        drafts.checked(40, 40)
        assert drafts.draft(most) == expected


def test_it_finds_what_a_search_through_all_of_it_finds() -> None:
    rest = random.Random(3)
    ids = [rest.randrange(4) for _ in range(400)]
    drafts = PromptLookup(ids[:3], costs(), 4)
    for n in range(3, len(ids)):
        known = ids[:n]
        ends = [at for at in range(3, n) if known[at - 3 : at] == known[-3:]]
        assert bool(drafts.draft(3)) == bool(ends)
        if ends and ends[-1] + 3 <= n:
            assert drafts.draft(3) == known[ends[-1] : ends[-1] + 3]
        drafts.checked(3, 3)
        drafts.add(ids[n])


def test_no_more_tokens_than_a_pass_takes() -> None:
    for most, longest in ((1, 0), (3, 0), (4, 3), (8, 7), (16, 15)):
        drafts = PromptLookup([7] * 9, costs(), most)
        drafts.checked(40, 40)
        assert len(drafts.draft(100)) == longest


def test_wrong_guesses_end_it_for_a_while_and_not_for_ever() -> None:
    seconds = {1: 1.0, 4: 1.5, 8: 2.5, 16: 4.0}
    known = costs(four=1.5, eight=2.5, sixteen=4.0)
    drafts, tried = PromptLookup([7] * 9, known, 16), []
    for step in range(4000):
        if found := drafts.draft(15):
            tried.append(step)
            known.took(1 + len(found), seconds[1 + len(found)])
            drafts.checked(len(found), 0)
    assert tried[0] == 0
    assert 4 < len(tried) < 40  # so often it was wrong in vain
    assert max(later - earlier for earlier, later in itertools.pairwise(tried)) > 256


def test_slow_passes_are_not_worth_it_and_are_tried_again_one_day() -> None:
    slow = costs(four=5.0, eight=9.0, sixteen=17.0)
    drafts = PromptLookup([7] * 9, slow, 16)
    rested = 0
    while not drafts.draft(15):
        rested += 1
        assert rested < 10_000
    assert rested > 100


def test_unknown_passes_are_tried_once_a_single_one_was_seen() -> None:
    nothing = DraftCosts()
    assert PromptLookup([7] * 9, nothing, 16).draft(15) == []
    nothing.took(1, 0.01)
    assert PromptLookup([7] * 9, nothing, 16).draft(15) != []
