"""What is done with a chat that has to be on the page for it: it is opened first where another is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.i18n.translate import tr
from app.storage.database_thread import DatabaseThread
from app.storage.records import Chat
from app.storage.store import ChatStore

if TYPE_CHECKING:
    from app.main_window import MainWindow

ChatAction = Callable[[], object]


class ChatNavigator(QObject):
    """A button may be about another chat than the one on the page by the time it is pressed."""

    def __init__(self, window: MainWindow, database: DatabaseThread, conversation: Conversation) -> None:
        super().__init__(window)
        self._window, self._database, self._conversation = window, database, conversation
        self._waiting: tuple[int, ChatAction] | None = None  # for this chat to be on the page
        conversation.opened.connect(self._opened)

    def do(self, chat_id: int, what: ChatAction) -> None:
        """Do it in that chat, unless that is deleted."""
        now = self._conversation.chat
        if now is not None and now.id == chat_id == self._conversation.wanted:
            self._window.show_chat()
            what()
        else:
            self._database.submit(partial(ChatStore.chat, chat_id=chat_id), partial(self._go, what))

    def _go(self, what: ChatAction, chat: Chat | None) -> None:
        if chat is None:
            self._window.toast.say(tr("The chat that this was about is deleted."))
        else:
            self._waiting = chat.id, what
            self._window.show_opened(chat)

    @Slot(object, object)
    def _opened(self, chat: Chat | None, messages: object) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and chat is not None and chat.id == waiting[0]:
            waiting[1]()
