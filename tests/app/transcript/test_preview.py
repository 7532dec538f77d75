"""The Preview switch of code: HTML and SVG are shown as they look, in the place of their code."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.markdown.preview import PreviewRenderer
from app.storage.records import StoredMessage, new_id
from app.transcript.blocks import BlockView
from app.transcript.code_controls import CodeControls
from app.transcript.view import TranscriptView

SVG = '<svg width="200" height="300"><rect width="200" height="300" fill="red"/></svg>'


def answer(text: str, state: str = "complete") -> StoredMessage:
    return StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content=text, state=state)


def shown(view: TranscriptView, text: str, state: str = "complete") -> tuple[BlockView, CodeControls]:
    view.set_messages([answer(text, state)])
    block = next(b for b in view.items[0].blocks() if b.is_code)
    controls = view.code.of(block)
    assert controls is not None
    return block, controls


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(renderer: PreviewRenderer, asker: object, *_: object) -> None:
        renderer.drawn.emit(asker, QImage())

    monkeypatch.setattr(PreviewRenderer, "draw", draw)


@pytest.mark.long
def test_it_takes_the_place_of_the_code_and_back(qtbot: QtBot, view: TranscriptView) -> None:
    block, controls = shown(view, f"Here:\n\n```svg\n{SVG}\n```\n\nThat is all.")
    code_height, below = block.height, view.items[0].blocks()[2]
    assert controls.preview.isVisible()
    qtbot.mouseClick(controls.preview, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: block.preview is not None)
    rect = block.preview_rect(view.items[0].text_width(view.layout_.column))
    assert (rect.width(), rect.height()) == (200, 300)
    assert block.height > 300 > code_height
    assert below.top >= block.top + block.height
    assert controls.preview.isChecked()
    assert controls.wrap.isHidden()
    at = (view.origin(0) + rect.center()).toPoint()
    assert view.viewport().grab().toImage().pixelColor(at) == QColor("red")
    qtbot.mouseClick(controls.preview, Qt.MouseButton.LeftButton)
    assert block.preview is None
    assert block.height == code_height
    assert not controls.preview.isChecked()


@pytest.mark.parametrize("code", ["```python\nx = 1\n```", "```xml\n<a/>\n```"])
def test_other_code_has_none(view: TranscriptView, code: str) -> None:
    assert shown(view, code)[1].preview.isHidden()


def test_none_in_what_one_wrote_oneself(view: TranscriptView) -> None:
    view.set_messages([StoredMessage(id=1, chat_id=1, parent_id=None, role="user", content=f"```svg\n{SVG}\n```")])
    controls = view.code.of(view.items[0].blocks()[0])
    assert controls is not None
    assert controls.preview.isHidden()


def test_it_comes_once_the_code_is_whole(view: TranscriptView) -> None:
    _, controls = shown(view, "```html\n<p>One", "streaming")
    assert controls.preview.isHidden()
    view.extend(view.items[0].message.id, "</p>\n```\n\nMore", "")
    whole = view.code.of(view.items[0].blocks()[0])
    assert whole is not None
    assert whole.preview.isVisible()


def test_what_cannot_be_drawn_stays_code(qtbot: QtBot, view: TranscriptView, fails: None) -> None:
    block, controls = shown(view, "```svg\nno svg\n```")
    with qtbot.waitSignal(view.failed):
        qtbot.mouseClick(controls.preview, Qt.MouseButton.LeftButton)
    assert block.preview is None
    assert not controls.preview.isChecked()


def test_a_preview_that_is_not_wanted_any_more_is_not_shown(
    view: TranscriptView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PreviewRenderer, "draw", lambda *_: None)
    block, controls = shown(view, f"```svg\n{SVG}\n```")
    controls.preview.click()
    controls.preview.click()
    image = QImage(10, 10, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    view.builder.previews.drawn.emit(block, image)
    assert block.preview is None
