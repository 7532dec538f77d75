"""Recommends models of the catalogue to a newcomer, and says why. Pure arithmetic on fit estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.i18n.translate import tr
from engine import protocol

READING_SPEED = 5.0  # tokens a second, about as fast as people read
QUICKER_FACTOR = 1.5  # times; less of a difference is none to choose by
LINK_BYTES_PER_SECOND = 50e6 / 8  # bytes a second of the connection that times are told for


@dataclass(frozen=True)
class Recommendation:
    """A model to offer. why: in a sentence, against the others."""

    model: protocol.HubModel
    why: str


def recommend(models: Sequence[protocol.HubModel]) -> list[Recommendation]:
    """The one to recommend first, then at most one quicker and one larger; empty where none of them fits.

    Models that ask for an account, or whose download is not known, are left to the library page.
    """
    fits = [m for m in models if speed(m) and m.download_bytes and not m.gated]
    fits.sort(key=lambda m: -m.parameters)  # of equals, as the catalogue has them
    if not fits:
        return []
    best = next((m for m in fits if speed(m) >= READING_SPEED), None)
    if best is None:
        best = max(fits, key=speed)
        found = [Recommendation(best, tr("Recommended: the quickest of those that run well here."))]
    else:
        found = [Recommendation(best, tr("Recommended: the largest that answers here as fast as one reads."))]
    quicker = [m for m in fits if m.parameters < best.parameters and speed(m) >= QUICKER_FACTOR * speed(best)]
    if quicker:
        found.append(Recommendation(quicker[0], tr("Smaller and quicker.")))
    larger = [m for m in fits if m.parameters > best.parameters]
    if larger:
        found.append(Recommendation(larger[-1], tr("Larger, and slower.")))
    return found


def fit_summary(models: Sequence[protocol.HubModel]) -> str:
    """How many of the catalogue run well here, in a sentence."""
    fit = sum(m.fit is not None and m.fit.pill == "fits" for m in models)
    known = sum(m.fit is not None for m in models)
    if not known:
        return ""
    if not fit:
        return tr(
            "None of the {known} models that Underhill recommends runs well here; the built-in one does.", known=known
        )
    return tr("{fit} of the {known} models that Underhill recommends run well here.", fit=fit, known=known)


def time_to_fetch(nbytes: int) -> str:
    """On a usual connection: 'about 40 min at 50 Mbit/s'."""
    minutes = nbytes / LINK_BYTES_PER_SECOND / 60
    if minutes < 90:
        return tr("about {minutes} min at 50 Mbit/s", minutes=max(1, round(minutes)))
    return tr("about {hours:.1f} h at 50 Mbit/s", hours=minutes / 60)


def speed(model: protocol.HubModel) -> float:
    """Tokens a second, at worst; 0 where it does not run well."""
    fit = model.fit
    return fit.speed[0] if fit is not None and fit.pill == "fits" and fit.speed is not None else 0.0
