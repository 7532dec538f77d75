"""Every page, dialog and menu of the window, opened one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QDialog, QMenu, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application, no_answer_box
from app.dialogs import TrashDialog, UnsavedDialog
from app.i18n.translate import tr, tr_engine
from app.images.view import Thumbnail
from app.library.dialogs import ImportDialog, ModelDetailsDialog, SmallerDialog
from app.prompts.library import SavedPrompt
from app.prompts.picker import VariablesDialog
from app.settings.style_dialog import StyleDialog
from app.storage.records import Attachment, Style
from app.teams.editor import TeamEditor
from app.widgets.builders import open_dialog
from engine import protocol
from engine.translatable import msg
from tests.app.acts import ask
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.fake_hub import FOLDER, GB, QWEN
from tests.app.fake_recordings import RECORDING
from tests.app.image_samples import sample_image

D = TypeVar("D", bound=QDialog)
THOUGHT = "<think>They say hello. I say hello, too.</think>Hello! What shall we talk about?"
CARD = dataclasses.replace(LARGE, thinking=("off", "low", "high"), plain_thinking="high")
_CUT = dataclasses.replace(
    LARGE,
    name="cut",
    title="Mixtral 8x7B",
    state="unfinished",
    problem=msg("{how} wasn't finished.", how=msg("The import of this model")),
    action=msg(
        "{verb} {source} again to resume, or delete it.", verb=msg("Import"), source="mistralai/Mixtral-8x7B-v0.1"
    ),
)
_ASKS = protocol.ServerRequest(
    id="server:2",
    client="127.0.0.1 OpenAI/Python",
    way="/v1/chat/completions",
    model="builtin",
    state="answering",
    tokens=120,
    seconds=9.5,
)
_ASKED = protocol.ServerRequest(
    id="server:1",
    client="127.0.0.1 Editor/7",
    way="/v1/messages",
    model="builtin",
    state="failed",
    tokens=0,
    seconds=0.2,
    why=msg("The engine has stopped working."),
)
TEAM = protocol.Team("Ours", (
    protocol.TeamStep(name="First", choices=("yes", "no"), note=True),
    protocol.TeamStep(name="Second", tell="{message}", when=(protocol.Condition("says", "First", ("yes",)),)),
))  # fmt: skip
ENGINE = {
    "teams": (protocol.TeamCard("ours", TEAM),),
    "cards": (BUILTIN, CARD, _CUT),
    "script": lambda messages: THOUGHT,
}  # for `launch`


def settle(qtbot: QtBot, root: QWidget) -> None:
    """Wait until everything has found its place, which takes some turns of the event loop."""
    looks: list[list[QRect]] = []

    def still() -> bool:
        looks.append([widget.geometry() for widget in root.findChildren(QWidget)])
        return looks[-3:-1] == [looks[-1]] * 2

    qtbot.waitUntil(still)


def pages(qtbot: QtBot, underhill: Application) -> Iterator[tuple[str, QWidget]]:
    """The window with each of its pages in turn. Made of ENGINE."""
    window = underhill.window
    settle(qtbot, window)
    yield "an empty chat", window
    underhill.models.load(CARD.name, {})
    qtbot.waitUntil(lambda: window.header.thinking.isVisible())
    for words in ("Hello", "And once more"):
        ask(qtbot, underhill, words)
    chat = underhill.conversation.chat
    assert chat is not None
    window.chats.change(lambda store: store.set_field(chat.id, "folder_id", store.make_folder("Letters").id))
    qtbot.waitUntil(lambda: len(window.sidebar.folders) == 1)
    window.composer.set_text("A draft")
    texts = Attachment("notes.txt", "Some notes."), Attachment("plan.txt", "A plan.")
    window.composer.set_attachments(texts)
    window.network.take({s.name: s.default for s in protocol.settings.SHARED} | {"offline": True})
    window.server.turn_on()
    qtbot.waitUntil(lambda: window.header.server.isVisible())
    engine_of(underhill).tell_server(requests=(_ASKS,), recent=(_ASKED,), answered=3, refused=1)
    qtbot.waitUntil(lambda: bool(window.server.state.requests))
    window.banners.show_banner(
        "error", tr_engine(msg("Disk error: {strerror}.", strerror=msg("Input/output error"))),
        tr_engine(msg("Check that the disk is connected and writable.")), "OSError: 5",
        (tr("Try again"), lambda: None), (tr("Select a model"), lambda: None),
    )  # fmt: skip
    window.transcript.setFocus()
    qtbot.waitUntil(lambda: all("·" in chip.text for chip in window.composer.attached.chips[:2]))
    settle(qtbot, window)  # the new chips find their places
    yield "a chat", window
    window.transcript.toggle_details(underhill.conversation.messages[-1].id)
    settle(qtbot, window)
    yield "figures of an answer", window
    window.transcript.toggle_details(underhill.conversation.messages[-1].id)
    window.banners.banners[0].dismiss()
    window.composer.set_attachments((*texts, sample_image(), sample_image("lake.png", sky="#e8a686")))
    settle(qtbot, window)
    qtbot.waitUntil(lambda: all(map(_is_decoded, window.composer.attached.findChildren(Thumbnail))))
    yield "images in the field", window
    window.find_controller.open()
    window.find_bar.edit.setText("hello")
    window.editing.edit_last()
    qtbot.waitUntil(lambda: bool(window.find_bar.count.text()))
    yield "finding in a chat, and editing a question", window
    window.find_controller.close()
    window.editing.cancel_edit()
    hub = engine_of(underhill).hub
    hub.deleted = (protocol.DeletedModel("old-model", FOLDER.path, GB, 0.0, 1e9),)
    library = window.library.show()
    qtbot.waitUntil(lambda: underhill.library.catalogue is not None and bool(underhill.library.folders))
    underhill.library.pull(QWEN, 4)
    qtbot.waitUntil(lambda: "t1" in underhill.library.transfers)
    hub.tell(
        "t1",
        state=protocol.RUNNING,
        text=msg("Downloading"),
        done=9 * GB,
        total=61 * GB,
        rate=21e6,
        left=2500.0,
    )
    for number, name in enumerate(("your models", "get models", "other apps", "downloads", "teams")):
        library.show_section(number)
        if name == "other apps":
            library.elsewhere.look.click()
            qtbot.waitUntil(lambda: underhill.library.found is not None and underhill.library.finding is None)
        settle(qtbot, window)
        yield f"library: {name}", window
    tour = underhill.onboarding.begin()
    for step in range(3):
        tour.show_step(step)
        qtbot.waitUntil(lambda step=step: step == 0 or underhill.onboarding.probe.computer is not None)
        settle(qtbot, window)
        yield f"tour: step {step + 1}", window
    calm = Style(sampling={"temperature": 0.2})
    window.chats.database.submit(lambda store: store.keep_preset("Calm", calm))
    page = window.compare.open()
    qtbot.waitUntil(page.columns[1].presets.isVisible)
    page.columns[1].presets.setCurrentIndex(1)
    page.columns[0].engine.setCurrentIndex(1)
    page.edit.setPlainText("Who are you?")
    page.ask()
    qtbot.waitUntil(lambda: page.run.divergence is not None)
    settle(qtbot, window)
    yield "comparing answers", window
    window.navigator.show_chat()


def _is_decoded(image: Thumbnail) -> bool:
    """Whether an image is drawn, and no longer the plain ground that it has until it is decoded."""
    picture = image.grab().toImage()
    middle = range(picture.height() // 4, 3 * picture.height() // 4)
    return len({picture.pixel(picture.width() // 2, y) for y in middle}) > 1


def _recordings(qtbot: QtBot, underhill: Application) -> Iterator[tuple[str, QDialog]]:
    """The window of recordings with one that was replayed, and its timeline."""
    engine_of(underhill).recordings.kept = (RECORDING,)
    dialog = underhill.window.settings.recordings.open()
    qtbot.waitUntil(lambda: dialog.list.count() == 1)
    dialog.replay.go.click()
    qtbot.waitUntil(lambda: dialog.replay.table.rowCount() > 0)
    settle(qtbot, dialog)
    yield "recordings: cache policies", dialog
    dialog.tabs.setCurrentIndex(1)
    qtbot.waitUntil(dialog.timeline.strip.isVisible)
    settle(qtbot, dialog)
    yield "recordings: timeline", dialog
    dialog.reject()


def dialogs(qtbot: QtBot, underhill: Application) -> Iterator[tuple[str, QDialog]]:
    """Every dialog, after `pages`."""
    window = underhill.window
    window.preferences.set(_CUT.name, "dial", "exact")
    settings = window.settings.open()
    for advanced in (False, True):
        settings.advanced.setChecked(advanced)
        for number, page in enumerate(settings.pages):
            settings.show_page(number)
            if page is settings.shared:
                qtbot.waitUntil(lambda: settings.shared.token.state.text() != tr("Checking…"))
            if page is settings.server:
                window.server.make_key()
                qtbot.waitUntil(lambda: settings.server.key.line.isVisible() and not window.server.busy)
            settle(qtbot, settings)
            yield f"settings: {page.title}{', advanced' if advanced else ''}", settings
    window.prompts.keep(SavedPrompt("Translate", "Translate to {{language}}:"))
    prompts = window.show_prompts()
    settle(qtbot, prompts)
    yield "prompts", prompts
    prompts.reject()
    variables = open_dialog(VariablesDialog(window.prompts.prompts[0], window))
    settle(qtbot, variables)
    yield "variables of a prompt", variables
    variables.reject()
    yield from _recordings(qtbot, underhill)
    settings.show_page(2)
    settings.scope.setCurrentIndex(settings.scope.findData(_CUT.name))
    for scroll in settings.findChildren(QScrollArea):  # which Tab has been through
        scroll.verticalScrollBar().setValue(0)
    settle(qtbot, settings)
    yield "settings of one model", settings
    settings.reject()
    for name, sheet in (("shortcuts", window.show_shortcuts()), ("about", window.show_about()),
                        ("privacy", window.network_controller.show_privacy())):  # fmt: skip
        yield name, sheet
        sheet.reject()
    window.chats.open_style()
    yield from _opened(qtbot, window, "style of the chat", StyleDialog)
    window.chats.open_style()
    yield from _opened(qtbot, window, "name of a preset", StyleDialog, _name_preset)
    window.library.show()
    underhill.library.describe(QWEN.repo)
    yield from _opened(qtbot, window, "details of a model", ModelDetailsDialog)
    team = TeamEditor(TEAM, {}, window)
    team.open()
    settle(qtbot, team)
    yield "team", team
    team.reject()
    team.deleteLater()
    importing = ImportDialog("/models/Mixtral-8x7B-Instruct", window)
    importing.open()
    yield "import", importing
    importing.reject()
    importing.deleteLater()
    smaller = SmallerDialog(CARD, underhill.library, window)
    smaller.open()
    yield "make smaller", smaller
    smaller.go.click()
    qtbot.waitUntil(lambda: smaller.offer is not None)
    settle(qtbot, smaller)
    yield "make smaller: what it saves", smaller
    smaller.reject()
    reader = underhill.reading.open(window.composer.attachments, 0)
    reader.search()
    qtbot.waitUntil(lambda: "tokens" in reader.facts.text() or "词元" in reader.facts.text())
    yield "what is attached", reader
    reader.bar.hide()
    reader.show_file(2)
    settle(qtbot, reader)
    yield "an image that is attached", reader
    reader.reject()
    lost = UnsavedDialog((tr("The disk is full: chats can't be saved."),), "A title\n\nA draft", window)
    lost.open()
    yield "words that would be lost", lost
    lost.reject()
    lost.deleteLater()
    hangs = no_answer_box(4711)
    hangs.open()
    yield "a second start", hangs
    hangs.reject()
    hangs.deleteLater()
    window.navigator.show_chat()
    assert underhill.conversation.chat is not None
    window.sidebar.deleted.emit((underhill.conversation.chat,))
    window.chats.open_trash()
    yield from _opened(qtbot, window, "trash", TrashDialog)
    window.toast.undo()
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages))


def menus(underhill: Application) -> Iterator[tuple[str, QMenu]]:
    """Every menu, filled as it would be."""
    window = underhill.window
    more = window.header.more.menu()
    assert isinstance(more, QMenu)
    yield "more", more
    window.header.fill_menu()
    yield "models", window.header.menu
    window.header.thinking.offer(("off", "low", "medium", "high"), "medium")
    yield "thinking", window.header.thinking.choices
    window.header.thinking.offer((), "")
    chat = underhill.conversation.chat
    assert chat is not None
    for name, fill in (
        ("chats", window.sidebar.fill_menu),
        ("a chat", lambda menu: window.sidebar.fill_chat_menu(menu, chat)),
    ):
        menu = QMenu(window)
        fill(menu)
        yield name, menu
        menu.deleteLater()


def _name_preset(dialog: StyleDialog) -> None:
    dialog.keep.click()
    dialog.save_name.click()  # without a name


def _opened(
    qtbot: QtBot, window: QWidget, name: str, kind: type[D], then: Callable[[D], None] = lambda _: None
) -> Iterator[tuple[str, QDialog]]:
    """A dialog that was opened, after `then` was done with it."""
    qtbot.waitUntil(lambda: bool(window.findChildren(kind)))
    dialog = window.findChildren(kind)[-1]
    then(dialog)
    settle(qtbot, dialog)
    yield name, dialog
    dialog.reject()
    qtbot.waitUntil(lambda: not window.findChildren(kind))
