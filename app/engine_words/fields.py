"""Which fields of what comes from the engine are sentences of its own, and such a thing with them translated."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

from app.engine_words import exactly, told
from engine import api

T = TypeVar("T")

# Sentences; of the fields in NAMES only what is wholly the engine's own: others are names that people gave.
SENTENCES: dict[type, tuple[str, ...]] = {
    api.Failed: ("sentence", "action"),
    api.Progress: ("text",),
    api.PlanChanged: ("plan", "notice"),
    api.Telemetry: ("why", "ahead"),
    api.VerifyReport: ("damaged", "action"),
    api.ModelCard: ("note", "plan", "doing", "problem", "action"),
    api.Fit: ("sentence",),
    api.Computer: ("why", "sentences"),
    api.ModelFolder: ("problem",),
    api.AdoptedModel: ("problem", "action"),
    api.FoundModel: ("why_not",),
    api.HubModel: ("about", "lost"),
    api.Transfer: ("text", "problem", "action"),
    api.TokenState: ("note",),
}
NAMES: dict[type, tuple[str, ...]] = {api.ModelCard: ("title",)}
# Things that hold such things.
HOLDERS: dict[type, tuple[str, ...]] = {
    api.Done: ("result",),
    api.Cancelled: ("result",),
    api.ModelChanged: ("card",),
    api.TransferChanged: ("transfer",),
    api.Listed: ("page",),
    api.ModelCard: ("fit",),
    api.SearchPage: ("models",),
    api.HubModel: ("fit",),
    api.FoundModel: ("fit",),
    api.ModelDetails: ("model", "fits"),
}


def spoken(thing: T) -> T:
    """The same thing in the language of the window; itself where nothing of it changes. Statistics of an answer stay
    English: they are kept with the chat, whose window may speak another language by then.
    """
    return _in_words(thing)


def _in_words(thing: Any) -> Any:
    if isinstance(thing, tuple):
        new = tuple(_in_words(x) for x in thing)
        return thing if all(a is b for a, b in zip(new, thing)) else new
    kind = type(thing)
    if not is_dataclass(kind):
        return thing
    changes = {name: _each(told, getattr(thing, name)) for name in SENTENCES.get(kind, ())}
    changes |= {name: exactly(getattr(thing, name)) for name in NAMES.get(kind, ())}
    changes |= {name: _in_words(getattr(thing, name)) for name in HOLDERS.get(kind, ())}
    changes = {name: value for name, value in changes.items() if value is not getattr(thing, name)}
    return replace(thing, **changes) if changes else thing


def _each(say: Any, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return str(say(value))
    return tuple(say(text) for text in value)
