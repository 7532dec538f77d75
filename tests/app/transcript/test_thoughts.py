"""What a model thought is folded away, can be looked at, and is no part of the answer that is copied."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.application import Application
from app.storage.records import StoredMessage, new_id
from app.transcript.view import TranscriptView
from engine import protocol
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN

TEXT = "<think>\nFirst *this*.\n\n- then\n- that\n</think>\n\nThe answer."


def shown(view: TranscriptView, index: int = -1) -> list[str]:
    return [v.block.text for v in view.items[index].blocks() if not v.is_fold]


def test_a_thought_is_folded_until_it_is_asked_for(qtbot: QtBot, view: TranscriptView) -> None:
    answer = StoredMessage(
        id=new_id(), chat_id=1, parent_id=None, role="assistant", content=TEXT, stats={"thinking_seconds": 12.3}
    )
    view.set_messages([answer])
    item = view.items[0]
    assert shown(view) == ["The answer."]
    assert item.thought_line() == "Thought for 12 s"
    folded = item.height
    at = view.origin(0) + QPointF(30, item.blocks()[0].top + 12)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
    assert shown(view) == ["First *this*.", "- then", "- that", "The answer."]
    assert [v.block.thought for v in item.blocks()] == [False, True, True, True, False]
    assert item.height > folded
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert shown(view) == ["The answer."]


def test_a_thought_of_which_no_time_is_known_is_no_longer_one_that_runs(view: TranscriptView) -> None:
    view.set_messages([StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content=TEXT)])
    assert view.items[0].thought_line() == "Thoughts"


def test_a_thought_that_streams_is_timed_and_never_shown_by_itself(view: TranscriptView) -> None:
    answer = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content="", state="streaming")
    view.set_messages([answer])
    for at in range(0, len(TEXT), 3):
        view.extend(answer.id, TEXT[at : at + 3], "")
        item = view.items[0]
        if "</think>" not in item.message.content:
            assert shown(view) == []
            assert len(item.message.content) < 9 or item.thought_line() == "Thinking… 1 s"
    assert shown(view) == ["The answer."]
    view.toggle_thought(answer.id)
    streamed = shown(view)
    view.finish(StoredMessage(id=answer.id, chat_id=1, parent_id=None, role="assistant", content=TEXT))
    assert shown(view) == streamed == ["First *this*.", "- then", "- that", "The answer."]


def test_only_the_answer_is_copied(view: TranscriptView) -> None:
    answer = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content=TEXT)
    view.set_messages([answer])
    view.copy_message(answer.id)
    assert QGuiApplication.clipboard().text() == "The answer."
    view.mouse.select_all()
    view.copy()
    assert QGuiApplication.clipboard().text() == "The answer."


def test_the_users_own_tags_are_left_alone(view: TranscriptView) -> None:
    view.set_messages(
        [StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="user", content="<think>\nwhat is this?")]
    )
    assert shown(view) == ["<think>\nwhat is this?"]
    assert not view.items[0].has_thought


def test_the_switch_is_there_where_the_model_has_one(qtbot: QtBot, launch: Callable[..., Application]) -> None:
    from dataclasses import replace

    underhill = launch(cards=(replace(BUILTIN, thinking=("off", "on"), plain_thinking="on"),))
    switch = underhill.window.header.thinking
    assert switch.isVisible()
    switch.click()
    underhill.conversation.send("Hi")
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages) and not underhill.conversation.working)
    asked = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)]
    assert [c.thinking for c in asked] == ["off"]


def test_there_is_no_switch_where_the_model_has_none(launch: Callable[..., Application]) -> None:
    assert not launch().window.header.thinking.isVisible()


def test_levels_are_a_menu_and_what_is_chosen_holds_for_other_models_too(
    qtbot: QtBot, launch: Callable[..., Application]
) -> None:
    from dataclasses import replace

    efforts = replace(BUILTIN, thinking=("low", "medium", "high"), plain_thinking="medium")
    underhill = launch(cards=(efforts,))
    button = underhill.window.header.thinking
    assert button.isVisible()
    assert [a.text() for a in button.choices.actions()] == ["Low", "Medium", "High"]
    assert [a.isChecked() for a in button.choices.actions()] == [False, True, False]
    button.choices.actions()[2].trigger()
    assert button.accessibleName() == "Thinking: High"
    underhill.conversation.send("Hi")
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages) and not underhill.conversation.working)
    asked = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)]
    assert [c.thinking for c in asked] == ["high"]
    button.offer(("off", "on"), "on")
    assert (button.isCheckable(), button.isChecked(), button.menu()) == (True, True, None)
    button.offer(("off", "low", "max"), "max")
    assert [a.isChecked() for a in button.choices.actions()] == [False, False, True]
    button.offer((), "")
    assert not button.isVisible()


def test_a_call_of_a_tool_is_a_block_of_its_own(view: TranscriptView) -> None:
    text = '<think>\nhm\n</think>\n\nI look.\n\n``````tool_call\n{\n "name": "weather"\n}\n``````\n'
    view.set_messages([StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content=text)])
    blocks = [v.block for v in view.items[0].blocks() if not v.is_fold]
    assert [(b.kind, b.language) for b in blocks] == [("text", ""), ("code", "tool_call")]
    assert blocks[1].text == '{\n "name": "weather"\n}'
