"""Sends commands to the engine and hands every event, on the window's thread, to whoever sent the command."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter

from PySide6.QtCore import QObject, Signal

from app.i18n.engine_texts import localized
from app.platform.main_thread_queue import MainThreadQueue
from engine import client, protocol

_log = logging.getLogger(__name__)

Listener = Callable[[protocol.Event], object]


class EngineLink(QObject):
    """On the window's thread: telemetry: protocol.Telemetry, at most five a second. plan_changed: protocol.PlanChanged.
    model_changed: protocol.ModelCard. transfer_changed: protocol.Transfer. died: protocol.Failed, of an
    engine that does nothing more.
    started: there is another engine now, which knows of no model.
    """

    telemetry = Signal(object)
    plan_changed = Signal(object)
    model_changed = Signal(object)
    transfer_changed = Signal(object)
    died = Signal(object)
    started = Signal()

    def __init__(
        self,
        main_queue: MainThreadQueue,
        start: Callable[[Callable[[protocol.Event], None]], protocol.Engine] = client.start_subprocess,
    ) -> None:
        super().__init__(main_queue)
        self._main_queue = main_queue
        self._listeners: dict[str, Listener] = {}
        self._numbers = itertools.count(1)
        self._closed = False
        self._start = start
        self._look: protocol.Look | None = None
        self._waiting: list[protocol.Command] = []  # while there is no engine, or it is held
        self._held = False
        self._ending: threading.Thread | None = None
        self._texts: deque[protocol.TextDelta] = deque()  # hundreds a second: handed over together
        self._engine = start(self._arrived)

    def new_id(self) -> str:
        """An id for a command."""
        return f"w{next(self._numbers)}"

    def send(self, command: protocol.Command, listener: Listener | None = None) -> None:
        """Queue a command. listener gets each of its events, the last being Done, Cancelled or Failed.

        Nothing is asked any more while the window is taken apart, though events of before are still told.
        """
        if self._closed:
            return
        if listener is not None:
            self._listeners[command.id] = listener
        if self._held or self._ending is not None:
            self._waiting.append(command)
        else:
            self._engine.send(command)

    def watch(self, look: protocol.Look) -> None:
        """Have telemetry say this from now on."""
        self._look = look
        self.send(protocol.Watch(self.new_id(), look))

    def stop(self, target: str) -> None:
        """Cancel the command `target`."""
        self.send(protocol.Stop(self.new_id(), target))

    def hold(self) -> None:
        """Send nothing until `release`: what is asked for waits."""
        self._held = True

    def release(self) -> None:
        """Send what waits."""
        self._held = False
        if self._ending is None and not self._closed:
            waiting, self._waiting = self._waiting, []
            for command in waiting:
                self._engine.send(command)

    def restart(self) -> None:
        """Take another engine, once the one there is has let go of its memory; `started` follows."""
        if self._ending is None and not self._closed:
            self._ending = threading.Thread(target=self._end, name="engine-end", daemon=True)
            self._ending.start()

    def close(self) -> None:
        """End the engine and wait for it."""
        self._closed = True
        if self._ending is not None:
            self._ending.join()
        else:
            self._engine.close()

    def _end(self) -> None:
        """On a thread of its own: what hangs may take a while."""
        self._engine.close()
        self._main_queue.post(self._begin_again)

    def _begin_again(self) -> None:
        if self._closed:
            return
        _log.info("The engine is started again")
        self._engine = self._start(self._arrived)
        self._ending = None
        if self._look is not None:
            self._engine.send(protocol.Watch(self.new_id(), self._look))
        self.release()
        self.started.emit()

    def _arrived(self, event: protocol.Event) -> None:
        """Runs on a thread of the engine: only hand over."""
        if not isinstance(event, protocol.TextDelta):
            self._main_queue.post(self._deliver, event)
            return
        self._texts.append(event)
        if len(self._texts) == 1:  # else a turn that takes them is on its way
            self._main_queue.post(self._deliver_texts)

    def _deliver_texts(self) -> None:
        """All text that has come, in one piece for each answer; nothing in it is to be translated."""
        came = []
        with suppress(IndexError):  # the engine may add one more at any time: that one is taken, too, or posts a turn
            while True:
                came.append(self._texts.popleft())
        for answer, deltas in itertools.groupby(came, key=attrgetter("id")):
            if (follower := self._listeners.get(answer)) is not None:
                parts = list(deltas)
                tokens = tuple(itertools.chain.from_iterable(part.token_ids for part in parts))
                follower(protocol.TextDelta(answer, "".join(part.text for part in parts), tokens))

    def _deliver(self, came: protocol.Event) -> None:
        event = localized(came)
        if isinstance(event, protocol.Telemetry):
            self.telemetry.emit(event)
            return
        if isinstance(event, protocol.PlanChanged):
            self.plan_changed.emit(event)
            return
        if isinstance(event, protocol.ModelChanged):
            self.model_changed.emit(event.card)
            return
        if isinstance(event, protocol.TransferChanged):
            self.transfer_changed.emit(event.transfer)
            return
        terminal = isinstance(event, protocol.TERMINAL)
        listener = self._listeners.pop(event.id, None) if terminal else self._listeners.get(event.id)
        if listener is not None:
            listener(event)
        if isinstance(event, protocol.Failed) and event.kind in protocol.GONE:
            self.died.emit(event)
