"""The settings dialog: one control per declaration, values checked by it, live or at the next load."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings import preferences
from app.settings.dialog import SettingsDialog
from app.settings.preset_cards import PresetCards
from app.theme.theme import Theme
from engine import protocol
from engine.library.dials import Calibration, Cost, DialCost
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN
from tests.app.places import settle
from tests.app.settings.controls import type_into
from tests.app.telemetry.samples import BASE

pytestmark = pytest.mark.long


def test_every_declared_setting_is_there(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences(), theme)
    qtbot.addWidget(dialog)
    assert set(dialog.editors) == set(protocol.settings.ALL)


def test_live_settings_go_to_the_engine_and_to_disk(
    qtbot: QtBot, launch: Callable[..., Application], tmp_path: Path
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    box = dialog.editors["dial"].control
    assert isinstance(box, PresetCards)
    box.cards["exact"].click()
    sent = [c for c in engine_of(underhill).received if isinstance(c, protocol.UpdateSettings)]
    assert [c.settings for c in sent] == [{"dial": "exact"}]
    path = tmp_path / "window.json"
    qtbot.waitUntil(lambda: path.exists() and json.loads(path.read_text())["engine"] == {"dial": "exact"})
    assert dialog.reload_button.isHidden()
    dialog.reject()


def test_the_dial_says_what_it_costs_on_the_model_that_is_open(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    cards = dialog.editors["dial"].control
    assert isinstance(cards, PresetCards)
    qtbot.waitUntil(lambda: cards.cards["fast"].cost.text() == "Not measured yet")
    costs = {"balanced": DialCost(0.8, 0.9, Cost(0.0003, 0.0001)), "fast": DialCost(0.6, 0.9, Cost(0.01, 0.004))}
    measured = dataclasses.replace(
        BUILTIN,
        calibration=Calibration(tokens=9, scored=9, scored_here=0, share=0.0, exact_perplexity=2.0, dials=costs),
    )
    underhill.link.model_changed.emit(measured)
    told = {choice: card.cost.text() for choice, card in cards.cards.items()}
    assert dialog.measure.state.text() == "Loss measured on 9 tokens."
    assert told == {"exact": "No loss", "balanced": "Loss: KL 0.0001", "fast": "Loss: KL 0.0040",
                    "hobbit": "Not measured yet"}  # fmt: skip
    assert "KL 0.0040 vs. Exact" in cards.cards["fast"].toolTip()
    assert cards.cards["fast"].accessibleDescription() == "Small loss, fewer disk reads. Loss: KL 0.0040"


def test_the_qualities_say_their_speed_and_are_measured_on_demand(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    cards = dialog.editors["dial"].control
    assert isinstance(cards, PresetCards)
    speeds = (("exact", 6.2, 9.4), ("balanced", 8.0, 12.4), ("fast", 30.2, 30.4), ("hobbit", 8.0, 8.0))
    assert BUILTIN.fit is not None
    quick = dataclasses.replace(BUILTIN, fit=dataclasses.replace(BUILTIN.fit, dials=speeds))
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    underhill.link.model_changed.emit(quick)
    assert cards.cards["exact"].cost.text() == "≈ 6.2–9.4 tok/s\nNo loss"
    assert cards.cards["balanced"].cost.text() == "≈ 8–12 tok/s\nNot measured yet"
    assert cards.cards["fast"].accessibleDescription() == ("Small loss, fewer disk reads. ≈ 30 tok/s, Not measured yet")
    dialog.measure.button.click()
    assert isinstance(engine_of(underhill).received[-1], protocol.Calibrate)
    underhill.link.model_changed.emit(dataclasses.replace(quick, doing="Measuring quality (12%)"))
    assert dialog.measure.state.text() == "Measuring quality (12%)"
    dialog.reject()


def test_the_published_preset_is_shown_with_advanced_settings_or_where_it_is_chosen(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.show_page(2)
    cards = dialog.editors["dial"].control
    assert isinstance(cards, PresetCards)
    shown = [choice for choice, card in cards.cards.items() if card.isVisible()]
    assert (shown, cards.value) == (["exact", "balanced", "fast"], "balanced")
    dialog.advanced.setChecked(True)
    cards.cards["hobbit"].setFocus()
    qtbot.keyClick(cards.cards["hobbit"], Qt.Key.Key_Space)
    assert underhill.window.preferences.engine == {"dial": "hobbit"}
    dialog.advanced.setChecked(False)
    assert cards.cards["hobbit"].isVisible()
    qtbot.waitUntil(lambda: cards.cards["fast"].height() > 20)  # it has its place
    qtbot.mouseClick(cards.cards["fast"], Qt.MouseButton.LeftButton)
    assert underhill.window.preferences.engine == {"dial": "fast"}
    dialog.editors["dial"].reset_button.click()
    assert cards.value == "balanced"
    assert not cards.cards["hobbit"].isVisible()


def test_presets_stand_in_as_many_columns_as_their_words_have_room_in(qtbot: QtBot, theme: Theme) -> None:
    cards = PresetCards(protocol.settings.ALL["dial"])
    qtbot.addWidget(cards)
    cards.set_value("exact")
    cards.show()
    letter = cards.fontMetrics().averageCharWidth()
    for letters, advanced, columns in ((70, False, 3), (45, False, 1), (45, True, 2), (30, True, 1), (70, True, 2)):
        cards.show_all(advanced)
        cards.resize(letters * letter, 600)
        settle(qtbot, cards)
        left = {card.x() for card in cards.cards.values() if card.isVisible()}
        assert len(left) == columns, (letters, advanced)


def test_others_say_that_they_need_a_reload(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    type_into(qtbot, dialog, "context_length", "4096")
    assert not dialog.reload_button.isHidden()
    assert "Reload the model" in dialog.editors["context_length"].note.text()
    dialog.reload_button.click()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    last = [c for c in engine_of(underhill).received if isinstance(c, protocol.LoadModel)][-1]
    assert last.settings == {"context_length": 4096}
    dialog.reject()


def test_a_wrong_value_says_what_is_allowed_and_changes_nothing(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences(), theme)
    qtbot.addWidget(dialog)
    changes: list[object] = []
    dialog.sampling_changed.connect(lambda name, value: changes.append((name, value)))
    type_into(qtbot, dialog, "temperature", "9")
    assert "from 0 to 5" in dialog.editors["temperature"].note.text()
    type_into(qtbot, dialog, "temperature", "warm")
    assert changes == []
    type_into(qtbot, dialog, "temperature", "0.3")
    type_into(qtbot, dialog, "seed", "7")
    type_into(qtbot, dialog, "seed", "")
    assert changes == [("temperature", 0.3), ("seed", 7), ("seed", None)]
    dialog.editors["temperature"].reset()
    assert changes[-1] == ("temperature", 0.7)


def test_sampling_goes_with_the_next_question(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    type_into(qtbot, dialog, "temperature", "0")
    dialog.reject()
    underhill.conversation.send("hi")
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    last = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)][-1]
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


def test_the_theme_is_switched_at_once(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.look.theme.setCurrentIndex(dialog.look.theme.findData("dark"))
    assert underhill.theme.palette.dark
    dialog.look.theme.setCurrentIndex(dialog.look.theme.findData("light"))
    assert not underhill.theme.palette.dark
    dialog.reject()


def test_the_search_leaves_what_it_finds_on_any_page_advanced_or_not(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences(), theme)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.editors["readers"].isHidden()
    dialog.search.setText("reader")
    assert not dialog.editors["readers"].isHidden()
    assert [not dialog.page_list.isRowHidden(row) for row in range(4)] == [False, False, True, False]
    assert dialog.page_list.currentRow() == 2
    dialog.search.setText("no such thing")
    assert dialog.nothing_found.isVisible()
    dialog.search.setText("")
    assert dialog.editors["readers"].isHidden()
    dialog.advanced.setChecked(True)
    assert not dialog.editors["readers"].isHidden()


def test_one_model_can_have_its_own_settings(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    remembered = underhill.window.preferences
    dialog = underhill.window.settings.open()
    box = dialog.editors["dial"].control
    assert isinstance(box, PresetCards)
    box.cards["fast"].click()
    dialog.show_page(2)
    dialog.scope.setCurrentIndex(1)
    assert box.value == "fast"  # what all models have
    box.cards["exact"].click()
    assert (remembered.engine, remembered.models) == ({"dial": "fast"}, {"builtin": {"dial": "exact"}})
    dialog.scope.setCurrentIndex(0)
    assert box.value == "fast"
    box.cards["balanced"].click()
    sent = [c.settings for c in engine_of(underhill).received if isinstance(c, protocol.UpdateSettings)]
    assert sent == [{"dial": "fast"}, {"dial": "exact"}]  # the open model has its own
    dialog.scope.setCurrentIndex(1)
    dialog.editors["dial"].reset()
    assert remembered.models == {}
    underhill.window.model_controller.reload()
    load = [c for c in engine_of(underhill).received if isinstance(c, protocol.LoadModel)][-1]
    assert load.settings == {}
    dialog.reject()


def test_a_value_that_the_engine_refuses_is_taken_back_and_says_why(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    engine_of(underhill).fail[protocol.UpdateSettings] = protocol.Failed(
        "", protocol.Kind.OUT_OF_MEMORY, "It needs 1.2 GB at the least.", "Raise the ceiling."
    )
    type_into(qtbot, dialog, "memory_gb", "0.3")
    qtbot.waitUntil(lambda: "1.2 GB" in dialog.editors["memory_gb"].note.text())
    assert underhill.window.preferences.engine == {}
    line = dialog.editors["memory_gb"].control
    assert isinstance(line, QLineEdit)
    assert line.text() == ""
    dialog.reject()


def test_reset_all(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    remembered = underhill.window.preferences
    remembered.engine, remembered.models = {"dial": "fast", "readers": 2}, {"builtin": {"prefetch": "off"}}
    remembered.sampling, remembered.theme = {"temperature": 0.1}, "dark"
    dialog = underhill.window.settings.open()
    dialog.reset_everything()
    assert (remembered.engine, remembered.models, remembered.sampling, remembered.theme) == ({}, {}, {}, "system")
    sent = [c.settings for c in engine_of(underhill).received if isinstance(c, protocol.UpdateSettings)]
    assert sent == [{"dial": "balanced", "prefetch": "auto"}]
    assert not dialog.reload_button.isHidden()  # for the readers
    dialog.reject()


def test_the_bar_of_memory_follows_what_the_engine_tells(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    underhill.link.telemetry.emit(BASE)
    assert "free&nbsp;for&nbsp;experts" in dialog.memory.legend.text()
    dialog.reject()


WHY = {"mode": {"cpu-assisted": "No graphics card was found.", "gpu": "No graphics card was found."}}


def test_a_mode_that_cannot_run_is_greyed_out_and_says_why(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch(choices=WHY)
    dialog = underhill.window.settings.open()
    box = dialog.editors["mode"].control
    assert isinstance(box, QComboBox)
    items = box.model()
    assert isinstance(items, QStandardItemModel)
    qtbot.waitUntil(lambda: not items.item(3).isEnabled())
    assert [items.item(row).isEnabled() for row in range(4)] == [True, True, False, False]
    assert [box.itemText(row) for row in range(4)] == ["Auto", "CPU", "CPU + GPU", "GPU"]
    assert box.itemData(3, Qt.ItemDataRole.ToolTipRole) == "No graphics card was found."
    qtbot.keyClick(box, Qt.Key.Key_End)
    assert box.currentData() == "cpu"  # the last that can be chosen
    assert dialog.reload_button.isHidden()  # it computes there from the next answer on
    dialog.reject()


def test_what_has_nothing_to_do_is_greyed_out_and_says_why(qtbot: QtBot, theme: Theme) -> None:
    dialog = SettingsDialog(preferences.Preferences(engine={"policy": "lru"}), theme)
    qtbot.addWidget(dialog)
    editor = dialog.editors["policy_weights"]
    assert not editor.control.isEnabled()
    assert editor.toolTip() == "Only with Cache policy: HOBBIT."
    assert dialog.editors["predictor"].control.isEnabled()
    assert dialog.editors["predictor"].toolTip() == ""


def test_turning_reading_ahead_off_greys_out_what_goes_with_it(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    dialog = launch().window.settings.open()
    box = dialog.editors["prefetch"].control
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData("off"))
    assert not any(dialog.editors[n].control.isEnabled() for n in ("predictor", "prefetch_depth", "prefetch_width"))
    box.setCurrentIndex(box.findData("auto"))
    assert all(dialog.editors[n].control.isEnabled() for n in ("predictor", "prefetch_depth", "prefetch_width"))
    dialog.reject()


@pytest.mark.parametrize(("words", "name"), [("recency", "policy_weights"), ("token table", "predictor"),
                                             ("cpu + gpu", "mode")])  # fmt: skip
def test_the_search_finds_settings_by_the_names_of_their_choices(
    qtbot: QtBot, theme: Theme, words: str, name: str
) -> None:
    dialog = SettingsDialog(preferences.Preferences(), theme)
    qtbot.addWidget(dialog)
    dialog.search.setText(words)
    assert [n for n, editor in dialog.editors.items() if not editor.isHidden()] == [name]


def test_what_is_refused_once_the_dialog_has_gone_has_a_banner_with_a_button(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    refusal = protocol.Failed("", protocol.Kind.OUT_OF_MEMORY, "It needs 1.2 GB at the least.", "Raise the ceiling.")
    desk = underhill.window.settings
    dialog.reject()
    desk._refused("", "memory_gb", None, refusal)
    (banner,) = [b for b in underhill.window.banners.banners if "1.2 GB" in b.sentence]
    assert [b.text() for b in banner.findChildren(QPushButton) if "settings" in b.text()] == ["Open settings"]


def test_advanced_is_remembered_when_chosen_by_hand(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.show_setting("t1")  # as a banner does: shown, but not chosen
    assert dialog.advanced.isChecked()
    dialog.reject()
    dialog = underhill.window.settings.open()
    assert not dialog.advanced.isChecked()
    dialog.advanced.click()
    dialog.reject()
    dialog = underhill.window.settings.open()
    assert dialog.advanced.isChecked()
    dialog.reject()


def test_one_sees_which_page_has_the_focus(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    dialog = launch().window.settings.open()
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.search.setFocus()
    before = dialog.page_list.grab().toImage()
    dialog.page_list.setFocus()
    assert dialog.page_list.grab().toImage() != before
    dialog.reject()


def test_what_waits_for_a_reload_is_still_offered_when_the_dialog_opens_again(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    type_into(qtbot, dialog, "readers", "2")
    dialog.reject()
    dialog = underhill.window.settings.open()
    assert not dialog.reload_button.isHidden()
    loads = len([c for c in engine_of(underhill).received if isinstance(c, protocol.LoadModel)])
    dialog.reload_button.click()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    assert len([c for c in engine_of(underhill).received if isinstance(c, protocol.LoadModel)]) == loads + 1
    dialog.reject()
    dialog = underhill.window.settings.open()
    assert dialog.reload_button.isHidden()
    dialog.reject()


@pytest.mark.qt_log_ignore("This plugin does not support")  # boxes, on a platform without windows
def test_enter_resets_nothing(
    qtbot: QtBot, launch: Callable[..., Application], monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = launch().window.settings.open()
    asked: list[str] = []

    def entered(box: QMessageBox) -> int:
        default = box.defaultButton()
        asked.append(default.text() if default is not None else "")
        return 0

    monkeypatch.setattr(QMessageBox, "exec", entered)
    dialog.reset_all.click()
    assert asked
    assert "Cancel" in asked[0].replace("&", "")
    dialog.reject()
