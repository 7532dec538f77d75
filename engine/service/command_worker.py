"""A worker thread that takes commands one by one and gives each its one terminal event."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from engine import import_lock
from engine.errors import Kind, UnderhillError, as_error
from engine.protocol import Cancelled, Command, Done, Event, Failed, stopped
from engine.sandbox import stoppable
from engine.service.command_queue import CommandQueue
from engine.translatable import msg

_log = logging.getLogger(__name__)

PANIC = "PanicException"  # of libraries in Rust: no Exception, and each has a class of its own


class CancelledWork(UnderhillError):
    """The user stopped it; `result` is what there is of it."""

    def __init__(self, result: Any = None) -> None:
        super().__init__(Kind.CANCELLED, msg("Stopped."))
        self.result = result


class EngineClosed(RuntimeError):
    """A command came after Shutdown."""


class Run:
    """A command that is being done."""

    def __init__(self, command: Command) -> None:
        self.command = command
        # An event, so that what runs can ask it without the lock, thousands of times. Each command has its own, so that
        # a Stop that comes late for one never stops the next.
        self.cancel = threading.Event()
        self.begun = time.monotonic()


class CommandWorker:
    """One thread, one queue. `work(command, cancelled)` returns the result of Done, or raises.

    needs: modules that the work imports, loaded before the first command that is none of `light`; other workers wait
    meanwhile (see engine.import_lock). idle: called between commands and every `pulse` seconds while there are none.
    queue: the order in which commands are done; None: in which they come.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[Command, Callable[[], bool]], Any],
        emit: Callable[[Event], None],
        *,
        needs: tuple[str, ...] = (),
        light: tuple[type[Command], ...] = (),
        idle: Callable[[], None] | None = None,
        pulse: float | None = None,
        queue: CommandQueue | None = None,
    ) -> None:
        self._work = work
        self._emit = emit
        self._needs, self._light = needs, light
        self._idle = idle
        self.pulse = pulse
        self._queue = CommandQueue() if queue is None else queue
        # Guards the queue, `_running` and `_closed`; not held while a command runs.
        self._ready = threading.Condition()
        self._running: list[Run] = []  # those that began first let the others in
        self._closed = False
        self._died = ""  # of what, in full; empty while it lives
        self._thread = threading.Thread(target=self._run, name=f"underhill-{name}", daemon=True)
        self._thread.start()

    def put(self, command: Command) -> None:
        """Queue a command."""
        with self._ready:
            if self._closed:
                raise EngineClosed("the engine has been shut down")
            if not self._died:
                self._queue.put(command)
                self._ready.notify()
                return
        # Without the lock: whoever hears of it may send the next command from there.
        self._emit(self._stopped(command))

    def cancel(self, target: str) -> bool:
        """Cancel a command, waiting or running. False if it is not (or no longer) here."""
        with self._ready:
            for run in self._running:
                if run.command.id == target:
                    run.cancel.set()
                    return True
            waiting = next((c for c in self._queue if c.id == target), None)
            if waiting is None:
                return False
            self._queue.remove(waiting)
        self._emit(Cancelled(target))
        return True

    def holds(self, target: str) -> bool:
        """Whether a command waits or runs here."""
        with self._ready:
            return any(c.id == target for c in (*(run.command for run in self._running), *self._queue))

    @property
    def busy(self) -> bool:
        """Whether a command waits or runs here."""
        with self._ready:
            return bool(self._running) or len(self._queue) > 0

    def urgent(self) -> Command | None:
        """The waiting command that may be done between two steps of the running one."""
        with self._ready:
            return self._queue.urgent()

    def waiting(self) -> bool:
        """Whether a command waits to be done, or the lane is to end."""
        return len(self._queue) > 0 or self._closed

    def run_urgent(self, *kinds: type[Command], unless: Callable[[Command], bool] = lambda command: False) -> None:
        """Called by the running work, on this thread: do the urgent commands of these kinds, up to one of another or
        one of which `unless` is true.
        """
        while True:
            with self._ready:
                coming = self._queue.urgent()
                if coming is None or not isinstance(coming, kinds) or unless(coming):
                    return
                self._queue.remove(coming)
                self._running.append(run := Run(coming))
            self._end(run, self._finish(run))

    def run_of(self, command: Command) -> Run:
        """That of a command that is being done. Raises StopIteration where it is not."""
        with self._ready:
            return next(run for run in self._running if run.command is command)

    def take_next(self, accepts: Callable[[Command], bool]) -> Run | None:
        """Called by the running work, on this thread: take the command at the head of the queue, if it is accepted, to
        do it beside the work's own; `complete` gives it its terminal event. None if there is none.
        """
        with self._ready:
            head = self._queue.head()
        if head is None or not accepts(head):
            return None
        with self._ready:
            if self._queue.head() is not head:  # it was cancelled, or overtaken
                return None
            self._queue.remove(head)
            self._running.append(run := Run(head))
            return run

    def begin(self, run: Run, work: Callable[[], None]) -> None:
        """Called by the running work, on this thread: begin what was taken by `take_next`. What is raised ends the
        command.
        """
        event = self._event(run, work)
        if not isinstance(event, Done):
            self._end(run, event)

    def complete(self, run: Run, result: Callable[[], Any]) -> None:
        """Called by the running work, on this thread: a command has come to its end, its own or one that was taken by
        `take_next`. result: gives what Done carries, or raises.
        """
        self._end(run, self._event(run, result))

    def _end(self, run: Run, event: Event) -> None:
        with self._ready:  # from here on Stop finds it no more
            if run not in self._running:  # it came to its end before the work did
                return
            self._running.remove(run)
        self._emit(event)

    def close(self) -> None:
        """Cancel everything and take nothing more; `join` waits for the end."""
        with self._ready:
            self._closed = True
            waiting = self._drained()
            for run in self._running:
                run.cancel.set()
            self._ready.notify()
        for command in waiting:
            self._emit(Cancelled(command.id))

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end after `close`."""
        self._thread.join(timeout)

    @property
    def died(self) -> bool:
        """Whether the thread has ended by a defect; every command fails from then on."""
        return bool(self._died)

    def _run(self) -> None:
        try:
            while (run := self._next()) is not None:
                self._end(run, self._finish(run))
        except BaseException as e:  # nobody must wait for ever for what this thread will never do
            _log.critical("This thread of the engine has ended by a defect", exc_info=e)
            traceback.print_exception(e)
            with self._ready:
                self._died = _cause(e)
                left = [*(run.command for run in self._running), *self._drained()]
                self._running.clear()
            for command in left:
                self._emit(self._stopped(command))

    def _drained(self) -> list[Command]:
        """All that wait, which then wait no longer; with the lock."""
        waiting = list(self._queue)
        for command in waiting:
            self._queue.remove(command)
        return waiting

    def _stopped(self, command: Command) -> Failed:
        return stopped(command.id, self._died)

    def _next(self) -> Run | None:
        while True:
            with self._ready:
                if not len(self._queue) and not self._closed:
                    self._ready.wait(self.pulse)
                if self._closed:
                    return None
                if len(self._queue):
                    self._running.append(run := Run(self._queue.take()))
                    return run
            if self._idle is not None:
                self._idle()

    def _finish(self, run: Run) -> Event:
        def result() -> Any:
            if self._needs and not isinstance(run.command, self._light):
                import_lock.together(self._needs)
                self._needs = ()
            return self._work(run.command, run.cancel.is_set)

        return self._event(run, result)

    def _event(self, run: Run, result: Callable[[], Any]) -> Event:
        """What ends a command whose result, or error, this gives."""
        command, begun, kind = run.command, run.begun, type(run.command).__name__
        try:
            with stoppable(run.cancel.is_set):  # code of others, in a process of its own
                done = Done(command.id, result())
            _log.debug("%s %s is done after %.2f s", kind, command.id, time.monotonic() - begun)
            return done
        except CancelledWork as e:
            _log.debug("%s %s was stopped after %.2f s", kind, command.id, time.monotonic() - begun)
            return Cancelled(command.id, e.result)
        except BaseException as e:  # a defect of ours, too: say so, keep the engine alive
            if not isinstance(e, Exception) and type(e).__name__ != PANIC:
                raise
            error = as_error(e)
            if error.kind is Kind.CANCELLED:
                return Cancelled(command.id)
            defect = error.kind is Kind.INTERNAL
            _log.log(
                logging.ERROR if defect else logging.WARNING,
                "%s %s failed after %.2f s: %s", kind, command.id, time.monotonic() - begun, error.kind, exc_info=e,
            )  # fmt: skip
            return Failed(command.id, error.kind, error.sentence, error.action, _cause(e))


def _cause(e: BaseException) -> str:
    return "".join(traceback.format_exception(e))
