"""The window with the real engine and the built-in model behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.assembly import Underhill
from app.paths import Paths
from engine import resources


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_the_built_in_model_answers(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    underhill = Underhill(qapp, Paths(tmp_path / "window"))
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 24}
    underhill.open()
    try:
        qtbot.waitUntil(lambda: underhill.models.state in ("ready", "failed"), timeout=120_000)
        assert underhill.models.state == "ready", [b.sentence for b in underhill.window.banners.banners]
        assert "kernels" in underhill.window.welcome._plan.text()  # which ones compute here
        underhill.conversation.send("Hello! Who are you?")
        qtbot.waitUntil(lambda: not underhill.conversation.working, timeout=60_000)
        answer = underhill.conversation.messages[-1]
        assert answer.role == "assistant"
        assert len(answer.content.split()) > 2
        assert answer.stats["hits"] + answer.stats["misses"] > 0
        assert underhill.window.transcript.items[-1].message.content == answer.content
        qtbot.waitUntil(lambda: underhill.window.live.history.last is not None)
        assert underhill.window.live.history.last.activations
        assert not underhill.window.banners.banners
    finally:
        underhill.window.close()
        underhill.close()
