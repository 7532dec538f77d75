"""Events: what the engine tells, and the results that only the protocol has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.errors import Kind
from engine.generation.messages import Snapshot, TokenLogprob
from engine.library.entries import ModelCard, SearchPage, Transfer
from engine.translatable import NO_TEXT, Translatable, msg


@dataclass(frozen=True)
class Event:
    """A message of the engine.

    id: that of its command; empty for Telemetry, PlanChanged, ModelChanged, TransferChanged and ServerChanged.
    """

    id: str


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """Something long goes on. text: a plain phrase ('Reading layer 3 of 16'). total 0: not known. unit: 'bytes' …

    rate: units per second, of late; 0: not known yet. left: seconds that the rest of total will take; None: not known.
    """

    text: Translatable
    done: int = 0
    total: int = 0
    unit: str = ""
    rate: float = 0.0
    left: float | None = None


@dataclass(frozen=True)
class PromptRead(Event):
    """Prompt tokens processed so far, of total; reused of them were already in the KV cache.

    dropped: oldest turns left out because the context is full (shown to the user, never silent).
    """

    done: int
    total: int
    reused: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class TextDelta(Event):
    """New text of the answer (whole characters only) and the tokens behind it.

    logprobs: of those tokens, where the command's options ask for them.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Telemetry(Snapshot, Event):
    """A snapshot for the live panels, at most five a second while something changes. id is empty.

    Its matrices are empty and `expert` is None until a Watch asks for them.
    """


@dataclass(frozen=True)
class PlanChanged(Event):
    """The loaded model runs in another way from now on. id is empty.

    plan: its sentences, as in ModelCard. notice: what happened, where it was not the user who asked for it.
    """

    plan: tuple[Translatable, ...]
    notice: Translatable = NO_TEXT


@dataclass(frozen=True)
class ModelChanged(Event):
    """More is known of the loaded model, or it is busy with something of its own: its card now. id is empty."""

    card: ModelCard


@dataclass(frozen=True)
class Listed(Event):
    """What a search found, before it is known how any of it would run here."""

    page: SearchPage


@dataclass(frozen=True)
class TransferChanged(Event):
    """Something on its way is further, or no more on its way; at most five a second of each. id is empty."""

    transfer: Transfer


@dataclass(frozen=True)
class Done(Event):
    """Terminal: it worked. result: as the command's docstring says."""

    result: Any = None


@dataclass(frozen=True)
class Cancelled(Event):
    """Terminal: the user stopped it. result: what there is of it (Stats of a Generate)."""

    result: Any = None


@dataclass(frozen=True)
class Failed(Event):
    """Terminal: it went wrong. cause: the technical detail, for the log and 'show details'."""

    kind: Kind
    sentence: Translatable
    action: Translatable = NO_TEXT
    cause: str = ""


TERMINAL = (Done, Cancelled, Failed)  # every command gets exactly one of these, as its last event
GONE = (Kind.STOPPED, Kind.HELD)  # of Failed: there is no engine any more


def stopped(command_id: str, cause: str) -> Failed:
    """Of a command that nothing will be done for any more, because what would have has ended by a defect."""
    return Failed(
        command_id, Kind.STOPPED, msg("The engine stopped."),
        msg("Your chats are safe. Restart it to continue."), cause,
    )  # fmt: skip


def held(command_id: str, cause: str) -> Failed:
    """Of a command that was under way when the engine was ended, since it did not answer to Stop."""
    return Failed(
        command_id, Kind.HELD, msg("The engine didn't respond and was ended."),
        msg("Your chats are safe. It restarts and loads the model."), cause,
    )  # fmt: skip


@dataclass(frozen=True)
class TokenCount:
    """Result of CountTokens: tokens of each text, without what the chat template puts around it.

    context: most tokens that the model, as it is loaded, sees at a time. images: tokens of each; 0 where it reads none.
    """

    tokens: tuple[int, ...]
    context: int
    images: tuple[int, ...] = ()


@dataclass(frozen=True)
class VerifyReport:
    """Result of VerifyModel. damaged: a sentence for everything that is; action: what to do about it."""

    damaged: tuple[Translatable, ...]
    action: Translatable = NO_TEXT
