"""Controls the list of chats: search, folders, pins, the trash, and the style of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, count
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu

from app.chat.conversation import Conversation
from app.controllers.chat_navigator import ChatNavigator
from app.controllers.find_controller import FindController
from app.controllers.transfer_controller import TransferController
from app.dialogs import TrashDialog
from app.i18n.translate import plural, tr
from app.settings.preferences import Preferences, WindowState
from app.settings.style_dialog import StyleDialog
from app.shell import Shell
from app.storage import search
from app.storage.database_thread import DatabaseThread
from app.storage.records import Chat, Folder, Style
from app.storage.search import SearchHit
from app.storage.store import ChatStore
from app.widgets.builders import open_dialog


class ChatsController(QObject):
    """Handles the sidebar's signals. The database thread makes the changes; then the list is read again."""

    trash_emptied = Signal()  # of one chat, or all

    def __init__(
        self, shell: Shell, database: DatabaseThread, *, conversation: Conversation,
        preferences: Preferences, state: WindowState, navigator: ChatNavigator, find: FindController, folder: Path,
    ) -> None:  # fmt: skip
        """folder: where the chats are."""
        super().__init__(shell)
        self._shell, self.database, self._conversation = shell, database, conversation
        self._preferences, self._state, self._navigator, self._find = preferences, state, navigator, find
        self._search = ""
        self._answering: frozenset[int] = frozenset()  # as the list shows it
        self._fresh: frozenset[int] = frozenset()
        self.transfer = TransferController(shell, database, conversation, folder, navigator.leave)
        sidebar = shell.sidebar
        sidebar.fill_menu = self._fill_menu
        sidebar.found.connect(self._open_hit)
        sidebar.deleted.connect(self._delete)
        sidebar.pinned.connect(lambda chat, on: self.change(lambda store: store.set_field(chat.id, "pinned", on)))
        sidebar.moved.connect(self._move)
        sidebar.model.folder_renamed.connect(self._rename_folder)
        sidebar.model.folder_named.connect(self._folder_named)
        sidebar.folder_removed.connect(self._remove_folder)
        sidebar.folder_toggled.connect(self._toggle)
        sidebar.searched.connect(self._searched)
        sidebar.list.renaming_over.connect(self._renaming_over)
        shell.composer.style_button.clicked.connect(self.open_style)
        conversation.opened.connect(self.mark_style)
        self._naming: tuple[Chat, ...] | None = None  # what goes into a folder that is being named; None: none is
        conversation.opened.connect(self._mark_chats)
        conversation.busy_changed.connect(self._mark_chats)
        conversation.chats_changed.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        """Read the list again: all chats, or the results of the search."""
        text = self._search
        if text:
            self.database.submit(lambda store: (text, store.chats(text), search.find(store, text)), self._show_found)
        else:
            self.database.submit(lambda store: (store.chats(), store.folders()), self._show)

    def _show(self, found: tuple[list[Chat], list[Folder]]) -> None:
        if self._search or self._shell.sidebar.list.renaming:  # when that is over, it is read once more
            return
        current = self._conversation.chat
        closed = set(self._preferences.closed_folders)
        new = _free_name(found[1]) if self._naming is not None else ""
        self._shell.sidebar.show_chats(*found, closed, current.id if current is not None else 0, new=new)
        title = next((c.title for c in found[0] if current is not None and c.id == current.id), "")
        if title:
            self._shell.setWindowTitle(f"{title} – Underhill")

    def _show_found(self, found: tuple[str, list[Chat], list[SearchHit]]) -> None:
        text, chats, hits = found
        if text == self._search and not self._shell.sidebar.list.renaming:  # otherwise more has been typed meanwhile
            self._shell.sidebar.show_found(chats, hits)

    @Slot()
    def _mark_chats(self) -> None:
        """Show in the list which chat is on the page, and in which an answer is being written or has come."""
        c = self._conversation
        shown = c.chat_id
        self._fresh = (self._fresh | (self._answering - c.answering)) - {shown}
        self._answering = c.answering
        self._shell.sidebar.model.mark(shown, self._answering, self._fresh)

    @Slot(str)
    def _searched(self, text: str) -> None:
        self._search = text
        self.refresh()

    @Slot(object)
    def _open_hit(self, hit: SearchHit) -> None:
        """Open the chat at the message, on the branch that has it."""
        self._navigator.leave()
        self._find.want(hit.message_id, search.terms(self._search))
        self._conversation.open(hit.chat, hit.message_id)

    def change(self, job: object) -> None:
        """Have the database thread call `job` with the chats' store; the list is read again after it."""
        self.database.submit(job, lambda _: self.refresh())  # type: ignore[arg-type]

    def step(self, by: int) -> None:
        """Open the chat below (1) or above (-1) the open one in the list; after the last comes the first."""
        chats = [row for row in self._shell.sidebar.model.rows if isinstance(row, Chat)]
        at = next((n for n, chat in enumerate(chats) if chat.id == self._conversation.wanted), -1 if by > 0 else 0)
        if chats:
            chat = chats[(at + by) % len(chats)]
            self._navigator.open_chat(chat)
            self._shell.sidebar.mark(chat.id)

    # ---- folders ----------------------------------------------------------------------------------------------

    @Slot(object, object)
    def _move(self, chats: tuple[Chat, ...], to: Folder | str | None) -> None:
        """Into a folder, with '' into a new one, with None out of any."""
        if to == "":
            self._name_folder(chats)
        else:
            self._move_into(chats, to)

    def _move_into(self, chats: tuple[Chat, ...], to: Folder | str | None) -> None:
        """As `_move`; a text is the name of the folder."""

        def move(store: ChatStore) -> tuple[Folder | None, bool]:
            before = store.folders()
            folder = store.make_folder(to) if isinstance(to, str) else to
            for chat in chats:
                store.set_field(chat.id, "folder_id", folder.id if folder is not None else None)
            return folder, folder is not None and folder not in before

        self.database.submit(move, lambda result: self._moved(chats, *result))

    def _moved(self, chats: tuple[Chat, ...], folder: Folder | None, made: bool) -> None:
        """made: the folder, too, is taken away by Undo."""

        def back(store: ChatStore) -> None:
            for chat in chats:
                store.set_field(chat.id, "folder_id", chat.folder_id)
            if made and folder is not None:
                store.remove_folder(folder.id)

        self.refresh()
        title, count, name = chats[0].title, len(chats), folder.name if folder is not None else ""
        if count == 1 and folder is not None:
            text = tr("“{title}” moved to “{folder}”", title=title, folder=name)
        elif folder is not None:
            text = plural("1 chat moved to “{folder}”", "%n chats moved to “{folder}”", count, folder=name)
        elif count == 1:
            text = tr("“{title}” removed from its folder", title=title)
        else:
            text = plural("1 chat removed from its folder", "%n chats removed from their folders", count)
        self._shell.toast.show_message(text, tr("Undo"), lambda: self.change(back))

    @Slot(object)
    def _remove_folder(self, folder: Folder) -> None:
        """Its chats stay; Undo puts them into it again."""
        text = tr("Folder “{folder}” deleted, chats kept", folder=folder.name)
        offer_undo = partial(self._offer_folder_undo, text, folder)
        self.database.submit(lambda store: store.remove_folder(folder.id), offer_undo)

    @Slot(object, str)
    def _rename_folder(self, folder_id: int, name: str) -> None:
        self.database.submit(lambda store: store.rename_folder(folder_id, name), partial(self._folder_renamed, name))

    def _folder_renamed(self, name: str, merged: tuple[Folder, list[int]] | None) -> None:
        if merged is None:
            self.refresh()
        else:
            self._offer_folder_undo(tr("Merged with the existing folder “{folder}”", folder=name), *merged)

    def _offer_folder_undo(self, text: str, folder: Folder, inside: list[int]) -> None:
        """Say so of a folder. Undo makes it again and puts the chats into it that were in it."""

        def back(store: ChatStore) -> None:
            again = store.make_folder(folder.name, folder.id)
            for chat_id in inside:
                store.set_field(chat_id, "folder_id", again.id)

        self.refresh()
        self._shell.toast.show_message(text, tr("Undo"), lambda: self.change(back))

    @Slot()
    def _new_folder(self) -> None:
        self._name_folder(())

    def _name_folder(self, chats: tuple[Chat, ...]) -> None:
        """Have a folder named in the list; it is made, and the chats go into it, once that is done."""
        self._naming = chats
        self._shell.sidebar.search.clear()
        self._shell.sidebar.search_now()

    @Slot(str)
    def _folder_named(self, name: str) -> None:
        chats, self._naming = self._naming, None
        if chats:
            self._move_into(chats, name)
        else:
            self.change(lambda store: store.make_folder(name))

    @Slot()
    def _renaming_over(self) -> None:
        """Of a folder that got no name nothing stays."""
        if self._shell.sidebar.naming:
            self._naming = None
        self.refresh()

    @Slot(object, bool)
    def _toggle(self, folder: Folder, is_open: bool) -> None:
        closed = set(self._preferences.closed_folders) - {folder.id}
        self._preferences.closed_folders = sorted(closed if is_open else closed | {folder.id})
        self._state.save()
        self.refresh()

    # ---- how a chat is answered -------------------------------------------------------------------------------

    @Slot()
    def open_style(self) -> None:
        """System prompt and sampling of the open chat."""
        self.database.submit(ChatStore.presets, self._show_style)

    def _show_style(self, known: dict[str, Style]) -> None:
        c = self._conversation
        dialog = StyleDialog(c.style, known, c.sampling, self._shell)
        dialog.chosen.connect(c.set_style)
        dialog.chosen.connect(self.mark_style)
        dialog.kept.connect(lambda name, style: self.database.submit(lambda store: store.keep_preset(name, style)))
        dialog.renamed.connect(lambda old, new: self.database.submit(lambda store: store.rename_preset(old, new)))
        dialog.removed.connect(lambda name: self.database.submit(lambda store: store.remove_preset(name)))
        open_dialog(dialog)

    @Slot()
    def mark_style(self) -> None:
        """Show on the composer's button whether the chat has a style of its own."""
        c = self._conversation
        own = (c.chat.style if c.chat is not None else c.new_style) is not None
        button = self._shell.composer.style_button
        button.setCheckable(True)
        button.setChecked(own)
        button.setCheckable(own)  # last: Qt takes the mark of one that cannot be checked, and does not repaint it

    # ---- the trash --------------------------------------------------------------------------------------------

    @Slot(object)
    def _delete(self, chats: tuple[Chat, ...]) -> None:
        now = self._conversation.chat
        shown = next((chat for chat in chats if now is not None and chat.id == now.id), None)
        if shown is not None:
            self._conversation.new()
        for chat in chats:
            self._conversation.delete(chat.id)
        text = (
            tr("“{title}” deleted", title=chats[0].title)
            if len(chats) == 1
            else plural("1 chat deleted", "%n chats deleted", len(chats))
        )
        again = chats[0] if len(chats) == 1 else shown
        self._shell.toast.show_message(text, tr("Undo"), lambda: self._restore(chats, again))

    def _restore(self, chats: tuple[Chat, ...], shown: Chat | None) -> None:
        """Out of the trash; shown: the one to open."""
        for chat in chats:
            self._conversation.restore(chat.id)
        if shown is not None:
            self._conversation.open(shown)

    @Slot()
    def open_trash(self) -> None:
        """Show the dialog of deleted chats."""
        self.database.submit(ChatStore.trashed, self._show_trash)

    def _show_trash(self, chats: list[tuple[Chat, float]]) -> None:
        dialog = TrashDialog(chats, self._shell)
        dialog.restored.connect(lambda chat: self._restore((chat,), chat))
        dialog.removed.connect(lambda chat: self.change(lambda store: store.empty_trash(chat.id)))
        dialog.emptied.connect(lambda: self.change(ChatStore.empty_trash))
        dialog.removed.connect(lambda _: self.trash_emptied.emit())
        dialog.emptied.connect(self.trash_emptied)
        dialog.open()

    # ---- the menu ---------------------------------------------------------------------------------------------

    def _fill_menu(self, menu: QMenu) -> None:
        menu.addAction(tr("New folder"), self._new_folder)
        menu.addAction(tr("Trash…"), self.open_trash)
        menu.addSeparator()
        self.transfer.fill_menu(menu)


def _free_name(folders: Sequence[Folder]) -> str:
    """What a new folder is called at first: like none of these."""
    taken = {folder.name for folder in folders}
    names = (tr("New folder {number}", number=number) for number in count(2))
    return next(name for name in chain((tr("New folder"),), names) if name not in taken)
