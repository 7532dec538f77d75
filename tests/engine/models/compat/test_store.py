"""From a checkpoint through a store on disk and a cache too small for it: the logits stay those of transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.convert.importer import import_checkpoint
from engine.convert.skeleton import build_skeleton, routed_experts
from engine.experts.runtime import open_runtime
from engine.models.compat.decoder import CompatDecoder
from engine.store.reader import Store

pytestmark = pytest.mark.long


@pytest.mark.parametrize("model_type", ["aria_text", "jamba", "muse_spark", "nemotron_h"])
def test_parity_through_the_store(saved: Callable[[str], tuple[Path, Any]], model_type: str, tmp_path: Path) -> None:
    path, theirs = saved(model_type)
    ids = list(range(3, 19))
    with Store.open(import_checkpoint(path, tmp_path / "store", top=32)) as store:
        activation = routed_experts(build_skeleton(store.config).experts[0]).activation
        runtime = open_runtime(store, activation, store.expert_bytes() // 4, threads=1)
        try:
            decoder = CompatDecoder(store.config, store.dense, runtime)
            state = decoder.new_state()
            first = decoder.forward(ids[:10], state, "all")
            rest = [decoder.forward([token], state) for token in ids[10:]]
            misses, experts = runtime.snapshot().misses, sum(store.experts(layer) for layer in store.layers)
        finally:
            runtime.close()
    assert first is not None
    ours = torch.cat([first, *(logits for logits in rest if logits is not None)])
    with torch.no_grad():
        wanted = theirs(torch.tensor([ids])).logits[0]
    torch.testing.assert_close(ours, wanted, atol=1e-5, rtol=0)
    assert misses > experts // 4  # more than the cache holds
