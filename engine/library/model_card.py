"""A model as lists show it. Imports nothing heavy: the window uses it too."""

from __future__ import annotations

from dataclasses import dataclass

from engine.library.dials import Calibration
from engine.planning.fit import Fit
from engine.translatable import NO_TEXT, Translatable

# ModelCard.state
READY = "ready"
OLD_FORMAT = "old_format"  # made by another version of Underhill
UNUSABLE = "unusable"  # damaged, incomplete or not to be read
UNFINISHED = "unfinished"  # an import or a copy that was cut off, or is under way
MISSING = "missing_disk"  # in a folder that is not there now
MOVING = "moving"  # being copied to another folder just now; it can be used meanwhile
CLASH = "name_clash"  # another model of the same name comes before it


@dataclass(frozen=True)
class ModelCard:
    """A model as lists show it. bytes on disk. loaded: it is the current one. note: what the user should know.

    state: one of the above; anything but READY and MOVING cannot be opened, and `problem` and `action` say why and what
    to do. Of such a model only name, path, disk_bytes and what else happens to be known is filled in.
    tier_bytes: (tier, bytes of all experts when read at it). source: what it was made from, or is being made from.

    plan: sentences on how it runs here (only when loaded). thinking: the levels of thinking that its
    template can be asked for, from least to most, () where it has no such switch; plain_thinking: the one that is meant
    where only thinking is asked for.
    fit: how it would run here now; None where nobody asked, or where it cannot be opened.
    expert_bits: (bits, experts that have them), and lowered_kl: the KL divergence from before; where some were lowered.
    lowered_dense: how its other weights were held for that, '' as ever.
    calibration: what was measured of its precision dials; None until then. doing: what it is busy with while nobody
    asks, in a sentence.
    """

    name: str
    title: Translatable
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
    note: Translatable = NO_TEXT
    loaded: bool = False
    plan: tuple[Translatable, ...] = ()
    thinking: tuple[str, ...] = ()
    plain_thinking: str = ""
    calibration: Calibration | None = None
    doing: Translatable = NO_TEXT
    state: str = READY
    problem: Translatable = NO_TEXT
    action: Translatable = NO_TEXT
    source: str = ""
    tier_bytes: tuple[tuple[int, int], ...] = ()
    fit: Fit | None = None
    expert_bits: tuple[tuple[int, int], ...] = ()
    lowered_kl: float | None = None
    lowered_dense: str = ""

    @property
    def usable(self) -> bool:
        """Whether it can be opened."""
        return self.state in (READY, MOVING)
