"""Beside a setting stands what it is elsewhere: for a model that is set apart, and for all of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.settings.dialog import SettingsDialog
from app.settings.editor import value_text
from app.settings.preset_cards import PresetCards
from engine import protocol
from tests.app.acts import Launch
from tests.app.conftest import engine_of
from tests.app.fake_cards import LARGE


def said(dialog: SettingsDialog, name: str) -> list[str]:
    elsewhere = dialog.editors[name].elsewhere
    return [] if elsewhere.isHidden() else [button.text() for button in elsewhere.buttons]


def choose(dialog: SettingsDialog, name: str, value: str) -> None:
    control = dialog.editors[name].control
    if isinstance(control, PresetCards):
        control.cards[value].click()
    else:
        assert isinstance(control, QComboBox)
        control.setCurrentIndex(control.findData(value))


def test_what_a_model_has_of_its_own_is_said_and_led_to(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    window.preferences.set(LARGE.name, "dial", "exact")
    window.preferences.set("gone", "dial", "fast")  # a model that is no longer in the library
    dialog = window.settings.open()
    dialog.show_page(2)
    assert said(dialog, "dial") == ["OLMoE 1B-7B Instruct: Exact", "gone: Fast"]
    assert said(dialog, "threads") == []
    first = dialog.editors["dial"].elsewhere.buttons[0]
    assert first.accessibleName() == "Quality: OLMoE 1B-7B Instruct: Exact"
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Space)
    assert dialog.scope.currentText() == "OLMoE 1B-7B Instruct only"
    assert said(dialog, "dial") == ["All models: Balanced"]
    choose(dialog, "dial", "fast")
    assert window.preferences.models[LARGE.name] == {"dial": "fast"}
    assert not [c for c in engine_of(underhill).received if isinstance(c, protocol.UpdateSettings)]  # it is not open
    dialog.editors["dial"].elsewhere.buttons[0].click()
    assert dialog.scope.currentText() == "All models"
    assert said(dialog, "dial") == ["OLMoE 1B-7B Instruct: Fast", "gone: Fast"]
    dialog.reset_everything()
    assert said(dialog, "dial") == []
    assert dialog.scope.count() == 2  # all models, and the one that is open
    dialog.reject()


def test_what_needs_a_reload_is_offered_for_the_open_model_only(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.window.preferences.set(LARGE.name, "context_length", 2048)
    dialog = underhill.window.settings.open()
    dialog.scope.setCurrentIndex(dialog.scope.findData(LARGE.name))
    choose(dialog, "direct_io", "on")
    assert dialog.reload_button.isHidden()
    dialog.scope.setCurrentIndex(0)
    choose(dialog, "direct_io", "on")
    assert not dialog.reload_button.isHidden()
    dialog.reject()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("dial", "exact", "Exact"), ("threads", None, "Automatic"), ("threads", 6, "6"), ("memory_gb", 2.5, "2.5"),
        ("context_length", 1_048_576, "1,048,576"), ("seed", 20_261_128, "20261128"),
        ("policy_weights", None, "Fitted"), ("remember_routing", True, "on"), ("remember_routing", False, "off"),
        ("policy_weights", (0.5, 0.25, 0.25, 0.0),
         "Recency 50%, Frequency 25%, Precision 25%, Distance 0%"),
    ],
)  # fmt: skip
def test_values_in_words(name: str, value: object, words: str) -> None:
    assert value_text(protocol.settings.ALL[name], value) == words
