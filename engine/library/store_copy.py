"""A store copied to another folder, byte by byte checked, and put in place in one step; cut off, it goes on.

A copy grows in ``NAME.copy`` beside where it will stand. Its note says what it is a copy of, and whether the original
is to go once the copy is in place. The note stays until the original is gone, so a move that was cut off at any moment
leaves either the old store and what there is of the copy, or the copy and a note that the old one can be removed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from engine import filesystem
from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file, sync_directory, sync_file
from engine.library.home import COPY
from engine.limits import COMPANION_BYTES, MANIFEST_BYTES
from engine.regular_file import is_regular, open_unbuffered, read_at_most, read_json, read_regular
from engine.store import manifest as manifests
from engine.store.fields import DAMAGED
from engine.store.manifest import Manifest
from engine.store.output import writing
from engine.store.problems import unreadable
from engine.store.reader import load_manifest
from engine.store.verify import verify
from engine.store.writer import SPARE, remove, store_lock, unlock_dead
from engine.translatable import Translatable, msg

Report = Callable[[Translatable, int, int], None]

NOTE = "copy.json"
CHUNK = 8 << 20  # bytes between two progress reports, and that a copy that was cut off may repeat


@dataclass(frozen=True)
class CopyNote:
    """source: the directory that is copied; manifest: SHA-256 of its manifest; move: the original goes in the end."""

    source: str
    manifest: str
    move: bool


def copy(source: Path, destination: Path, report: Report, *, move: bool = False) -> None:
    """Copy the store `source` to `destination`; with `move`, the original is removed once the copy is in place.

    report may raise, which leaves the original and what there is of the copy: the next call goes on there. The caller
    holds no lock. Raises UnderhillError: BAD_REQUEST when the place is taken, BUSY, DISK_FULL, DISK_ERROR,
    BROKEN_FILE when the copy turns out to differ from what was once written; the original stays.
    """
    partial = _partial(destination)
    with writing(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
    if move and not os.access(source.parent, os.W_OK):
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("Can't move {name}: {parent} isn't writable.",
                parent=source.parent, name=source.name),
            msg("Import it under another name to make a copy."),
        )  # fmt: skip
    # The destination first, here and everywhere: two moves in opposite directions find one of their locks taken and are
    # told so (a FileLock does not wait), so they cannot block each other.
    with store_lock(destination), store_lock(source) if move else nullcontext(), writing(destination):
        if destination.exists():
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("{name} already exists in {parent}.",
                    name=destination.name, parent=destination.parent),
                msg("Rename or delete that one first."),
            )  # fmt: skip
        if move and renamed_at_once(source, destination):
            return
        manifest = load_manifest(source)
        begin_copy(partial, CopyNote(str(source.resolve()), file_sha256(source / manifests.NAME), move))
        _copy_files(source, partial, manifest, report)
        _check(partial, report)
        # The names of the files reach the disk before the one rename that makes them a model.
        sync_directory(partial)
        filesystem.replace(partial, destination)
        sync_directory(destination.parent)
    finish(destination)


def finish(destination: Path) -> None:
    """Of a copy that is in place: remove the original where that was wanted, then the note.

    An original that is out of reach, in use or has changed since stays, and so does the note, if it may be back.
    Raises UnderhillError(BUSY or DISK_ERROR) when the original cannot be removed now; everything is usable then.
    """
    note = read(destination)
    if note is None:
        return
    source = Path(note.source)
    if note.move:
        if not source.parent.is_dir():
            return
        # By its manifest: since the copy was made another model may have been imported under that name.
        if source.exists() and source != destination.resolve() and _same_manifest(source, note):
            remove(source)
    with writing(destination):
        filesystem.remove(destination / NOTE, missing_ok=True)


def discard(destination: Path) -> None:
    """Remove what there is of a copy to or from `destination` that is not whole, and a killed process's lock.

    Raises UnderhillError(BUSY or DISK_ERROR).
    """
    partial = _partial(destination)
    if not partial.exists():
        with suppress(UnderhillError):  # held by a process that does not copy to here
            unlock_dead(destination)
    else:
        with store_lock(destination), writing(destination):
            filesystem.remove_tree(partial)


def read(directory: Path) -> CopyNote | None:
    """The note in a copy, whole or not; None where there is none."""
    try:
        found = read_json(directory / NOTE)
        return CopyNote(str(found["source"]), str(found["manifest"]), bool(found["move"]))
    except DAMAGED:
        return None


def renamed_at_once(source: Path, destination: Path) -> bool:
    """Within one disk a move is a rename."""
    try:
        same = source.stat().st_dev == destination.parent.stat().st_dev
    except OSError as cause:
        raise unreadable(source, cause) from cause
    if not same:
        return False
    try:
        filesystem.replace(source, destination)
    except OSError:  # two mounts of one disk: copied then
        return False
    sync_directory(destination.parent)
    sync_directory(source.parent)
    return True


def begin_copy(partial: Path, note: CopyNote) -> None:
    """Make the directory of the copy; what is there of another store is removed."""
    there = read(partial)
    if partial.exists() and (there is None or there.manifest != note.manifest):
        filesystem.remove_tree(partial)
    text = json.dumps(asdict(note)).encode()
    if partial.exists():
        replace_file(partial / NOTE, text)
        return
    # With its note in one step: a copy without one would be listed as a model that nobody knows where from.
    fresh = partial.with_name(f".{partial.name}")
    if fresh.exists():  # of a process that was killed here
        filesystem.remove_tree(fresh)
    fresh.mkdir()
    replace_file(fresh / NOTE, text)
    filesystem.replace(fresh, partial)
    sync_directory(partial.parent)


def _copy_files(source: Path, partial: Path, manifest: Manifest, report: Report) -> None:
    names = _files(source)
    try:
        sizes = {name: (source / name).stat().st_size for name in names}
    except OSError as cause:
        raise unreadable(source, cause) from cause
    there = {name: _length(partial / name) for name in names}
    missing = sum(max(0, sizes[name] - there[name]) for name in names)
    free = shutil.disk_usage(partial).free
    if free < missing + SPARE:
        if not any(there.values()):  # nothing was begun, so nothing was interrupted
            filesystem.remove_tree(partial)
        raise UnderhillError(
            Kind.DISK_FULL,
            msg(
                "Not enough disk space for {name} in {parent}.",
                name=partial.name.removesuffix(COPY),
                parent=partial.parent,
            ),
            msg("Free {free} MB, or choose another folder.", free=f"{-(-(missing + SPARE - free) // 10**6):,}"),
        )
    checked = {*(x.file for x in manifest.all_layers), manifest.dense_file, *(f.name for f in manifest.files)}
    total, done = sum(sizes.values()), 0
    for name in names:
        if name not in checked:  # small, and without a checksum: compared as it is copied
            _copy_small(source / name, partial / name)
            done += sizes[name]
            continue
        # From the last whole chunk on: a file's length may have reached the disk without its last bytes.
        start = min(there[name], sizes[name]) // CHUNK * CHUNK
        done += start
        for n in copy_bytes(source / name, partial / name, start):
            done += n
            report(msg("Copying"), done, total)


def copy_bytes(source: Path, target: Path, start: int) -> Iterator[int]:
    """Copy a file from `start` on, and bring it to the disk; yields the length of every piece written."""
    memory = memoryview(bytearray(CHUNK))
    with _opened(source) as read_from, target.open("r+b" if target.exists() else "w+b", 0) as write_to:
        write_to.seek(start)
        while n := _read(read_from, start, memory):
            left = memory[:n]
            while left:
                left = left[write_to.write(left) :]
            start += n
            yield n
        write_to.truncate()
        os.fsync(write_to.fileno())
        for file in (read_from, write_to):
            if sys.platform == "linux":  # the check reads what the disk has, not what memory has
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _opened(source: Path) -> io.FileIO:
    try:
        return open_unbuffered(source)
    except OSError as cause:
        raise unreadable(source, cause) from cause


def _read(file: io.FileIO, offset: int, memory: memoryview) -> int:
    try:
        file.seek(offset)
        return file.readinto(memory)
    except OSError as cause:
        raise unreadable(Path(file.name), cause) from cause


def _copy_small(source: Path, target: Path) -> None:
    with _opened(source) as file:
        data = read_at_most(file, COMPANION_BYTES, source)
    target.write_bytes(data)
    sync_file(target)
    if read_regular(target, COMPANION_BYTES) != data:
        raise _differs(target, msg("{name} differs from the original", name=target.name))


def _check(partial: Path, report: Report) -> None:
    """Read the copy again, and compare all of it with its manifest."""
    problems = verify(partial, lambda done, total: report(msg("Checking the copy"), done, total))
    if problems:
        filesystem.remove_tree(partial)  # which of its bytes are good cannot be told
        raise _differs(partial, problems[0].removeprefix("The model is damaged: ").removesuffix("."))


def _differs(where: Path, what: str) -> UnderhillError:
    return UnderhillError(
        Kind.BROKEN_FILE,
        msg("The copy in {parent} is damaged: {what}.", parent=where.parent, what=what),
        msg("The original is unchanged. Verify it; if it is fine, the other disk is failing."),
    )


def _same_manifest(source: Path, note: CopyNote) -> bool:
    with suppress(OSError):
        return file_sha256(source / manifests.NAME) == note.manifest
    return False


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(read_regular(file, MANIFEST_BYTES)).hexdigest()


def _files(source: Path) -> list[str]:
    """The files of a store, its manifest last. A note of an earlier copy is not part of it."""
    names = sorted(p.name for p in source.iterdir() if is_regular(p) and p.name != NOTE)
    # A directory is a store by its manifest: without it, what is there of a copy is none.
    return sorted(names, key=lambda name: name == manifests.NAME)


def _length(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _partial(destination: Path) -> Path:
    return destination.with_name(destination.name + COPY)
