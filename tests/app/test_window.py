"""What a person does in the window, with a scripted engine behind it."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from app.storage.store import ChatStore
from app.transcript import notes
from engine import protocol
from engine.translatable import msg
from tests.app.acts import Launch, ask, button, contents, on_disk
from tests.app.conftest import close, engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.fake_engine import SENTENCE

pytestmark = pytest.mark.long


def test_a_question_is_answered_and_kept(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    assert underhill.window.pages.currentWidget() is underhill.window.welcome
    ask(qtbot, underhill, "hello there")
    assert contents(underhill) == ["hello there", SENTENCE * 3]
    assert underhill.window.composer.text() == ""
    qtbot.waitUntil(lambda: underhill.window.sidebar.model.rowCount() == 2)
    assert underhill.window.sidebar.model.rows[1].title == "hello there"  # type: ignore[union-attr]
    assert on_disk(underhill, tmp_path) == [[("user", "hello there", "whole"), ("assistant", SENTENCE * 3, "whole")]]


def test_the_question_is_on_disk_before_the_engine_hears_of_it(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    seen: list[list[str]] = []
    real = underhill.link.send

    def send(command: protocol.Command, listener: object = None) -> None:
        if isinstance(command, protocol.Generate):
            import sqlite3

            db = sqlite3.connect(tmp_path / "chats.db")
            seen.append([row[0] for row in db.execute("SELECT content FROM messages WHERE role = 'user'")])
            db.close()
        real(command, listener)  # type: ignore[arg-type]

    monkeypatch.setattr(underhill.link, "send", send)
    ask(qtbot, underhill, "am I safe")
    assert seen == [["am I safe"]]


def test_the_model_reads_the_whole_chat_with_its_tokens(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "Yes.")
    ask(qtbot, underhill, "one")
    ask(qtbot, underhill, "two")
    last = [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate)][-1]
    assert [(m.role, m.content) for m in last.messages] == [("user", "one"), ("assistant", "Yes."), ("user", "two")]
    assert last.messages[1].token_ids == (0,)


def test_shift_enter_makes_a_line(qtbot: QtBot, launch: Launch) -> None:
    composer = launch().window.composer
    height = composer.edit.height()
    for _ in range(3):
        qtbot.keyClicks(composer.edit, "line")
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert composer.text() == "line\nline\nline\n"
    assert composer.edit.height() > height


def test_escape_stops_and_what_there_is_stays(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(rate=50.0, script=lambda messages: SENTENCE * 100)
    qtbot.keyClicks(underhill.window.composer.edit, "go on")
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and len(contents(underhill)[1]) > 20)
    assert underhill.window.composer.button.accessibleName() == "Stop"
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert underhill.window.composer.button.accessibleName() == "Send"
    message = underhill.conversation.messages[1]
    assert message.finish == "cancelled"
    assert 20 < len(message.content) < 100 * len(SENTENCE)
    assert (SENTENCE * 100).startswith(message.content)
    assert on_disk(underhill, tmp_path)[0][1] == ("assistant", message.content, "whole")


def test_closing_the_window_while_it_streams_keeps_the_answer(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(rate=80.0, script=lambda messages: SENTENCE * 100)
    underhill.conversation.send("go on")
    qtbot.waitUntil(lambda: len(contents(underhill)[-1]) > 60)
    shown = contents(underhill)[-1]
    underhill.conversation.send("and then")
    (role, content, state) = on_disk(underhill, tmp_path)[0][1]
    assert (role, state) == ("assistant", "cut")
    assert content.startswith(shown)
    again = launch()
    qtbot.waitUntil(lambda: again.window.composer.text() == "and then")  # what waited
    kept = again.conversation.messages[-1]
    assert notes.after(kept) == ["Interrupted when the app closed"]
    assert kept.unfinished


def test_an_answer_streams_to_disk(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(rate=60.0, script=lambda messages: SENTENCE * 100)
    underhill.conversation.send("go on")

    def written() -> int:
        import sqlite3

        db = sqlite3.connect(tmp_path / "chats.db")
        row = db.execute("SELECT content, state FROM messages WHERE role = 'assistant'").fetchone()
        db.close()
        return len(row[0]) if row and row[1] == "streaming" else 0

    qtbot.waitUntil(lambda: written() > 40)
    underhill.conversation.stop()
    qtbot.waitUntil(lambda: not underhill.conversation.working)


def test_another_answer_and_back(qtbot: QtBot, launch: Launch) -> None:
    answers = iter(["first answer", "second answer"])
    underhill = launch(script=lambda messages: next(answers))
    ask(qtbot, underhill, "q")
    button(underhill.window.transcript, "Regenerate").click()
    qtbot.waitUntil(lambda: contents(underhill) == ["q", "second answer"] and not underhill.conversation.working)
    assert "2/2" in [label.text() for label in underhill.window.transcript.findChildren(QLabel)]
    button(underhill.window.transcript, "Previous version").click()
    qtbot.waitUntil(lambda: contents(underhill) == ["q", "first answer"])


def test_an_edited_question_is_a_version(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: f"You said {messages[-1].content}.")
    ask(qtbot, underhill, "teh")
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Up)
    assert underhill.window.composer.text() == "teh"
    ask(qtbot, underhill, "the")
    assert contents(underhill) == ["the", "You said the."]
    underhill.conversation.switch_version(underhill.conversation.messages[0].id, -1)
    qtbot.waitUntil(lambda: contents(underhill) == ["teh", "You said teh."])


def test_chats_are_switched_while_an_answer_comes(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: SENTENCE * 4)
    engine_of(underhill).ends.clear()
    underhill.conversation.send("first chat")
    qtbot.waitUntil(lambda: len(contents(underhill)[-1]) > 10)
    first = underhill.conversation.chat
    assert first is not None
    underhill.window.navigator.new_chat()
    assert contents(underhill) == []
    assert not underhill.conversation.busy
    underhill.conversation.open(first)
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2)
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill) == ["first chat", SENTENCE * 4]


def test_drafts_stay_with_their_chat(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "first")
    chat = underhill.conversation.chat
    assert chat is not None
    qtbot.keyClicks(underhill.window.composer.edit, "half a thought")
    underhill.window.navigator.new_chat()
    assert underhill.window.composer.text() == ""
    qtbot.waitUntil(lambda: underhill.window.sidebar.model.rowCount() == 2)
    underhill.window.sidebar.opened.emit(underhill.window.sidebar.model.rows[1])
    qtbot.waitUntil(lambda: underhill.window.composer.text() == "half a thought")


def test_the_open_chat_is_there_after_a_restart(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    ask(qtbot, underhill, "see you later")
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: contents(again) == ["see you later", SENTENCE * 3])


def test_which_chat_is_open_is_on_disk_at_once(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "remember me")
    chat = underhill.conversation.chat
    assert chat is not None
    qtbot.waitUntil(lambda: f'"chat": {chat.id}' in (tmp_path / "window.json").read_text())


def test_errors_are_sentences_with_details(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    failure = protocol.Failed("", protocol.Kind.OUT_OF_MEMORY, "Too little memory.", "Close something.", "Traceback …")
    engine_of(underhill).fail[protocol.Generate] = failure
    ask(qtbot, underhill, "hi")
    banner = underhill.window.banners.banners[0]
    assert banner.accessibleName() == "Too little memory. Close something."
    assert banner.details.toPlainText() == "Traceback …"
    assert contents(underhill) == ["hi"]
    banner.act()
    qtbot.waitUntil(lambda: contents(underhill) == ["hi", SENTENCE * 3] and not underhill.conversation.working)
    assert not underhill.window.banners.isVisible()


def test_a_full_disk_gives_the_words_back(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ChatStore, "create", full)
    qtbot.keyClicks(underhill.window.composer.edit, "precious words")
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: underhill.window.composer.text() == "precious words")
    assert "disk is full" in underhill.window.banners.banners[0].sentence
    assert contents(underhill) == []
    assert not any(isinstance(c, protocol.Generate) for c in engine_of(underhill).received)
    monkeypatch.undo()


def test_a_damaged_database_is_told(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "chats.db").write_bytes(b"not a database" * 500)
    underhill = launch()
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    assert "damaged" in underhill.window.banners.banners[0].sentence
    ask(qtbot, underhill, "new start")
    assert len(on_disk(underhill, tmp_path)) == 1


def test_left_out_turns_and_a_full_context_are_shown(qtbot: QtBot, launch: Launch) -> None:

    underhill = launch(dropped=3, finish="context")
    ask(qtbot, underhill, "long story")
    message = underhill.conversation.messages[1]
    assert "3 older messages not included" in notes.before(message)[0]
    assert "Context full" in notes.after(message)[0]


def test_models_are_loaded_with_progress_and_chosen_from_the_menu(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(ready=False, goes_on=threading.Event())
    header = underhill.window.header
    qtbot.waitUntil(lambda: "%" in header.state.text())
    engine_of(underhill).goes_on.set()
    qtbot.waitUntil(lambda: header.model.text() == "Little Hill 21M" and header.state.text() == "Ready")
    qtbot.waitUntil(lambda: len(underhill.models.cards) == 2)
    header.fill_menu()
    next(a for a in header.menu.actions() if LARGE.title in a.text()).trigger()
    qtbot.waitUntil(lambda: header.model.text() == LARGE.title)
    header.menu.clear()


def test_a_model_that_cannot_be_opened_is_grey_and_says_why(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    gone = dataclasses.replace(LARGE, state="missing_disk", problem="Its disk is away.", action="Connect it.")
    engine_of(underhill).cards = (BUILTIN, gone)
    underhill.models.refresh()
    qtbot.waitUntil(lambda: underhill.models.cards == (BUILTIN, gone))
    header = underhill.window.header
    header.fill_menu()
    entries = {a.text().split("\t")[0]: (a.isEnabled(), a.toolTip()) for a in header.menu.actions()}
    assert entries[gone.title] == (False, "Its disk is away. Connect it.")
    assert entries[BUILTIN.title] == (True, BUILTIN.note)
    header.menu.clear()


def test_a_plan_that_changes_is_shown_and_what_the_system_did_is_said(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine = engine_of(underhill)
    engine._on_event(protocol.PlanChanged("", ("Half of the experts is kept.",)))
    qtbot.waitUntil(lambda: underhill.window.welcome.plan.text() == "Half of the experts is kept.")
    assert not underhill.window.banners.banners
    panel = underhill.window.live.figures
    engine._on_event(protocol.PlanChanged("", ("Less is kept.",), "This computer is short of memory."))
    qtbot.waitUntil(lambda: underhill.window.welcome.plan.text() == panel.plan.text() == "Less is kept.")
    assert (panel.notice.text(), panel.notice.isHidden()) == ("This computer is short of memory.", False)
    assert not underhill.window.banners.banners  # bookkeeping of the engine's
    underhill.window.model_controller.open_model(LARGE.name)
    assert panel.notice.isHidden()


def test_how_fast_a_model_is_stands_in_a_line_with_the_plan_behind_it(qtbot: QtBot, launch: Launch) -> None:
    welcome = launch().window.welcome
    qtbot.waitUntil(lambda: welcome.summary.isVisible())
    assert welcome.summary.text() == "≈ 40–60 tok/s · 8-bit · all in memory"
    assert not welcome.plan.isVisible()
    welcome.summary.click()
    assert welcome.plan.isVisible()
    assert "All experts (38.0 MB) fit in memory" in welcome.plan.text()
    welcome.summary.click()
    assert not welcome.plan.isVisible()


def test_banners_go_with_what_they_are_about(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    banners = underhill.window.banners
    underhill.models.imported.emit(LARGE)
    assert [b.sentence for b in banners.banners] == ["OLMoE 1B-7B Instruct imported"]
    qtbot.waitUntil(lambda: len(underhill.models.cards) == 2)
    engine_of(underhill).cards = (BUILTIN,)
    underhill.models.refresh()
    qtbot.waitUntil(lambda: not banners.banners)  # it was deleted
    underhill.models.imported.emit(LARGE)
    underhill.models.load_failed.emit(protocol.Failed("l", protocol.Kind.NOT_A_MODEL, msg("It can't be loaded.")))
    assert len(banners.banners) == 2
    underhill.window.model_controller.open_model(BUILTIN.name)
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    assert not banners.banners  # another one was chosen, and loads


def test_a_message_may_be_sent_while_the_model_loads(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(ready=False, goes_on=threading.Event())
    qtbot.waitUntil(lambda: underhill.models.state == "loading")
    underhill.conversation.send("early bird", ())
    item = underhill.window.transcript.items[1]
    qtbot.waitUntil(lambda: item.status.startswith("Loading model"))
    engine_of(underhill).goes_on.set()
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert contents(underhill) == ["early bird", SENTENCE * 3]
    assert underhill.conversation.messages[1].model == BUILTIN.title


def test_a_model_that_fails_to_load_can_be_tried_again(qtbot: QtBot, launch: Launch) -> None:
    failure = protocol.Failed("", protocol.Kind.MISSING_FILE, "A file of the model is missing.", "Import it again.")
    underhill = launch(ready=False, fail={protocol.LoadModel: failure})
    qtbot.waitUntil(lambda: underhill.models.state == "failed")
    qtbot.keyClicks(underhill.window.composer.edit, "x")
    assert not underhill.window.composer.button.isEnabled()
    underhill.window.banners.banners[0].act()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    assert underhill.window.composer.button.isEnabled()


def test_an_import_shows_progress_and_can_be_opened(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.models.import_folder("/somewhere/olmoe", "olmoe", 4)
    qtbot.waitUntil(lambda: any("imported" in b.sentence for b in underhill.window.banners.banners))
    sent = next(c for c in engine_of(underhill).received if isinstance(c, protocol.ImportModel))
    assert (sent.path, sent.name, sent.top) == ("/somewhere/olmoe", "olmoe", 4)
    window = underhill.window
    window.library.show()
    next(b for b in window.banners.banners if "imported" in b.sentence).act()
    assert window.composer.isVisible()  # one opens it to chat with it
    qtbot.waitUntil(lambda: underhill.models.card is not None and underhill.models.card.name == LARGE.name)


def test_that_a_model_was_imported_is_said_until_it_is_open(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    banners = underhill.window.banners
    underhill.models.import_folder("/somewhere/olmoe", "olmoe", 4)
    qtbot.waitUntil(lambda: any("imported" in b.sentence for b in banners.banners))
    underhill.window.model_controller.open_model(LARGE.name)  # as the menu does
    qtbot.waitUntil(lambda: not banners.banners)


def test_examples_can_be_clicked(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    assert "built-in model" in underhill.window.welcome.note.text()
    underhill.window.welcome.examples[0].click()
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and not underhill.conversation.working)


def test_copying(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "Some **bold** words.\n\n```py\nx = 1\n```\n\nEnd.")
    ask(qtbot, underhill, "q")
    transcript = underhill.window.transcript
    button(transcript, "Copy").click()
    assert QGuiApplication.clipboard().text().startswith("Some **bold** words.")
    transcript.setFocus()
    qtbot.keyClick(transcript, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "q\n\nSome **bold** words.\n\n```py\nx = 1\n```\n\nEnd."


def test_shortcuts(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    control = Qt.KeyboardModifier.ControlModifier
    shown = window.live.shown
    qtbot.keyClick(window, Qt.Key.Key_L, control)
    assert window.live.shown is not shown
    qtbot.keyClick(window, Qt.Key.Key_B, control)
    assert not window.sidebar.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_K, control)
    assert window.sidebar.isVisible()
    assert window.sidebar.search.hasFocus() or QApplication.focusWidget() is None


def test_everything_that_can_be_pressed_has_a_name(launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    nameless = [
        w
        for top in (underhill.window, dialog)
        for w in top.findChildren(QToolButton)
        if not (w.accessibleName() or w.text()) and not isinstance(w.parent(), QLineEdit)
    ]
    dialog.reject()
    lists = [underhill.window.sidebar.list, underhill.window.transcript, underhill.window.composer.edit]
    assert all(w.accessibleName() for w in lists)
    assert nameless == []
