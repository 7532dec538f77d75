"""The context meter of a chat that grows, streams, is longer than the context, and changes its model."""

from __future__ import annotations

import re
from dataclasses import replace

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.application import Application
from app.composer import ContextMeter
from app.storage.records import Attachment
from tests.app.acts import Launch, ask
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.test_chat_models import entry, listed

TWO = tuple(replace(card, reads_images=True) for card in (BUILTIN, LARGE))


def test_only_a_message_that_can_never_fit_is_an_alarm(qtbot: QtBot) -> None:
    meter = ContextMeter()
    qtbot.addWidget(meter)
    meter.show_usage(900, 200, 1000)
    assert meter.label.text() == "200 tokens  ·  Context full: oldest messages left out"
    assert meter.property("level") == "warning"
    meter.show_usage(0, 1200, 1000)
    assert meter.label.text() == "1,200 tokens  ·  Message too long"
    assert meter.property("level") == "full"


def words(count: int) -> str:
    """A text of so many tokens."""
    return " ".join(["hill"] * count)


def shares(underhill: Application) -> list[str]:
    """What the meter says from now on, without what is said twice."""
    said: list[str] = []
    label = underhill.window.composer.meter.label

    def heard() -> None:
        if said[-1:] != [label.text()]:
            said.append(label.text())

    underhill.token_counter.counted.connect(heard)
    return said


def percents(said: list[str]) -> list[int]:
    return [int(number) for text in said for number in re.findall(r"(\d+)% full", text)]


def used(underhill: Application) -> int:
    """Tokens as the meter's tooltip has them."""
    tip = underhill.window.composer.meter.toolTip()
    return int(tip.split(" ")[0].replace(",", "")) if tip else 0


def send(qtbot: QtBot, underhill: Application, text: str) -> None:
    underhill.window.composer.edit.setPlainText(text)
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)


def test_the_meter_grows_with_the_answer_and_stays_where_it_ends(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, script=lambda messages: words(300))
    engine = engine_of(underhill)
    send(qtbot, underhill, "x" * 40)
    said = shares(underhill)
    engine.ends.clear()
    prompt = 10 + 4
    qtbot.waitUntil(lambda: bool(said) and used(underhill) == prompt + 300)
    assert percents(said) == sorted(percents(said))
    assert said[-1] == "Context 31% full"
    underhill.window.composer.edit.setPlainText("y" * 400)  # the next message, while it comes
    qtbot.waitUntil(lambda: said[-1] == "100 tokens  ·  Context 41% full")
    underhill.window.composer.edit.setPlainText("")
    qtbot.waitUntil(lambda: said[-1] == "Context 31% full")
    with qtbot.waitSignal(underhill.token_counter.counted):
        engine.ends.set()
    assert said[-1] == "Context 31% full"
    assert underhill.conversation.messages[1].stats["prompt_tokens"] + 300 == used(underhill)


def test_a_chat_longer_than_the_context_is_counted_as_it_is_read(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, drops_turns=True, script=lambda messages: words(100), cards=TWO)
    listed(qtbot, underhill)
    said = shares(underhill)
    for _ in range(12):
        ask(qtbot, underhill, "x" * 400)
    last = underhill.conversation.messages[-1]
    assert sum(len(m.content) // 4 for m in underhill.conversation.messages) > 2 * 1000
    qtbot.waitUntil(lambda: used(underhill) == last.stats["prompt_tokens"] + 100)
    assert max(percents(said)) <= 100
    entry(underhill, LARGE.title).trigger()  # which has answered nothing here: its tokens are counted anew
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and underhill.models.wanted == LARGE.name)
    with qtbot.waitSignal(underhill.token_counter.counted):
        underhill.models.changed.emit()
    counted = used(underhill)
    assert counted <= 1000
    assert underhill.window.composer.meter.property("level") == "fine"
    del said[:]
    engine_of(underhill).ends.clear()
    send(qtbot, underhill, "y" * 40)
    qtbot.waitUntil(lambda: len(underhill.conversation.answers.running) == 1)
    qtbot.waitUntil(lambda: all(len(a.tokens) == 100 for a in underhill.conversation.answers.running.values()))
    qtbot.waitUntil(lambda: used(underhill) > counted)
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    with qtbot.waitSignal(underhill.token_counter.counted):
        underhill.models.changed.emit()
    assert max(percents(said)) <= 100
    assert not any("Context full" in text for text in said)
    now = underhill.conversation.messages[-1].stats["prompt_tokens"] + 100
    assert used(underhill) == now
    assert abs(counted + 10 + 100 - now) < 0.1 * 1000  # but for what the template adds


def test_a_model_that_comes_back_counts_what_it_will_read(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, drops_turns=True, script=lambda messages: words(100), cards=TWO)
    listed(qtbot, underhill)
    ask(qtbot, underhill, "x" * 400)
    for card, times in ((LARGE, 8), (BUILTIN, 0)):
        entry(underhill, card.title).trigger()
        qtbot.waitUntil(lambda name=card.name: underhill.models.state == "ready" and underhill.models.wanted == name)
        for _ in range(times):
            ask(qtbot, underhill, "x" * 400)
    with qtbot.waitSignal(underhill.token_counter.counted):
        underhill.models.changed.emit()
    assert 250 < used(underhill) <= 1000
    assert underhill.window.composer.meter.label.text() == f"Context {used(underhill) / 10:.0f}% full"


def test_a_message_that_is_sent_counts_as_it_did_in_the_draft(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, script=lambda messages: words(10))
    ask(qtbot, underhill, "x" * 40)
    composer, said = underhill.window.composer, shares(underhill)
    composer.set_attachments([Attachment("map.txt", "y" * 400)])
    composer.edit.setPlainText("z" * 40)
    first = underhill.conversation.messages[1].stats["prompt_tokens"] + 10
    qtbot.waitUntil(lambda: bool(said) and used(underhill) > first + 100)
    drafted = used(underhill)
    engine_of(underhill).ends.clear()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: used(underhill) >= drafted + 10)
    assert percents(said) == sorted(percents(said))
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
