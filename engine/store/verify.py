"""Reading a whole store again, and naming everything in it that is damaged."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from engine import regular_file
from engine.errors import UnderhillError
from engine.store.datafile import FilePlan, plan_dense, plan_records
from engine.store.manifest import FileHash
from engine.store.problems import broken, unreadable
from engine.store.reader import Store
from engine.translatable import Translatable, msg

Check = tuple[Callable[[], object], int]  # a check that raises UnderhillError, and the bytes it reads


def verify(path: Path | str, progress: Callable[[int, int], None] | None = None) -> tuple[Translatable, ...]:
    """What is wrong with the store at `path`, one sentence each; empty when every byte is as it was written.

    progress: called with (bytes read, bytes in all). A store that cannot even be opened raises UnderhillError.
    """
    problems: list[Translatable] = []
    with Store.open(path) as store:
        checks = list(_checks(store))
        total = sum(nbytes for _, nbytes in checks)
        read = 0
        for check, nbytes in checks:
            try:
                check()
            except UnderhillError as error:
                problems.append(error.sentence)
            read += nbytes
            if progress is not None:
                progress(read, total)
    return tuple(problems)


def check_small_files(store: Store) -> None:
    """Compare the tokenizer, the chat template and what else was copied with their hashes, some megabytes in all.

    Experts and dense weights are checked as they are read; a flipped bit in a template would change answers and be
    not found at all. Raises UnderhillError: BROKEN_FILE, MISSING_FILE or DISK_ERROR.
    """
    for file in store.manifest.files:
        _copy(store.path, file)


def _checks(store: Store) -> Iterator[Check]:
    manifest = store.manifest
    for layer in manifest.all_layers:
        plan = plan_records(layer.index, [manifest.specs[r.spec] for r in layer.records])
        yield partial(_header, store.path / layer.file, plan), len(plan.header)
        for expert, record in enumerate(layer.records):
            for part in manifest.specs[record.spec].layout.parts:
                yield partial(_part, store, layer.index, expert, part.index, part.nbytes), part.nbytes
    plan = plan_dense([t.outline for t in manifest.dense])
    yield partial(_header, store.path / manifest.dense_file, plan), len(plan.header)
    for tensor in manifest.dense:
        yield partial(store.dense.raw, tensor.name), tensor.nbytes
    for file in manifest.files:
        yield partial(_copy, store.path, file), file.nbytes


def _header(path: Path, plan: FilePlan) -> None:
    try:
        with regular_file.open_regular(path) as file:
            header = file.read(len(plan.header))
        size = path.stat().st_size
    except OSError as cause:
        raise unreadable(path, cause) from cause
    if header != plan.header or size != plan.nbytes:
        raise broken(msg("the header or the length of {name} is not as it was written", name=path.name))


def _part(store: Store, layer: int, expert: int, part: int, nbytes: int) -> None:
    store.read_parts(layer, expert, [part], [memoryview(mmap.mmap(-1, nbytes))])  # page-aligned, as direct I/O wants


def _copy(folder: Path, file: FileHash) -> None:
    path = folder / file.name
    try:
        data = regular_file.read_regular(path, file.nbytes)
    except regular_file.FileTooLarge as e:
        raise broken(msg("{name} is not as long as it was", name=path.name)) from e
    except OSError as cause:
        raise unreadable(path, cause) from cause
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise broken(msg("{name} does not match its checksum", name=path.name))
