"""What every API asks for in the end: a model of the library, messages, and what the answer is to be like."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request

from engine import limits, protocol
from engine.errors import Kind, UnderhillError
from engine.protocol import AnswerOptions, Generate, Message, ModelCard, Stats, TokenLogprob, Tool, ToolCall
from engine.server.bridge import EngineBridge
from engine.server.http import TOO_LARGE, RequestRefused
from engine.server.parts import AnswerPart, Text, Thought, TurnSplitter
from engine.translatable import msg, translated

LISTED_FOR = 2.0  # seconds that a list of models is good for
LONGEST = 1_000_000  # tokens of an answer where a request names no length: as long as the context has room


WHOLE = AnswerOptions(whole=True)


@dataclass(frozen=True, kw_only=True)
class AnswerRequest:
    """One request. sampling: names of settings.SAMPLING."""

    model: str
    messages: tuple[Message, ...]
    sampling: dict[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    thinking: bool | str | None = None
    options: AnswerOptions = WHOLE
    continue_last: bool = False


@dataclass(frozen=True)
class AnswerPiece:
    """parts: that came together. tokens: how many are behind them; logprobs: of those. stats: once it is over."""

    parts: tuple[AnswerPart, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()
    stats: Stats | None = None
    tokens: int = 0


@dataclass
class WholeAnswer:
    """All pieces of an answer, together."""

    stats: Stats
    thought: str = ""
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)


class Asker:
    """Asks the engine for the APIs. settings, models: as of protocol.UpdateServer, valid; replaced from any thread."""

    def __init__(
        self, bridge: EngineBridge, settings: dict[str, Any], models: Mapping[str, dict[str, Any]] | None = None
    ) -> None:
        self.bridge, self.settings, self.models_own = bridge, settings, models or {}
        self._cards: tuple[ModelCard, ...] = ()
        self._teams: tuple[protocol.TeamCard, ...] = ()
        self._listed = -LISTED_FOR
        self._listing = asyncio.Lock()  # requests that come together wait for one list

    async def models(self) -> tuple[ModelCard, ...]:
        """Those of the library that can be opened, the open one first, and behind them the teams."""
        async with self._listing:
            now = time.monotonic()
            if now - self._listed >= LISTED_FOR:
                found: Any = await self.bridge.ask(lambda ident: protocol.ListModels(ident, self.settings))
                teams: Any = await self.bridge.ask(protocol.ListTeams)
                self._cards, self._listed = tuple(card for card in found if card.usable), now
                self._teams = tuple(card for card in teams if card.team is not None)
        whole = (_as_model(card) for card in self._teams if not card.missing)
        return (*sorted(self._cards, key=lambda card: not card.loaded), *whole)

    async def model(self, name: str) -> ModelCard:
        """The model or team of that name; Ollama's names may end in ':latest'. Raises UnderhillError(NOT_FOUND)."""
        cards = await self.models()
        plain = name.removesuffix(":latest")
        if name.startswith(protocol.TEAM_PREFIX):
            plain = f"{protocol.TEAM_PREFIX}{protocol.team_id(plain[len(protocol.TEAM_PREFIX) :])}"
        # One of whose models some are missing is not listed, and yet asked: the engine says which.
        for card in (*cards, *map(_as_model, self._teams)):
            if card.name in (name, plain):
                return card
        names = ", ".join(card.name for card in cards) or "-"
        raise UnderhillError(
            Kind.NOT_FOUND,
            msg("There is no model called {name} here.", name=limits.shown(name)),
            msg("Those that can be asked: {names}.", names=names),
        )

    async def pieces(self, wanted: AnswerRequest, request: Request) -> AsyncIterator[AnswerPiece]:
        """The answer as it comes; the last piece has its Stats. Raises UnderhillError."""
        check(wanted)
        card = await self.model(wanted.model)
        if not card.reads_images and any(message.images for message in wanted.messages):
            raise RequestRefused(400, f"{card.name} does not read images.", "messages")
        splitter = TurnSplitter(wanted.options.tools, wanted.options.raw)

        def command(ident: str) -> Generate:
            return Generate(
                id=ident,
                messages=wanted.messages,
                sampling=wanted.sampling,
                stop=wanted.stop,
                continue_last=wanted.continue_last,
                thinking=wanted.thinking,
                chat="server",
                options=wanted.options,
                background=True,
                model=card.name,
                settings={**self.settings, **self.models_own.get(card.name, {})},
                models=dict(self.models_own),
            )

        events = self.bridge.answer(command, card.name, client_of(request), request.url.path)
        async with contextlib.aclosing(events) as coming:  # type: ignore[type-var]
            async for event in coming:
                match event:
                    case protocol.PromptRead():
                        yield AnswerPiece()
                    case protocol.TextDelta():
                        parts = tuple(splitter.add(event.text))
                        yield AnswerPiece(parts, event.logprobs, tokens=len(event.token_ids))
                    case protocol.Done(result=Stats() as stats):
                        yield AnswerPiece(tuple(splitter.flush()), stats=stats)

    async def whole(self, wanted: AnswerRequest, request: Request) -> WholeAnswer:
        """The answer in one piece."""
        found: WholeAnswer | None = None
        thought, text = "", ""
        calls: list[ToolCall] = []
        logprobs: list[TokenLogprob] = []
        async with contextlib.aclosing(self.pieces(wanted, request)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if any(isinstance(part, Text) for part in piece.parts) or wanted.options.raw:
                    logprobs += piece.logprobs
                for part in piece.parts:
                    if isinstance(part, Thought):
                        thought += part.text
                    elif isinstance(part, Text):
                        text += part.text
                    else:
                        calls.append(part)
                if piece.stats is not None:
                    found = WholeAnswer(piece.stats, thought, text, calls, logprobs)
        assert found is not None  # the bridge ends with Done, or raises
        return found


def _as_model(card: protocol.TeamCard) -> ModelCard:
    """A team as lists of models have it; it has no weights of its own."""
    name = f"{protocol.TEAM_PREFIX}{card.id}"
    return replace(
        protocol.BLANK_CARD,
        name=name,
        title=translated(card.name),
        family="team",
        path="",
        backend="lean",
    )


def check(wanted: AnswerRequest) -> None:
    """Refuse what is more than anybody asks for. Raises RequestRefused."""
    if not wanted.messages:
        raise RequestRefused(400, "There are no messages.", "messages")
    if len(wanted.messages) > limits.ASKED_MESSAGES:
        raise RequestRefused(400, f"There are more than {limits.ASKED_MESSAGES} messages.", "messages")
    if sum(len(message.content) for message in wanted.messages) > limits.TEXT_CHARACTERS:
        raise RequestRefused(TOO_LARGE, f"The text is longer than {limits.TEXT_CHARACTERS} characters.", "messages")
    if sum(len(message.images) for message in wanted.messages) > limits.ASKED_IMAGES:
        raise RequestRefused(400, f"There are more than {limits.ASKED_IMAGES} images.", "messages")
    if len(wanted.stop) > limits.STOP_TEXTS:
        raise RequestRefused(400, f"There are more than {limits.STOP_TEXTS} stop texts.", "stop")


def client_of(request: Request) -> str:
    """Who asks: its address, and what its program calls itself."""
    program = request.headers.get("user-agent", "").split(" ")[0][:60]
    program = "".join(c for c in program if c.isprintable())
    address = request.client.host if request.client is not None else ""
    return " ".join(filter(None, (address, program)))


def sampling_of(**given: Any) -> dict[str, Any]:
    """What a request names of settings.SAMPLING; what it leaves out is as in the settings' declaration."""
    named = {name: value for name, value in given.items() if value is not None}
    seed = named.get("seed")
    if isinstance(seed, int):  # ours is 31 bits; theirs may be negative, or 64
        named["seed"] = seed % (1 << 31)
    named.setdefault("max_tokens", LONGEST)
    return named


def assistant(text: str, thought: str = "", calls: Sequence[ToolCall] = ()) -> Message:
    """A former answer, in the form that the engine's own have."""
    from engine.generation import turns

    said = f"{turns.OPEN}\n{thought}\n{turns.CLOSE}\n\n{text}" if thought else text
    blocks = "\n".join(turns.written(call) for call in calls)
    return Message("assistant", "\n\n".join(filter(None, (said, blocks))))


def tool(name: str, description: str | None, parameters: dict[str, Any] | None) -> Tool:
    """A tool of a request. Raises RequestRefused."""
    if not name or len(name) > 128 or not all(c.isalnum() or c in "_-." for c in name):
        raise RequestRefused(400, f"{limits.shown(name)} cannot be the name of a tool.", "tools")
    return Tool(name, description or "", parameters or {"type": "object", "properties": {}})
