"""Shows the page that compares answers, and puts the one that is chosen into a chat."""

from __future__ import annotations

import dataclasses
import time

from PySide6.QtCore import QObject, Slot

from app.backend import Models
from app.chat.conversation import Conversation
from app.compare.page import ComparePage
from app.controllers.chat_navigator import ChatNavigator
from app.i18n.translate import tr
from app.settings.preferences import Preferences
from app.shell import Shell
from app.storage import records
from app.storage.database_thread import DatabaseThread
from app.storage.records import Chat, StoredMessage
from app.storage.store import ChatStore
from app.theme.theme import Theme


class CompareController(QObject):
    """page: None until it is shown for the first time."""

    def __init__(
        self, shell: Shell, theme: Theme, known: Models, conversation: Conversation, preferences: Preferences,
        navigator: ChatNavigator, *, database: DatabaseThread,
    ) -> None:  # fmt: skip
        super().__init__(shell)
        self._shell, self._theme, self._models, self._conversation = shell, theme, known, conversation
        self._preferences, self._navigator, self._database = preferences, navigator, database
        self.page: ComparePage | None = None
        self._question: StoredMessage | None = None  # of a chat, that is compared
        shell.header.compare.triggered.connect(self.open)
        shell.transcript.message_actions.compare.connect(self.compare_message)

    @Slot()
    def open(self) -> ComparePage:
        """Compare answers to a question that is to be typed."""
        self._question = None
        return self._show(None, [])

    @Slot(object)
    def compare_message(self, message_id: int) -> None:
        """Compare answers to a question of the open chat. message_id: of it, or of its answer."""
        messages = self._conversation.messages
        at = self._conversation.index(message_id)
        while at >= 0 and messages[at].role != "user":
            at -= 1
        if at < 0:
            self._shell.toast.show_message(tr("Can't compare: the question was deleted"))
            return
        self._question = messages[at]
        self._show(self._question, messages[:at])

    def _show(self, question: StoredMessage | None, before: list[StoredMessage]) -> ComparePage:
        shell, c = self._shell, self._conversation
        if self.page is None:
            self.page = ComparePage(self._theme, self._models, self._preferences.engine_for, shell.pages)
            shell.pages.addWidget(self.page)
            self.page.closed.connect(self._navigator.show_chat)
            self.page.used.connect(self._use)
            self.page.link.connect(shell.transcript.link)
        self._navigator.leave()
        shell.pages.setCurrentWidget(self.page)
        card = self._models.card
        name = card.name if card is not None else self._models.wanted
        self.page.begin(
            c.style, c.thinking, question.content if question is not None else "", before=before,
            attachments=question.attachments if question is not None else (),
            model=name, dial=str(self._preferences.of(name, "dial")),
        )  # fmt: skip
        self._database.submit(ChatStore.presets, self.page.offer_presets)
        return self.page

    @Slot(int)
    def _use(self, number: int) -> None:
        """Put question and answer into the chat that the question is of, as versions, or into a new one."""
        page, c = self.page, self._conversation
        if page is None or not page.run.answers:
            return
        compared = page.run.answers[number]
        answer = compared.message(self._models.title(compared.model))
        asked, text, chat = self._question, page.question, None
        if asked is not None and asked.chat_id in c.answering:
            self._shell.toast.show_message(tr("Wait for the answer, or press Esc to stop it"))
            return
        if asked is None:
            chat = Chat(
                id=records.new_id(), title=records.title_from(text), updated_at=time.time(), style=compared.style,
                model=compared.model,
            )  # fmt: skip
            question = records.new_question(chat.id, None, text, ())
        elif text == asked.content.strip():
            question = asked
        else:
            question = records.new_question(asked.chat_id, asked.parent_id, text, asked.attachments)
        answer = dataclasses.replace(answer, chat_id=question.chat_id, parent_id=question.id)
        new = (answer,) if question is asked else (question, answer)
        self._navigator.leave()
        c.adopt(new, chat)
        self._shell.composer.edit.setFocus()
