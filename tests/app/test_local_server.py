"""The local server switched in the window, with the real engine in its process and the built-in model behind it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import httpx2 as httpx
import pytest
from PySide6.QtCore import QThread
from PySide6.QtWidgets import QCheckBox, QLineEdit
from pytestqt.qtbot import QtBot

from app.application import Application
from app.settings.dialog import SettingsDialog
from engine import resources
from tests.waiting import LONGEST

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here"),
]
ASK = {
    "model": "builtin", "messages": [{"role": "user", "content": "Hello! Who are you?"}], "temperature": 0,
    "max_tokens": 12,
}  # fmt: skip


class Program(QThread):
    """Another program, which asks while the window goes on."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        self.answer: dict[str, Any] = {}

    def run(self) -> None:
        self.answer = httpx.post(f"{self._address}/chat/completions", json=ASK, timeout=LONGEST).json()


def answer(qtbot: QtBot, address: str) -> str:
    program = Program(address)
    with qtbot.waitSignal(program.finished):
        program.start()
    return str(program.answer["choices"][0]["message"]["content"])


def at_server_page(underhill: Application) -> SettingsDialog:
    underhill.window.settings.open_server()
    (dialog,) = (found for found in underhill.window.findChildren(SettingsDialog) if found.isVisible())
    return dialog


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_program_is_answered_from_the_switch_on_to_the_switch_off_and_after_a_restart(
    qtbot: QtBot, launch_real: Callable[[], Application]
) -> None:
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state in ("ready", "failed"), timeout=120_000)
    page = at_server_page(underhill).server
    editors = {editor.setting.name: editor.control for editor in page.editors}
    port, starts = editors["server_port"], editors["server_start"]
    assert isinstance(port, QLineEdit)
    assert isinstance(starts, QCheckBox)
    number = free_port()
    port.setText(str(number))
    port.editingFinished.emit()
    page.switch.click()
    qtbot.waitUntil(lambda: bool(page.addresses.shown) or page.problem.isVisible())
    assert page.addresses.shown == [f"http://127.0.0.1:{number}/v1"], page.problem.text()
    first = answer(qtbot, page.addresses.shown[0])
    assert len(first.split()) > 2
    qtbot.waitUntil(lambda: page.requests.list.count() == 1 and "Answered" in page.requests.list.item(0).text())
    assert "12 tokens" in page.requests.list.item(0).text()

    page.switch.click()
    qtbot.waitUntil(lambda: not underhill.window.server.busy)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{number}/health", timeout=LONGEST)

    starts.setChecked(True)
    again = launch_real()
    qtbot.waitUntil(lambda: again.window.header.server.isVisible() or bool(again.window.banners.banners))
    assert answer(qtbot, f"http://127.0.0.1:{number}/v1") == first
    page = at_server_page(again).server
    assert page.switch.isChecked()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = next(e for e in page.editors if e.setting.name == "server_port").control
        assert isinstance(port, QLineEdit)
        port.setText(str(taken.getsockname()[1]))
        port.editingFinished.emit()
        qtbot.waitUntil(lambda: page.problem.isVisible())
        assert f"port {taken.getsockname()[1]}" in page.problem.text()
        assert not page.switch.isChecked()
