"""What importing a large checkpoint takes of memory and of time, from files and while it arrives.

    python -m tests.benchmarks.importing --shape mixtral [--gigabytes 15] --json
    python -m tests.benchmarks.importing --stream [--rate 60] --json

The checkpoint's files have holes where the weights would be, which read as zeros, and what the import writes is thrown
away: there is no disk to wait for, and zeros are quantized faster than weights (see quantization.py for those).
`ours`: the most resident memory of a process that imports; `ours_import`: of that, what the import itself added.

--stream: while it arrives, against downloading it and importing it. A random checkpoint of OLMoE's experts is served by
another process of this computer, which takes a part of its cores, as a real network does not; --rate makes it as slow
as one. `floor`: the longer of the two alone, downloading and importing; a stream cannot be faster. `both`: one after
the other. `held`: the most disk that the stream took beside the store. `network`: the checkpoint's bytes at --rate, all
connections together; what a stream takes beyond it is what the import does not hide.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import torch

from engine.hardware.probe import peak_rss
from tests.benchmarks.common import arguments, emit
from tests.random_models.shapes import SHAPES, Shape

COMMAND = [sys.executable, "-m", "tests.benchmarks.importing"]


def cut(shape: Shape, gigabytes: float) -> Shape:
    """As many layers as make these gigabytes in bf16."""
    layer = 2e-9 * shape.experts * sum(rows * columns for rows, columns in shape.matrices().values())
    return replace(shape, layers=max(1, round(gigabytes / layer)))


def write(shape: Shape, folder: Path, random: torch.Generator | None = None) -> int:
    """A checkpoint of this shape, bf16, one file a layer; returns the bytes of its weights.

    random: what they are drawn from; None leaves holes, which read as zeros.
    """
    total = 0
    for layer in range(shape.layers):
        header: dict[str, Any] = {}
        at = 0
        for name, (rows, columns) in _tensors(shape, layer):
            end = at + 2 * rows * columns
            header[name] = {"dtype": "BF16", "shape": [rows, columns], "data_offsets": [at, end]}
            at = end
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with (folder / f"model-{layer:05}.safetensors").open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for _, size in _tensors(shape, layer) if random is not None else ():
                weights = torch.randn(size, generator=random).mul_(0.02).bfloat16()
                file.write(weights.view(torch.uint8).numpy().data)
            file.truncate(8 + len(text) + at)
        total += at
    (folder / "config.json").write_text(json.dumps(shape.config()))
    return total


def _tensors(shape: Shape, layer: int) -> list[tuple[str, tuple[int, int]]]:
    found = [(f"model.layers.{layer}.self_attn.q_proj.weight", (shape.hidden, shape.hidden))]
    for expert in range(shape.experts):
        found += ((shape.expert_tensor(layer, expert, m), size) for m, size in shape.matrices().items())
    return found


def import_hollow(source: Path, destination: Path) -> dict[str, Any]:
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


def serve(folder: Path, rate: float) -> None:
    """A hub with one model, until the other side closes the pipe. rate: bytes a second in all; 0 is all it can."""
    from tests.hubserver import HubServer

    with HubServer(line=rate) as server:
        server.add("random/moe", folder)
        print(server.url, flush=True)
        sys.stdin.read()


def import_served(way: str, endpoint: str, place: str) -> dict[str, Any]:
    """One way, in this process."""
    from engine.convert.importer import import_checkpoint
    from engine.hub import streaming
    from engine.hub.client import connect
    from engine.hub.control import DownloadProgress
    from engine.hub.download import download
    from engine.hub.outline import read_outline

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    folder, most = Path(place) / "downloads" / "moe", 0

    def look(_: DownloadProgress) -> None:
        nonlocal most
        held = [p.stat().st_blocks * 512 for p in (folder / "arriving").glob("*") if p.exists()]
        most = max(most, sum(held))

    with connect({"endpoint": endpoint}) as hub:
        outline = read_outline(hub, "random/moe")
        before, start = peak_rss(), time.perf_counter()
        if way == "stream":
            with streaming.opened(hub, outline, folder, True, report=look) as incoming:
                import_checkpoint(incoming, Path(place) / "streamed")
        elif way == "download":
            download(hub, outline, folder)
        else:
            import_checkpoint(folder, Path(place) / "imported")
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "held": most, "memory": peak_rss() - before}


def apart(*arguments: object) -> Any:
    """What this program says of itself in a process of its own."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def from_files(shape: Shape) -> dict[str, Any]:
    """What an import of files takes."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        nbytes = write(shape, source)
        found = apart("--import", source, Path(folder) / "m")
    return {
        "checkpoint_bytes": nbytes,
        "layers": shape.layers,
        "ours": found["peak"],
        "ours_import": found["peak"] - found["before"],
        "bar": 2_000_000_000,
        "seconds": round(found["seconds"], 1),
        "bytes_per_second": round(nbytes / found["seconds"]),
    }


def streamed(shape: Shape, rate: float) -> dict[str, Any]:
    """All ways, each in a process of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        (place / "served").mkdir()
        nbytes = write(shape, place / "served", torch.Generator().manual_seed(1))
        hub = [*COMMAND, "--serve", str(place / "served"), "--rate", str(rate)]
        server = subprocess.Popen(hub, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            url, found = server.stdout.readline().strip(), {}
            for way in ("stream", "download", "import"):
                found[way] = apart("--way", way, url, place)
        finally:
            server.stdin.close()
            server.wait(10)
    stream, download, alone = (found[way]["seconds"] for way in ("stream", "download", "import"))
    network = nbytes / rate / 1e6 if rate else 0.0
    return {
        "checkpoint_bytes": nbytes,
        "stream_seconds": round(stream, 2),
        "download_seconds": round(download, 2),
        "import_seconds": round(alone, 2),
        "floor_seconds": round(max(download, alone), 2),
        "stream_over_floor": round(stream / max(download, alone), 3),
        "stream_over_both": round(stream / (download + alone), 3),
        "stream_bytes_per_second": round(nbytes / stream),
        **({"network_seconds": round(network, 2), "stream_over_network": round(stream / network, 3)} if rate else {}),
        "held_bytes": found["stream"]["held"],
        "memory_bytes": found["stream"]["memory"],
        "import_memory_bytes": found["import"]["memory"],
    }


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--shape", choices=tuple(SHAPES), default="mixtral")
    parser.add_argument("--stream", action="store_true", help="import OLMoE's experts while they arrive")
    parser.add_argument("--gigabytes", type=float, help="of the checkpoint; 15, streamed 0.8")
    parser.add_argument("--rate", type=float, default=0.0, help="MB a second that the network gives; 0: no limit")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--import", nargs=2, type=Path, dest="paths", help=argparse.SUPPRESS)
    parser.add_argument("--way", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve, args.rate * 1e6)
    elif args.paths or args.way:
        print(json.dumps(import_hollow(*args.paths) if args.paths else import_served(*args.way)))
    elif args.stream:
        emit(streamed(cut(SHAPES["olmoe"], args.gigabytes or 0.8), args.rate), args.json)
    else:
        emit(from_files(cut(SHAPES[args.shape], args.gigabytes or 15.0)), args.json)


if __name__ == "__main__":
    main()
