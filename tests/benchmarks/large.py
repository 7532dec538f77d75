"""A pair of models of 8 GB or more at 4 bits, made once: our store of a shape, and the peer's file of the same weights.

    python -m tests.benchmarks.large --shape olmoe|qwen3|mixtral [--layers N] [--tier 4] [--alone] [--keep-only]
        [--folder FOLDER]

Both are made from every layer's first expert, of which the others are the rows in other orders, so nothing of the size
of the unquantized model is ever written. A pair takes about 18 GB, and Mixtral 5 GB more while it is made. --alone
makes our store only, which is half of it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.benchmarks.peer.environment import peer_python
from tests.benchmarks.pipe import ROOT
from tests.benchmarks.prepare import CONVERT, default_folder, say
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.quantized import write_store
from tests.random_models.shapes import SHAPES, Shape, large

KINDS = {8: "Q8_0", 4: "Q4_0", 2: "Q2_K"}  # the peer's type of about as many bits
TOPS = {8: 8, 4: 4, 2: 4}  # what our store holds, for a tier
BITS = {8: 8.5, 4: 4.5, 2: 2.5}  # a weight, scales included


@dataclass(frozen=True)
class Model:
    """Our store, to be run at a tier."""

    shape: Shape
    tier: int
    store: Path

    @property
    def nbytes(self) -> int:
        """Bytes of all its weights at these bits: what a share of memory is a share of."""
        return int(self.shape.weights() * BITS[self.tier] / 8)


@dataclass(frozen=True)
class Rival:
    """The peer's file of the same weights, and the peer's Python."""

    python: Path
    file: Path


class Seed:
    """A checkpoint with every layer's first expert, written when it is first asked for."""

    def __init__(self, shape: Shape, path: Path) -> None:
        self.shape, self._path = shape, path

    @cached_property
    def path(self) -> Path:
        """Where it is."""
        say(f"Writing {self._path}")
        write_checkpoint(self.shape, self._path, first_only=True)
        return self._path


def prepare_model(shape: Shape, tier: int, folder: Path, *, keep_only: bool = False) -> Model:
    """Our store, made if it is missing. keep_only: first remove what was made of all other shapes."""
    with _seed(shape, folder, keep_only) as seed:
        return _model(seed, tier, folder)


def prepare_pair(shape: Shape, tier: int, folder: Path, *, keep_only: bool = False) -> tuple[Model, Rival]:
    """Both, what is missing of them made."""
    with _seed(shape, folder, keep_only) as seed:
        return _model(seed, tier, folder), _rival(seed, tier, folder)


def _place(shape: Shape, folder: Path) -> Path:
    return folder / "large" / shape.name


@contextmanager
def _seed(shape: Shape, folder: Path, keep_only: bool) -> Iterator[Seed]:
    here = _place(shape, folder)
    for other in here.parent.iterdir() if keep_only and here.parent.is_dir() else ():
        if other != here:
            say(f"Removing {other}")
            shutil.rmtree(other)
    path = here / "seed"
    yield Seed(shape, path)
    if path.is_dir():
        shutil.rmtree(path)


def _model(seed: Seed, tier: int, folder: Path) -> Model:
    store = _place(seed.shape, folder) / f"store-{TOPS[tier]}"
    if not store.is_dir():
        path = seed.path
        say(f"Writing {store}")
        write_store(seed.shape, path, store, TOPS[tier], say)
    return Model(seed.shape, tier, store)


def _rival(seed: Seed, tier: int, folder: Path) -> Rival:
    python, kind = peer_python(folder), KINDS[tier]
    file = _place(seed.shape, folder) / f"{seed.shape.name}-{kind}.gguf"
    if not file.exists():
        path = seed.path
        say(f"Writing {file}")
        arguments = [json.dumps(dataclasses.asdict(seed.shape)), path, file, kind]
        subprocess.run([python, "-m", CONVERT, *arguments], cwd=ROOT, check=True, stdout=sys.stderr)
    return Rival(python, file)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=tuple(SHAPES), required=True)
    parser.add_argument("--layers", type=int, help="another cut of the model")
    parser.add_argument("--tier", type=int, choices=tuple(KINDS), default=4)
    parser.add_argument("--alone", action="store_true", help="our store without the peer's file")
    parser.add_argument("--keep-only", action="store_true", help="remove other shapes' pairs first")
    parser.add_argument("--folder", type=Path, default=default_folder())
    args = parser.parse_args()
    make = prepare_model if args.alone else prepare_pair
    make(large(args.shape, args.layers), args.tier, args.folder, keep_only=args.keep_only)


if __name__ == "__main__":
    main()
