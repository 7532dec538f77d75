"""Where pictures are in a prompt, and where one may be cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.models.vision.tokens import has_pictures, spans, uncut


def test_spans() -> None:
    assert spans([5, -2, -3, 6, -4, 7]) == [(1, 3), (4, 5)]
    assert spans([-2]) == [(0, 1)]
    assert spans([5]) == []
    assert has_pictures([5, -2])
    assert not has_pictures([5])
    assert not has_pictures([])


@given(
    st.lists(st.one_of(st.just([9]), st.integers(1, 6).map(lambda n: [-2] * n + [9])), min_size=1), st.integers(1, 8)
)
def test_parts_are_whole_and_no_longer_than_they_have_to_be(pieces: list[list[int]], step: int) -> None:
    ids = [one for piece in pieces for one in piece]
    at = 0
    while at < len(ids):
        stop = uncut(ids, at, min(at + step, len(ids)))
        assert at < stop <= at + max(step, 6)
        assert stop == len(ids) or not ids[stop - 1] < 0 > ids[stop]
        at = stop
