"""Counts how much of the context the open chat and the message that is being written take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app import backend
from app.backend import EngineLink, Models, is_model
from app.chat.conversation import Conversation
from app.chat.prompt_messages import LONGEST_RESULT, as_read, result, with_attachments
from app.composer import Composer
from app.images.cache import image_cache
from app.storage.records import Attachment, StoredMessage
from app.widgets.builders import make_timer
from engine import protocol

_AFTER = 300  # milliseconds
_LATEST = 200  # messages of a chat that are counted where no answer says how long it is


@dataclass(frozen=True)
class _Part:
    """What the model reads: a turn, or the system prompt. Its tokens are those of its texts and images."""

    role: str
    texts: tuple[str, ...]
    images: tuple[Attachment, ...] = ()


class TokenCounter(QObject):
    """counted: tokens of the chat, of the draft, and of the context. edited: the id of the message that the draft takes
    the place of, 0 for none: that one and those after it are no part of the chat that the draft goes on with.

    What the model reads of the chat is counted: up to its last answer, or in the one that it is making, by the engine's
    own figures; what came since is added, and turns that no longer fit are left out as the engine will leave them out.
    """

    counted = Signal(int, int, int)
    attachments_counted = Signal(object, int)  # tokens of each attachment's text in the draft; those of the context

    def __init__(
        self, composer: Composer, conversation: Conversation, known: Models, link: EngineLink,
        edited: Callable[[], int],
    ) -> None:  # fmt: skip
        super().__init__(composer)
        self._edited = edited
        self._composer, self._conversation, self._models, self._link = composer, conversation, known, link
        self._model = ""
        self._counts: dict[str, int] = {}  # tokens of texts, by this model
        self._images: dict[str, int] = {}  # and of images, by their digests
        self._draft, self._context = 0, 0  # tokens, as they were counted last; context 0: never by this model
        self._asked = 0
        self._rest = make_timer(self, _AFTER, self._ask)
        for signal in (composer.changed, conversation.opened, conversation.finished, known.changed):
            signal.connect(self._soon)
        conversation.text_added.connect(self._answer_grew)

    @Slot()
    def _soon(self) -> None:
        self._rest.start()

    @Slot()
    def _answer_grew(self) -> None:
        chat = self._answering()
        if chat and self._context and self._counts_here():
            self.counted.emit(chat, self._draft, self._context)

    def _counts_here(self) -> bool:
        """Whether the open model answers next: another counts otherwise, and has another context."""
        return not self._models.to_load and self._models.endpoint_card is None

    @Slot()
    def _ask(self) -> None:
        if not self._counts_here():
            self._asked += 1  # what is being counted is not shown
            self._composer.meter.hide()
            return
        card = self._models.card
        if self._models.state != backend.READY or card is None:
            return
        if card.path != self._model:
            self._model, self._context = card.path, 0
            self._counts.clear()
            self._images.clear()
        self._count(*self._known(card.title))

    def _count(self, base: int, chat: list[_Part]) -> None:
        """Count what is not counted yet, then tell. base: tokens of what came before `chat`, as the engine says."""
        files = self._composer.attachments
        texts = (self._composer.text(), *(with_attachments("", (a,)) for a in files))
        draft = _Part("user", texts, _images(files))
        wanted = {text for part in (draft, *chat) for text in part.texts if text}
        fresh = tuple(wanted - self._counts.keys())
        seen = {image.digest: image for part in (draft, *chat) for image in part.images}
        unknown = tuple(digest for digest in seen if digest not in self._images)
        self._asked += 1
        asked = self._asked

        def done(found: protocol.TokenCount) -> None:
            if asked == self._asked:
                self._counts.update(zip(fresh, found.tokens))
                self._images.update(zip(unknown, found.images))
                self._tell(base, chat, draft, found.context)

        sizes = [image_cache().size_of(seen[digest]) for digest in unknown]
        asking = tuple((size.width(), size.height()) for size in sizes)
        self._link.request(done, lambda failed: None, protocol.CountTokens, fresh, asking)

    def _tell(self, base: int, chat: list[_Part], draft: _Part, context: int) -> None:
        """Emit what was counted, and forget the counts of other texts and images."""
        tokens = base + sum(map(self._tokens, chat))
        if base and chat and tokens > context - protocol.answer_reserve(self._longest(), context):
            self._count(0, self._parts(self._before_draft()[-_LATEST:], system=True))  # sizes say which are left out
            return
        if not base:
            tokens = self._kept(chat, context)
        self._draft, self._context = self._tokens(draft), context
        texts = {text for part in (draft, *chat) for text in part.texts}
        images = {image.digest for part in (draft, *chat) for image in part.images}
        self._counts = {text: n for text, n in self._counts.items() if text in texts}
        self._images = {digest: n for digest, n in self._images.items() if digest in images}
        self.attachments_counted.emit([self._counts.get(text, 0) for text in draft.texts[1:]], context)
        self.counted.emit(self._answering() or tokens, self._draft, context)

    def _kept(self, chat: Sequence[_Part], context: int) -> int:
        """Tokens of those parts that the model will read."""
        system = sum(self._tokens(part) for part in chat if part.role == "system")
        turns = [part for part in chat if part.role != "system"]
        sizes = [self._tokens(turn) for turn in turns]
        return system + protocol.kept_tokens([turn.role for turn in turns], sizes, context, self._longest(), system)

    def _parts(self, messages: Sequence[StoredMessage], *, system: bool = False) -> list[_Part]:
        """What the model reads of these messages, and of the system prompt."""
        style = self._conversation.style.system
        parts = [_Part("system", (style,))] if system and style else []
        for m in messages:
            if m.content or m.tools or m.attachments:  # else an answer that is still to come
                parts.append(_Part(m.role, (protocol.without_thought(as_read(m)),), _images(m.attachments)))
                parts += _results(m)
        return parts

    def _tokens(self, part: _Part) -> int:
        images = sum(self._images.get(image.digest, 0) for image in part.images)
        return images + sum(self._counts.get(text, 0) for text in part.texts)

    def _longest(self) -> int:
        """Most tokens of an answer."""
        values: dict[str, Any] = {s.name: s.default for s in protocol.settings.SAMPLING}
        return int((values | self._conversation.style.sampling)["max_tokens"])

    def _answering(self) -> int:
        """Tokens that the model has read and written for the answer that it is making in the open chat; 0 for none."""
        answer, card = self._conversation.answers.in_chat(self._conversation.chat_id), self._models.card
        if answer is None or answer.reading is None or card is None or self._edited():
            return 0
        here = is_model(answer.model) and answer.message.model in ("", card.title)  # '': asked while it was opened
        return answer.reading.total + len(answer.tokens) if here else 0

    def _before_draft(self) -> list[StoredMessage]:
        """The messages that the draft goes on from."""
        messages, edited = self._conversation.messages, self._edited()
        return list(takewhile(lambda message: message.id != edited, messages)) if edited else messages

    def _known(self, model: str) -> tuple[int, list[_Part]]:
        """Tokens up to the last answer, as the engine counted them, and what came after it. Where no answer of this
        model says how many: 0, and the system prompt and the latest messages.
        """
        messages = self._before_draft()
        for index in range(len(messages) - 1, -1, -1):
            m = messages[index]
            if m.role == "assistant" and m.model == model and "prompt_tokens" in m.stats:
                used = int(m.stats["prompt_tokens"]) + len(m.token_ids)
                return used, [*_results(m), *self._parts(messages[index + 1 :])]
        return 0, self._parts(messages[-_LATEST:], system=True)


def _results(m: StoredMessage) -> list[_Part]:
    """What the model reads of the tools that a message calls."""
    return [_Part("tool", (result(use, LONGEST_RESULT),)) for use in m.tools]


def _images(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    return tuple(a for a in attachments if a.image)
