"""What a process takes beside its expert cache, and what of the ceiling is left for that."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.hardware.own_use import WINDOW, OwnUse, allowed, seen, turned

MB = 1_000_000
CEILING, PLANNED = 800 * MB, 236 * MB
UNSEEN = OwnUse()


def after(looks: list[tuple[float, int]], use: OwnUse = UNSEEN, held: int = 64 * MB) -> OwnUse:
    """beside: bytes that the process takes beside its cache."""
    for when, beside in looks:
        use = seen(use, beside + held + held // 64, held, 0, 0, when)
    return use


def test_who_stays_below_the_ceiling_keeps_what_was_planned() -> None:
    assert allowed(OwnUse(), None, PLANNED, 0, CEILING) is None
    assert allowed(after([(0.0, 550 * MB)]), None, PLANNED, 0, CEILING) is None


def test_what_the_process_takes_more_is_taken_from_the_cache_once_and_given_back_within_a_window() -> None:
    use = after([(0.0, 500 * MB), (0.5, 700 * MB)])
    found = allowed(use, None, PLANNED, 0, CEILING)
    assert found is not None
    assert 0.95 * 100 * MB <= found < 100 * MB
    assert allowed(use, found, PLANNED, 0, CEILING) == found  # a second look at the same takes nothing more
    assert allowed(after([(1.6, 500 * MB)], use), found, PLANNED, 0, CEILING) is None


def test_before_the_cache_is_filled_what_it_would_take_is_reckoned_with() -> None:
    found = allowed(after([(0.0, 700 * MB)], held=10 * MB), None, PLANNED, 0, CEILING)
    assert found is not None
    assert found < 100 * MB


def test_rows_of_a_context_that_is_left_count_no_more() -> None:
    use = seen(OwnUse(), 790 * MB, 90 * MB, 60 * MB, 60 * MB, 0.0)
    full, fresh = (allowed(use, None, PLANNED, rows, CEILING) for rows in (60 * MB, 0))
    assert full is not None
    assert fresh is not None
    assert 55 * MB < fresh - full <= 60 * MB


def test_a_prompt_expects_what_prompts_before_it_took_all_the_time() -> None:
    use = turned(after([(0.0, 500 * MB)]), True, 512)
    use = after([(n / 4, 560 * MB if n % 2 else 620 * MB) for n in range(2, 20)], use)
    use = after([(5.0, 900 * MB)], use)  # a moment that was not the prompt's
    use = after([(7.0 + n / 4, 620 * MB) for n in range(8)], use)
    use = turned(use, False, 1)
    assert use.rise == 120 * MB
    use = turned(after([(10.0, 510 * MB)], use), True, 512)
    assert use.most(0) == 630 * MB
    assert after([(10.5, 450 * MB)], use).most(0) == 570 * MB  # the rest of the process has let go of something
    half = turned(turned(use, False, 1), True, 256)
    assert half.most(0) == 570 * MB


def test_a_prompt_that_takes_less_is_believed_by_and_by() -> None:
    use = OwnUse(decoding=500 * MB, rise=200 * MB, of=512)
    for start in range(0, 100, 10):
        use = turned(use, True, 512)
        use = turned(after([(start + n / 4, 520 * MB) for n in range(20)], use), False, 1)
    assert 20 * MB <= use.rise < 21 * MB


@given(st.lists(st.integers(300, 900), min_size=1, max_size=30))
def test_it_is_never_more_than_the_ceiling_leaves_nor_much_less(beside: list[int]) -> None:
    """By the looks of the last WINDOW."""
    use, fits, held = OwnUse(), None, 64 * MB
    for second, taken in enumerate(beside):
        use = seen(use, taken * MB + held + held // 64, held, 0, 0, second * WINDOW)
        fits = allowed(use, fits, PLANNED, 0, CEILING)
        left = CEILING - taken * MB
        kept = PLANNED if fits is None else fits
        assert kept <= max(0, left)
        assert kept >= 0.95 * max(0, min(PLANNED, left))
        held = min(64 * MB, kept)
