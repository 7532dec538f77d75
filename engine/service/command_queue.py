"""The commands that wait for a worker, in the order in which it does them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.protocol import Command


class CommandQueue:
    """First come, first served. Not thread-safe: the worker's lock guards it."""

    def __init__(self) -> None:
        self._waiting: list[Command] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._waiting)

    def put(self, command: Command) -> None:
        """It has come."""
        self._waiting.append(command)

    def urgent(self) -> Command | None:
        """The one that may be done between two steps of another command; None where none may."""
        return self._waiting[0] if self._waiting else None

    def head(self) -> Command | None:
        """The one that may be done together with the running one; None where none may."""
        return self.urgent()

    def take(self) -> Command:
        """The one to do next, which waits no longer. Raises IndexError where there is none."""
        return self._waiting.pop(0)

    def remove(self, command: Command) -> None:
        """It waits no longer. Raises ValueError where it does not."""
        self._waiting.remove(command)
