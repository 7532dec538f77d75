"""The figures of an answer: shown in full, and saved as a table or an image."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.storage.records import StoredMessage, new_id
from app.theme.theme import Theme
from app.transcript import notes
from app.transcript.details import AnswerDetails
from app.transcript.paint import foot_rect
from app.transcript.view import TranscriptView

STATS = {
    "prompt_tokens": 800, "reused_tokens": 300, "dropped_turns": 0, "prompt_seconds": 2.0, "decode_seconds": 20.0,
    "hits": 900, "misses": 100, "bytes_read": 2_100_000_000, "precision": {"8": 800, "4": 150, "2": 0, "skipped": 50},
    "peak_rss": 3_000_000_000, "thinking_seconds": 0.0, "why": "Waiting for disk: every token reads 9 MB from it.",
}  # fmt: skip


@pytest.fixture
def message() -> StoredMessage:
    return StoredMessage(
        id=new_id(),
        chat_id=1,
        parent_id=None,
        role="assistant",
        content="x",
        token_ids=tuple(range(241)),
        finish="stop",
        stats=STATS,
        model="A, model",
    )


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme, message: StoredMessage) -> Iterator[AnswerDetails]:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = AnswerDetails(message, parent)
    parent.show()
    yield made
    made.close()


def test_every_figure_has_its_unit(message: StoredMessage) -> None:
    found = {figure.name: figure.value for figure in notes.details(message)}
    assert found["Speed"] == "12.0 tok/s"
    assert found["Prompt speed"] == "250 tok/s"
    assert found["Cache hits"] == "900 of 1,000 (90.0%)"
    assert found["8-bit experts"] == "800 (80.0%)"
    assert found["Disk reads"] == "2.1 GB"
    assert found["Peak memory"] == "3.0 GB"
    assert found["Skipped experts"] == "50 (5.0%)"
    assert "2-bit experts" not in found
    assert "Thought for" not in found


def test_the_line_under_an_answer_is_short(message: StoredMessage) -> None:
    soon = replace(message, stats={**STATS, "prompt_seconds": 0.05})
    assert "< 0.1 s to first token" in notes.summary(soon)
    assert notes.summary(soon).endswith("80% at 8-bit")


def test_an_answer_without_a_word_had_no_first_one(message: StoredMessage) -> None:
    none = replace(message, token_ids=(), finish="cancelled")
    assert "2.0 s to first token" in notes.summary(message)
    assert "to first token" not in notes.summary(none)
    assert "Time to first token" in [figure.name for figure in notes.details(message)]
    names = [figure.name for figure in notes.details(none)]
    assert "Time to first token" not in names
    assert "Prompt speed" not in names  # of how much of the prompt it would be, nobody knows


def test_the_figures_say_why(dialog: AnswerDetails) -> None:
    texts = [label.text() for label in dialog.findChildren(QLabel)]
    assert STATS["why"] in texts
    assert "A, model" in texts


def test_requests_and_uses_are_told_apart(dialog: AnswerDetails) -> None:
    tips = {label.text(): label.toolTip() for label in dialog.findChildren(QLabel)}
    assert tips["Cache hits"] == tips["900 of 1,000 (90.0%)"] != ""
    assert tips["8-bit experts"] == tips["Skipped experts"] != ""
    assert tips["Skipped experts"] != tips["Cache hits"]
    assert tips["Disk reads"] == ""


def test_the_table_can_be_read_back(dialog: AnswerDetails, tmp_path: Path) -> None:
    dialog.save(tmp_path / "a.csv")
    rows = dict(csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert rows["model"] == "A, model"
    assert rows["tokens"] == "241"
    assert rows["expert_requests_from_memory"] == "900"
    assert rows["expert_requests_from_disk"] == "100"
    assert rows["expert_uses_8_bits"] == "800"
    assert rows["expert_uses_skipped"] == "50"
    assert rows["why"] == STATS["why"]


def test_the_image_is_one(dialog: AnswerDetails, tmp_path: Path) -> None:
    dialog.save(tmp_path / "a.png")
    image = QImage(str(tmp_path / "a.png"))
    assert image.width() >= 400
    assert image.height() >= 200


def test_a_folder_that_cannot_be_written_is_said(dialog: AnswerDetails, tmp_path: Path) -> None:
    for name in ("a.csv", "a.png"):
        dialog.save(tmp_path / "missing" / name)
        assert dialog.trouble.isVisible()
        assert name in dialog.trouble.text()
    dialog.save(tmp_path / "a.csv")
    assert not dialog.trouble.isVisible()


def test_it_is_asked_for_in_ones_own_folder(
    dialog: AnswerDetails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []

    def choose(parent: QWidget, title: str, name: str, kinds: str) -> tuple[str, str]:
        offered.append(name)
        return str(tmp_path / "mine"), "Image (*.png)"

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    next(b for b in dialog.findChildren(QPushButton) if b.text() == "Save…").click()
    assert offered == [str(Path.home() / "answer.csv")]  # and not in the one that Underhill was started in
    assert (tmp_path / "mine.png").exists()


def unfolded(view: TranscriptView) -> list[AnswerDetails]:
    return [d for d in view.viewport().findChildren(AnswerDetails) if d.isVisible()]


def press_the_line(qtbot: QtBot, view: TranscriptView, index: int) -> None:
    """Click on the figures under an answer."""
    line = foot_rect(view.items[index], view.layout_.column, view.beside(index)).translated(view.origin(index))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=(line.topLeft() + QPointF(40, 12)).toPoint())


def talk(message: StoredMessage, turns: int) -> list[StoredMessage]:
    question = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content="And now?")
    return [replace(each, id=new_id()) for _ in range(turns) for each in (question, message)]


def test_the_line_under_an_answer_unfolds_its_figures_below_it(
    qtbot: QtBot, view: TranscriptView, message: StoredMessage
) -> None:
    view.set_messages(talk(message, 2))
    before = [view.origin(n).y() for n in range(4)]
    press_the_line(qtbot, view, 1)
    (figures,) = unfolded(view)
    assert view.origin(1).y() == before[1]
    assert before[2] < figures.geometry().bottom() <= view.origin(2).y()
    assert figures.geometry().top() >= view.origin(1).y() + view.items[1].foot
    press_the_line(qtbot, view, 3)
    assert len(unfolded(view)) == 2
    press_the_line(qtbot, view, 1)
    assert [view.origin(n).y() for n in range(4)] == before
    assert unfolded(view)[0].message.id == view.items[3].message.id


def test_unfolded_figures_move_with_the_page_and_go_with_it(view: TranscriptView, message: StoredMessage) -> None:
    view.set_messages(talk(message, 30))
    view.toggle_details(view.items[-1].message.id)
    (figures,) = unfolded(view)
    assert figures.geometry().bottom() <= view.viewport().height()
    bar = view.verticalScrollBar()
    top = figures.y()
    bar.setValue(bar.value() - 60)
    assert figures.y() == top + 60
    bar.setValue(0)
    assert not unfolded(view)
    bar.setValue(bar.maximum())
    assert unfolded(view) == [figures]
    view.resize(480, 700)
    assert figures.width() == round(view.layout_.column)
    assert figures.geometry().bottom() <= view.origin(len(view.items) - 1).y() + view.items[-1].height
    view.set_messages(talk(message, 1))
    assert not unfolded(view)


def test_a_page_whose_figures_were_folded_at_its_end_stays_there(view: TranscriptView, message: StoredMessage) -> None:
    view.set_messages(talk(message, 30))
    last, bar = view.items[-1].message.id, view.verticalScrollBar()
    view.toggle_details(last)
    view.toggle_details(last)
    assert bar.value() == bar.maximum()
    view.resize(view.width(), view.height() - 200)  # as by a composer that grows
    assert bar.value() == bar.maximum()
    bar.setValue(0)
    view.toggle_details(view.items[1].message.id)
    view.toggle_details(view.items[1].message.id)
    view.resize(view.width(), view.height() + 200)
    assert bar.value() == 0


def test_figures_of_an_answer_that_is_replaced_are_folded(view: TranscriptView, message: StoredMessage) -> None:
    view.set_messages(talk(message, 1))
    answer = view.items[1].message
    view.toggle_details(answer.id)
    view.replace(replace(answer, content="Another one."))
    assert not unfolded(view)
    assert not view.items[1].details_height


def test_hiding_gives_the_focus_back_to_the_page(qtbot: QtBot, view: TranscriptView, message: StoredMessage) -> None:
    view.set_messages(talk(message, 1))
    view.toggle_details(view.items[1].message.id)
    (figures,) = unfolded(view)
    hide = next(b for b in figures.findChildren(QPushButton) if b.accessibleName() == "Hide figures")
    hide.setFocus()
    qtbot.mouseClick(hide, Qt.MouseButton.LeftButton)
    assert not unfolded(view)
    assert view.hasFocus()


def test_the_card_has_the_height_of_what_it_says_at_each_width(dialog: AnswerDetails, qtbot: QtBot) -> None:
    for width in (900, 520, 900, 1400, 380):
        high = dialog.fit(width)
        qtbot.waitUntil(lambda: dialog.card.height() == dialog.card.heightForWidth(dialog.card.width()))
        assert dialog.fit(width) == high
        assert all(
            label.height() >= label.heightForWidth(label.width())
            for label in dialog.card.findChildren(QLabel)
            if label.isVisible()
        )
