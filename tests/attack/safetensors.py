"""Checkpoints whose safetensors headers lie, are endless or are spoiled; and indexes that lead elsewhere."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

from engine.convert.expert_plan import find_experts
from engine.formats.checkpoint import INDEX, Checkpoint
from engine.formats.opening import open_source
from tests.attack.case import Case
from tests.attack.given import JSON, spoiled
from tests.engine.formats.tiny_checkpoint import write_checkpoint

SHARD = "model-00000.safetensors"
NAME = "model.layers.0.self_attn.q_proj.weight"


def cases() -> list[Case]:
    good = (_good() / SHARD).read_bytes()
    header = int.from_bytes(good[:8], "little") + 8
    found = [
        Case(f"header {kind}", partial(_opened, data), True) for kind, data in spoiled(good, 64, seed=1, within=header)
    ]
    found += [Case(f"length {n}", partial(_opened, n.to_bytes(8, "little") + good[8:])) for n in _LENGTHS]
    found += [Case(f"json: {what}", partial(_opened, len(t).to_bytes(8, "little") + t + b"\0" * 64), what in _EMPTY)
              for what, t in JSON.items()]  # fmt: skip
    found += [Case(f"entry: {what}", partial(_entry, entry)) for what, entry in _ENTRIES.items()]
    found += [Case(f"{count:,} tensors", partial(_many, count), True) for count in (20_000, 200_000)]
    found.append(Case("700,000 tensors", _short, True))
    found.append(Case("nothing is wrong", partial(_opened, good), True))
    found += [Case(f"index: {what}", partial(_index, text)) for what, text in JSON.items()]
    found += [Case(f"index names {shard!r}", partial(_names, shard)) for shard in _SHARDS]
    found += [Case(f"config: {what}", partial(_config, text)) for what, text in JSON.items()]
    return found


_EMPTY = ("an empty object",)
_LENGTHS = (0, 1, 7, 2**20, 2**31, 2**32, 2**40, 2**63 - 1, 2**64 - 1)
_SHARDS = ("../../etc/passwd", "/dev/zero", "a\0b.safetensors", "..\\x.safetensors", "C:x.safetensors", "",
           "x" * 5000 + ".safetensors", "config.json", 7)  # fmt: skip
_ENTRIES: dict[str, Any] = {
    "no object": 5, "nothing": {}, "no offsets": {"dtype": "F32", "shape": [2]},
    "unknown type": {"dtype": "Q9", "shape": [2], "data_offsets": [0, 8]},
    "type of a list": {"dtype": ["F32"], "shape": [2], "data_offsets": [0, 8]},
    "negative shape": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]},
    "shape of truth": {"dtype": "F32", "shape": [True, 2], "data_offsets": [0, 8]},
    "fraction": {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]},
    "huge shape": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 8]},
    "many dimensions": {"dtype": "F32", "shape": [1] * 1000, "data_offsets": [0, 4]},
    "reversed": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]},
    "negative offsets": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]},
    "beyond the file": {"dtype": "F32", "shape": [2], "data_offsets": [2**50, 2**50 + 8]},
    "offsets of truth": {"dtype": "BOOL", "shape": [1], "data_offsets": [False, True]},
    "three offsets": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4, 8]},
    "too small": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]},
}  # fmt: skip


@cache
def _good() -> Path:
    return write_checkpoint(Path(tempfile.mkdtemp(prefix="attack-")) / "good", layers=1)


def _checkpoint(folder: Path) -> Path:
    return shutil.copytree(_good(), folder / "checkpoint")


def _opened(data: bytes, folder: Path) -> None:
    path = _checkpoint(folder)
    (path / SHARD).write_bytes(data)
    _read(path)


def _read(path: Path) -> None:
    """As far as an import goes before it reads weights, and one of those."""
    source = open_source(path)
    find_experts(source)
    source.tensor(NAME)


def _entry(entry: Any, folder: Path) -> None:
    text = json.dumps({NAME: entry}).encode()
    path = _checkpoint(folder)
    (path / INDEX).unlink()
    (path / SHARD).write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 64)
    Checkpoint.open(path)


def _many(count: int, folder: Path) -> None:
    entries = (f'"layers.0.mlp.experts.{n}.up_proj.weight":{{"dtype":"U8","shape":[],"data_offsets":[{n},{n + 1}]}}'
               for n in range(count))  # fmt: skip
    text = ("{" + ",".join(entries) + "}").encode()
    path = _checkpoint(folder)
    (path / INDEX).unlink()
    (path / SHARD).write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * count)
    find_experts(open_source(path))


def _short(folder: Path) -> None:
    """As many as a header has room for."""
    text = b"{" + b",".join(b'"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % n for n in range(600_000)) + b"}"
    path = _checkpoint(folder)
    (path / INDEX).unlink()
    (path / SHARD).write_bytes(len(text).to_bytes(8, "little") + text)
    Checkpoint.open(path)


def _index(text: bytes, folder: Path) -> None:
    path = _checkpoint(folder)
    (path / INDEX).write_bytes(text)
    Checkpoint.open(path)


def _names(shard: Any, folder: Path) -> None:
    _index(json.dumps({"weight_map": {NAME: shard}}).encode(), folder)


def _config(text: bytes, folder: Path) -> None:
    path = _checkpoint(folder)
    (path / "config.json").write_bytes(text)
    Checkpoint.open(path)
