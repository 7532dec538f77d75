"""Downloads of models into the library: some at once, each on a thread of its own, the others in a queue.

The list is kept in a file, so that a killed program continues it.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.errors import Kind, UnderhillError, as_error
from engine.hub.control import RateEstimator
from engine.library.entries import CANCELLED, FAILED, FINISHED, PAUSED, QUEUED, RUNNING, Transfer
from engine.service import transfers
from engine.translatable import NO_TEXT, Translatable, msg

if TYPE_CHECKING:
    from engine.hub.client import Hub
    from engine.hub.control import Control, DownloadProgress


import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from engine.filesystem import replace_file
from engine.library.home import home
from engine.regular_file import read_json
from engine.translatable import as_json, from_json

_log = logging.getLogger(__name__)

AT_ONCE = 2  # downloads: more share one line, and each ends later; one alone would wait behind a large one
KEEP = 5.0  # seconds after which the progress of running downloads is written again
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
        # Taken before a job's `_guard`, never after it: a job tells and ends without its own.
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
            # Waited for without the lock: each takes it once more, to say how it ended.
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
                Kind.BAD_REQUEST, msg("Can't store {top} bits.", top=command.top), msg("Choose 4, 8 or 16.")
            )
        for other in self._known().values():
            if other.state != FINISHED and (other.repo == repo or other.name == name):
                raise UnderhillError(
                    Kind.BUSY,
                    msg("{repo} is already in Downloads.", repo=other.repo),
                    msg("Resume or cancel that one."),
                )
        if library.location(name).exists():
            raise library.taken(name)
        new = Transfer(
            id=uuid.uuid4().hex[:12],
            repo=repo,
            revision=command.revision,
            name=name,
            top=command.top,
            endpoint=hub.endpoint,
            keep_source=command.keep_source,
            gguf=command.gguf,
        )
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
            raise UnderhillError(Kind.BAD_REQUEST, msg("This download is no longer in the list."))
        return found

    def _known(self) -> dict[str, Transfer]:
        if self._all is None:
            self._all = {transfer.id: transfer for transfer in transfers.read_transfers()}
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
        # Under the lock although it waits for the disk: of two writers the one with the older list could be the last.
        transfers.keep_transfers(one for one in self._known().values() if one.state != FINISHED)

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
            # A job tells on its own thread and may be late: paused, cancelled or begun anew by then, the list says so
            # already.
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


OFTEN = 0.2  # seconds between words on how far it is

Tell = Callable[["PullJob", dict[str, Any]], None]  # what changes in the Transfer


class PullJob:
    """connect: the hub at an address. tell: hears how far it is; ended: how it ended. Both on the job's thread."""

    def __init__(
        self, transfer: Transfer, connect: Callable[[str], AbstractContextManager[Hub]], tell: Tell, ended: Tell
    ) -> None:
        from engine.hub.control import Control

        self._transfer, self._connect, self._tell, self._end = transfer, connect, tell, ended
        self._control: Control = Control()
        self._pace = RateEstimator()
        self._fetching = True  # whether it needs the network still
        self._offline = False
        self._undo = False
        self._over = False
        # So that a cancel is either seen by the end of `run`, or finds `_over` set; nothing else is locked under it.
        self._guard = threading.Lock()
        self._told = 0.0

    @property
    def id(self) -> str:
        """The transfer's."""
        return self._transfer.id

    def pause(self) -> None:
        """Rest, with everything at hand to go on at once."""
        self._control.pause()

    def resume(self) -> None:
        """Go on."""
        self._control.resume()

    def stop(self) -> None:
        """End soon; what has arrived stays."""
        self._control.cancel()

    def go_offline(self) -> None:
        """End soon, unless all of it is here and only has to be imported."""
        if self._fetching:
            self._offline = True
            self._control.cancel()

    def cancel(self, keep: bool) -> None:
        """End soon; unless `keep`, with nothing left of it."""
        with self._guard:
            self._undo = not keep
            late = self._over
        self._control.cancel()
        # `run` has looked at `_undo` before it was set, and will not look again.
        if late and not keep:
            threading.Thread(target=self.remove, name="underhill-transfer", daemon=True).start()

    def run(self) -> None:
        """All the way."""
        try:
            ending: dict[str, Any] = self._travel()
        except Exception as e:  # a defect of ours, too: it is told, and the engine stays alive
            ending = self._why(as_error(e))
        with self._guard:
            self._over = True
            undo = self._undo
        if undo:
            self.remove()
        self._end(self, ending)

    def remove(self) -> None:
        """Take what has arrived and what was begun of it off the disk; what cannot be removed is found again later."""
        from engine.hub.download import discard, folder_of
        from engine.library import library
        from engine.library.home import home

        with suppress(UnderhillError):
            discard(folder_of(home(), self._transfer.repo))
        if not library.location(self._transfer.name).exists():
            with suppress(UnderhillError):
                library.delete(self._transfer.name, now=True)

    def _travel(self) -> dict[str, Any]:
        from engine.hub.pull import look, look_patiently, pull

        t = self._transfer
        with self._connect(t.endpoint) as hub:
            self._say(text=msg("Checking"), force=True)
            outline = look_patiently(
                lambda: look(hub, t.repo, t.revision, t.gguf, t.top),
                self._control,
                lambda wait: self._say(text=str(wait), force=True),
            )
            self._control.hold()
            self._say(revision=outline.commit, total=outline.download_bytes, force=True)
            path = pull(
                hub, outline, t.name, t.top,
                keep_source=t.keep_source, control=self._control,
                arriving=self._arriving, importing=self._importing,
            )  # fmt: skip
        return {"state": FINISHED, "text": "", "name": path.name}

    def _arriving(self, progress: DownloadProgress) -> None:
        self._fetching = progress.done < progress.total
        if not self._control.paused and self._fetching:
            text = progress.waiting or msg("Downloading")
            self._say(text=text, done=progress.done, total=progress.total, rate=progress.rate, left=progress.eta)

    def _importing(self, phrase: Translatable, done: int, total: int) -> None:
        self._control.hold()
        if not self._fetching:
            self._pace.note(done, total)
            self._say(text=phrase, done=done, total=total, rate=self._pace.rate, left=self._pace.left)

    def _say(self, *, force: bool = False, **changes: Any) -> None:
        now = time.monotonic()
        if force or now - self._told >= OFTEN:
            self._told = now
            self._tell(self, changes)

    def _why(self, error: UnderhillError) -> dict[str, Any]:
        from engine.hub.errors import offline

        if self._offline or error.kind is Kind.OFFLINE:
            error = offline()
        told = {"kind": str(error.kind), "problem": error.sentence, "action": error.action, "text": ""}
        if error.kind is Kind.CANCELLED:
            return {"state": PAUSED, "text": ""}
        return {**told, "state": PAUSED if error.kind is Kind.OFFLINE else FAILED}


_TYPES = {"str": str, "int": int, "bool": bool, "Translatable": Translatable}
_KEPT = {f.name: _TYPES[str(f.type)] for f in fields(Transfer) if f.type in _TYPES}


def transfers_file() -> Path:
    """Where they are kept. It need not exist."""
    return home() / "transfers.json"


def read_transfers() -> tuple[Transfer, ...]:
    """Those that had not come to their end, none of them moving now. What is damaged is left out: pulling such a model
    again finds what has arrived."""
    try:
        found = read_json(transfers_file())
        rows = found if isinstance(found, list) else []
    except (OSError, ValueError):
        return ()
    transfers = []
    for row in rows:
        with suppress(TypeError, KeyError, AttributeError, ValueError):
            known = Transfer(**{key: _value(key, value) for key, value in row.items() if key in _KEPT})
            if all(type(getattr(known, name)) is kind for name, kind in _KEPT.items()):
                transfers.append(known if known.state == FAILED else replace(known, state=PAUSED, text=NO_TEXT))
    return tuple(transfers)


def keep_transfers(transfers: Iterable[Transfer]) -> None:
    """Remember these and no others; where nothing can be written, they are not known again after the next start."""
    rows = [
        {
            name: as_json(getattr(one, name)) if kind is Translatable else getattr(one, name)
            for name, kind in _KEPT.items()
        }
        for one in transfers
    ]
    with suppress(OSError):
        transfers_file().parent.mkdir(parents=True, exist_ok=True)
        replace_file(transfers_file(), json.dumps(rows, indent=1).encode())


def _value(name: str, value: object) -> Any:
    return from_json(value) if _KEPT[name] is Translatable else value
