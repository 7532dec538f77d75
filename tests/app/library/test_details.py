"""A model's details as the dialog shows them."""

from __future__ import annotations

import dataclasses

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.library.dialogs import ModelDetailsDialog
from engine import protocol
from tests.app.fake_hub import FITS, QWEN


def test_without_a_network_the_files_are_said_to_be_unknown(qtbot: QtBot) -> None:
    known = protocol.ModelDetails(
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
    for details, expected in ((known, "2 files"), (dataclasses.replace(known, files=()), "files not listed: offline")):
        dialog = ModelDetailsDialog(details)
        qtbot.addWidget(dialog)
        assert any(label.text().startswith(expected) for label in dialog.findChildren(QLabel))
