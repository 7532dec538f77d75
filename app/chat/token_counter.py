"""Counts the tokens of the draft and of the chat before it, with the model's own tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from PySide6.QtCore import QObject, Signal, Slot

from app import backend
from app.backend import EngineLink, Models
from app.chat.conversation import Conversation
from app.chat.prompt_messages import with_attachments
from app.composer import Composer
from app.storage.records import StoredMessage
from app.widgets.builders import make_timer
from engine import protocol

_AFTER = 300  # milliseconds
_LATEST = 200  # messages of a chat that are counted where no answer says how long it is


class TokenCounter(QObject):
    """counted: tokens of the chat, of the draft, and of the context. edited: the id of the message that the draft takes
    the place of, 0 for none: that one and those after it are no part of the chat that the draft goes on with.
    """

    counted = Signal(int, int, int)
    attachments_counted = Signal(object)  # tokens of each attachment of the draft

    def __init__(
        self, composer: Composer, conversation: Conversation, known: Models, link: EngineLink,
        edited: Callable[[], int],
    ) -> None:  # fmt: skip
        super().__init__(composer)
        self._edited = edited
        self._composer, self._conversation, self._models, self._link = composer, conversation, known, link
        self._model = ""
        self._counts: dict[str, int] = {}  # tokens of texts, by this model
        self._asked = 0
        self._rest = make_timer(self, _AFTER, self._ask)
        for signal in (composer.changed, conversation.opened, conversation.finished, known.changed):
            signal.connect(self._soon)

    @Slot()
    def _soon(self) -> None:
        self._rest.start()

    @Slot()
    def _ask(self) -> None:
        card = self._models.card
        if self._models.state != backend.READY or card is None:
            return
        if card.path != self._model:
            self._model = card.path
            self._counts.clear()
        files = [with_attachments("", (a,)) for a in self._composer.attachments]
        draft = [self._composer.text(), *files]
        base, later = self._known(card.title)
        before = [with_attachments(m.content, m.attachments) for m in later]
        if not base:
            before.append(self._conversation.style.system)
        fresh = tuple({t for t in (*draft, *before) if t and t not in self._counts})
        self._asked += 1
        asked = self._asked

        def done(found: protocol.TokenCount) -> None:
            if asked == self._asked:
                self._counts = {t: n for t, n in self._counts.items() if t in before or t in draft}
                self._counts.update(zip(fresh, found.tokens))
                own = [self._counts.get(t, 0) for t in draft]
                self.attachments_counted.emit(own[1:])
                self.counted.emit(base + sum(self._counts.get(t, 0) for t in before), sum(own), found.context)

        self._link.request(done, lambda failed: None, protocol.CountTokens, fresh)

    def _known(self, model: str) -> tuple[int, list[StoredMessage]]:
        """Tokens up to the last answer, as the engine counted them, and the messages after it."""
        messages, edited = self._conversation.messages, self._edited()
        if edited:
            messages = list(takewhile(lambda message: message.id != edited, messages))
        for index in range(len(messages) - 1, -1, -1):
            m = messages[index]
            if m.role == "assistant" and m.model == model and "prompt_tokens" in m.stats:
                return int(m.stats["prompt_tokens"]) + len(m.token_ids), messages[index + 1 :]
        return 0, messages[-_LATEST:]
