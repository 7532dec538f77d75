"""Stores whose files are cut, spoiled, or swapped for what is no file; and configs that somebody made up."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from engine import resources
from engine.convert.importer import import_checkpoint
from engine.library.facts import spec_of
from engine.store import manifest as manifests
from engine.store.reader import Store
from engine.store.verify import check_small_files, verify
from tests.attack.case import Case
from tests.attack.given import STANDING, VALUES, spoiled
from tests.attack.manifest import signed

CONFIG = ("num_hidden_layers", "vocab_size", "hidden_size", "num_experts", "num_experts_per_tok", "num_attention_heads",
          "rope_theta", "rms_norm_eps", "hidden_act", "eos_token_id", "max_position_embeddings")  # fmt: skip
NUMBERS: dict[str, Any] = {"0": 0, "1": 1, "10**8": 10**8, "-1": -1}


def cases() -> list[Case]:
    names = sorted(p.name for p in good().iterdir())
    kinds = {"layer": "experts-00000.safetensors", "dense": "dense.safetensors",
             "tokenizer": "tokenizer.json"}  # fmt: skip
    found = []
    for what, name in kinds.items():
        assert name in names
        found += [
            Case(f"{what} is {kind}", partial(_standing, name, how), kind == "nothing")
            for kind, how in STANDING.items()
        ]
        data = (good() / name).read_bytes()
        found += [Case(f"{what} {kind}", partial(_bytes, name, one), True) for kind, one in spoiled(data, 16, seed=8)]
        found.append(Case(f"{what} is gone", partial(_gone, name)))
    found += [Case(f"config: {key} is {what}", partial(_config, key, value), True)
              for key in CONFIG for what, value in {**VALUES, **NUMBERS}.items()]  # fmt: skip
    found.append(Case("nothing is wrong", _open, True))
    return found


@cache
def good() -> Path:
    top = Path(tempfile.mkdtemp(prefix="attack-"))
    import_checkpoint(resources.path("builtin", "model"), top / "store", top=8)
    return top / "store"


def _copy(folder: Path) -> Path:
    return shutil.copytree(good(), folder / "store")


def _open(folder: Path, path: Path | None = None) -> None:
    """As a session does before it asks for weights; then all of them."""
    path = path or _copy(folder)
    with Store.open(path) as store:
        check_small_files(store)
        spec_of(store)
    for problem in verify(path):
        raise OSError(problem)


def _standing(name: str, how: Callable[[Path], None], folder: Path) -> None:
    path = _copy(folder)
    (path / name).unlink()
    how(path / name)
    _open(folder, path)


def _bytes(name: str, data: bytes, folder: Path) -> None:
    path = _copy(folder)
    (path / name).write_bytes(data)
    _open(folder, path)


def _gone(name: str, folder: Path) -> None:
    path = _copy(folder)
    (path / name).unlink()
    _open(folder, path)


def _config(key: str, value: Any, folder: Path) -> None:
    path = _copy(folder)
    body = json.loads((path / manifests.NAME).read_bytes())
    body["config"][key] = value
    (path / manifests.NAME).write_bytes(signed(body))
    with Store.open(path) as store:
        spec_of(store)
