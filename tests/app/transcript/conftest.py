"""The page alone, without a window around it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.theme.theme import Theme
from app.transcript.view import TranscriptView


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> Iterator[TranscriptView]:
    made = TranscriptView(theme)
    qtbot.addWidget(made)
    made.resize(900, 700)
    made.show()
    yield made
    made.end()
