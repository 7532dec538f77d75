"""Manifests of stores whose own checksum is right and whose content is not, and such as are no JSON."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from engine.convert.importer import import_checkpoint
from engine.library.listing import card, describe, outlined
from engine.store import manifest as manifests
from engine.store.reader import load_manifest
from tests.attack.case import Case
from tests.attack.given import JSON, changed, spoiled
from tests.engine.formats.tiny_checkpoint import write_checkpoint


def cases() -> list[Case]:
    good = (store() / manifests.NAME).read_bytes()
    body = json.loads(good)
    found = [Case(f"bytes: {kind}", partial(_read, data), True) for kind, data in spoiled(good, 32, seed=3)]
    found += [Case(f"json: {what}", partial(_read, text)) for what, text in JSON.items()]
    found += [Case(f"changed: {what}", partial(_changed, one), True) for what, one in changed(body, 7, 70)]
    found += [Case(f"bounds: {what}", partial(_changed, _with(body, change))) for what, change in _BOUNDS.items()]
    return found


_BOUNDS: dict[str, Mapping[str, Any]] = {
    "no layers": {"layers": []},
    "100,000 layers": {"layers": [{"index": n, "file": f"l{n}", "records": [[0, 0]]} for n in range(100_000)]},
    "a layer beyond all": {"layers": [{"index": 10**9, "file": "l", "records": [[0, 0]]}]},
    "200,000 experts": {"layers": [{"index": 0, "file": "l", "records": [[0, 0]] * 200_000}]},
    "a file elsewhere": {"dense_file": "../../../etc/passwd"},
    "an absolute file": {"dense_file": "/dev/zero"},
    "a hidden file": {"dense_file": ".hidden"},
    "a file with a NUL": {"dense_file": "a\0b"},
    "no specs": {"specs": []},
    "a spec beyond all": {"specs": [{"hidden": 2**40, "intermediate": 2**40, "top": 8, "group": 64, "has_gate": True,
                                     "has_bias": False}]},
    "version of the future": {"version": 10**9},
    "another format": {"format": "else"},
    "tensors that overlap": {"dense": [{"name": n, "dtype": "F32", "shape": [4], "offset": 0, "nbytes": 16, "crc": 0}
                                       for n in "ab"]},
    "a tensor beyond all": {"dense": [{"name": "a", "dtype": "F32", "shape": [2**40] * 16, "offset": 0,
                                       "nbytes": 4, "crc": 0}]},
}  # fmt: skip


@cache
def store() -> Path:
    """A small one that is right."""
    top = Path(tempfile.mkdtemp(prefix="attack-"))
    import_checkpoint(write_checkpoint(top / "checkpoint"), top / "store", top=8)
    return top / "store"


def _with(body: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    return {**body, **change}


def signed(body: Any) -> bytes:
    """With a checksum that is right, as whoever makes it up would have it."""
    if isinstance(body, dict):
        rest = {key: value for key, value in body.items() if key != "checksum"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
        body = {**rest, "checksum": hashlib.sha256(text).hexdigest()}
    return json.dumps(body, separators=(",", ":")).encode()


def _read(data: bytes, folder: Path) -> None:
    (folder / manifests.NAME).write_bytes(data)
    describe(folder, outlined(folder, load_manifest(folder)))
    card(folder)


def _changed(body: Any, folder: Path) -> None:
    _read(signed(body), folder)
