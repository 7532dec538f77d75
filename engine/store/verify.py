"""Reading a whole store again, and naming everything in it that is damaged."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from engine.errors import UnderhillError
from engine.store.datafile import FilePlan, TensorShape, plan_dense, plan_records
from engine.store.problems import broken, unreadable
from engine.store.reader import Store

Check = tuple[Callable[[], object], int]  # a check that raises UnderhillError, and the bytes it reads


def verify(path: Path | str, progress: Callable[[int, int], None] | None = None) -> tuple[str, ...]:
    """What is wrong with the store at `path`, one sentence each; empty when every byte is as it was written.

    progress: called with (bytes read, bytes in all). A store that cannot even be opened raises UnderhillError.
    """
    problems: list[str] = []
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


def _checks(store: Store) -> Iterator[Check]:
    manifest = store.manifest
    for layer in manifest.layers:
        plan = plan_records(layer.index, [manifest.specs[r.spec] for r in layer.records])
        yield partial(_header, store.path / layer.file, plan), len(plan.header)
        for expert, record in enumerate(layer.records):
            for part in manifest.specs[record.spec].layout.parts:
                yield partial(_part, store, layer.index, expert, part.index, part.nbytes), part.nbytes
    plan = plan_dense([TensorShape(t.name, t.dtype, t.shape) for t in manifest.dense])
    yield partial(_header, store.path / manifest.dense_file, plan), len(plan.header)
    for tensor in manifest.dense:
        yield partial(store.dense.get, tensor.name), tensor.nbytes
    for file in manifest.files:
        yield partial(_copy, store.path / file.name, file.sha256), file.nbytes


def _header(path: Path, plan: FilePlan) -> None:
    try:
        with path.open("rb") as file:
            header = file.read(len(plan.header))
        size = path.stat().st_size
    except OSError as cause:
        raise unreadable(path, cause) from cause
    if header != plan.header or size != plan.nbytes:
        raise broken(f"the header or the length of {path.name} is not as it was written")


def _part(store: Store, layer: int, expert: int, part: int, nbytes: int) -> None:
    store.read_parts(layer, expert, [part], [memoryview(mmap.mmap(-1, nbytes))])  # page-aligned, as direct I/O wants


def _copy(path: Path, sha256: str) -> None:
    try:
        data = path.read_bytes()
    except OSError as cause:
        raise unreadable(path, cause) from cause
    if hashlib.sha256(data).hexdigest() != sha256:
        raise broken(f"{path.name} does not match its checksum")
