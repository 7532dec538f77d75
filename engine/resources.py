"""Where the shipped files lie: icons, model catalogue, calibration text, the built-in model."""

from __future__ import annotations

from pathlib import Path

_ENGINE = Path(__file__).resolve().parent
_WHEEL = _ENGINE / "shipped"  # pyproject.toml puts resources/ there in a wheel
_CHECKOUT = _ENGINE.parent / "resources"


def path(*parts: str) -> Path:
    """The file or folder resources/<parts>, from a checkout and from an installed wheel alike. It need not exist."""
    return (_WHEEL if _WHEEL.is_dir() else _CHECKOUT).joinpath(*parts)
