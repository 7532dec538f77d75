"""A pair of models of 8 GB or more at 4 bits, made once: our store of a shape, and the peer's file of the same weights.

    python -m tests.benchmarks.large --shape olmoe|qwen3|mixtral [--layers N] [--tier 4] [--keep-only] [--folder FOLDER]

Both are made from every layer's first expert, of which the others are the rows in other orders, so nothing of the size
of the unquantized model is ever written. A pair takes about 18 GB, and Mixtral 5 GB more while it is made.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.checkpoint import write_checkpoint
from tests.benchmarks.peer.environment import peer_python
from tests.benchmarks.pipe import ROOT
from tests.benchmarks.prepare import CONVERT, default_folder, say
from tests.benchmarks.quantized import write_store
from tests.benchmarks.shapes import SHAPES, Shape, large

KINDS = {8: "Q8_0", 4: "Q4_0", 2: "Q2_K"}  # the peer's type of about as many bits
TOPS = {8: 8, 4: 4, 2: 4}  # what our store holds, for a tier


@dataclass(frozen=True)
class Pair:
    """Where things are. python: the peer's."""

    shape: Shape
    python: Path
    store: Path
    file: Path

    @property
    def nbytes(self) -> int:
        """Bytes of the quantized model: of the peer's file, which are those of our experts and dense weights too."""
        return self.file.stat().st_size


def prepare_pair(shape: Shape, tier: int, folder: Path, *, keep_only: bool = False) -> Pair:
    """Make what is missing. keep_only: first remove the pairs of all other shapes."""
    python = peer_python(folder)
    here = folder / "large" / shape.name
    if keep_only and here.parent.is_dir():
        for other in here.parent.iterdir():
            if other != here:
                say(f"Removing {other}")
                shutil.rmtree(other)
    store, file = here / f"store-{TOPS[tier]}", here / f"{shape.name}-{KINDS[tier]}.gguf"
    if not store.is_dir() or not file.exists():
        seed = here / "seed"
        say(f"Writing {seed}")
        write_checkpoint(shape, seed, first_only=True)
        if not file.exists():
            say(f"Writing {file}")
            arguments = [json.dumps(dataclasses.asdict(shape)), seed, file, KINDS[tier]]
            subprocess.run([python, "-m", CONVERT, *arguments], cwd=ROOT, check=True, stdout=sys.stderr)
        if not store.is_dir():
            say(f"Writing {store}")
            write_store(shape, seed, store, TOPS[tier], say)
        shutil.rmtree(seed)
    return Pair(shape, python, store, file)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=tuple(SHAPES), required=True)
    parser.add_argument("--layers", type=int, help="another cut of the model")
    parser.add_argument("--tier", type=int, choices=tuple(KINDS), default=4)
    parser.add_argument("--keep-only", action="store_true", help="remove other shapes' pairs first")
    parser.add_argument("--folder", type=Path, default=default_folder())
    args = parser.parse_args()
    prepare_pair(large(args.shape, args.layers), args.tier, args.folder, keep_only=args.keep_only)


if __name__ == "__main__":
    main()
