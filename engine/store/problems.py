"""What can be wrong with a store, as errors a person can act on."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.translatable import msg, system_reason


def broken(what: str) -> UnderhillError:
    """BROKEN_FILE; `what` is a clause without a full stop that names the damaged part."""
    return UnderhillError(Kind.BROKEN_FILE, msg("The model is damaged: {what}.", what=what), msg("Import it again."))


def unreadable(path: Path, cause: OSError) -> UnderhillError:
    """MISSING_FILE or DISK_ERROR for a file of the store that could not be opened or read."""
    if isinstance(cause, FileNotFoundError):
        return UnderhillError(
            Kind.MISSING_FILE, msg("{name} is missing from the model.", name=path.name), msg("Import it again.")
        )
    return UnderhillError(
        Kind.DISK_ERROR,
        msg("Can't read {path} ({strerror}).", path=path, strerror=system_reason(cause)),
        msg("Check the disk and its permissions."),
    )


def shortened(layer: int, expert: int) -> UnderhillError:
    """BROKEN_FILE for one expert of which bytes are missing."""
    return broken(msg("expert {expert} of layer {layer} is cut short", expert=expert, layer=layer))


def altered(layer: int, expert: int, part: str) -> UnderhillError:
    """BROKEN_FILE for a part of one expert whose bytes are not those that were written."""
    return broken(
        msg(
            "expert {expert} of layer {layer} (part {part}) does not match its checksum",
            expert=expert,
            layer=layer,
            part=part,
        )
    )


def refused(layer: int, expert: int, cause: OSError) -> UnderhillError:
    """DISK_ERROR for one expert that the device would not read."""
    what = msg(
        "The disk could not read expert {expert} of layer {layer} ({strerror}).",
        expert=expert,
        layer=layer,
        strerror=system_reason(cause),
    )
    return UnderhillError(Kind.DISK_ERROR, what, msg("Check the disk."))
