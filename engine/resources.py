"""Where the shipped files lie: icons, model catalogue, calibration text, the built-in model."""

from __future__ import annotations

from pathlib import Path

# A wheel holds resources/ beside engine/, just as a checkout does.
_ROOT = Path(__file__).resolve().parent.parent / "resources"


def path(*parts: str) -> Path:
    """The file or folder resources/<parts>, from a checkout and from an installed wheel alike. It need not exist."""
    return _ROOT.joinpath(*parts)
