"""Which Underhill this is."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """Its number."""
    try:
        return metadata.version("underhill")
    except metadata.PackageNotFoundError:  # run straight from a checkout
        return "(not installed)"
