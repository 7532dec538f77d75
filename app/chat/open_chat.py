"""The open chat: its messages, and what is kept of it on the disk besides them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.chat.running_answers import DraftStore
from app.storage.database_thread import DatabaseThread
from app.storage.records import Attachment, Chat, ChatTools, ScrollPosition, StoredMessage, Style
from app.storage.store import NEW_CHAT, ChatStore


class OpenChat(QObject):
    """chat: None as long as it has no message; it is written to the disk with the first. No method waits."""

    problem = Signal(object)  # Problem

    def __init__(self, database: DatabaseThread, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._database = database
        self.drafts = DraftStore(database, self.problem.emit)
        self.chat: Chat | None = None
        self.messages: list[StoredMessage] = []
        self.sampling: dict[str, Any] = {}  # where a chat has no style of its own
        self.new_style: Style | None = None  # of a chat that has no message yet
        self.new_model = ""  # of such a chat, as Chat.model; '' as long as none was chosen for it
        self.new_attached: tuple[Attachment, ...] = ()  # to the draft of such a chat
        self.new_documents: tuple[str, ...] = ()  # that such a chat is to search
        self.new_tools = ChatTools()  # that such a chat may use

    @property
    def chat_id(self) -> int:
        """Id of the open chat; NEW_CHAT, which is 0, for one without a message."""
        return self.chat.id if self.chat is not None else NEW_CHAT

    def index(self, message_id: int) -> int:
        """Number of a message of the open chat; -1 where it is not there."""
        return next((i for i, m in enumerate(self.messages) if m.id == message_id), -1)

    def keep_draft(self, text: str) -> None:
        """Keep what is typed in the open chat."""
        if self.chat is not None and self.chat.draft != text:
            chat_id = self.chat.id
            self.chat = dataclasses.replace(self.chat, draft=text)
            self.drafts.keep(chat_id, "draft", text)

    def keep_attached(self, files: tuple[Attachment, ...]) -> None:
        """Keep what is attached to the draft of the open chat, or of the one that has no message yet."""
        if files == (self.chat.attached if self.chat is not None else self.new_attached):
            return
        if self.chat is not None:
            self.chat = dataclasses.replace(self.chat, attached=files)
        else:
            self.new_attached = files
        self.drafts.keep(self.chat_id, "attached", files)

    @property
    def documents(self) -> tuple[str, ...]:
        """Paths of the files and folders that the open chat searches at each question."""
        return self.chat.documents if self.chat is not None else self.new_documents

    def keep_documents(self, paths: tuple[str, ...], done: Callable[[], object] = lambda: None) -> None:
        """Have the open chat search these from now on. done: it is on the disk."""
        if self.chat is not None:
            self.chat = dataclasses.replace(self.chat, documents=paths)
        else:
            self.new_documents = paths
        self.drafts.keep(self.chat_id, "documents", paths, done)

    def keep_place(self, place: ScrollPosition | None) -> None:
        """Keep where the open chat is scrolled to; None: at its end."""
        if self.chat is not None and self.chat.place != place:
            self._keep("place", place)

    @property
    def style(self) -> Style:
        """How the open chat is answered."""
        own = self.chat.style if self.chat is not None else self.new_style
        return own or Style(sampling=dict(self.sampling))

    def set_style(self, style: Style | None) -> None:
        """How the open chat is answered from now on; None: as the settings say."""
        if self.chat is None:
            self.new_style = style
        else:
            self._keep("style", style)

    @property
    def model(self) -> str:
        """Which model or team answers in the open chat, as Chat.model."""
        return self.chat.model if self.chat is not None else self.new_model

    def set_model(self, key: str) -> None:
        """Have this model or team answer in the open chat from now on."""
        if self.chat is None:
            self.new_model = key
        elif self.chat.model != key:
            self._keep("model", key)

    @property
    def tools(self) -> ChatTools:
        """Which tools the open chat may use."""
        return self.chat.tools if self.chat is not None else self.new_tools

    def set_tools(self, tools: ChatTools) -> None:
        """Have the open chat use these tools from now on."""
        if self.chat is None:
            self.new_tools = tools
        elif self.chat.tools != tools:
            self._keep("tools", tools)

    def keep_model(self, chat_id: int, key: str) -> None:
        """Have this model or team answer in a chat that is not open yet."""
        self._database.submit(partial(ChatStore.set_field, chat_id=chat_id, name="model", value=key))

    def _keep(self, name: str, value: Any) -> None:
        """Change a field of the open chat, here and on the disk."""
        assert self.chat is not None
        self.chat = dataclasses.replace(self.chat, **{name: value})
        write = partial(ChatStore.set_field, chat_id=self.chat.id, name=name, value=value)
        self._database.submit(write, failed=self.drafts.mark_refused)
