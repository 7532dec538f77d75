"""A model as lists show it. Imports nothing heavy: the window uses it too."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hub.dials import Calibration


@dataclass(frozen=True)
class ModelCard:
    """A model as lists show it. bytes on disk. loaded: it is the current one. note: what the user should know.

    plan: sentences on how it runs here (only when loaded). thinking: its template can switch thinking on and off.
    calibration: what was measured of its precision dials; None until then. doing: what it is busy with while nobody
    asks, in a sentence.
    """

    name: str
    title: str
    family: str
    path: str
    parameters: int
    active_parameters: int
    disk_bytes: int
    expert_bytes: int
    layers: int
    moe_layers: int
    experts: int
    experts_per_token: int
    context_length: int
    tiers: tuple[int, ...]
    backend: str  # 'lean' or 'compatibility'
    note: str = ""
    loaded: bool = False
    plan: tuple[str, ...] = ()
    thinking: bool = False
    calibration: Calibration | None = None
    doing: str = ""
