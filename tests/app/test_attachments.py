"""Files and long texts go with a message, with what they cost; what is no text is refused with a reason."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path
from typing import IO

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.attachments import controller
from app.attachments.reading import read
from app.chat.prompt_messages import first_read_message, prompt_messages, with_attachments
from app.composer import LONG_PASTE
from app.storage.records import Attachment, StoredMessage
from app.transcript import notes
from engine import protocol, regular_file
from engine.documents import reading
from tests.app.acts import Launch, ask, contents
from tests.app.attachments_pdf import pdf
from tests.app.conftest import close, engine_of

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße\r\nzwei".encode(), "Grüße\nzwei"),
        ("\ufeffmarked".encode(), "marked"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße".encode("cp1252"), "Grüße"),
        (pdf("Under the hill"), "Under the hill"),
    ],
)
def test_text_is_read_as_what_it_is(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "file.x"
    path.write_bytes(data)
    assert read(path) == Attachment("file.x", text)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 40, "is an image. Only text is read from documents"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0" * 40, "is an image"),
        (b"RIFF\x10\0\0\0WEBPVP8 " * 40, "is an image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0" * 900_000, "is an image"),
        (b"\x7fELF\2\1\1\0\0\0" * 40, "isn't a text file"),
        (b" \n", "contains no text"),
        (pdf(""), "contains no text"),
        (b"%PDF-1.4\ngarbage", "as a PDF"),
        (pdf("cut off")[:150], "as a PDF"),
        (b"x" * ((8 << 20) + 1), "too large"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "file.x"
    path.write_bytes(data)
    with pytest.raises(protocol.UnderhillError, match=sentence):
        read(path)


def test_a_folder_and_a_missing_file_say_why(tmp_path: Path) -> None:
    with pytest.raises(protocol.UnderhillError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(protocol.UnderhillError, match="none no longer exists"):
        read(tmp_path / "none")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
@pytest.mark.parametrize("kind", ["device", "pipe", "socket", "link to a device"])
def test_only_files_are_read_and_nothing_waits(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "odd.txt"
    match kind:
        case "device":
            path = Path("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "socket":
            monkeypatch.chdir(tmp_path)  # an address takes 107 bytes, and folders may be deep
            socket.socket(socket.AF_UNIX).bind(path.name)
        case _:
            path.symlink_to("/dev/zero")
    with pytest.raises(protocol.UnderhillError, match="is a device, not a file"):
        read(path)


def test_a_file_of_holes_and_a_path_too_long_are_refused_in_words(tmp_path: Path) -> None:
    with (tmp_path / "holes.txt").open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(protocol.UnderhillError, match="is too large"):
        read(tmp_path / "holes.txt")
    with pytest.raises(protocol.UnderhillError, match=r"path of x+… is too long"):
        read(tmp_path / ("x" * 300))


def test_a_file_that_grows_while_it_is_read_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.txt"
    path.write_text("words\n" * 100)
    monkeypatch.setattr(reading, "LONGEST_TEXT", 700)
    taken = regular_file.read_at_most

    def grown(file: IO[bytes], max_bytes: int, name: Path) -> bytes:
        with path.open("ab") as more:
            more.write(b"words\n" * 1000)
        return taken(file, max_bytes, name)

    monkeypatch.setattr(regular_file, "read_at_most", grown)
    with pytest.raises(protocol.UnderhillError, match="is too large"):
        read(path)


def test_a_pdf_that_is_no_end_of_work_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "endless.pdf"
    path.write_bytes(pdf("x) Tj " + "(x) Tj " * 400_000 + "(x"))
    monkeypatch.setattr(reading, "PDF_SECONDS", 2.0)
    with pytest.raises(protocol.UnderhillError, match="took too long"):
        read(path)


def test_a_pdf_that_takes_all_memory_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.pdf"
    path.write_bytes(pdf("x) Tj " + "(x) Tj " * 400_000 + "(x"))
    monkeypatch.setattr(reading, "PDF_MEMORY", 1_000_000)
    with pytest.raises(protocol.UnderhillError, match="too much memory"):
        read(path)


@pytest.mark.parametrize(
    ("error", "sentence"), [(PermissionError, "No permission to read"), (OSError, "Can't read a.txt")]
)
def test_a_file_that_the_system_refuses_says_so_without_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError], sentence: str
) -> None:
    (tmp_path / "a.txt").write_text("words")

    def refuse(*_: object) -> None:
        raise error(5, "E/A")

    monkeypatch.setattr(regular_file, "open_regular", refuse)
    with pytest.raises(protocol.UnderhillError, match=sentence) as told:
        read(tmp_path / "a.txt")
    assert "E/A" not in str(told.value)
    assert "E/A" in str(told.value.__cause__)


def test_all_that_was_not_attached_is_said_in_one_banner(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    window = underhill.window
    (tmp_path / "good.txt").write_text("words")
    (tmp_path / "empty.txt").write_text("")
    bad = [tmp_path, *(tmp_path / name for name in ("empty.txt", "gone.txt", "away.txt"))]
    window.composer.files.emit([*bad, tmp_path / "good.txt"])
    qtbot.waitUntil(lambda: bool(window.banners.banners))
    (banner,) = window.banners.banners
    assert banner.sentence == "3 files not attached"
    assert underhill.conversation.documents == (str(tmp_path),)  # the folder is searched
    for name in ("empty.txt", "gone.txt", "away.txt"):
        assert name in banner.accessibleName()
    assert [a.name for a in window.composer.attachments] == ["good.txt"]
    window.composer.files.emit([tmp_path / "gone.txt"])
    qtbot.waitUntil(lambda: [b.sentence for b in window.banners.banners] == ["gone.txt no longer exists."])
    window.composer.files.emit([tmp_path / "good.txt"])
    qtbot.waitUntil(lambda: not window.banners.banners)


def test_a_message_that_is_too_long_can_be_shortened(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window = underhill.window
    for words in ("many words, and more", "Short."):  # which the model reads as one
        for banner in window.banners.banners[:]:
            banner.dismiss()
        engine_of(underhill).fail[protocol.Generate] = protocol.Failed(
            "", protocol.Kind.CONTEXT_FULL, "Too long.", "the limit is"
        )
        underhill.conversation.send(words)
        qtbot.waitUntil(lambda: bool(window.banners.banners))
    buttons = {b.text(): b for b in window.banners.banners[0].findChildren(QPushButton)}
    assert list(buttons) == ["Shorten message", "Open settings"]
    buttons["Shorten message"].click()
    assert window.editing.editing
    assert window.composer.text() == "many words, and more"


def test_nothing_in_an_attachment_closes_its_fence() -> None:
    text = with_attachments("Why?", [Attachment("a.md", "```\ncode\n```")])
    assert text == "a.md:\n````\n```\ncode\n```\n````\n\nWhy?"


def test_files_go_with_the_message_and_are_kept(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the treasure is under the oak")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0" * 100)
    underhill = launch()
    composer = underhill.window.composer
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("notes.txt", "image.png")])
    assert composer.edit.canInsertFromMimeData(mime)
    composer.edit.insertFromMimeData(mime)
    qtbot.waitUntil(lambda: len(composer.attachments) == 1)
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    assert underhill.window.banners.banners[0].sentence == "Little Hill 21M can't read images."
    qtbot.waitUntil(lambda: "tokens" in composer.attached.chips[0].text)
    ask(qtbot, underhill, "where?")
    sent = next(c for c in engine_of(underhill).received if isinstance(c, protocol.Generate))
    assert sent.messages[0].content == "notes.txt:\n```\nthe treasure is under the oak\n```\n\nwhere?"
    assert underhill.window.banners.banners == []  # it went without the image
    assert contents(underhill)[0] == "where?"
    assert notes.before(underhill.conversation.messages[0]) == ["Attached: notes.txt"]
    assert composer.attachments == ()
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: len(again.conversation.messages) == 2)
    assert again.conversation.messages[0].attachments[0].text == "the treasure is under the oak"
    again.window.transcript.message_actions.edit.emit(again.conversation.messages[0].id)
    assert [a.name for a in again.window.composer.attachments] == ["notes.txt"]


def test_a_long_paste_becomes_an_attachment(qtbot: QtBot, launch: Launch) -> None:
    composer = launch().window.composer
    for text in ("x" * (LONG_PASTE + 1), "short"):
        mime = QMimeData()
        mime.setText(text)
        composer.edit.insertFromMimeData(mime)
    assert [a.name for a in composer.attachments] == ["Pasted text 1"]
    assert composer.text() == "short"
    composer.attached.pressed.emit(0)
    shown = next(w for w in composer.window().findChildren(QPlainTextEdit) if w.isReadOnly() and len(w.toPlainText()))
    assert len(shown.toPlainText()) == LONG_PASTE + 1
    shown.window().close()
    composer.attached.removed.emit(0)
    assert composer.attachments == ()


def test_what_is_attached_to_a_draft_stays_with_its_chat(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    window, composer = underhill.window, underhill.window.composer
    ask(qtbot, underhill, "first")
    chat = underhill.conversation.chat
    assert chat is not None
    composer.set_attachments([Attachment("map.txt", "north")])
    window.navigator.new_chat()
    assert composer.attachments == ()
    composer.set_attachments([Attachment("new.txt", "south")])
    window.navigator.leave()
    underhill.conversation.open(chat)
    qtbot.waitUntil(lambda: composer.attachments == (Attachment("map.txt", "north"),))
    underhill.window.transcript.message_actions.regenerate.emit(underhill.conversation.messages[1].id)  # another branch
    qtbot.waitUntil(lambda: not underhill.conversation.working)
    assert [a.name for a in composer.attachments] == ["map.txt"]
    window.navigator.new_chat()
    assert [a.name for a in composer.attachments] == ["new.txt"]
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: [a.name for a in again.window.composer.attachments] == ["new.txt"])
    ask(qtbot, again, "with it")
    again.window.navigator.new_chat()
    assert again.window.composer.attachments == ()
    again.conversation.open(chat)
    qtbot.waitUntil(lambda: [a.name for a in again.window.composer.attachments] == ["map.txt"])


def test_an_attachment_alone_can_be_sent(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.window.composer.set_attachments([Attachment("plan.txt", "text")])
    qtbot.keyClick(underhill.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(contents(underhill)) == 2 and not underhill.conversation.working)
    assert underhill.conversation.chat is not None
    assert underhill.conversation.chat.title == "plan.txt"


def test_the_meter_counts_chat_and_draft_and_warns(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, script=lambda messages: "Yes.")
    composer, meter = underhill.window.composer, underhill.window.composer.meter
    composer.edit.setPlainText("x" * 400)
    qtbot.waitUntil(lambda: meter.label.text() == "100 tokens  ·  Context 10% full")
    assert meter.property("level") == "fine"
    for _ in range(2):  # counted once more, as when something else has changed
        with qtbot.waitSignal(underhill.token_counter.counted) as again:
            underhill.models.changed.emit()
        assert again.args == [0, 100, 1000]
    composer.edit.setPlainText("x" * 3200)
    qtbot.waitUntil(lambda: meter.property("level") == "warning")
    composer.edit.setPlainText("x" * 4040)
    qtbot.waitUntil(lambda: meter.property("level") == "full")
    assert "the limit is 1,000 tokens" in meter.toolTip()
    composer.edit.setPlainText("x" * 50_000)
    qtbot.waitUntil(lambda: meter.label.text() == "12,500 tokens  ·  Message too long")
    composer.edit.setPlainText("")
    ask(qtbot, underhill, "hello there, how are you")
    stats = underhill.conversation.messages[1].stats
    used = stats["prompt_tokens"] + 1
    qtbot.waitUntil(lambda: f"{used:,} of 1,000 tokens" in meter.toolTip())


def test_an_edited_message_is_counted_once(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, script=lambda messages: "Yes.")
    window = underhill.window
    meter = window.composer.meter
    ask(qtbot, underhill, "x" * 400)
    ask(qtbot, underhill, "y" * 80)
    first = underhill.conversation.messages[1].stats["prompt_tokens"] + 1
    window.editing.edit_last()
    qtbot.waitUntil(lambda: f"{first + 20:,} of 1,000 tokens" in meter.toolTip())
    window.transcript.message_actions.edit.emit(underhill.conversation.messages[0].id)
    qtbot.waitUntil(lambda: meter.label.text() == "100 tokens  ·  Context 10% full")
    window.editing.cancel_edit()
    both = underhill.conversation.messages[3].stats["prompt_tokens"] + 1
    qtbot.waitUntil(lambda: f"{both:,} of 1,000 tokens" in meter.toolTip())


def test_from_where_the_model_reads_is_said(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "Yes.")
    for text in ("one", "two", "three"):
        ask(qtbot, underhill, text)
    engine_of(underhill).dropped = 2
    ask(qtbot, underhill, "four")
    marked = [i.message.content for i in underhill.window.transcript.items if i.message.stats.get("read_from_here")]
    assert marked == ["two"]
    assert first_read_message(underhill.conversation.messages) == underhill.conversation.messages[2].id
    engine_of(underhill).dropped = 0
    ask(qtbot, underhill, "five")
    assert not any(i.message.stats.get("read_from_here") for i in underhill.window.transcript.items)


def test_the_system_prompt_comes_first_and_questions_in_a_row_are_one_turn() -> None:
    one = StoredMessage(id=1, chat_id=1, parent_id=None, role="user", content="a")
    two = StoredMessage(id=2, chat_id=1, parent_id=1, role="user", content="b", attachments=(Attachment("f", "t"),))
    read_ = prompt_messages([one, two], "Be brief.")
    assert [(m.role, m.content) for m in read_] == [("system", "Be brief."), ("user", "a\n\nf:\n```\nt\n```\n\nb")]


def test_files_dragged_over_the_window_are_told_where_to_go(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    window = launch().window
    path = tmp_path / "plan.txt"
    path.write_text("A plan.")
    files, words = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path))])
    words.setText("only words")
    for data, told in ((words, False), (files, True)):
        common = Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        window.dragEnterEvent(QDragEnterEvent(QPoint(400, 300), *common))
        assert window.drop_hint.isVisible() == told
    window.dragLeaveEvent(QDragLeaveEvent())
    assert window.drop_hint.isHidden()
    window.dragEnterEvent(QDragEnterEvent(QPoint(400, 300), *common))
    window.dropEvent(QDropEvent(QPointF(400, 300), *common))
    assert window.drop_hint.isHidden()
    qtbot.waitUntil(lambda: [a.name for a in window.composer.attachments] == ["plan.txt"])


def test_a_file_read_too_late_comes_into_no_other_chat(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "long.txt").write_text("words")
    underhill = launch()
    ask(qtbot, underhill, "one")
    there = threading.Event()
    monkeypatch.setattr(controller, "read", lambda path: there.wait(20) and read(path))
    underhill.attachments.take_files([tmp_path / "long.txt"])
    underhill.window.navigator.new_chat()
    there.set()
    banners = underhill.window.banners
    qtbot.waitUntil(lambda: bool(banners.banners))
    assert "long.txt wasn't attached because you switched chats" in banners.banners[0].sentence
    assert underhill.window.composer.attachments == ()
    underhill.attachments.take_files([tmp_path / "long.txt"])
    qtbot.waitUntil(lambda: len(underhill.window.composer.attachments) == 1)
