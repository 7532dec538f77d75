"""Whether the network is used: what the engine's settings and the environment say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.backend import Models
from engine import protocol

_VARIABLE = "HF_HUB_OFFLINE"
_YES = ("1", "ON", "YES", "TRUE")  # as huggingface_hub reads it


class Network(QObject):
    """changed: `offline` is another now. by_environment: the environment says so, and no setting changes that."""

    changed = Signal()

    def __init__(self, known: Models) -> None:
        super().__init__(known)
        self._models = known
        self.by_environment = os.environ.get(_VARIABLE, "").upper() in _YES
        self.offline = self.by_environment

    def refresh(self) -> None:
        """Ask the engine how it is set."""
        self._models.link.request(self.take, self._models.failed.emit, protocol.ReadSettings)

    def take(self, values: Mapping[str, Any]) -> None:
        """values: what is kept of protocol.settings.SHARED now."""
        offline = self.by_environment or bool(values["offline"])
        if offline != self.offline:
            self.offline = offline
            self.changed.emit()
