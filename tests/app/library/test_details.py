"""A model's details as the dialog shows them."""

from __future__ import annotations

import dataclasses

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.library.dialogs import ModelDetailsDialog
from engine import protocol
from tests.app.fake_hub import FITS, QWEN

KNOWN = protocol.ModelDetails(
    model=QWEN,
    page="https://hub.invalid",
    files=(("a", 1), ("b", 2)),
    layers=48,
    moe_layers=48,
    experts=128,
    experts_per_token=8,
    stores=((4, 17),),
    fits=((4, FITS),),
)


def lines(qtbot: QtBot, details: protocol.ModelDetails) -> list[str]:
    dialog = ModelDetailsDialog(details)
    qtbot.addWidget(dialog)
    return [label.text() for label in dialog.findChildren(QLabel)]


def test_without_a_network_the_files_are_said_to_be_unknown(qtbot: QtBot) -> None:
    for details, expected in ((KNOWN, "2 files"), (dataclasses.replace(KNOWN, files=()), "files not listed: offline")):
        assert any(line.startswith(expected) for line in lines(qtbot, details))


def test_what_a_model_is_good_at_is_said(qtbot: QtBot) -> None:
    sees = dataclasses.replace(QWEN, good_at=("thinking", "vision", "code"))
    told = lines(qtbot, dataclasses.replace(KNOWN, model=sees))
    assert any("  ·  thinking, reads images, code  ·  License" in line for line in told)
    assert not any("reads images" in line for line in lines(qtbot, KNOWN))  # nothing is known of it
