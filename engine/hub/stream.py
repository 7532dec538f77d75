"""Weights that are imported while they arrive: fetched in chunks, hashed in order, dropped once they are in the store.

Four threads fetch, one hashes; the thread that imports asks what is ready and notes what is done. A chunk is dropped
when all that is made of it, and the state of its file's SHA-256 behind it, are safely in the store's journal: whatever
happens, the next run takes up the hash there, and fetches nothing again that had reached the disk.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

from engine.convert.journal import ChecksumMismatch, ImportJournal, ImportPart
from engine.formats.source import Read, WeightSource
from engine.hub import download as bodies
from engine.hub import errors
from engine.hub.chunks import Chunk, Need, Schedule, Spool, schedule
from engine.hub.control import DownloadProgress, Meter, writing
from engine.hub.download import DownloadContext, RangeDownload
from engine.hub.revision import RemoteFile
from engine.native.crc32 import crc32
from engine.native.sha256 import Sha256
from engine.store.manifest import FileHash

FETCHERS = 4  # chunks under way at once
HEADROOM = 256 << 20  # bytes held beyond what must be: what is under way, quantized, or not yet safe
TICK = 0.2  # seconds between reports
_GOODBYE = 2.0  # seconds that are waited for threads that were stopped


class _Halted(Exception):
    """This thread's work is not wanted any more."""


class _Run:
    """The threads between two starts: those that were halted must not take part in the next."""

    halted = False


def plan_chunks(files: Sequence[RemoteFile], parts: Sequence[ImportPart]) -> Schedule:
    """In which order the chunks of `files` are to be fetched, and how many will be held at once."""
    number = {file.name: n for n, file in enumerate(files)}
    needs = [Need(tuple((number[e.file.name], e.start, e.stop) for e in part.extents), not part.name) for part in parts]
    return schedule([file.size for file in files], needs, bodies.CHUNK)


def held_bytes(found: Schedule) -> int:
    """Bytes of disk that a stream takes beside the store."""
    return found.most * bodies.CHUNK + HEADROOM


class ImportStream:
    """See StreamSource. Use one for one import."""

    def __init__(
        self,
        context: DownloadContext,
        files: Sequence[RemoteFile],
        spool: Spool,
        *,
        make: Callable[[Read], WeightSource],
        report: Callable[[DownloadProgress], None] | None,
        total: int,
        same_disk: bool,
        heads: Mapping[str, bytes],
    ) -> None:
        """files: all with checksums. heads: the first bytes of each, by which `make` knows what it holds.

        total: bytes of the whole download, small files included.
        same_disk: whether the store will be on the disk that the chunks are on.
        """
        self._context, self._spool = context, spool
        self._remote = list(files)
        self._source = make(spool.read)
        self._heads = heads
        self._say, self._total, self._same_disk = report, total, same_disk
        # Guards what the importing, the fetching and the hashing threads share; they fetch and hash without it.
        self._changed = threading.Condition()
        self._mismatched: set[int] = set()  # files that arrived wrong once
        self._pool: ThreadPoolExecutor | None = None
        self._running: list[Future[None]] = []
        self._said = 0.0

    @property
    def source(self) -> WeightSource:
        """See StreamSource."""
        return self._source

    @property
    def files(self) -> tuple[FileHash, ...]:
        """See StreamSource."""
        return tuple(FileHash(file.name, file.size, file.sha256) for file in self._remote)

    @property
    def marks(self) -> tuple[str, ...]:
        """See StreamSource."""
        return tuple(hashlib.sha256(self._heads[file.name]).hexdigest() for file in self._remote)

    # ---- the importing thread

    def start(self, journal: ImportJournal, parts: Sequence[ImportPart]) -> tuple[ImportPart, ...]:
        """See StreamSource. Raises DISK_FULL before anything is fetched."""
        self._journal, self._parts = journal, parts
        found = plan_chunks(self._remote, parts)
        self._made_of = {part.key: chunks for part, chunks in zip(parts, found.made_of, strict=True)}
        self._users: dict[Chunk, int] = {}
        for part in parts:
            # Only what is still to be made uses a chunk: one whose parts are all written has to come again for its hash
            # alone.
            if journal.done(part.key) is None:
                for chunk in self._made_of[part.key]:
                    self._users[chunk] = self._users.get(chunk, 0) + 1
        self._cursor, self._state = self._hashed_so_far()
        wanted = [c for c in found.chunks if c[1] >= self._cursor[c[0]] or c in self._users]
        self._spool.keep_only(set(wanted))
        self._arrived: set[Chunk] = set()
        self._unsettled: deque[ImportPart] = deque()
        self._noted: deque[Chunk] = deque()
        self._posted: list[tuple[Chunk, list[object]]] = []
        self._error: BaseException | None = None
        self._wrong: int | None = None
        self._hungry = False
        self._run = _Run()
        self._stalled = self._under_way = 0
        self._meet(wanted)
        self._limit = held_bytes(found)
        needed = min(self._limit, sum(self._size(c) for c in wanted)) - self._held
        with errors.noting(lambda: self._context.meter.done):
            self._context.room.check(max(0, needed) + (journal.missing_bytes if self._same_disk else 0))
        self._launch([c for c in wanted if c not in self._arrived])
        return tuple(parts[i] for i in found.parts)

    def ready(self, part: ImportPart) -> bool:
        """See StreamSource."""
        self._look()
        with self._changed:
            return all(chunk in self._arrived for chunk in self._made_of[part.key])

    def wait(self, idle: bool) -> None:
        """See StreamSource. Where nothing more can arrive for lack of room, what is written is committed, dropped."""
        self._look()
        with self._changed:
            stalled = self._stalled > 0
        if stalled:
            self._settle(commit=True)
        with self._changed:
            self._hungry = stalled and idle
            if self._hungry:
                self._changed.notify_all()
            self._changed.wait(TICK / 4)
            self._hungry = False

    def wrote(self, part: ImportPart) -> None:
        """See StreamSource."""
        self._unsettled.append(part)
        self._settle()

    def finish(self) -> None:
        """See StreamSource."""
        while not all(self._journal.done(_key(f, _chunks(f) - 1)) for f in self._remote):
            self.wait(idle=True)
            self._settle()
        self._settle(commit=True)
        if self._say is not None:
            self._say(self._context.meter.progress())

    def close(self) -> None:
        """See StreamSource."""
        if any(not future.done() for future in self._running):
            self._context.control.cancel()
        self._halt()

    def _hashed_so_far(self) -> tuple[list[int], list[str]]:
        """For each file: how many chunks from its start have been hashed, and the state behind them."""
        cursor, states = [], []
        for file in self._remote:
            k, state = 0, ""
            while k < _chunks(file) and (note := self._journal.done(_key(file, k))) is not None:
                state, k = note[1], k + 1
            cursor.append(k)
            states.append(state)
        return cursor, states

    def _meet(self, wanted: Sequence[Chunk]) -> None:
        """Take up what an earlier run has left of the chunks."""
        self._held = 0
        meter = Meter(self._total, len(self._remote))
        meter.had(self._total - sum(file.size for file in self._remote))
        here = 0
        for chunk in wanted:
            have = self._spool.have(chunk)
            if have == self._size(chunk) and self._is_right(chunk):
                self._arrived.add(chunk)
            elif have == self._size(chunk):
                self._spool.drop(chunk)
                have = 0
            self._held += have
            here += have
        gone = sum(file.size for file in self._remote) - sum(self._size(c) for c in wanted)
        meter.had(gone + here)
        for file, k in zip(self._remote, self._cursor, strict=True):
            if k == _chunks(file):
                meter.file_done()
        self._context = replace(self._context, meter=meter)

    def _is_right(self, chunk: Chunk) -> bool:
        """Whether a chunk that has been hashed already is what it was then: a crash may have cost it its bytes."""
        note = self._journal.done(_key(self._remote[chunk[0]], chunk[1]))
        return note is None or note[0] == self._spool.crc(chunk)

    def _look(self) -> None:
        """Raise what has gone wrong; say how far it is."""
        if self._context.control.stopped:
            self._context.control.hold()
        if self._error is not None:
            with errors.noting(lambda: self._context.meter.done):
                raise self._error
        if self._wrong is not None:
            self._forget(self._wrong)
        if self._say is not None and time.monotonic() - self._said >= TICK:
            self._said = time.monotonic()
            self._say(self._context.meter.progress())

    def _settle(self, commit: bool = False) -> None:
        """Note what has been hashed; drop the chunks that are not needed any more."""
        with self._changed:
            posted, self._posted = self._posted, []
        for chunk, note in posted:
            self._journal.note(_key(self._remote[chunk[0]], chunk[1]), note)
            self._noted.append(chunk)
        if commit:
            self._journal.commit()
        free: list[Chunk] = []
        while self._unsettled and self._journal.is_safe(self._unsettled[0].key):
            for chunk in self._made_of[self._unsettled.popleft().key]:
                self._users[chunk] -= 1
                if not self._users[chunk]:
                    free.append(chunk)
        while self._noted and self._journal.is_safe(self._key(self._noted[0])):
            free.append(self._noted.popleft())
        for chunk in free:
            if not self._users.get(chunk) and self._journal.is_safe(self._key(chunk)):
                self._drop(chunk)

    def _drop(self, chunk: Chunk) -> None:
        with self._changed:
            if chunk not in self._arrived:
                return
            self._arrived.remove(chunk)
            self._held -= self._size(chunk)
            self._changed.notify_all()
        self._spool.drop(chunk)

    def _forget(self, number: int) -> None:
        """A file is not what it should be: nothing that was made of it counts. Raises Spoiled, or BROKEN_FILE."""
        self._halt()
        file = self._remote[number]
        self._settle()
        chunks = [(number, k) for k in range(_chunks(file))]
        made = [part.key for part in self._parts if any(c[0] == number for c in self._made_of[part.key])]
        # First in the journal, then the chunks: killed in between, the next run fetches them again, and does not
        # believe what was made of them.
        self._journal.forget([*made, *(self._key(c) for c in chunks)])
        for chunk in chunks:
            self._spool.drop(chunk)
        if number in self._mismatched:
            raise errors.damaged(file.name)
        self._mismatched.add(number)
        raise ChecksumMismatch(file.name)

    # ---- the other threads

    def _launch(self, missing: list[Chunk]) -> None:
        self._missing = deque(missing)
        self._pool = ThreadPoolExecutor(FETCHERS + 1, "stream")
        self._running = [self._pool.submit(self._guard, self._hash, self._run)]
        self._running += (self._pool.submit(self._guard, self._fetch, self._run) for _ in range(FETCHERS))

    def _guard(self, work: Callable[[_Run], None], run: _Run) -> None:
        try:
            work(run)
        except BaseException as error:
            with self._changed:
                # A thread that was halted may fail over a connection that was cut for it: no error of the run that
                # follows.
                if not run.halted:
                    self._error = error
                run.halted = True
                self._changed.notify_all()

    def _halt(self) -> None:
        """End the threads, whatever they wait for."""
        if self._pool is None:
            return
        with self._changed:
            self._run.halted = True
            self._changed.notify_all()
        control = self._context.control
        if not (control.paused or control.stopped) and any(not future.done() for future in self._running):
            control.pause()  # readers that wait for bytes end
            control.resume()
        self._pool.shutdown(wait=False, cancel_futures=True)
        wait(self._running, _GOODBYE)
        self._pool = None

    def _fetch(self, run: _Run) -> None:
        """Bring chunks, one after the other."""
        open_downloads: dict[int, RangeDownload] = {}
        while (chunk := self._next(run)) is not None:
            body = open_downloads.setdefault(
                chunk[0], RangeDownload(self._context, self._remote[chunk[0]], whole=False)
            )
            self._bring(chunk, body, run)
            right = self._is_right(chunk)
            with self._changed:
                if run.halted:
                    return
                self._under_way -= 1
                self._arrived.add(chunk)
                if not right:
                    self._wrong = chunk[0]
                self._changed.notify_all()

    def _bring(self, chunk: Chunk, body: RangeDownload, run: _Run) -> None:
        """What is missing of a chunk, written as it arrives: a process that is killed has lost nothing of it."""
        start, stop = self._spool.span(chunk)
        have = self._spool.have(chunk)
        with writing(self._spool.folder), self._spool.path(chunk).open("ab", buffering=0) as out:

            def check() -> None:
                if run.halted:
                    raise _Halted

            def take(data: memoryview) -> None:
                check()
                self._context.meter.fetched(body.file.name, len(data))
                self._context.room.written(len(data))
                while data:
                    data = data[out.write(data) or 0 :]

            body.get(start + have, stop, take, check)

    def _next(self, run: _Run) -> Chunk | None:
        """The next chunk to fetch, once there is room for it."""
        with self._changed:
            while self._missing and not run.halted:
                chunk = self._missing[0]
                more = self._size(chunk) - self._spool.have(chunk)
                # Beyond the limit only if nothing else moves: a part may need more chunks than the limit allows, and
                # would never be complete.
                if self._held + more <= self._limit or (self._hungry and not self._under_way):
                    self._missing.popleft()
                    # Counted when it is begun, not when it is here: four fetchers would else each see the same room.
                    self._held += more
                    self._under_way += 1
                    return chunk
                self._stalled += 1
                self._changed.wait()
                self._stalled -= 1
            return None

    def _hash(self, run: _Run) -> None:
        """Hash the files from start to end as their chunks come."""
        for number, file in enumerate(self._remote):
            if self._cursor[number] == _chunks(file):
                continue
            digest = Sha256(self._state[number])
            for k in range(self._cursor[number], _chunks(file)):
                chunk = (number, k)
                with self._changed:
                    self._changed.wait_for(lambda: run.halted or chunk in self._arrived)  # noqa: B023
                    if run.halted:
                        return
                data = self._spool.load(chunk)
                digest.update(data)
                head = self._heads[file.name][k * bodies.CHUNK : (k + 1) * bodies.CHUNK]
                last = k + 1 == _chunks(file)
                # where tensors lie was read off the head: neither may be wrong
                if data[: len(head)] != head or (last and digest.hexdigest() != file.sha256):
                    with self._changed:
                        self._wrong = number
                        self._changed.notify_all()
                    return
                note: list[object] = [crc32(data), "" if last else digest.state]
                with self._changed:
                    self._posted.append((chunk, note))
                    self._changed.notify_all()
            self._context.meter.file_done()

    def _size(self, chunk: Chunk) -> int:
        start, stop = self._spool.span(chunk)
        return stop - start

    def _key(self, chunk: Chunk) -> str:
        return _key(self._remote[chunk[0]], chunk[1])


def _key(file: RemoteFile, k: int) -> str:
    """The journal's key of a chunk that has been hashed: its CRC-32, and the state of the hash behind it."""
    return f"arrived {file.name} {k}"


def _chunks(file: RemoteFile) -> int:
    return -(-file.size // bodies.CHUNK)
