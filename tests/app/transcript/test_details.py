"""The figures of an answer: shown in full, and saved as a table or a picture."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.chats.records import StoredMessage, new_id
from app.theme.theme import Theme
from app.transcript import notes
from app.transcript.details import AnswerDetails

STATS = {
    "prompt_tokens": 800, "reused_tokens": 300, "dropped_turns": 0, "prompt_seconds": 2.0, "decode_seconds": 20.0,
    "hits": 900, "misses": 100, "bytes_read": 2_100_000_000, "precision": {"8": 800, "4": 150, "2": 0, "skipped": 50},
    "peak_rss": 3_000_000_000, "thinking_seconds": 0.0, "why": "Waiting for the disk: every token reads 9 MB from it.",
}  # fmt: skip


@pytest.fixture
def message() -> StoredMessage:
    return StoredMessage(
        new_id(), 1, None, "assistant", "x", tuple(range(241)), finish="stop", stats=STATS, model="A, model"
    )


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme, message: StoredMessage) -> Iterator[AnswerDetails]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = AnswerDetails(message, parent)
    made.show()
    yield made
    made.close()


def test_every_figure_has_its_unit(message: StoredMessage) -> None:
    found = dict(notes.details(message))
    assert found["Speed"] == "12.0 tok/s"
    assert found["Prompt speed"] == "250 tok/s"
    assert found["Experts found in memory"] == "900 of 1,000 (90.0 %)"
    assert found["Experts run at 8 bits"] == "800 (80.0 %)"
    assert found["Experts skipped"] == "50 (5.0 %)"
    assert "Experts run at 2 bits" not in found
    assert "Thought for" not in found


def test_the_dialog_says_why(dialog: AnswerDetails) -> None:
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert STATS["why"] in texts
    assert "A, model" in texts


def test_the_table_can_be_read_back(dialog: AnswerDetails, tmp_path: Path) -> None:
    dialog.save(tmp_path / "a.csv")
    rows = dict(csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert rows["model"] == "A, model"
    assert rows["tokens"] == "241"
    assert rows["precision_8"] == "800"
    assert rows["why"] == STATS["why"]


def test_the_picture_is_one(dialog: AnswerDetails, tmp_path: Path) -> None:
    dialog.save(tmp_path / "a.png")
    picture = QImage(str(tmp_path / "a.png"))
    assert picture.width() >= 400
    assert picture.height() >= 200


def test_a_folder_that_cannot_be_written_is_said(dialog: AnswerDetails, tmp_path: Path) -> None:
    for name in ("a.csv", "a.png"):
        dialog.save(tmp_path / "missing" / name)
        assert dialog.trouble.isVisible()
        assert name in dialog.trouble.text()
    dialog.save(tmp_path / "a.csv")
    assert not dialog.trouble.isVisible()
