"""Models, transfers and folders in the words of the library page."""

from __future__ import annotations

from app.widgets.format import size, time_left
from engine import api

PILLS = {"fits": "Fits", "slow": "Slow", "too_big": "Too big"}
STATES = {
    api.QUEUED: "Waiting for its turn", api.RUNNING: "On its way", api.PAUSED: "Paused", api.FAILED: "Stopped",
    api.FINISHED: "Here",
}  # fmt: skip


def count(number: int) -> str:
    """Of parameters: '30.5B', '21M'."""
    if number >= 1_000_000_000:
        return f"{number / 1e9:.1f}B".replace(".0B", "B")
    return f"{number / 1e6:.0f}M"


def parameters(total: int, active: int) -> str:
    """'30.5B parameters, 3.3B of them active'; empty where not known."""
    if not total:
        return ""
    return f"{count(total)} parameters" + (f", {count(active)} of them active" if active else "")


def card_facts(card: api.ModelCard) -> str:
    """A model of the library in a line."""
    tiers = f"experts at {max(card.tiers)} bits" if card.tiers else ""
    return joined(parameters(card.parameters, card.active_parameters), f"{size(card.disk_bytes)} on the disk", tiers)


def hub_facts(model: api.HubModel) -> str:
    """A model of the hub in a line."""
    download = f"{size(model.download_bytes)} to fetch" if model.download_bytes else ""
    here = f"takes {size(model.fit.disk)}" if model.fit is not None else ""
    licence = f"licence {model.licence}" if model.licence else ""
    gated = "asks for an account" if model.gated else ""
    return joined(parameters(model.parameters, model.active_parameters), download, here, licence, gated)


def found_facts(model: api.FoundModel) -> str:
    """A model of another app in a line."""
    kind = joined(model.format, model.quantization, between=" ")
    return joined(f"kept by {model.app}", size(model.nbytes), kind)


def progress(done: int, total: int, unit: str, rate: float, left: float | None) -> str:
    """'1.2 GB of 17 GB  ·  42 MB/s  ·  6 min left'."""
    if unit == "bytes":
        amount = f"{size(done)} of {size(total)}" if total else size(done) if done else ""
        pace = f"{size(rate)}/s" if rate else ""
    else:
        amount, pace = (f"{done} of {total}" if total else ""), ""
    return joined(amount, pace, time_left(left))


def joined(*parts: str, between: str = "  ·  ") -> str:
    """Those that are not empty."""
    return between.join(part for part in parts if part)
