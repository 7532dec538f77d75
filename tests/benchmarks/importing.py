"""What importing a large checkpoint takes of memory, and how fast it goes: nothing of it is on the disk.

    python -m tests.benchmarks.importing --shape mixtral --json

The checkpoint's files have holes where the weights would be, which read as zeros, and what the import writes is thrown
away: there is no disk to wait for, and zeros are quantized faster than weights (see quantization.py for those).
`ours`: the most resident memory of a process that imports; `ours_import`: of that, what the import itself added.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.hardware.probe import peak_rss
from tests.benchmarks.common import arguments, emit
from tests.random_models.shapes import SHAPES, Shape


def write_hollow(shape: Shape, folder: Path) -> int:
    """A checkpoint of this shape, bf16, all of its weights holes. Returns their bytes."""
    total = 0
    for layer in range(shape.layers):
        header: dict[str, Any] = {}
        at = 0
        for name, size in _tensors(shape, layer):
            end = at + 2 * size[0] * size[1]
            header[name] = {"dtype": "BF16", "shape": list(size), "data_offsets": [at, end]}
            at = end
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with (folder / f"model-{layer:05}.safetensors").open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(file.tell() + at)
        total += at
    (folder / "config.json").write_text(json.dumps(shape.config()))
    return total


def _tensors(shape: Shape, layer: int) -> list[tuple[str, tuple[int, int]]]:
    found = [(f"model.layers.{layer}.self_attn.q_proj.weight", (shape.hidden, shape.hidden))]
    for expert in range(shape.experts):
        found += ((shape.expert_tensor(layer, expert, m), size) for m, size in shape.matrices().items())
    return found


def run(source: Path, destination: Path) -> dict[str, Any]:
    """Import in this process, what is written of experts thrown away."""
    from engine.convert.importer import import_checkpoint
    from engine.store.output import OutputFiles
    from engine.store.writer import StoreWriter

    def nothing(*_: Any) -> None:
        pass

    StoreWriter._check_space = nothing  # type: ignore[method-assign]
    OutputFiles.write = nothing  # type: ignore[method-assign]
    before, start = peak_rss(), time.perf_counter()
    seconds = 0.0

    class Quantized(Exception):
        pass

    def report(phrase: str, done: int, total: int) -> None:
        nonlocal seconds
        if phrase.startswith("Quantizing") and done == total:
            seconds = time.perf_counter() - start
            raise Quantized

    with contextlib.suppress(Quantized):
        import_checkpoint(source, destination, progress=report)
    return {"peak": peak_rss(), "before": before, "seconds": seconds}


def measure(shape: Shape, gigabytes: float) -> dict[str, Any]:
    """In a process of its own, on so many layers as make these gigabytes."""
    layer = 2e9 * shape.experts * sum(rows * cols for rows, cols in shape.matrices().values()) / 1e9
    shape = replace(shape, layers=max(1, round(gigabytes * 1e9 / layer)))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        nbytes = write_hollow(shape, source)
        command = [sys.executable, "-m", "tests.benchmarks.importing", "--import", str(source), str(Path(folder) / "m")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    found = json.loads(done.stdout)
    return {
        "checkpoint_bytes": nbytes,
        "layers": shape.layers,
        "ours": found["peak"],
        "ours_import": found["peak"] - found["before"],
        "bar": 2_000_000_000,
        "seconds": round(found["seconds"], 1),
        "bytes_per_second": round(nbytes / found["seconds"]),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--shape", choices=tuple(SHAPES), default="mixtral")
    parser.add_argument("--gigabytes", type=float, default=15.0, help="of the checkpoint")
    parser.add_argument("--import", nargs=2, type=Path, dest="paths", help=argparse.SUPPRESS)
    args = parser.parse_args()
    found = run(*args.paths) if args.paths else measure(SHAPES[args.shape], args.gigabytes)
    emit(found, args.json or bool(args.paths))


if __name__ == "__main__":
    main()
