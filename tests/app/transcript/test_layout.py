"""Only what is in sight is laid out, and nothing jumps while it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markdown.split import Block
from app.storage.records import StoredMessage, new_id
from app.theme import fonts
from app.theme.theme import Theme
from app.transcript.blocks import BlockView
from app.transcript.layout import BOUND, DocumentCache, button_column, cost, width_in
from app.transcript.mouse import hit_test
from app.transcript.page import MessageActions
from app.transcript.paint import foot_rect
from app.transcript.selection import END
from app.transcript.view import TranscriptView
from tests.app.samples import LONG_ANSWER, QUESTION

pytestmark = pytest.mark.long


def conversation(turns: int) -> list[StoredMessage]:
    return [
        StoredMessage(
            id=new_id(),
            chat_id=1,
            parent_id=None,
            role="assistant" if n % 2 else "user",
            content=LONG_ANSWER if n % 2 else f"{n}: {QUESTION}",
        )
        for n in range(turns)
    ]


def made_documents(view: TranscriptView) -> int:
    return sum(v.document is not None for item in view.items for v in item.views or ())


def test_a_long_chat_opens_at_its_end_and_lays_out_little(view: TranscriptView) -> None:
    view.set_messages(conversation(5000))
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 500_000
    assert 5 < made_documents(view) < 100
    assert sum(item.views is not None for item in view.items) < 10


def test_scrolling_to_places_never_seen(view: TranscriptView) -> None:
    view.set_messages(conversation(600))
    bar = view.verticalScrollBar()
    for share in (0.0, 0.3, 0.9, 0.5):
        bar.setValue(int(share * bar.maximum()))
        hit = hit_test(view, QPointF(450, 350), exact=False)
        assert hit is not None
    bar.setValue(0)
    assert view.origin(0).y() == 0


def test_scrolling_up_does_not_jump(view: TranscriptView) -> None:
    """What is in sight moves by as much as was scrolled, though heights above were only guessed."""
    view.set_messages(conversation(40))
    bar = view.verticalScrollBar()
    for _ in range(60):
        hit = hit_test(view, QPointF(450, 300), exact=False)
        assert hit is not None
        block = (view.items[hit.place.message].views or [])[hit.place.block]
        before = view.origin(hit.place.message).y() + block.top
        bar.setValue(bar.value() - 120)
        after = view.origin(hit.place.message).y() + block.top
        assert abs(after - before - 120) <= 1.5


def test_old_documents_are_let_go(view: TranscriptView) -> None:
    view.set_messages(conversation(1200))
    bar = view.verticalScrollBar()
    for step in range(400):
        bar.setValue(bar.maximum() - step * 900)
    kept = view.layout_.documents
    assert kept.nbytes < BOUND * 1.1
    assert made_documents(view) == len(kept) < 2000


def test_a_very_long_message_is_laid_out_only_where_it_is_seen(view: TranscriptView) -> None:
    """Also when it is the only one, and when it grows at its end."""
    answer = StoredMessage(
        id=new_id(), chat_id=1, parent_id=None, role="assistant", content=LONG_ANSWER * 250, state="streaming"
    )
    view.set_messages([answer])
    assert made_documents(view) < 60
    before = view.layout_.height
    view.extend(answer.id, "\n\nOne more paragraph.\n\n" * 3, "")
    assert made_documents(view) < 60
    assert view.layout_.height > before
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum() // 3)
    assert made_documents(view) < 160
    views = view.items[0].views or []
    ends = [v.top + v.height for v in views]
    assert all(a <= b.top for a, b in zip(ends, views[1:]))


def test_what_is_in_sight_is_never_let_go() -> None:
    views = [BlockView(Block("text", f"{n} " * 200), plain=True) for n in range(10)]
    kept = DocumentCache(bound=4 * cost(views[0]))
    for view in views:
        view.document = QTextDocument()
    kept.seen(views)
    kept.trim()
    assert all(v.document is not None for v in views)
    kept.seen(views[7:])
    kept.trim()
    assert [v.document is not None for v in views] == [False] * 6 + [True] * 4
    assert kept.nbytes == sum(cost(v) for v in views[6:])


def test_growing_answers_keep_the_end_in_sight_unless_one_scrolls_away(view: TranscriptView) -> None:
    messages = conversation(10)
    answer = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content="", state="streaming")
    view.set_messages([*messages, answer])
    bar = view.verticalScrollBar()
    for _ in range(30):
        view.extend(answer.id, "More and more words come.\n\n", "")
        assert bar.value() == bar.maximum()
    bar.setValue(bar.value() - 600)
    at = bar.value()
    view.extend(answer.id, "And still more.\n\n" * 20, "")
    assert bar.value() == at < bar.maximum()
    view.go_to_end()
    assert bar.value() == bar.maximum()


def test_closed_blocks_are_parsed_once(view: TranscriptView) -> None:
    answer = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content="", state="streaming")
    view.set_messages([answer])
    view.extend(answer.id, "First paragraph.\n\nSecond par", "")
    first = (view.items[0].views or [])[0].document
    for _ in range(20):
        view.extend(answer.id, " more", "")
    views = view.items[0].views or []
    assert views[0].document is first
    assert [v.block.kind for v in views] == ["text", "open"]
    assert views[1].document is not None
    assert views[1].document.toPlainText() == "Second par" + " more" * 20


def test_what_streamed_looks_like_what_is_read_back(view: TranscriptView) -> None:
    answer = StoredMessage(id=new_id(), chat_id=1, parent_id=None, role="assistant", content="", state="streaming")
    view.set_messages([answer])
    for at in range(0, len(LONG_ANSWER), 7):
        view.extend(answer.id, LONG_ANSWER[at : at + 7], "")
    whole = StoredMessage(id=answer.id, chat_id=1, parent_id=None, role="assistant", content=LONG_ANSWER)
    view.finish(whole)
    streamed = [v.block for v in view.items[0].views or ()]
    height = view.layout_.height
    view.set_messages([whole])
    view.make(0, 0, END)
    view.layout_.touch(0)
    view.arrange()
    assert [v.block for v in view.items[0].views or ()] == streamed
    assert abs(view.layout_.height - height) < 40


def test_nothing_moves_when_the_scroll_bar_comes(view: TranscriptView, qtbot: QtBot) -> None:
    for width in (500, 800, 1100):
        view.resize(width, 700)
        view.set_messages(conversation(1))
        qtbot.waitUntil(lambda: not view.verticalScrollBar().isVisible())
        before = view.layout_.column, view.origin(0).x()
        view.set_messages(conversation(100))
        assert view.layout_.column == before[0]  # at once, so that nothing is laid out again
        qtbot.waitUntil(view.verticalScrollBar().isVisible)
        assert (view.layout_.column, view.origin(0).x()) == before
        assert view.origin(0).x() + view.layout_.column <= view.viewport().width() - button_column()


@pytest.mark.usefixtures("normal_size")
def test_lines_have_as_many_words_in_large_text(view: TranscriptView, theme: Theme) -> None:
    view.resize(1600, 700)
    view.set_messages(conversation(1))
    before = view.layout_.column
    theme.set_percent(150)
    assert view.layout_.column == width_in(view) == 1.5 * before
    view.resize(700, 700)
    assert view.layout_.column < 700 - button_column()


def test_another_width_lays_out_again(view: TranscriptView) -> None:
    view.set_messages(conversation(50))
    tall = view.layout_.height
    view.resize(500, 700)
    assert view.layout_.height > tall
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum()


def test_the_line_under_an_answer_ends_before_its_buttons(view: TranscriptView) -> None:
    answers = [
        StoredMessage(
            id=new_id(),
            chat_id=1,
            parent_id=None,
            role="assistant",
            content="Yes.",
            stats={"hits": 9, "misses": 1},
            version=2,
            versions=3,
        )
    ]
    view.set_messages(answers)
    view.choose(0)
    item, buttons = view.items[0], view.findChild(MessageActions)
    assert buttons is not None
    assert buttons.isVisible()
    line = foot_rect(item, view.layout_.column, view.beside(0)).translated(view.origin(0))
    assert line.width() > 100
    assert line.right() < buttons.x()


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("width", [340, 640, 800, 850, 1500])
def test_the_button_to_the_end_covers_nothing_of_the_text(
    qapp: QApplication, theme: Theme, view: TranscriptView, width: int, percent: int
) -> None:
    theme.set_percent(percent)
    try:
        view.resize(width, 420)
        view.set_messages(conversation(30))
        assert not view.to_end.isVisible()
        view.verticalScrollBar().setValue(60)
        button = view.to_end.geometry()
        assert view.to_end.isVisible()
        assert view.viewport().geometry().contains(button)
        assert view.origin(0).x() >= 28
        assert view.origin(0).x() + view.layout_.column < button.left()
        view.to_end.click()
        assert view.place() is None
        assert not view.to_end.isVisible()
        if width == 1500:  # where there is room, the text is in the middle all the same
            assert abs(2 * view.origin(0).x() + view.layout_.column - view.width()) <= 1
    finally:
        fonts.set_percent(100)
        qapp.setFont(fonts.text())


@pytest.mark.parametrize("percent", [100, 150])
def test_buttons_stand_in_the_line_of_figures(view: TranscriptView, theme: Theme, percent: int) -> None:
    theme.set_percent(percent)
    view.set_messages(conversation(2))
    item = view.items[1]
    line = foot_rect(item, view.layout_.column, 0.0).translated(view.origin(1))
    assert abs(view.message_actions.geometry().center().y() - line.center().y()) <= 1
