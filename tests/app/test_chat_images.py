"""Images go with messages to models that read them; of others it is said, and nothing that was written is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QFrame
from pytestqt.qtbot import QtBot

from app.application import Application
from app.attachments.dialog import AttachmentDialog
from app.chat.image_support import reads_images
from app.chat.prompt_messages import prompt_messages, with_attachments
from app.composer import Composer
from app.images.cache import image_cache
from app.images.reading import MOST
from app.images.view import Thumbnail
from app.storage.records import Attachment, QueuedMessage, StoredMessage
from app.theme.theme import Theme
from app.transcript import notes
from app.transcript.image_rows import image_rows
from app.transcript.item import MessageItem
from app.transcript.mouse import hit_test
from app.transcript.paint import files_rect
from app.transcript.readable import spoken
from engine import protocol
from tests.app.acts import Launch, ask, button
from tests.app.conftest import close, engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.image_samples import encoded, hill, sample_image

pytestmark = pytest.mark.long

SEEING = replace(BUILTIN, reads_images=True)
CARDS = (SEEING, LARGE)
HILL, LAMP = sample_image(), sample_image("lamp.png", 200, 320, "#e8a686")


def sent(underhill: Application) -> list[protocol.Generate]:
    return [c for c in engine_of(underhill).received if isinstance(c, protocol.Generate) and not c.background]


def pasted(underhill: Application) -> None:
    mime = QMimeData()
    mime.setImageData(hill())
    edit = underhill.window.composer.edit
    assert edit.canInsertFromMimeData(mime)
    edit.insertFromMimeData(mime)


def banners(underhill: Application) -> list[str]:
    return [banner.sentence for banner in underhill.window.banners.banners]


def test_files_and_what_is_pasted_or_dropped_go_with_the_message(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch(cards=CARDS)
    window, composer = underhill.window, underhill.window.composer
    (tmp_path / "hill.png").write_bytes(encoded(hill()))
    asked: list[str] = []

    def choose(*values: object) -> tuple[list[str], str]:
        asked.append(str(values[-1]))
        return [str(tmp_path / "hill.png")], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", choose)
    composer.attach.click()
    assert "*.webp" in asked[0]
    qtbot.waitUntil(lambda: len(composer.attachments) == 1)
    pasted(underhill)
    qtbot.waitUntil(lambda: len(composer.attachments) == 2)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "hill.png"))])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, left, none))
    qtbot.waitUntil(lambda: len(composer.attachments) == 3)
    mime = QMimeData()
    mime.setImageData(hill(50, 50))
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, mime, left, none))
    qtbot.waitUntil(lambda: len(composer.attachments) == 4)
    names = ["hill.png", "Pasted image 1", "hill.png", "Pasted image 2"]
    assert [a.name for a in composer.attachments] == names
    shown = [b for b in composer.attached.findChildren(Thumbnail) if b.isVisible()]
    assert [b.accessibleName() for b in shown] == [f"{name}. Click to view" for name in names]
    button(composer, "Remove file Pasted image 1").click()
    ask(qtbot, underhill, "What is on it?")
    (command,) = sent(underhill)
    assert command.messages == (
        protocol.Message(
            "user", "What is on it?", images=tuple(a.image for a in underhill.conversation.messages[0].attachments)
        ),
    )
    assert len(command.messages[0].images) == 3
    assert composer.attachments == ()
    close(underhill)
    again = launch(cards=CARDS)
    qtbot.waitUntil(lambda: len(again.conversation.messages) == 2)
    assert tuple(a.image for a in again.conversation.messages[0].attachments) == command.messages[0].images


def test_a_text_that_is_offered_as_an_image_too_is_pasted_as_text(qtbot: QtBot, launch: Launch) -> None:
    composer = launch(cards=CARDS).window.composer
    mime = QMimeData()
    mime.setImageData(hill())
    mime.setText("A1\tB1")
    composer.edit.insertFromMimeData(mime)
    assert composer.text() == "A1\tB1"


def test_a_message_may_be_an_image_alone_and_names_the_chat(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=CARDS)
    underhill.window.composer.set_attachments((HILL,))
    underhill.window.composer.send()
    qtbot.waitUntil(lambda: not underhill.conversation.working and bool(underhill.conversation.messages))
    assert sent(underhill)[0].messages == (protocol.Message("user", "", images=(HILL.image,)),)
    assert underhill.conversation.chat is not None
    assert underhill.conversation.chat.title == "hill.png"


def test_no_more_than_the_limit_are_attached_and_the_rest_is_said(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(cards=CARDS)
    (tmp_path / "hill.png").write_bytes(encoded(hill(20, 20)))
    underhill.window.composer.files.emit([tmp_path / "hill.png"] * (MOST + 2))
    qtbot.waitUntil(lambda: len(underhill.window.composer.attachments) == MOST)
    assert banners(underhill) == ["2 images not attached"]


def test_a_model_without_eyes_refuses_at_once_and_nothing_is_lost(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    composer, why = underhill.window.composer, "Little Hill 21M can't read images."
    composer.set_text("What is this?")
    (tmp_path / "hill.png").write_bytes(encoded(hill()))
    (tmp_path / "notes.txt").write_text("words")
    composer.files.emit([tmp_path / "hill.png", tmp_path / "notes.txt"])
    qtbot.waitUntil(lambda: banners(underhill) == [why])
    assert [a.name for a in composer.attachments] == ["notes.txt"]
    underhill.window.banners.banners[0].dismiss()
    pasted(underhill)
    assert banners(underhill) == [why]
    composer.set_attachments((HILL,))  # as of a draft from another model
    composer.send()
    assert (composer.text(), composer.attachments) == ("What is this?", (HILL,))
    assert banners(underhill) == [why]
    assert sent(underhill) == []


def test_choosing_a_model_with_eyes_withdraws_the_refusal(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=(replace(LARGE, reads_images=True), BUILTIN))
    underhill.models.load(BUILTIN.name, {})
    qtbot.waitUntil(lambda: underhill.models.state == "ready" and underhill.models.wanted == BUILTIN.name)
    pasted(underhill)
    assert banners(underhill) == ["Little Hill 21M can't read images."]
    underhill.models.choose(LARGE.name)
    assert banners(underhill) == []
    pasted(underhill)
    qtbot.waitUntil(lambda: len(underhill.window.composer.attachments) == 1)


def test_a_model_without_eyes_goes_on_with_a_chat_that_has_images_and_says_so(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=CARDS)
    underhill.window.composer.set_attachments((HILL, LAMP))
    ask(qtbot, underhill, "What is this?")
    underhill.models.choose(LARGE.name)
    ask(qtbot, underhill, "And now?")
    qtbot.waitUntil(lambda: len(sent(underhill)) == 2 and not underhill.conversation.working)
    asked = sent(underhill)[1].messages
    assert [m.images for m in asked] == [(), (), ()]
    assert asked[0].content == "[image: hill.png]\n[image: lamp.png]\n\nWhat is this?"
    answer = underhill.conversation.messages[-1]
    assert "2 images not included: this model can't read images" in notes.before(answer)


def test_two_models_are_compared_on_an_image_where_both_read_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=CARDS)
    page = underhill.window.compare.open()
    for other, images in ((SEEING, (HILL.image,)), (LARGE, ())):
        page.begin(underhill.conversation.style, "on", "What is this?", attachments=(HILL,), model=SEEING.name)
        page.columns[1].choose(other.name, "fast")
        engine_of(underhill).received.clear()
        qtbot.waitUntil(page.go.isEnabled)
        page.ask()
        qtbot.waitUntil(lambda: not page.run.busy)
        asked = [c for c in engine_of(underhill).received if isinstance(c, protocol.GenerateApart)]
        assert {c.question.messages[0].images for c in asked} == {images}


def test_endpoints_are_sent_images_and_teams_are_not() -> None:
    known = SimpleNamespace(card_of={"eyes": SEEING, "blind": LARGE}.get, wanted="blind")
    found = {key: reads_images(known, key) for key in ("eyes", "blind", "", "new", "team:x", "endpoint:y")}  # type: ignore[arg-type]
    assert found == {"eyes": True, "blind": False, "": False, "new": None, "team:x": False, "endpoint:y": True}


def test_turns_that_become_one_keep_the_order_of_their_images() -> None:
    turns = [
        StoredMessage(id=1, chat_id=1, parent_id=None, role="user", attachments=(HILL,)),
        StoredMessage(id=2, chat_id=1, parent_id=1, role="user", content="Both?", attachments=(LAMP,)),
    ]
    assert prompt_messages(turns, images=True) == (protocol.Message("user", "Both?", images=(HILL.image, LAMP.image)),)


def test_queued_messages_show_their_images_and_send_them(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=CARDS)
    engine_of(underhill).ends.clear()
    underhill.conversation.send("First")
    qtbot.waitUntil(lambda: len(sent(underhill)) == 1)
    underhill.window.composer.set_attachments((HILL,))
    underhill.window.composer.send()
    assert underhill.conversation.queue == (QueuedMessage("", (HILL,)),)
    assert [b.accessibleName() for b in underhill.window.composer.waiting.findChildren(Thumbnail)] == [
        "hill.png. Queued. Click to edit."
    ]
    engine_of(underhill).ends.set()
    qtbot.waitUntil(lambda: len(sent(underhill)) == 2 and not underhill.conversation.working)
    assert sent(underhill)[1].messages[-1].images == (HILL.image,)


def test_editing_and_regenerating_keep_the_images(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=CARDS)
    underhill.window.composer.set_attachments((HILL,))
    ask(qtbot, underhill, "What?")
    question, _ = underhill.conversation.messages
    underhill.window.editing.edit(question.id)
    assert underhill.window.composer.attachments == (HILL,)
    ask(qtbot, underhill, "What exactly?")
    assert sent(underhill)[-1].messages[-1].images == (HILL.image,)
    underhill.window.editing.regenerate(underhill.conversation.messages[-1].id)
    qtbot.waitUntil(lambda: len(sent(underhill)) == 3 and not underhill.conversation.working)
    assert sent(underhill)[-1].messages[-1].images == (HILL.image,)
    underhill.window.editing.delete_message(underhill.conversation.messages[0].id)
    qtbot.waitUntil(lambda: underhill.conversation.messages[:1] == [replace(question, version=1, versions=1)])
    underhill.window.toast.undo()
    qtbot.waitUntil(
        lambda: len(underhill.conversation.messages) == 2 and underhill.conversation.messages[0].versions == 2
    )
    assert underhill.conversation.messages[0].attachments == (HILL,)


def test_thumbnails_stay_beside_each_other_in_other_colours(qtbot: QtBot, theme: Theme) -> None:
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.resize(700, 200)
    composer.show()
    composer.set_attachments((HILL, LAMP))

    def apart() -> bool:
        one, two = (b.parentWidget() for b in composer.attached.findChildren(Thumbnail) if b.isVisible())
        return one.geometry().right() < two.geometry().left() and composer.attached.rect().contains(two.geometry())

    qtbot.waitUntil(apart)
    theme.set_mode("dark")
    qtbot.waitUntil(apart)


def test_names_of_files_stand_in_the_middle_of_images_and_keep_their_tokens(qtbot: QtBot, theme: Theme) -> None:
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.resize(700, 200)
    composer.show()
    notes = Attachment("notes.txt", "Some notes.")
    composer.set_attachments((notes,))
    composer.show_token_counts((3,))
    composer.set_attachments((notes, Attachment("plan.txt", "A plan."), HILL))
    words = [chip.text for chip in composer.attached.chips]
    assert words[:2] == ["notes.txt  ·  3 tokens", "plan.txt"]  # the other is counted a little later

    def aligned() -> bool:
        frames = [f for f in composer.attached.findChildren(QFrame, "chip") if f.isVisible()]
        middles = {round(frame.geometry().center().y() / 2) for frame in frames}
        return len(frames) == 3 and len({frame.height() for frame in frames}) == 2 and len(middles) == 1

    qtbot.waitUntil(aligned)


# ---- on the page -----------------------------------------------------------------------------------------------------


def shown(qtbot: QtBot, launch: Launch, *files: Attachment) -> Application:
    underhill = launch(cards=CARDS)
    underhill.window.composer.set_attachments(files)
    ask(qtbot, underhill, "What is this?")
    underhill.window.transcript.choose(0)
    return underhill


def test_a_click_on_an_image_shows_it_large_and_it_can_be_copied_and_saved(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = shown(qtbot, launch, HILL, Attachment("notes.txt", "words"), LAMP)
    view = underhill.window.transcript
    item = view.items[0]
    (one, first), (two, second) = item.thumbnails(view.layout_.column)
    assert (one, two) == (HILL, LAMP)
    assert second.right() == view.layout_.column
    assert first.bottom() <= item.first_block_top()
    chip = files_rect(item, view.layout_.column)
    assert chip is not None
    assert chip.bottom() <= first.top()
    at = (view.origin(0) + second.center()).toPoint()
    hit = hit_test(view, QPointF(at))
    assert hit is not None
    assert hit.image == LAMP
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: bool(underhill.window.findChildren(AttachmentDialog)))
    dialog = underhill.window.findChildren(AttachmentDialog)[0]
    assert dialog.windowTitle() == "lamp.png"
    assert dialog.image.accessibleName() == "lamp.png"
    assert dialog.facts.text().startswith("200 × 320  ·  ")
    button(dialog, "Copy image").click()
    assert QGuiApplication.clipboard().image().size().toTuple() == (200, 320)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "saved.png"), ""))
    button(dialog, "Save as…").click()
    assert (tmp_path / "saved.png").read_bytes() == LAMP.image
    dialog.names.setCurrentIndex(1)
    assert dialog.text.toPlainText() == "words"
    assert not button(dialog, "Save as…").isVisibleTo(dialog)
    dialog.close()


def test_the_menu_of_an_image(qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = shown(qtbot, launch, HILL)
    view = underhill.window.transcript
    menu = view.menu_of(view.items[0], "")
    view.add_image(menu, view.items[0].message.id, HILL)
    acts = {action.text(): action for action in menu.actions()}
    assert list(acts)[:3] == ["View image", "Copy image", "Save image as…"]
    acts["Copy image"].trigger()
    assert QGuiApplication.clipboard().image().size().toTuple() == (320, 200)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no" / "x.png"), ""))
    acts["Save image as…"].trigger()
    assert "Can't save x.png" in underhill.window.toast.label.text()
    acts["View image"].trigger()
    qtbot.waitUntil(lambda: bool(underhill.window.findChildren(AttachmentDialog)))
    menu.deleteLater()


def test_images_are_painted_once_they_are_decoded(qtbot: QtBot, launch: Launch) -> None:
    underhill = shown(qtbot, launch, sample_image(width=300, height=240, sky="#ff0000"))
    view = underhill.window.transcript
    ((_, rect),) = view.items[0].thumbnails(view.layout_.column)
    at = (view.origin(0) + rect.topLeft() + QPointF(rect.width() - 20, 8)).toPoint()

    def painted() -> bool:
        colour = view.viewport().grab().toImage().pixelColor(at)
        return colour.red() > 200 and colour.green() < 60

    qtbot.waitUntil(painted)


def test_rows_of_images_stay_in_the_column(qtbot: QtBot) -> None:
    many = [sample_image(f"{n}.png", 300 + 90 * n, 200) for n in range(7)]
    for column in (220.0, 500.0, 780.0):
        rects = image_rows(many, column)
        assert all(rect.left() >= 0 and rect.right() <= column for rect in rects)
        assert not any(a.intersects(b) for n, a in enumerate(rects) for b in rects[n + 1 :])
        (alone,) = image_rows([sample_image(width=4000, height=3000)], column)
        assert abs(alone.width() / alone.height() - 4 / 3) < 0.02
    assert image_rows([], 500.0) == []


def test_a_message_is_read_out_with_the_names_of_its_images() -> None:
    message = StoredMessage(id=1, chat_id=1, parent_id=None, role="user", content="What?", attachments=(HILL, LAMP))
    assert spoken(message) == "You: Images: hill.png, lamp.png\nWhat?"
    assert MessageItem(message).images == (HILL, LAMP)


def test_a_draft_keeps_its_images(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(cards=CARDS)
    underhill.window.composer.set_attachments((HILL,))
    underhill.window.composer.save_draft()
    close(underhill)
    again = launch(cards=CARDS)
    qtbot.waitUntil(lambda: again.window.composer.attachments == (HILL,))
    assert image_cache().size_of(HILL).toTuple() == (320, 200)


def test_the_meter_counts_images_of_the_draft_and_of_the_chat(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(context=1000, cards=CARDS, script=lambda messages: "Yes.")
    composer, meter = underhill.window.composer, underhill.window.composer.meter
    composer.edit.setPlainText("x" * 400)
    composer.set_attachments([HILL, LAMP])  # 320 x 200 and 200 x 320 pixels
    qtbot.waitUntil(lambda: meter.label.text() == f"{100 + 64 + 64} tokens  ·  Context 23% full")
    composer.set_attachments([HILL, HILL])
    qtbot.waitUntil(lambda: meter.label.text() == f"{100 + 64 + 64} tokens  ·  Context 23% full")
    chart = Attachment("map.txt", "y" * 100)
    composer.set_attachments([HILL, chart])
    both = 100 + 64 + len(with_attachments("", (chart,))) // 4
    qtbot.waitUntil(lambda: meter.label.text().startswith(f"{both} tokens"))
    composer.set_attachments([])
    qtbot.waitUntil(lambda: meter.label.text() == "100 tokens  ·  Context 10% full")
    asked = [c for c in engine_of(underhill).received if isinstance(c, protocol.CountTokens) and c.images]
    assert [c.images for c in asked][:1] == [((320, 200), (200, 320))]  # what is known is not asked again
    assert all((320, 200) not in c.images for c in asked[1:])


def test_images_of_a_chat_that_no_answer_has_counted_are_in_the_meter(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch(context=1000, cards=CARDS, script=lambda messages: "Yes.")
    composer, meter = underhill.window.composer, underhill.window.composer.meter
    composer.set_attachments([HILL])
    ask(qtbot, underhill, "x" * 40)
    ask(qtbot, underhill, "y" * 40)
    underhill.window.transcript.message_actions.edit.emit(underhill.conversation.messages[2].id)
    first = underhill.conversation.messages[1].stats["prompt_tokens"] + 1
    qtbot.waitUntil(lambda: f"{first + 10:,} of 1,000 tokens" in meter.toolTip())
    conversation = underhill.conversation
    monkeypatch.setattr(conversation, "messages", [replace(m, model="Another") for m in conversation.messages])
    with qtbot.waitSignal(underhill.token_counter.counted) as counted:
        underhill.models.changed.emit()
    assert counted.args == [10 + 64 + 1, 10, 1000]
