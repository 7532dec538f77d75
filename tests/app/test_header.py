"""What the header says of the time that is left."""

from __future__ import annotations

import pytest

from app.widgets.header import _left


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""),
        (4.0, ""),
        (31.4, "31 s left"),
        (70.0, "about a minute left"),
        (600.0, "10 min left"),
        (9000.0, "2.5 h left"),
    ],
)
def test_time_left_for_people(seconds: float | None, said: str) -> None:
    assert _left(seconds).strip(" ·") == said
