"""The settings dialog: one control per declaration, values checked by it, live or at the next load."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from app import preferences
from app.assembly import Underhill
from app.settings.dialog import SettingsDialog
from app.theme.theme import Theme
from engine import api
from engine.hub.dials import Calibration, Cost, DialCost
from tests.app.conftest import engine_of
from tests.app.fake_engine import BUILTIN


def type_into(qtbot: QtBot, dialog: SettingsDialog, name: str, text: str) -> None:
    line = dialog.editors[name].control
    assert isinstance(line, QLineEdit)
    line.setText(text)
    qtbot.keyClick(line, Qt.Key.Key_Tab)
    line.editingFinished.emit()


def test_every_declared_setting_is_there(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences())
    qtbot.addWidget(dialog)
    assert set(dialog.editors) == set(api.settings.ALL)


def test_live_settings_go_to_the_engine_and_to_disk(
    qtbot: QtBot, launch: Callable[..., Underhill], tmp_path: Path
) -> None:
    underhill = launch()
    dialog = underhill.window.desk.open_settings()
    box = dialog.editors["dial"].control
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData("exact"))
    sent = [c for c in engine_of(underhill).received if isinstance(c, api.UpdateSettings)]
    assert [c.settings for c in sent] == [{"dial": "exact"}]
    path = tmp_path / "window.json"
    qtbot.waitUntil(lambda: path.exists() and json.loads(path.read_text())["engine"] == {"dial": "exact"})
    assert dialog._reload.isHidden()
    dialog.reject()


def test_the_dial_says_what_it_costs_on_the_model_that_is_open(qtbot: QtBot, launch: Callable[..., Underhill]) -> None:
    underhill = launch()
    dialog = underhill.window.desk.open_settings()
    qtbot.waitUntil(lambda: "has not been measured yet" in dialog.editors["dial"].explanation)
    costs = {"balanced": DialCost(0.8, 0.9, Cost(0.0003, 0.0001)), "fast": DialCost(0.6, 0.9, Cost(0.01, 0.004))}
    measured = dataclasses.replace(BUILTIN, calibration=Calibration(9, 9, 0, 0.0, 2.0, costs))
    underhill.link.model_changed.emit(measured)
    assert "perplexity +0.03 %, KL 0.0001 on this model" in dialog.editors["dial"].explanation
    assert "perplexity +1.00 %, KL 0.0040 on this model" in dialog.editors["dial"].explanation


def test_others_say_that_they_need_a_reload(qtbot: QtBot, launch: Callable[..., Underhill]) -> None:
    underhill = launch()
    dialog = underhill.window.desk.open_settings()
    type_into(qtbot, dialog, "context_length", "4096")
    assert not dialog._reload.isHidden()
    assert "loaded again" in dialog.editors["context_length"]._note.text()
    dialog._reload.click()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    last = [c for c in engine_of(underhill).received if isinstance(c, api.LoadModel)][-1]
    assert last.settings == {"context_length": 4096}
    dialog.reject()


def test_a_wrong_value_says_what_is_allowed_and_changes_nothing(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences())
    qtbot.addWidget(dialog)
    changes: list[object] = []
    dialog.sampling_changed.connect(lambda name, value: changes.append((name, value)))
    type_into(qtbot, dialog, "temperature", "9")
    assert "from 0 to 5" in dialog.editors["temperature"]._note.text()
    type_into(qtbot, dialog, "temperature", "warm")
    assert changes == []
    type_into(qtbot, dialog, "temperature", "0.3")
    type_into(qtbot, dialog, "seed", "7")
    type_into(qtbot, dialog, "seed", "")
    assert changes == [("temperature", 0.3), ("seed", 7), ("seed", None)]
    dialog.editors["temperature"].reset()
    assert changes[-1] == ("temperature", 0.7)


def test_sampling_goes_with_the_next_question(qtbot: QtBot, launch: Callable[..., Underhill]) -> None:
    underhill = launch()
    dialog = underhill.window.desk.open_settings()
    type_into(qtbot, dialog, "temperature", "0")
    dialog.reject()
    underhill.conversation.send("hi")
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    last = [c for c in engine_of(underhill).received if isinstance(c, api.Generate)][-1]
    assert last.sampling == {"temperature": 0.0}


def test_preferences_survive_and_bad_ones_are_told(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    assert preferences.load(path) == (preferences.Preferences(), "")
    kept = preferences.Preferences(model="olmoe", theme="dark", engine={"dial": "fast"}, chat=5)
    preferences.save(kept, path)
    assert preferences.load(path) == (kept, "")
    values = json.loads(path.read_text())
    values["engine"] = {"dial": "sideways", "gone_since": 1}
    values["theme"] = 3
    path.write_text(json.dumps(values))
    loaded, note = preferences.load(path)
    assert (loaded.engine, loaded.theme, loaded.model) == ({}, "system", "olmoe")
    assert "sideways" in note
    path.write_text("{")
    assert preferences.load(path)[0] == preferences.Preferences()
    assert preferences.load(path)[1]


def test_the_theme_is_switched_at_once(qtbot: QtBot, launch: Callable[..., Underhill]) -> None:
    underhill = launch()
    dialog = underhill.window.desk.open_settings()
    dialog.theme.setCurrentIndex(dialog.theme.findData("dark"))
    assert underhill.theme.palette.dark
    dialog.theme.setCurrentIndex(dialog.theme.findData("light"))
    assert not underhill.theme.palette.dark
    dialog.reject()
