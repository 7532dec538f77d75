"""Settings of the dialog that only some need: weights of the cache policy, and the predictor."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings import preferences
from app.settings.dialog import SettingsDialog
from app.settings.editor import SharesEditor
from engine import protocol
from tests.app.conftest import engine_of
from tests.app.telemetry.samples import BASE

pytestmark = pytest.mark.long


def weights_of(dialog: SettingsDialog) -> SharesEditor:
    control = dialog.editors["policy_weights"].control
    assert isinstance(control, SharesEditor)
    return control


def test_weights_by_hand_go_to_the_engine_as_shares_and_come_back_from_disk(
    qtbot: QtBot, launch: Callable[..., Application], tmp_path: Path
) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    weights = weights_of(dialog)
    assert weights.automatic.text() == "Fitted"
    assert not any(slider.isVisibleTo(weights) for slider in weights.sliders)
    weights.automatic.click()
    assert all(slider.isVisibleTo(weights) for slider in weights.sliders)
    assert underhill.window.preferences.engine == {"policy_weights": (0.4, 0.0, 0.4, 0.2)}
    weights.sliders[1].setValue(100)
    assert [label.text() for label in weights.share_labels] == ["20%", "50%", "20%", "10%"]
    assert [slider.value() for slider in weights.sliders] == [40, 100, 40, 20]  # the others stay where they are
    sent = [c.settings for c in engine_of(underhill).received if isinstance(c, protocol.UpdateSettings)]
    assert sent == [{"policy_weights": (0.4, 0.0, 0.4, 0.2)}, {"policy_weights": (0.2, 0.5, 0.2, 0.1)}]
    path = tmp_path / "window.json"
    kept = {"policy_weights": (0.2, 0.5, 0.2, 0.1)}
    qtbot.waitUntil(lambda: path.exists() and preferences.load(path)[0].engine == kept)
    for slider in weights.sliders:
        slider.setValue(0)
    assert "not all 0" in dialog.editors["policy_weights"].note.text()
    dialog.editors["policy_weights"].reset()
    assert weights.automatic.isChecked()
    assert underhill.window.preferences.engine == {}
    dialog.reject()


def test_one_model_can_have_its_own_weights_and_predictor(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    remembered = underhill.window.preferences
    dialog = underhill.window.settings.open()
    dialog.show_page(2)
    dialog.scope.setCurrentIndex(1)
    weights_of(dialog).automatic.click()
    box = dialog.editors["predictor"].control
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData("paths"))
    own = {"policy_weights": (0.4, 0.0, 0.4, 0.2), "predictor": "paths"}
    assert (remembered.engine, remembered.models) == ({}, {"builtin": own})
    dialog.scope.setCurrentIndex(0)
    assert weights_of(dialog).automatic.isChecked()
    assert box.currentData() == "auto"
    dialog.scope.setCurrentIndex(1)
    assert weights_of(dialog).value == (40, 0, 40, 20)
    dialog.reset_everything()
    assert remembered.models == {}
    dialog.reject()


def test_the_predictor_says_how_well_it_does_now(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    underhill.link.telemetry.emit(dataclasses.replace(BASE, ahead="Prefetch experts by paths."))
    assert dialog.editors["predictor"].more.text() == "Prefetch experts by paths."
    dialog.reject()
