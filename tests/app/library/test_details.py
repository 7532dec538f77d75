"""A model's details as the dialog shows them."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import Qt
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


def test_files_are_listed_in_a_fold_and_forty_at_most(qtbot: QtBot) -> None:
    files = tuple((f"model-{n}.safetensors", 4_000_000_000) for n in range(42))
    dialog = ModelDetailsDialog(dataclasses.replace(KNOWN, files=files))
    qtbot.addWidget(dialog)
    dialog.show()
    listed = dialog.files
    assert not listed.list.isVisible()
    listed.button.setFocus()
    qtbot.keyClick(listed.button, Qt.Key.Key_Space)
    assert listed.list.isVisible()
    assert listed.button.text() == "Hide files"
    lines = listed.list.text().split("\n")
    assert (len(lines), lines[0], lines[-1]) == (41, "model-0.safetensors  4.0 GB", "and 2 more")
    listed.button.click()
    assert not listed.list.isVisible()


def test_without_a_network_the_files_are_said_to_be_unknown(qtbot: QtBot) -> None:
    for details, expected in ((KNOWN, "2 files"), (dataclasses.replace(KNOWN, files=()), "files not listed: offline")):
        dialog = ModelDetailsDialog(details)
        qtbot.addWidget(dialog)
        assert dialog.files.button.isHidden() == (not details.files)
        assert any(label.text().startswith(expected) for label in dialog.findChildren(QLabel))


def test_what_a_model_is_good_at_is_said(qtbot: QtBot) -> None:
    sees = dataclasses.replace(QWEN, good_at=("thinking", "vision", "code"))
    told = lines(qtbot, dataclasses.replace(KNOWN, model=sees))
    assert any("  ·  thinking, reads images, code  ·  License" in line for line in told)
    assert not any("reads images" in line for line in lines(qtbot, KNOWN))  # nothing is known of it


def test_each_quantization_of_a_repository_can_be_chosen(qtbot: QtBot) -> None:
    shown = dataclasses.replace(QWEN, gguf_name="model-Q4_0")
    sizes = (("model-Q2_K", 1_000_000_000), ("model-Q4_0", 2_000_000_000), ("model-Q8_0", 4_000_000_000))
    dialog = ModelDetailsDialog(dataclasses.replace(KNOWN, model=shown, ggufs=sizes))
    qtbot.addWidget(dialog)
    told = [(entry.title, entry.facts.text().replace("\xa0", " ")) for entry in dialog.ggufs]
    assert told == [("model-Q2_K", "1.0 GB download"), ("model-Q8_0", "4.0 GB download")]
    with qtbot.waitSignal(dialog.details_requested) as asked:
        dialog.ggufs[1].buttons["Open"].click()
    assert asked.args == [QWEN.repo, "model-Q8_0"]
    plain = ModelDetailsDialog(KNOWN)
    qtbot.addWidget(plain)
    assert plain.ggufs == []
