"""What does a comparison need on the disk? Made once: our store of a shape, the peer's files of the same weights.

    python -m tests.benchmarks.prepare --shape olmoe|qwen3|mixtral [--large] [--layers N] [--tier 4] [--kinds Q4_0,Q8_0]
        [--alone] [--keep-only] [--folder FOLDER]

Both are made from every layer's first expert, of which the others are the rows in other orders, so nothing of the size
of the unquantized model is ever written. --large: as many layers and experts as take 8 GB at 4 bits; a pair of these
takes about 18 GB, and Mixtral 5 GB more while it is made. --alone makes our store only, which is half of it.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.benchmarks.common import arguments, say, several
from tests.benchmarks.peer.client import peer_python
from tests.benchmarks.pipe import ROOT
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.quantized import write_store
from tests.random_models.shapes import SHAPES, Shape, large

KINDS = {8: ("Q8_0",), 4: ("Q4_0", "Q4_K_M"), 2: ("Q2_K",)}  # the peer's types of about as many bits, the plain first
TOPS = {8: 8, 4: 4, 2: 4}  # what the store of a large shape holds, for a tier
BITS = {8: 8.5, 4: 4.5, 2: 2.5}  # a weight, scales included
CONVERT = "tests.benchmarks.peer.convert"


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
    """The peer's files of the same weights, by type, and the peer's Python."""

    python: Path
    files: dict[str, Path]

    @property
    def file(self) -> Path:
        """The first of them."""
        return next(iter(self.files.values()))


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


def prepare_model(shape: Shape, tier: int, folder: Path, *, top: int | None = None, keep_only: bool = False) -> Model:
    """Our store, made if it is missing. top: bits it holds. keep_only: first remove what was made of other shapes."""
    with _seed(shape, folder, keep_only) as seed:
        return _model(seed, tier, top or TOPS[tier], folder)


def prepare_pair(
    shape: Shape,
    tier: int,
    folder: Path,
    kinds: Sequence[str] | None = None,
    *,
    top: int | None = None,
    keep_only: bool = False,
) -> tuple[Model, Rival]:
    """Both, what is missing of them made. kinds: the peer's types; by default the plain one of the tier."""
    with _seed(shape, folder, keep_only) as seed:
        return _model(seed, tier, top or TOPS[tier], folder), _rival(seed, kinds or KINDS[tier][:1], folder)


@contextmanager
def _seed(shape: Shape, folder: Path, keep_only: bool) -> Iterator[Seed]:
    for other in folder.iterdir() if keep_only and folder.is_dir() else ():
        if other.name.partition("-")[0] in SHAPES and other != folder / shape.name:
            say(f"Removing {other}")
            shutil.rmtree(other)
    path = folder / shape.name / "seed"
    yield Seed(shape, path)
    if path.is_dir():
        shutil.rmtree(path)


def _model(seed: Seed, tier: int, top: int, folder: Path) -> Model:
    store = folder / seed.shape.name / f"store-{top}"
    if not store.is_dir():
        path = seed.path
        say(f"Writing {store}")
        write_store(seed.shape, path, store, top, say)
    return Model(seed.shape, tier, store)


def _rival(seed: Seed, kinds: Sequence[str], folder: Path) -> Rival:
    python, name = peer_python(folder), seed.shape.name
    files = {kind: folder / name / f"{name}-{kind}.gguf" for kind in kinds}
    for kind, file in files.items():
        if not file.exists():
            path = seed.path
            say(f"Writing {file}")
            arguments = [json.dumps(dataclasses.asdict(seed.shape)), path, file, kind]
            subprocess.run([python, "-m", CONVERT, *arguments], cwd=ROOT, check=True, stdout=sys.stderr)
    return Rival(python, files)


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "shape", "layers", "tier", "folder", "keep-only", json=False)
    parser.add_argument("--large", action="store_true", help="8 GB of it at 4 bits")
    parser.add_argument("--kinds", type=several(str), help="the peer's types; default: the plain one of the tier")
    parser.add_argument("--alone", action="store_true", help="our store without the peer's files")
    args = parser.parse_args()
    shape, top = SHAPES[args.shape], 8
    if args.large or args.layers:
        shape, top = large(args.shape, args.layers), TOPS[args.tier]
    if args.alone:
        prepare_model(shape, args.tier, args.folder, top=top, keep_only=args.keep_only)
    else:
        prepare_pair(shape, args.tier, args.folder, args.kinds, top=top, keep_only=args.keep_only)


if __name__ == "__main__":
    main()
