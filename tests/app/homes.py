"""Folders as the window finds them."""

from __future__ import annotations

from pathlib import Path

from app.platform.logs import AppPaths
from app.settings import preferences
from app.settings.preferences import Preferences


def lived_in(folder: Path) -> AppPaths:
    """A folder of somebody who has seen the tour; what is there already stays."""
    paths = AppPaths(folder)
    if not paths.preferences.exists():
        preferences.save(Preferences(toured=True), paths.preferences)
    return paths
