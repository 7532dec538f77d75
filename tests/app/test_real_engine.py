"""The window with the real engine and the built-in model behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from app.i18n import languages
from app.platform.logs import AppPaths
from app.telemetry.charts import parts_of
from engine import protocol, resources


@pytest.fixture
def underhill(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    """The whole app with an engine of its own and folders of its own; not opened yet."""
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    made = Application(qapp, AppPaths(tmp_path / "window"))
    made.window.resize(1180, 760)  # room for the panels
    yield made
    if made.engine is None:  # else another window has it
        made.window.close()
        made.close()


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_the_built_in_model_answers(qtbot: QtBot, underhill: Application) -> None:
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 24}
    underhill.open()
    qtbot.waitUntil(lambda: underhill.models.state in ("ready", "failed"), timeout=120_000)
    assert underhill.models.state == "ready", [b.sentence for b in underhill.window.banners.banners]
    assert "kernels" in underhill.window.welcome.plan.text()  # which ones compute here
    underhill.conversation.send("Hello! Who are you?")
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    answer = underhill.conversation.messages[-1]
    assert answer.role == "assistant"
    assert len(answer.content.split()) > 2
    assert answer.stats["hits"] + answer.stats["misses"] > 0
    assert underhill.window.transcript.items[-1].message.content == answer.content
    history = underhill.window.live.history  # the panels came with the page of the chat, after the tour
    qtbot.waitUntil(lambda: history.last is not None and bool(history.last.activations))
    assert not underhill.window.banners.banners


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_settings_and_panels_work_in_the_middle_of_an_answer(qtbot: QtBot, underhill: Application) -> None:
    window, conversation = underhill.window, underhill.conversation
    conversation.sampling = {"temperature": 0.0, "max_tokens": 8}
    underhill.open()
    qtbot.waitUntil(lambda: underhill.models.state in ("ready", "failed"), timeout=120_000)
    conversation.send("Hello!")
    qtbot.waitUntil(lambda: not conversation.working)
    qtbot.waitUntil(lambda: window.live.experts.data is not None)  # a heatmap of nothing cannot be clicked
    dialog = window.settings.open()
    told: list[protocol.Telemetry] = []
    known = underhill.link.telemetry.connect(told.append)
    conversation.sampling = {"temperature": 1.5, "max_tokens": 900, "seed": 3}
    conversation.send("Tell me a very long story about a fox, a bear and a hill.")
    qtbot.waitUntil(lambda: conversation.working and bool(window.transcript.items))
    for setting, value in (("cache_fraction", 0.3), ("dial", "fast"), ("t1", 0.1), ("t2", 0.3)):
        dialog.engine_changed.emit(setting, value, "")
    window.live.experts.heatmap.chosen.emit(1, 4)
    qtbot.waitUntil(lambda: not conversation.working)
    stats = conversation.messages[-1].stats  # of this answer alone
    assert stats["misses"] > 0
    assert stats["precision"].get("2", 0) > 0
    assert stats["precision"].get("skipped", 0) > 0
    qtbot.waitUntil(lambda: bool(told) and told[-1].misses > 0 and told[-1].expert is not None)
    found, use = told[-1].expert, told[-1].memory
    assert found is not None
    assert (found.layer, found.expert) == (1, 4)
    assert use is not None
    qtbot.waitUntil(window.live.experts.inspector.isVisible)  # a panel is painted behind the text
    for now in told:
        assert now.memory is not None
        parts = parts_of(now.memory)
        assert sum(parts[key] for key in ("program", "dense", "context", "buffers", "cached")) == now.rss
        assert sum(parts.values()) == max(now.memory.ceiling, now.rss)
    assert dialog.scores.chart.cuts == [0.1, 0.3]
    underhill.link.telemetry.disconnect(known)
    dialog.reject()


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_another_language_keeps_the_engine_and_its_model(
    qtbot: QtBot, qapp: QApplication, underhill: Application, tmp_path: Path
) -> None:
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 8}
    underhill.open()
    qtbot.waitUntil(lambda: underhill.models.state == "ready", timeout=120_000)
    underhill.conversation.send("Hello!")
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    look = underhill.window.settings.open().look
    try:
        look.language.setCurrentIndex(look.language.findData("zh_CN"))
        qtbot.waitUntil(lambda: underhill.again)
        underhill.close()
        assert underhill.engine is not None
        after = Application(qapp, AppPaths(tmp_path / "window"), engine=underhill.engine)
        after.open_again()
        qtbot.waitUntil(lambda: after.models.state == "ready")
        assert after.window.sidebar.button.text() == "新对话"
        qtbot.waitUntil(lambda: len(after.conversation.messages) == 2)
        after.conversation.sampling = {"temperature": 0.0, "max_tokens": 8}
        after.conversation.send("And now?")
        qtbot.waitUntil(lambda: not after.conversation.working)
        assert after.conversation.messages[-1].stats["reused_tokens"] > 0  # the same engine, with the same model
        after.window.close()
        after.close()
    finally:
        languages.install("en")
