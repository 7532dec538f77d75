"""Questions about models and this computer that need no turn of the model's thread; each from any thread."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import protocol, settings

if TYPE_CHECKING:
    from engine.session import Session

_log = logging.getLogger(__name__)


def with_open_model(cards: tuple[protocol.ModelCard, ...], session: Session | None) -> tuple[protocol.ModelCard, ...]:
    """Cards of the library, where the open model's has its own plan's figures, not those of opening it again."""
    if session is None:
        return cards
    open_one = session.card
    return tuple(
        dataclasses.replace(card, loaded=True, fit=open_one.fit) if card.path == open_one.path else card
        for card in cards
    )


def current_card(session: Session) -> protocol.ModelCard:
    """The card of an open model, with what may have changed since it was opened: its title, and how it runs."""
    from engine.library import listing

    title = listing.shown_title(session.store.path)
    return dataclasses.replace(session.card, title=title, loaded=True, plan=session.sentences)


def renamed(
    card: protocol.ModelCard, session: Session | None, emit: Callable[[protocol.Event], None]
) -> protocol.ModelCard:
    """Have the window told of the new title where it is the open model that was renamed; returns its card."""
    if session is not None and session.store.path == Path(card.path):
        emit(protocol.ModelChanged("", current_card(session)))
    return card


def count_tokens(session: Session, texts: tuple[str, ...], images: tuple[tuple[int, int], ...]) -> protocol.TokenCount:
    """Tokens of each text, and of images of these widths and heights, for an open model."""
    whole = (t.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for t in texts)
    seen = tuple(session.chat.pictures.tokens(width, height) for width, height in images)
    return protocol.TokenCount(tuple(len(session.chat.encode(t)) for t in whole), session.context.limit, seen)


def recommended(session: Session | None) -> protocol.Recommended:
    """What Underhill chooses for memory and context where nobody does."""
    from engine.library import computer

    return computer.recommended() if session is None else session.recommended()


def unavailable_choices() -> dict[str, dict[str, str]]:
    """Of settings, the choices that this computer does not have, with why."""
    from engine.hardware import graphics
    from engine.planning import offload

    return {"mode": offload.impossible(graphics.gpus())}


def keep_settings(changes: dict[str, Any]) -> dict[str, settings.Value]:
    """All settings of Underhill as a whole, once these were changed. Raises UnderhillError."""
    from engine.library import folders, settings_file

    settings.validated(changes, settings.SHARED)
    _log.info("Settings of Underhill changed: %s", ", ".join(sorted(changes)))  # their values may name folders
    if "model_folders" in changes:
        folders.choose(str(changes["model_folders"]))
    return settings_file.change({name: value for name, value in changes.items() if name != "model_folders"})
