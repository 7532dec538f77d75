"""A model's details as the dialog shows them."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.library.dialogs import ModelDetailsDialog
from engine import protocol
from tests.app.fake_hub import FITS, QWEN


def described(files: tuple[tuple[str, int], ...]) -> protocol.ModelDetails:
    return protocol.ModelDetails(
        model=QWEN,
        page="https://hub.invalid",
        files=files,
        layers=48,
        moe_layers=48,
        experts=128,
        experts_per_token=8,
        stores=((4, 17),),
        fits=((4, FITS),),
    )


def test_files_are_listed_in_a_fold_and_forty_at_most(qtbot: QtBot) -> None:
    details = described(tuple((f"model-{n}.safetensors", 4_000_000_000) for n in range(42)))
    dialog = ModelDetailsDialog(details)
    qtbot.addWidget(dialog)
    dialog.show()
    files = dialog.files
    assert not files.list.isVisible()
    files.button.setFocus()
    qtbot.keyClick(files.button, Qt.Key.Key_Space)
    assert files.list.isVisible()
    assert files.button.text() == "Hide files"
    lines = files.list.text().split("\n")
    assert (len(lines), lines[0], lines[-1]) == (41, "model-0.safetensors  4.0 GB", "and 2 more")
    files.button.click()
    assert not files.list.isVisible()


def test_without_a_network_the_files_are_said_to_be_unknown(qtbot: QtBot) -> None:
    known = described((("a", 1), ("b", 2)))
    for details, expected in ((known, "2 files"), (dataclasses.replace(known, files=()), "files not listed: offline")):
        dialog = ModelDetailsDialog(details)
        qtbot.addWidget(dialog)
        assert dialog.files.button.isHidden() == (not details.files)
        assert any(label.text().startswith(expected) for label in dialog.findChildren(QLabel))
