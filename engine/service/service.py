"""The engine behind a queue: commands in on any thread, events out, the model on one worker thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import api, settings
from engine.errors import Kind, UnderhillError
from engine.service.lane import CancelledWork, EngineClosed, Lane

if TYPE_CHECKING:
    from engine.session import Session

PULSE = 0.2  # seconds between telemetry snapshots


class Service:
    """Implements api.Engine.

    Three threads: 'model' owns the loaded model; 'library' imports and deletes, so that a long import leaves the chat
    alone; 'control' answers what must not wait (Stop, ListModels) and sends telemetry. torch is first imported on
    'model' or 'library'.
    """

    def __init__(self, on_event: Callable[[api.Event], None]) -> None:
        self._on_event = on_event
        self._emitting = threading.Lock()
        self._session: Session | None = None
        self._settings: dict[str, Any] = {}
        self._model = Lane("model", self._on_model, self._emit)
        self._library = Lane("library", self._on_library, self._emit)
        self._control = Lane("control", self._on_control, self._emit, idle=self._pulse, pulse=PULSE)

    # ---- api.Engine -------------------------------------------------------------------------------------------

    def send(self, command: api.Command) -> None:
        """Queue a command on the thread that serves it."""
        match command:
            case api.Stop() | api.ListModels() | api.Shutdown():
                self._control.put(command)
            case api.ImportModel() | api.DeleteModel():
                self._library.put(command)
            case api.LoadModel() | api.UnloadModel() | api.Generate() | api.UpdateSettings():
                self._model.put(command)
            case _:
                raise TypeError(f"not a command of the engine: {command!r}")

    def close(self, timeout: float = 10.0) -> None:
        """Shutdown and wait for the worker to end."""
        with contextlib.suppress(EngineClosed):
            self.send(api.Shutdown("shutdown"))
        self._control.join(timeout)

    def _emit(self, event: api.Event) -> None:
        with self._emitting:
            self._on_event(event)

    # ---- control ----------------------------------------------------------------------------------------------

    def _on_control(self, command: api.Command, cancelled: Callable[[], bool]) -> Any:
        match command:
            case api.Stop():
                return self._model.cancel(command.target) or self._library.cancel(command.target)
            case api.ListModels():
                return self._list()
            case api.Shutdown():
                for lane in (self._library, self._model):
                    lane.close()
                    lane.join()
                self._release()
                self._control.close()  # this thread: it ends once the Done of this command is out
        return None

    def _list(self) -> tuple[api.ModelCard, ...]:
        from engine.catalogue import cards

        return cards(self._session.card if self._session else None)

    def _pulse(self) -> None:
        session = self._session
        if session is not None and (telemetry := session.telemetry()) is not None:
            self._emit(telemetry)

    # ---- the model --------------------------------------------------------------------------------------------

    def _on_model(self, command: api.Command, cancelled: Callable[[], bool]) -> Any:
        match command:
            case api.LoadModel():
                return self._load(command, cancelled)
            case api.UnloadModel():
                return self._release()
            case api.UpdateSettings():
                return self._apply(command)
            case api.Generate():
                return self._generate(command, cancelled)
        return None
