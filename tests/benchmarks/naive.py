"""What everybody has at hand for a model bigger than memory: transformers with accelerate's disk offload, in bf16."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import Group, limited
from tests.benchmarks.common import say
from tests.benchmarks.pipe import Child, serve
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.shapes import Shape

OWN = 800_000_000  # bytes of the interpreter and its libraries
LAYERS_AT_ONCE = 1.5  # in bf16, while one is computed
AMPLE = 1 << 40  # while it loads: experts of a layer are stacked then, which takes more than running does


def narrowest(shape: Shape, share: float) -> Shape:
    """The cut with the fewest layers that runs at all under that share of its bf16 bytes: one layer must be in memory.

    Raises SystemExit where the whole shape does not.
    """
    for layers in range(1, shape.layers + 1):
        cut = replace(shape, layers=layers)
        if 2 * cut.weights() * share >= OWN + LAYERS_AT_ONCE * _layer_bytes(cut):
            return cut
    raise SystemExit(f"accelerate cannot run {shape.name} within {share:g} of its bytes.")


def run_naive(shape: Shape, share: float, threads: int, tokens: Sequence[int], folder: Path) -> dict[str, Any]:
    """Decode the tokens under a limit of that share of the bf16 bytes. The disk holds the model twice meanwhile.

    Returns the layers that were measured, the seconds of each token, the bytes that it might take and that it read a
    token, and what was on the disk. Raises SystemExit where accelerate is not installed, or the disk has not that much
    room.
    """
    if importlib.util.find_spec("accelerate") is None:
        raise SystemExit("accelerate is not installed here: pip install accelerate")
    here = folder / "naive"
    here.mkdir(parents=True, exist_ok=True)
    needed, free = 4 * shape.weights(), shutil.disk_usage(here).free
    if needed > free:
        raise SystemExit(f"accelerate's disk offload needs {needed / 1e9:.0f} GB in {here}; {free / 1e9:.0f} are free.")
    limit = int(2 * shape.weights() * share)
    room = max(1, limit - OWN - int(LAYERS_AT_ONCE * _layer_bytes(shape)))
    try:
        say(f"Writing {here}")
        write_checkpoint(shape, here / "checkpoint")
        with limited("naive", AMPLE) as group, child(here, room, threads, group) as model:
            drop_caches()
            group.limit(limit)
            model.decode(tokens[:1])
            before = model.bytes_read
            seconds = model.decode(tokens[1:])
            read, on_disk = (model.bytes_read - before) // len(seconds), model.ready["on_disk"]
    finally:
        shutil.rmtree(here, ignore_errors=True)
    return {
        "measured_layers": shape.layers,
        "seconds": [round(s, 2) for s in seconds],
        "limit": limit,
        "read_bytes": read,
        "on_disk": on_disk,
    }


def child(folder: Path, room: int, threads: int, group: Group | None = None) -> Child:
    """The checkpoint of a folder, opened in a process of its own. room: see Model."""
    places = {"checkpoint": str(folder / "checkpoint"), "offload": str(folder / "offload")}
    arguments = json.dumps({**places, "room": room, "threads": threads})
    command = [sys.executable, "-m", "tests.benchmarks.naive", arguments]
    return Child("accelerate", command if group is None else group.command(*command))


def _layer_bytes(shape: Shape) -> int:
    """Of one layer in bf16, which is in memory while it is computed."""
    return 2 * shape.weights() // shape.layers


class Model:
    """What runs in a process of its own: one model and one sequence.

    room: bytes that accelerate may keep in memory; the rest it reads for every token.
    """

    def __init__(self, checkpoint: str, offload: str, room: int, threads: int) -> None:
        from transformers import AutoModelForCausalLM, DynamicCache

        torch.set_num_threads(threads)
        self._model = AutoModelForCausalLM.from_pretrained(
            checkpoint, dtype=torch.bfloat16, device_map="auto", max_memory={"cpu": room}, offload_folder=offload
        )
        self._past = DynamicCache(config=self._model.config)
        places = self._model.hf_device_map
        self.about = {"on_disk": sorted(name or "everything" for name, place in places.items() if place == "disk")}

    def decode(self, tokens: list[int]) -> list[float]:
        """Seconds of each token, going on where the last call ended."""
        taken = []
        for token in tokens:
            start = time.perf_counter()
            with torch.inference_mode():
                self._model(torch.tensor([[token]]), past_key_values=self._past, use_cache=True)
            taken.append(time.perf_counter() - start)
        return taken


if __name__ == "__main__":
    model = Model(**json.loads(sys.argv[1]))
    serve(model, model.about)
