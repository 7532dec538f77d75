"""Whether there is memory enough to get as far as a plan, which then says in figures what a model needs."""

from __future__ import annotations

import psutil

from engine.errors import Kind, UnderhillError
from engine.hardware import control_groups
from engine.translatable import msg

# Bytes of the engine and of the process for a model's files, once their libraries are loaded and the built-in model is
# looked at, before a plan is made. In a control group of 350 MB the system killed it before; one of 380 MB was enough.
LEAST = 370_000_000


def check() -> None:
    """To be asked before torch is imported; so is nothing here. Raises UnderhillError(OUT_OF_MEMORY) where the system
    would kill this process otherwise, perhaps in the middle of something."""
    held = int(psutil.Process().memory_info().rss)
    groups = [min(group.limit, group.free + held) for group in control_groups.groups()]
    allowed = min([int(psutil.virtual_memory().total), *groups])
    if allowed < LEAST:
        needed, given = round(LEAST / 1e6), round(allowed / 1e6)
        raise UnderhillError(
            Kind.OUT_OF_MEMORY,
            msg(
                "Underhill needs {needed} MB of memory before any model, and may use {given} MB.",
                needed=needed,
                given=given,
            ),
            msg("Raise the memory limit that Underhill runs under, or close other programs under the same limit."),
        )
