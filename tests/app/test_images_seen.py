"""The whole app with a real engine and a model that reads images: attached, answered, kept over a restart, refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from engine.convert.importer import import_checkpoint
from engine.library import library
from tests.app.acts import ask
from tests.engine.models.vision import seeing_gemma as gemma

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a tiny one."""
    folder = tmp_path_factory.mktemp("gemma")
    gemma.checkpoint(gemma.model(), folder / "checkpoint")
    return import_checkpoint(folder / "checkpoint", folder / "seeing", top=8)


def ready(qtbot: QtBot, underhill: Application, model: str) -> None:
    qtbot.waitUntil(lambda: underhill.models.state == "ready", timeout=120_000)
    underhill.window.model_controller.choose_model(model)
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and underhill.models.wanted == model, timeout=120_000)


def test_an_image_is_read_and_stays_with_its_chat(
    qtbot: QtBot, launch_real: Callable[[], Application], seeing: Path, tmp_path: Path
) -> None:
    shutil.copytree(seeing, library.location("seeing"))
    (tmp_path / "hill.png").write_bytes(gemma.picture(1))
    underhill = launch_real()
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 6}
    ready(qtbot, underhill, "seeing")
    composer = underhill.window.composer
    composer.files.emit([tmp_path / "hill.png"])
    qtbot.waitUntil(lambda: len(composer.attachments) == 1, timeout=60_000)
    ask(qtbot, underhill, "w10 w11")
    question, answer = underhill.conversation.messages
    assert answer.state == "whole"
    assert answer.stats["prompt_tokens"] > 60  # of the image are most of them
    assert [a.name for a in question.attachments] == ["hill.png"]

    again = launch_real()
    qtbot.waitUntil(lambda: len(again.conversation.messages) == 2, timeout=60_000)
    ready(qtbot, again, "seeing")
    again.conversation.sampling = {"temperature": 0.0, "max_tokens": 6}
    ask(qtbot, again, "w12")
    last = again.conversation.messages[-1]
    assert last.stats["prompt_tokens"] > answer.stats["prompt_tokens"]
    assert [a.name for a in again.conversation.messages[0].attachments] == ["hill.png"]
