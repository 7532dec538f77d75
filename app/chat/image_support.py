"""Whether who answers in the open chat reads images."""

from __future__ import annotations

from app.backend import Models, is_endpoint, is_team
from app.i18n.translate import problem, tr
from engine import protocol


def reads_images(known: Models, key: str) -> bool | None:
    """Whether a model, team or endpoint takes images; None of a model that is not known (yet).

    Of an endpoint only its server knows, which says so where it does not. The steps of a team pass on texts.
    """
    if is_team(key):
        return False
    if is_endpoint(key):
        return True
    card = known.card_of(key or known.wanted)
    return card.reads_images if card is not None else None


def refusal(known: Models) -> protocol.UnderhillError | None:
    """Why the next message cannot come with an image; None where it can."""
    key = known.answering
    if reads_images(known, key) is not False:
        return None
    return problem(
        protocol.Kind.BAD_REQUEST, tr("{model} can't read images.", model=known.title(key)),
        tr("Select a model that can."),
    )  # fmt: skip
