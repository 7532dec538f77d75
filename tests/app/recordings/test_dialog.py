"""The window of recordings: made, compared, looked at step by step and deleted, and there after a restart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from app.application import Application
from app.recordings.charts import span_words
from app.recordings.dialog import RecordingsDialog
from engine import protocol, resources
from tests.app.acts import Launch
from tests.app.conftest import engine_of
from tests.app.fake_recordings import RECORDING, SPANS
from tests.app.places import settle

pytestmark = pytest.mark.long


def opened(underhill: Application) -> RecordingsDialog:
    """By the button in the settings."""
    settings = underhill.window.settings.open()
    settings.recordings.click()
    settings.reject()
    dialog = underhill.window.findChild(RecordingsDialog)
    assert isinstance(dialog, RecordingsDialog)
    return dialog


def cells(dialog: RecordingsDialog) -> list[list[str]]:
    table = dialog.replay.table
    return [
        [table.verticalHeaderItem(row).text(), *(table.item(row, at).text() for at in range(table.columnCount()))]
        for row in range(table.rowCount())
    ]


def said(dialog: RecordingsDialog) -> str:
    return str(dialog.timeline.chart.accessibleDescription())


def test_a_recording_is_compared_looked_at_and_deleted(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = opened(underhill)
    qtbot.waitUntil(dialog.empty.isVisible)
    assert dialog.record.objectName() == "primary"
    dialog.record.click()
    qtbot.waitUntil(lambda: dialog.state.text() == "Recording: 35 tokens so far")
    dialog.record.click()
    qtbot.waitUntil(lambda: dialog.list.count() == 1)
    assert dialog.record.text() == "Start recording"
    assert dialog.record.objectName() == ""  # comparing is the main button now
    assert dialog.list.item(0).text().startswith("OLMoE 1B-7B Instruct\n")
    dialog.replay.quality.setCurrentIndex(dialog.replay.quality.findData("exact"))
    dialog.replay.go.click()
    qtbot.waitUntil(lambda: dialog.replay.table.rowCount() == 3)  # of the bound no hits are counted
    sent = engine_of(underhill).received
    assert [(c.name, c.dial) for c in sent if isinstance(c, protocol.ReplayRecording)] == [(RECORDING.name, "exact")]
    assert dialog.replay.caption.isVisible()
    assert cells(dialog)[0] == ["HOBBIT", "30.0%", "49.0%", "73.0%"]
    assert cells(dialog)[2][0] == "Best possible"
    dialog.replay.measure.setCurrentIndex(1)
    assert cells(dialog)[3] == ["Lower bound", "20.0%", "20.0%", "20.0%"]
    dialog.tabs.setCurrentIndex(1)
    strip = dialog.timeline.strip
    qtbot.waitUntil(lambda: strip.words(0) == "Prompt, 35 tokens: 40.0 ms")
    assert not dialog.timeline.before.isEnabled()
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: said(dialog).startswith("Step 2 of 3: 4.0 ms. Attention 2.0 ms"))
    assert "Read: 1.2 MB" in said(dialog)
    assert "1.2\u00a0MB" in dialog.timeline.words.text()  # no line is broken between them
    assert span_words(SPANS[-1]) == "On demand: expert 0.17, 1.2 MB, 2.00 ms"
    dialog.delete.click()
    (box,) = dialog.findChildren(QMessageBox)
    next(b for b in box.buttons() if b.text() == "Delete").click()
    qtbot.waitUntil(dialog.empty.isVisible)
    dialog.reject()


def test_what_fails_is_said_where_it_was_asked_for(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine = engine_of(underhill)
    engine.recordings.kept = (RECORDING,)
    broken = protocol.Failed("", protocol.Kind.BROKEN_FILE, "The recording is damaged.", "Record again.")
    engine.fail = {protocol.ReadTimeline: broken, protocol.ReplayRecording: broken, protocol.StartRecording: broken}
    dialog = opened(underhill)
    qtbot.waitUntil(lambda: dialog.timeline.words.text() == "The recording is damaged. Record again.")
    dialog.replay.go.click()
    qtbot.waitUntil(lambda: dialog.replay.note.text() == "The recording is damaged. Record again.")
    assert dialog.replay.go.text() == "Compare cache policies"
    dialog.record.click()
    qtbot.waitUntil(lambda: dialog.state.text() == "The recording is damaged. Record again.")
    dialog.reject()


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_an_answer_of_the_real_engine_is_recorded_and_there_after_a_restart(
    qtbot: QtBot, launch_real: Callable[[], Application]
) -> None:
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    dialog = opened(underhill)
    dialog.record.click()
    qtbot.waitUntil(lambda: dialog.record.text() == "Stop recording")
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 8}
    underhill.conversation.send("Hello!")
    qtbot.waitUntil(lambda: dialog.list.count() == 1)
    dialog.record.click()
    qtbot.waitUntil(lambda: dialog.record.text() == "Start recording")
    made = dialog.current
    assert made is not None
    underhill = launch_real()
    dialog = opened(underhill)
    qtbot.waitUntil(lambda: dialog.current == made)
    dialog.replay.go.click()
    qtbot.waitUntil(lambda: dialog.replay.table.rowCount() > 6)
    assert dialog.replay.chart.isVisible()
    dialog.tabs.setCurrentIndex(1)
    dialog.timeline.after.click()
    qtbot.waitUntil(lambda: dialog.timeline.strip.number == 1)
    assert said(dialog).startswith("Step 2 of")
    dialog.reject()


def test_no_row_is_cut_and_the_legend_follows_the_rows_in_large_text(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine_of(underhill).recordings.kept = (RECORDING,)
    underhill.theme.set_percent(150)
    dialog = opened(underhill)
    qtbot.waitUntil(lambda: dialog.list.count() == 1)
    dialog.replay.go.click()
    table = dialog.replay.table
    qtbot.waitUntil(lambda: table.rowCount() == 3)
    settle(qtbot, dialog)
    row = table.visualItemRect(table.item(2, 0))
    assert row.height() >= table.fontMetrics().lineSpacing()
    assert row.bottom() <= table.viewport().height()
    dialog.tabs.setCurrentIndex(1)
    chart = dialog.timeline.chart
    qtbot.waitUntil(chart.isVisible)
    settle(qtbot, dialog)
    assert chart.height() <= 8 * chart.fontMetrics().lineSpacing()  # four rows and a scale
    underhill.theme.set_percent(100)
