"""How fast a model is imported while it arrives, against downloading it and importing it, from a hub on loopback.

    python -m tests.benchmarks.streaming --json
    python -m tests.benchmarks.streaming --rate 60

A random checkpoint of OLMoE's experts is served by another process of this computer, which takes a part of its cores,
as a real network does not; --rate makes it as slow as one. `floor`: the longer of the two alone, downloading and
importing; a stream cannot be faster. `both`: one after the other. `held`: the most disk that the stream took beside the
store. `network`: the checkpoint's bytes at --rate, all connections together; what a stream takes beyond it is what the
import does not hide.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import torch
from safetensors.torch import save_file

from engine.hardware.probe import peak_rss
from tests.benchmarks.common import arguments, emit
from tests.random_models.shapes import SHAPES, Shape


def write_random(shape: Shape, folder: Path) -> int:
    """A checkpoint of this shape, bf16, one file a layer. Returns its bytes."""
    generator = torch.Generator().manual_seed(1)
    for layer in range(shape.layers):
        tensors = {
            shape.expert_tensor(layer, expert, name): (torch.randn(size, generator=generator) * 0.02).bfloat16()
            for expert in range(shape.experts)
            for name, size in shape.matrices().items()
        }
        query = torch.randn(shape.hidden, shape.hidden, generator=generator) * 0.02
        tensors[f"model.layers.{layer}.self_attn.q_proj.weight"] = query.bfloat16()
        save_file(tensors, folder / f"model-{layer:05}.safetensors")
    (folder / "config.json").write_text(json.dumps(shape.config()))
    return sum(p.stat().st_size for p in folder.iterdir())


def serve(folder: Path, rate: float) -> None:
    """A hub with one model, until the other side closes the pipe. rate: bytes a second in all; 0 is all it can."""
    from tests.hubserver import HubServer

    with HubServer(line=rate) as server:
        server.add("random/moe", folder)
        print(server.url, flush=True)
        sys.stdin.read()


def measure(way: str, endpoint: str, place: Path) -> dict[str, Any]:
    """One way, in this process."""
    from engine.convert.importer import import_checkpoint
    from engine.hub import streaming
    from engine.hub.client import connect
    from engine.hub.download import download
    from engine.hub.meter import DownloadProgress
    from engine.hub.outline import read_outline

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    folder, most = place / "downloads" / "moe", 0

    def look(_: DownloadProgress) -> None:
        nonlocal most
        held = [p.stat().st_blocks * 512 for p in (folder / "arriving").glob("*") if p.exists()]
        most = max(most, sum(held))

    with connect({"endpoint": endpoint}) as hub:
        outline = read_outline(hub, "random/moe")
        before, start = peak_rss(), time.perf_counter()
        if way == "stream":
            with streaming.opened(hub, outline, folder, True, report=look) as incoming:
                import_checkpoint(incoming, place / "streamed")
        elif way == "download":
            download(hub, outline, folder)
        else:
            import_checkpoint(folder, place / "imported")
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "held": most, "memory": peak_rss() - before}


def compare(gigabytes: float, rate: float) -> dict[str, Any]:
    """All ways, each in a process of its own."""
    shape = SHAPES["olmoe"]
    layer = 2e-9 * shape.experts * sum(rows * columns for rows, columns in shape.matrices().values())
    shape = replace(shape, layers=max(1, round(gigabytes / layer)))
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        (place / "served").mkdir()
        nbytes = write_random(shape, place / "served")
        command = [sys.executable, "-m", "tests.benchmarks.streaming"]
        hub = [*command, "--serve", str(place / "served"), "--rate", str(rate)]
        server = subprocess.Popen(hub, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            url, found = server.stdout.readline().strip(), {}
            for way in ("stream", "download", "import"):
                one = subprocess.run([*command, "--measure", way, url, temporary], capture_output=True, text=True,
                                     check=True, env=dict(os.environ))  # fmt: skip
                found[way] = json.loads(one.stdout)
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
    parser = arguments(__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.8, help="of the checkpoint")
    parser.add_argument("--rate", type=float, default=0.0, help="MB a second that the network gives; 0: no limit")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve, args.rate * 1e6)
    elif args.measure:
        print(json.dumps(measure(args.measure[0], args.measure[1], Path(args.measure[2]))))
    else:
        emit(compare(args.gigabytes, args.rate), args.json)


if __name__ == "__main__":
    main()
