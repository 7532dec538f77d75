"""Paths of the window's files: chats, preferences, logs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

NAME = "underhill"  # of the folders


@dataclass(frozen=True)
class AppPaths:
    """folder: the user's data folder of Underhill, models included; UNDERHILL_HOME names another."""

    folder: Path

    @property
    def chats(self) -> Path:
        """The chat database."""
        return self.folder / "chats.db"

    @property
    def preferences(self) -> Path:
        """Preferences of the window."""
        return self.folder / "window.json"

    @property
    def logs(self) -> Path:
        """The folder of all logs: the system's for this user, or beside the data where these are elsewhere."""
        usual = self.folder == Path(platformdirs.user_data_dir(NAME, appauthor=False))
        return Path(platformdirs.user_log_dir(NAME, appauthor=False)) if usual else self.folder / "logs"

    @property
    def crash_log(self) -> Path:
        """File that Python writes to if a fault ends the process."""
        return self.logs / "crash.log"

    @property
    def engine_log(self) -> Path:
        """Log of faults that ended the engine's process."""
        return self.logs / "crash-engine.log"


def default() -> AppPaths:
    """The folder of this user on this computer."""
    chosen = os.environ.get("UNDERHILL_HOME")
    return AppPaths(Path(chosen) if chosen else Path(platformdirs.user_data_dir(NAME, appauthor=False)))
