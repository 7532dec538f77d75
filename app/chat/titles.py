"""Titles that the open model writes for new chats while nothing else is asked of it."""

from __future__ import annotations

import re
from functools import partial

from PySide6.QtCore import QObject, Slot

from app.backend import READY, Models
from app.chat.conversation import Conversation
from app.markdown.split import without_thought
from app.storage.records import StoredMessage
from app.widgets.builders import make_timer
from engine import protocol

REST = 2500  # milliseconds without an answer before a title is asked for
LEAST_PARAMETERS = 500_000_000  # of a model that can sum up a chat
LONGEST = 60  # characters of a title
_READ = 1200  # characters of question and of answer that the model reads, each
_TOKENS = 32  # of a title, at most
_ASK = (
    "Write a short title for the chat below, in the language of the chat. At most six words, no quotation marks, "
    "no full stop. Answer with the title alone.\n\nQuestion:\n{question}\n\nAnswer:\n{answer}"
)
_AROUND = " \t\"'`*_#“”„‘’«»「」『』《》.。:："
_LABEL = re.compile(r"^(title|标题)\s*[:：]\s*", re.IGNORECASE)


def title_in(said: str) -> str:
    """The title in what a model has said; '' where there is none that could be used."""
    lines = (line.strip() for line in without_thought(said).splitlines())
    first = next((line for line in lines if line.strip(_AROUND)), "")
    title = " ".join(_LABEL.sub("", first.strip(_AROUND)).strip(_AROUND).split())
    return title if len(title) <= LONGEST and title.isprintable() else ""


class TitleWriter(QObject):
    """Has a chat of one question and its answer titled, unless its title was given by hand.

    It gives way to every message: what it asked for is stopped, and asked again later.
    """

    def __init__(self, conversation: Conversation, models: Models, wanted: bool, parent: QObject | None = None) -> None:
        """wanted: whether chats are titled."""
        super().__init__(parent)
        self._wanted = wanted
        self._conversation, self._models = conversation, models
        self._waiting: dict[int, tuple[str, str]] = {}  # question and answer of chats without a title, by id
        self._command = ""
        self._timer = make_timer(self, REST, self._write_next)
        conversation.finished.connect(self._answered)
        conversation.busy_changed.connect(self._busy_changed)

    def set_wanted(self, wanted: bool) -> None:
        """Whether chats are titled from now on."""
        self._wanted = wanted
        if not wanted:
            self._waiting.clear()
            self._stop()

    @Slot(object)
    def _answered(self, message: StoredMessage) -> None:
        chat, messages = self._conversation.chat, self._conversation.messages
        if not self._wanted or chat is None or chat.title_by_hand or message.finish not in ("stop", "length"):
            return
        if (
            [m.role for m in messages if not m.tools] == ["user", "assistant"]
            and message.versions == 1
            and message.content
        ):
            self._waiting[chat.id] = (messages[0].content, message.content)
            self._timer.start()

    @Slot()
    def _busy_changed(self) -> None:
        if self._conversation.working:
            self._timer.stop()
            self._stop()
        elif self._waiting:
            self._timer.start()

    def _stop(self) -> None:
        if self._command:
            self._models.link.stop(self._command)
            self._command = ""

    @Slot()
    def _write_next(self) -> None:
        card = self._models.card
        if self._command or self._conversation.working or not self._waiting:
            return
        if self._models.state != READY or card is None or card.parameters < LEAST_PARAMETERS:
            return
        chat_id, (question, answer) = next(iter(self._waiting.items()))
        answer = without_thought(answer).strip()
        asked = protocol.Message("user", _ASK.format(question=question[:_READ], answer=answer[:_READ]))
        ask = partial(
            protocol.Generate, messages=(asked,), sampling={"temperature": 0.0, "max_tokens": _TOKENS},
            thinking=False, chat=f"title {chat_id}", background=True,
        )  # fmt: skip
        self._command = self._models.link.ask(ask, partial(self._on_event, chat_id))

    def _on_event(self, chat_id: int, event: protocol.Event) -> None:
        if not isinstance(event, protocol.TERMINAL) or event.id != self._command:
            return  # it was stopped for a message
        self._command = ""
        if isinstance(event, protocol.Cancelled) or (
            isinstance(event, protocol.Failed) and event.kind is protocol.Kind.BUSY
        ):
            return  # asked again after the next answer
        self._waiting.pop(chat_id, None)
        title = title_in(event.result.text) if isinstance(event, protocol.Done) else ""
        if title:
            self._conversation.rename(chat_id, title, by_hand=False)
        if self._waiting:
            self._timer.start()
