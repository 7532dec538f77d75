"""Changes which chat is on the page, and keeps what is not sent in the one that is left."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.i18n.translate import tr
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.storage.records import Chat
from app.storage.store import ChatStore
from app.widgets.builders import make_timer

_SAVE_POSITION_AFTER = 400  # milliseconds without scrolling, so that a wheel's turn is one writing

ChatAction = Callable[[], object]


class ChatNavigator(QObject):
    """Opens chats, also for an action that belongs to a chat which is no longer on the page."""

    def __init__(self, shell: Shell, database: DatabaseThread, conversation: Conversation) -> None:
        super().__init__(shell)
        self._shell, self._database, self._conversation = shell, database, conversation
        self._waiting: tuple[int, ChatAction] | None = None  # for this chat to be on the page
        self.position_timer = make_timer(self, _SAVE_POSITION_AFTER, self._save_position)  # to start when it changes
        shell.transcript.moved.connect(self.position_timer.start)

    @Slot()
    def new_chat(self) -> None:
        """Show an empty chat."""
        self.leave()
        self._shell.sidebar.search.clear()
        self._conversation.new()
        self._shell.composer.edit.setFocus()

    @Slot(object)
    def open_chat(self, chat: Chat) -> None:
        """Open a chat, or come back to it from another page."""
        self.leave()
        if self._conversation.wanted != chat.id:
            self._conversation.open(chat)
        else:
            self.show_chat()

    @Slot()
    def show_chat(self) -> None:
        """Show the page of the open chat, or the welcome page of an empty one."""
        shell = self._shell
        shell.pages.setCurrentWidget(shell.transcript if self._conversation.messages else shell.welcome)
        shell.composer.edit.setFocus()

    @Slot()
    def leave(self) -> None:
        """Save the draft and the scroll position of the open chat."""
        self._shell.composer.save_draft()
        self._save_position()

    @Slot()
    def _save_position(self) -> None:
        self.position_timer.stop()
        self._conversation.keep_place(self._shell.transcript.place())

    def run_in(self, chat_id: int, action: ChatAction) -> None:
        """Run an action in a chat, opening it first if needed; a toast says where the chat is deleted."""
        now = self._conversation.chat
        if now is not None and now.id == chat_id == self._conversation.wanted:
            self.show_chat()
            action()
        else:
            self._database.submit(partial(ChatStore.chat, chat_id=chat_id), partial(self._open_for, action))

    def _open_for(self, action: ChatAction, chat: Chat | None) -> None:
        if chat is None:
            self._shell.toast.show_message(tr("This chat was deleted."))
        else:
            self._waiting = chat.id, action
            self.open_chat(chat)

    def run_waiting(self, chat_id: int) -> None:
        """Run the action that waits for this chat, which is on the page now; one for another chat is dropped."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None and chat_id == waiting[0]:
            waiting[1]()
