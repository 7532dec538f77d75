"""Everything a comparison needs on the disk, made once: our store of a shape, and the peer's files of the same weights.

    python -m tests.benchmarks.prepare --shape olmoe|qwen3|mixtral [--kinds Q4_0,Q8_0] [--folder FOLDER]

The checkpoint they are made from is deleted afterwards: it is random, and the same every time.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from tests.benchmarks.peer.environment import peer_python
from tests.benchmarks.pipe import ROOT
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.rolled import import_rolled
from tests.random_models.shapes import SHAPES, Shape

KINDS = {8: ("Q8_0",), 4: ("Q4_0", "Q4_K_M"), 2: ("Q2_K",)}  # the peer's types of about as many bits
CONVERT = "tests.benchmarks.peer.convert"


@dataclass(frozen=True)
class Prepared:
    """Where things are. files: the peer's, by kind."""

    python: Path
    store: Path
    files: dict[str, Path]


def default_folder() -> Path:
    """Where prepared models are kept."""
    return Path(platformdirs.user_cache_dir("underhill", appauthor=False)) / "benchmarks"


def prepare(shape: Shape, kinds: Sequence[str], folder: Path) -> Prepared:
    """Make what is missing."""
    python = peer_python(folder)
    here = folder / shape.name
    store, files = here / "store", {kind: here / f"{shape.name}-{kind}.gguf" for kind in kinds}
    missing = {kind: path for kind, path in files.items() if not path.exists()}
    if missing or not store.is_dir():
        checkpoint = here / "checkpoint"
        say(f"Writing {checkpoint}")
        write_checkpoint(shape, checkpoint)
        if not store.is_dir():
            say(f"Importing it as {store}")
            import_rolled(shape, checkpoint, store, lambda phrase, done, total: None)
        for kind, path in missing.items():
            say(f"Converting it to {path}")
            arguments = [json.dumps(dataclasses.asdict(shape)), checkpoint, path, kind]
            subprocess.run([python, "-m", CONVERT, *arguments], cwd=ROOT, check=True, stdout=sys.stderr)
        shutil.rmtree(checkpoint)
    return Prepared(python, store, files)


def say(what: str) -> None:
    """To whoever waits, apart from the figures."""
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=tuple(SHAPES), required=True)
    parser.add_argument("--kinds", default=",".join(kind for kinds in KINDS.values() for kind in kinds))
    parser.add_argument("--folder", type=Path, default=default_folder())
    args = parser.parse_args()
    prepare(SHAPES[args.shape], args.kinds.split(","), args.folder)


if __name__ == "__main__":
    main()
