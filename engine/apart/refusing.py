"""An engine where there is no room for one: it says so, whatever it is asked."""

from __future__ import annotations

from collections.abc import Callable

from engine import api
from engine.errors import UnderhillError


class Refusing:
    """Implements api.Engine. Every command fails with `error`."""

    def __init__(self, on_event: Callable[[api.Event], None], error: UnderhillError) -> None:
        self._on_event, self._error = on_event, error

    def send(self, command: api.Command) -> None:
        """As api.Engine."""
        error = self._error
        self._on_event(api.Failed(command.id, error.kind, error.sentence, error.action))

    def close(self, timeout: float = 10.0) -> None:
        """As api.Engine."""
