"""The handle of a running engine."""

from __future__ import annotations

from typing import Protocol

from engine.protocol.commands import Command


class Engine(Protocol):
    """A running engine. Both methods may be called from any thread and never block on the engine's work."""

    def send(self, command: Command) -> None:
        """Queue a command. Stop, UpdateSettings, DeleteModel and Shutdown overtake an answer that is being made."""

    def close(self, timeout: float = 10.0) -> None:
        """Shutdown and wait for the worker to end."""
