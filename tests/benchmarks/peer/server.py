"""Runs in the peer's Python: opens a model in llama.cpp and times what it is asked to, a JSON line in, one out."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from typing import Any

import gguf
import llama_cpp as llama

from tests.benchmarks.pipe import serve


class Model:
    """One model and one sequence, or so many slots."""

    def __init__(
        self, model: str, threads: int, context: int, repack: bool, slots: int = 1, flash: bool = True, at_once: int = 0
    ) -> None:
        llama.llama_backend_init()
        params = llama.llama_model_default_params()
        params.use_extra_bufts = repack
        params.n_gpu_layers = 0
        self._model = llama.llama_model_load_from_file(model.encode(), params)
        if not self._model:
            raise SystemExit(f"llama.cpp cannot load {model}")
        settings = llama.llama_context_default_params()
        settings.n_ctx = settings.n_batch = context
        settings.n_ubatch = at_once or context
        settings.flash_attn_type = int(flash)  # LLAMA_FLASH_ATTN_TYPE_DISABLED, _ENABLED
        settings.n_threads = settings.n_threads_batch = threads
        settings.n_seq_max = slots
        settings.no_perf = True
        self._context = llama.llama_init_from_model(self._model, settings)
        if not self._context:
            raise SystemExit("llama.cpp cannot make a context")
        self._vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self._model))

        self.token_bytes = _token_bytes(model)

    def clear(self) -> None:
        llama.llama_memory_clear(llama.llama_get_memory(self._context), True)

    def _feed(self, tokens: list[int]) -> None:
        array = (llama.llama_token * len(tokens))(*tokens)
        if llama.llama_decode(self._context, llama.llama_batch_get_one(array, len(tokens))):
            raise SystemExit("llama_decode failed")

    def _last(self) -> Any:
        return llama.llama_get_logits_ith(self._context, -1)

    def decode(self, tokens: list[int], size: int = 1) -> float:
        start = time.perf_counter()
        for at in range(0, len(tokens), size):
            self._feed(tokens[at : at + size])
            self._last()
        return time.perf_counter() - start

    def prefill(self, tokens: list[int]) -> float:
        self.clear()
        start = time.perf_counter()
        self._feed(tokens)
        self._last()
        return time.perf_counter() - start

    def answers(self, prompts: list[list[int]], length: int) -> float:
        """Seconds to read each prompt into a slot of its own and to decode so many tokens in all of them at once."""
        self.clear()
        start = time.perf_counter()
        for slot, tokens in enumerate(prompts):
            self._feed_slots([(slot, at, token) for at, token in enumerate(tokens)], len(tokens) - 1)
        for step in range(length - 1):
            places = [(slot, len(tokens) + step, tokens[step % len(tokens)]) for slot, tokens in enumerate(prompts)]
            self._feed_slots(places, 0)
        return time.perf_counter() - start

    def _feed_slots(self, places: list[tuple[int, int, int]], first: int) -> None:
        """Slots, positions and tokens in one batch, with logits from the place `first` on."""
        batch = llama.llama_batch_init(len(places), 0, 1)
        try:
            batch.n_tokens = len(places)
            for row, (slot, position, token) in enumerate(places):
                batch.token[row], batch.pos[row] = token, position
                batch.n_seq_id[row], batch.seq_id[row][0] = 1, slot
                batch.logits[row] = row >= first
            if llama.llama_decode(self._context, batch):
                raise SystemExit("llama_decode failed")
            for row in range(first, len(places)):
                llama.llama_get_logits_ith(self._context, row)
        finally:
            llama.llama_batch_free(batch)

    def logits(self, tokens: list[int]) -> list[list[float]]:
        self.clear()
        rows = []
        for token in tokens:
            self._feed([token])
            rows.append(list(ctypes.cast(self._last(), ctypes.POINTER(ctypes.c_float))[: self._vocabulary]))
        return rows


def _token_bytes(path: str) -> int:
    """Bytes of the weights that one token meets: all but the embedding, and of the experts those in use."""
    reader = gguf.GGUFReader(path)
    values = {name.split(".")[-1]: field.contents() for name, field in reader.fields.items()}
    share = values["expert_used_count"] / values["expert_count"]
    weights = (t for t in reader.tensors if not t.name.startswith("token_embd"))
    return int(sum(t.n_bytes * (share if "_exps" in t.name else 1.0) for t in weights))


if __name__ == "__main__":
    model = Model(**json.loads(sys.argv[1]))
    serve(model, model.token_bytes)
