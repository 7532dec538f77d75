"""Models on their way from a hub into the library: some at once, the others in a queue, all of them kept."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.errors import Kind, UnderhillError
from engine.hub import active_downloads
from engine.library.entries import CANCELLED, FAILED, FINISHED, PAUSED, QUEUED, RUNNING, Transfer
from engine.service.pull_job import PullJob
from engine.translatable import NO_TEXT, msg

if TYPE_CHECKING:
    from engine.hub.client import Hub

_log = logging.getLogger(__name__)

AT_ONCE = 2
KEEP = 5.0  # seconds after which it is kept anew how far those are that run
TRANSFERS = (
    protocol.PullModel,
    protocol.ListTransfers,
    protocol.PauseTransfer,
    protocol.ResumeTransfer,
    protocol.CancelTransfer,
)


class Transfers:
    """Every method may be called from any thread, and none of them waits for a network.

    emit: where events go. connect: the hub at an address, '' for that of the settings.
    """

    def __init__(
        self, emit: Callable[[protocol.Event], None], connect: Callable[[str], AbstractContextManager[Hub]]
    ) -> None:
        self._emit, self._connect = emit, connect
        self._lock = threading.RLock()
        self._all: dict[str, Transfer] | None = None  # by id, in the order in which they came
        self._jobs: dict[str, PullJob] = {}  # of those that run, or rest half-way
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._kept = 0.0

    def answer(self, command: protocol.Command) -> Any:
        """One of TRANSFERS."""
        with self._lock:
            match command:
                case protocol.PullModel():
                    return self._begin(command)
                case protocol.PauseTransfer():
                    return self._pause(self._named(command.transfer))
                case protocol.ResumeTransfer():
                    return self._resume(self._named(command.transfer))
                case protocol.CancelTransfer():
                    return self._cancel(self._named(command.transfer), command.keep)
            return tuple(self._known().values())

    def go_offline(self) -> None:
        """Halt what would need the network; what is being imported already goes on."""
        with self._lock:
            for job in self._jobs.values():
                job.go_offline()

    def close(self) -> None:
        """Halt everything, so that it can go on after the next start."""
        with self._lock:
            self._closed = True
            for job in self._jobs.values():
                job.stop()
            threads = list(self._threads)
        for thread in threads:
            thread.join()

    # ---- what is asked, under the lock

    def _begin(self, command: protocol.PullModel) -> Transfer:
        from engine.hub.client import checked, connect
        from engine.library import library, settings_file
        from engine.library.home import checked_name

        repo = checked(command.repo)
        name = checked_name(command.name or repo.rpartition("/")[2])
        hub = connect(settings_file.hub())
        if hub.offline:
            from engine.hub.errors import offline

            raise offline()
        if command.top not in (0, 4, 8, 16):
            raise UnderhillError(
                Kind.BAD_REQUEST, msg("{top} bits cannot be stored.", top=command.top), msg("Choose 4, 8 or 16.")
            )
        for other in self._known().values():
            if other.state != FINISHED and (other.repo == repo or other.name == name):
                raise UnderhillError(
                    Kind.BUSY,
                    msg("{repo} is among the downloads already.", repo=other.repo),
                    msg("Go on with that one, or cancel it."),
                )
        if library.location(name).exists():
            raise library.taken(name)
        new = Transfer(
            uuid.uuid4().hex[:12], repo, command.revision, name, command.top, hub.endpoint, command.keep_source,
            command.gguf,
        )  # fmt: skip
        self._change(new)
        self._schedule()
        return self._known()[new.id]

    def _pause(self, transfer: Transfer) -> Transfer:
        if transfer.state in (QUEUED, RUNNING):
            if job := self._jobs.get(transfer.id):
                job.pause()
            transfer = self._change(replace(transfer, state=PAUSED, rate=0.0, left=None))
            self._schedule()
        return transfer

    def _resume(self, transfer: Transfer) -> Transfer:
        if transfer.state in (PAUSED, FAILED):
            self._change(replace(transfer, state=QUEUED, kind="", problem=NO_TEXT, action=NO_TEXT, text=NO_TEXT))
            self._schedule()
        return self._known()[transfer.id]

    def _cancel(self, transfer: Transfer, keep: bool) -> Transfer:
        known = self._known()
        del known[transfer.id]
        gone = self._change(replace(transfer, state=CANCELLED, rate=0.0, left=None), listed=False)
        job = self._jobs.pop(transfer.id, None)
        if job is not None:
            job.cancel(keep)
        elif not keep and transfer.state != FINISHED:
            rest = PullJob(transfer, self._connect, self._told, self._ended)
            self._start(rest.remove)
        self._schedule()
        return gone

    def _named(self, transfer: str) -> Transfer:
        found = self._known().get(transfer)
        if found is None:
            raise UnderhillError(Kind.BAD_REQUEST, msg("This download is not in the list any more."))
        return found

    def _known(self) -> dict[str, Transfer]:
        if self._all is None:
            self._all = {transfer.id: transfer for transfer in active_downloads.read()}
        return self._all

    def _change(self, now: Transfer, *, listed: bool = True) -> Transfer:
        """Another state: listed, kept and told."""
        _log.info("Download of %s: %s, %d of %d bytes %s", now.repo, now.state, now.done, now.total, now.kind)
        if listed:
            self._known()[now.id] = now
        self._keep()
        self._emit(protocol.TransferChanged("", now))
        return now

    def _keep(self) -> None:
        self._kept = time.monotonic()
        active_downloads.keep(one for one in self._known().values() if one.state != FINISHED)

    # ---- who may run

    def _schedule(self) -> None:
        """Start as many as may run at once, in the order in which they came."""
        for transfer in list(self._known().values()):
            running = sum(one.state == RUNNING for one in self._known().values())
            if self._closed or running >= AT_ONCE:
                return
            if transfer.state == QUEUED:
                self._change(replace(transfer, state=RUNNING))
                if resting := self._jobs.get(transfer.id):
                    resting.resume()
                    continue
                job = PullJob(transfer, self._connect, self._told, self._ended)
                self._jobs[transfer.id] = job
                self._start(job.run)

    def _start(self, work: Callable[[], None]) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=work, name="underhill-transfer", daemon=True)
        self._threads.append(thread)
        thread.start()

    # ---- what journeys tell, on their own threads

    def _told(self, job: PullJob, changes: dict[str, Any]) -> None:
        """It is further."""
        with self._lock:
            now = self._known().get(job.id)
            if now is None or now.state != RUNNING or self._jobs.get(job.id) is not job:
                return
            later = self._known()[now.id] = replace(now, **changes)
            if later.revision != now.revision or time.monotonic() - self._kept >= KEEP:
                self._keep()
            self._emit(protocol.TransferChanged("", later))

    def _ended(self, job: PullJob, changes: dict[str, Any]) -> None:
        """It is over, or stopped."""
        with self._lock:
            if self._jobs.get(job.id) is not job:  # cancelled
                return
            del self._jobs[job.id]
            now = replace(self._known()[job.id], rate=0.0, left=None, **changes)
            if self._closed and now.state != FINISHED:
                now = replace(now, state=PAUSED, kind="", problem=NO_TEXT, action=NO_TEXT)
            self._change(now)
            self._schedule()
