"""Writing a store: under a temporary name, in parts that survive an interruption, and renamed when whole."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import OLD, put_in_place, sync_directory, sync_file
from engine.limits import COMPANION_BYTES
from engine.native.crc32 import crc32
from engine.record.layout import ExpertSpec
from engine.regular_file import read_regular
from engine.store import journal as journals
from engine.store import manifest as manifests
from engine.store.datafile import FilePlan, TensorShape, in_file_order, plan_dense, plan_records
from engine.store.journal import PARTIAL, Journal
from engine.store.lock import FileLock
from engine.store.manifest import DenseTensor, FileHash, Lowering, Manifest, Record, Source, StoredLayer, TierQuality
from engine.store.output import OutputFiles, disk_full, writing
from engine.translatable import msg

LOCK = f"{PARTIAL}.lock"  # ends the name of the lock beside a store
BATCH = 64 << 20  # bytes between syncs: what an interruption may cost
SPARE = 4 << 20  # bytes wanted free beyond the data: manifest, journal, directories


@dataclass(frozen=True)
class LayerShape:
    """A MoE layer to be written: the model's own layer index, number of experts, their spec.

    lowered: (expert, bits) of those of which only so many of the coarsest bits are stored. mtp: it is one for
    multi-token prediction.
    """

    index: int
    experts: int
    spec: ExpertSpec
    lowered: tuple[tuple[int, int], ...] = ()
    mtp: bool = False

    @property
    def specs(self) -> list[ExpertSpec]:
        """By expert."""
        bits = dict(self.lowered)
        low = {top: replace(self.spec, top=top) for top in set(bits.values())}
        return [low[bits[e]] if e in bits else self.spec for e in range(self.experts)]


@dataclass(frozen=True)
class Description:
    """What the manifest says beyond the data itself. copies: small files taken along (tokenizer, templates)."""

    source: Source
    architecture: str
    config: dict[str, Any]
    copies: tuple[Path, ...]
    quality: tuple[TierQuality, ...]
    lowering: Lowering | None = None


class StoreWriter:
    """``with StoreWriter(...) as w:`` write every part that w.done() does not know, then w.finish(...).

    Leaving without finish() keeps what is done, and the next writer with the same `identity` continues there.
    Every method raises UnderhillError(DISK_FULL or DISK_ERROR) when the disk does not take it.
    """

    def __init__(
        self, destination: Path, identity: str, layers: Sequence[LayerShape], dense: Sequence[TensorShape]
    ) -> None:
        """identity: the same for two imports exactly if they would write the same bytes."""
        self.destination = destination
        self.partial = destination.with_name(destination.name + PARTIAL)
        self._identity = identity
        self._layers = {x.index: x for x in layers}
        self._specs = {x.index: x.specs for x in layers}
        self._plans = {x.index: plan_records(x.index, self._specs[x.index]) for x in layers}
        self._dense = {t.name: t for t in in_file_order(dense)}
        self._dense_plan = plan_dense(list(self._dense.values()))
        self._dense_offsets = dict(zip(self._dense, self._dense_plan.offsets, strict=True))
        self._files = OutputFiles(self.partial)
        self._pending: dict[str, Any] = {}  # finished parts that are not yet synced
        self._pending_bytes = 0
        self._stack = ExitStack()

    def __enter__(self) -> StoreWriter:
        """Raises UnderhillError: BUSY while another import of this store goes on, DISK_FULL, DISK_ERROR."""
        with ExitStack() as stack, writing(self.partial):
            self.destination.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(store_lock(self.destination))
            self.partial.mkdir(exist_ok=True)
            self._journal = Journal(self.partial / journals.NAME, self._identity)
            stack.callback(self._journal.close)
            self._remove_leftovers()
            self._check_space()
            stack.callback(self._files.close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._stack:
            # A disk that has just refused to write would refuse the sync too, and that error would hide the first.
            if error is not None and not isinstance(error.__cause__, OSError):
                self._commit()  # cancelled: what is done need not be done again

    @property
    def missing_bytes(self) -> int:
        """Bytes of data that are still to be written."""
        plans: list[FilePlan] = [*self._plans.values(), self._dense_plan]
        needed = sum(p.nbytes for p in plans)
        for x in self._layers.values():
            there = (e for e in range(x.experts) if self.done(record_key(x.index, e)) is not None)
            needed -= sum(self._specs[x.index][e].layout.nbytes for e in there)
        return needed - sum(t.nbytes for t in self._dense.values() if self.done(dense_key(t.name)) is not None)

    def done(self, key: str) -> Any:
        """What is noted about a finished part; None if it is not finished. Keys: record_key, dense_key, own ones."""
        return self._pending[key] if key in self._pending else self._journal.entries.get(key)

    def write_record(self, layer: int, expert: int, record: NDArray[np.uint8], note: Any) -> None:
        """Write one expert. note: JSON that done() gives back beside the checksums: [crcs, note]."""
        plan, layout = self._plans[layer], self._specs[layer][expert].layout
        view = record.data
        if view.nbytes != layout.nbytes:
            raise ValueError(f"a record of {view.nbytes} bytes for layer {layer}, expected {layout.nbytes}")
        # By part, since a reader has one part of an expert without the others.
        crcs = [crc32(view[p.offset : p.offset + p.nbytes]) for p in layout.parts]
        with writing(self.partial):
            self._files.write(plan.name, plan.offsets[expert], view)
            self._finished(record_key(layer, expert), [crcs, note], view.nbytes)

    def write_dense(self, name: str, chunks: Iterable[memoryview]) -> None:
        """Write one dense tensor from its bytes, in pieces."""
        at = self._dense_offsets[name]
        end, crc = at + self._dense[name].nbytes, 0
        for chunk in chunks:
            with writing(self.partial):
                self._files.write(self._dense_plan.name, at, chunk)
            at, crc = at + chunk.nbytes, crc32(chunk, crc)
        if at != end:
            raise ValueError(f"{name} is {end - at} bytes short")
        self.note(dense_key(name), crc, self._dense[name].nbytes)

    def note(self, key: str, value: Any, nbytes: int = 0) -> None:
        """Note a finished part: a result that a resumed import need not compute again."""
        with writing(self.partial):
            self._finished(key, value, nbytes)

    def is_safe(self, key: str) -> bool:
        """Whether a finished part survives a crash."""
        return key not in self._pending and self._journal.entries.get(key) is not None

    def commit(self) -> None:
        """Make everything that is finished safe."""
        if self._pending:
            self._commit()

    def forget(self, keys: Iterable[str]) -> None:
        """These parts turned out to be wrong: they are not finished any more, after a crash neither."""
        wrong = [key for key in keys if self.done(key) is not None]
        # As lines that say null: `done` takes them for unfinished, and in the journal the later line of a key counts.
        self._pending.update(dict.fromkeys(wrong))
        self.commit()

    def finish(self, description: Description) -> Path:
        """Copy the small files, write the manifest, and put the store in place. Every part must have been written."""
        with writing(self.partial):
            for plan in (*self._plans.values(), self._dense_plan):
                # Headers last: until then nothing takes these files for whole ones.
                self._files.write(plan.name, 0, memoryview(plan.header))
                self._files.set_length(plan.name, plan.nbytes)
            self._commit()
            text = manifests.dumps(self._manifest(description))
            manifests.loads(text)  # what would be refused when opened is not put in place
            self.write_small(manifests.NAME, text)
            # The names of the files, before the rename makes the directory a model: after a power cut it must not be
            # one without them.
            sync_directory(self.partial)
            # Windows renames no directory in which a file is open.
            self._journal.close()
            put_in_place(self.partial, self.destination)
            # Only now: with the journal gone a crash before the rename would have the whole import begin again. A crash
            # right here leaves a journal in a whole store, which remove_leftovers takes away.
            filesystem.remove(self.destination / journals.NAME)
        return self.destination

    def _manifest(self, d: Description) -> Manifest:
        files = []
        for path in d.copies:
            data = read_regular(path, COMPANION_BYTES)
            self.write_small(path.name, data)
            files.append(FileHash(path.name, len(data), hashlib.sha256(data).hexdigest()))
        specs = list(dict.fromkeys(spec for own in self._specs.values() for spec in own))
        layers: dict[bool, list[StoredLayer]] = {False: [], True: []}
        for x in self._layers.values():
            plan, own = self._plans[x.index], map(specs.index, self._specs[x.index])
            crcs = (self.done(record_key(x.index, e))[0] for e in range(x.experts))
            records = tuple(Record(spec, at, tuple(c)) for spec, at, c in zip(own, plan.offsets, crcs))
            layers[x.mtp].append(StoredLayer(x.index, plan.name, records))
        dense = tuple(
            DenseTensor(
                t.name,
                t.dtype,
                t.shape,
                self._dense_offsets[t.name],
                t.nbytes,
                self.done(dense_key(t.name)),
                coding=t.coding,
            )
            for t in self._dense.values()
        )
        return Manifest(
            source=d.source,
            architecture=d.architecture,
            config=d.config,
            specs=tuple(specs),
            layers=tuple(layers[False]),
            dense_file=self._dense_plan.name,
            dense=dense,
            files=tuple(files),
            quality=d.quality,
            lowering=d.lowering,
            mtp=tuple(layers[True]),
        )

    def write_small(self, name: str, data: bytes) -> None:
        """Write a small file of the store whole; it is on the disk when this returns."""
        (self.partial / name).write_bytes(data)
        sync_file(self.partial / name)

    def _finished(self, key: str, value: Any, nbytes: int) -> None:
        self._pending[key] = value
        self._pending_bytes += nbytes
        if self._pending_bytes >= BATCH:
            self._commit()

    def _commit(self) -> None:
        """Sync the data, then note it as finished."""
        with writing(self.partial):
            # Before the journal says so: a line about bytes that a power cut took would put zeros into the store, under
            # a checksum of what should have been there.
            self._files.sync()
            self._journal.append(self._pending)
            self._pending, self._pending_bytes = {}, 0

    def _remove_leftovers(self) -> None:
        """Remove what would not belong into the finished store."""
        for path in self.partial.iterdir():
            # Files of an import with another identity have other lengths and offsets: bytes of theirs would stay in
            # gaps. And what a killed process was replacing is nobody's: whoever writes here holds the lock.
            if path.name != journals.NAME and (not self._journal.resumed or path.name.endswith(filesystem.UNFINISHED)):
                filesystem.remove(path)

    def _check_space(self) -> None:
        """Refuse to begin what cannot end."""
        needed = self.missing_bytes + SPARE
        free = shutil.disk_usage(self.partial).free
        if free < needed:
            raise disk_full(self.partial, needed - free)


def record_key(layer: int, expert: int) -> str:
    """The journal's key of an expert."""
    return f"record {layer} {expert}"


def dense_key(name: str) -> str:
    """The journal's key of a dense tensor."""
    return f"dense {name}"


def remove(destination: Path) -> None:
    """Remove the store at `destination` and whatever an interrupted import or removal left of it.

    Raises UnderhillError: BUSY while it is being imported, DISK_ERROR.
    """
    old = destination.with_name(destination.name + OLD)
    with store_lock(destination), writing(destination):
        for left in (destination.with_name(destination.name + PARTIAL), old):
            if left.exists():
                filesystem.remove_tree(left)
        if destination.exists():
            filesystem.replace(destination, old)  # from here on it is not listed, whatever happens
            filesystem.remove_tree(old)


def remove_leftovers(directory: Path) -> None:
    """Remove what is left in `directory` of stores whose removal or replacement was cut off; the journals of those
    whose import was cut off when they had just been put in place; and locks whose owners were killed.

    What is in use or cannot be removed stays until the next time.
    """
    for old in directory.glob("?*" + OLD):
        with suppress(UnderhillError, OSError), store_lock(old.with_name(old.name.removesuffix(OLD))):
            filesystem.remove_tree(old)
    for journal in directory.glob(f"?*/{journals.NAME}"):
        if not journal.parent.name.endswith(PARTIAL):
            with suppress(UnderhillError, OSError), store_lock(journal.parent):
                filesystem.remove(journal, missing_ok=True)
    for lock in directory.glob("?*" + LOCK):
        with suppress(UnderhillError, OSError):
            unlock_dead(lock.with_name(lock.name.removesuffix(LOCK)))


def unlock_dead(destination: Path) -> None:
    """Remove the lock of a store whose owner was killed: no process holds it, but its file is there.

    Raises UnderhillError(BUSY) where a live process holds it, DISK_ERROR.
    """
    if _lock_file(destination).exists():
        with store_lock(destination):
            pass


def _lock_file(destination: Path) -> Path:
    # Beside the store and not in it: the directory is renamed and removed under the lock.
    return destination.with_name(destination.name + LOCK)


def store_lock(destination: Path) -> FileLock:
    """Lock held while the store at `destination` is written, replaced or removed."""
    return FileLock(_lock_file(destination), msg("An import, a move or the removal of {name}", name=destination.name))


def is_busy(destination: Path) -> bool:
    """Whether the store at `destination` is being written, moved or removed."""
    try:
        unlock_dead(destination)
        return False
    except UnderhillError as error:
        return error.kind is Kind.BUSY
