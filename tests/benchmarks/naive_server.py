"""A checkpoint in transformers with accelerate's disk offload, in a process of its own: a JSON line in, one out."""

from __future__ import annotations

import json
import sys
import time

import torch
from transformers import AutoModelForCausalLM, DynamicCache

from tests.benchmarks.pipe import serve


class Model:
    """One model and one sequence. room: bytes that accelerate may keep in memory; the rest it reads for every token."""

    def __init__(self, checkpoint: str, offload: str, room: int, threads: int) -> None:
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
