"""Prompts longer than one chunk of anything: cache pieces, DeltaNet's chunks, windows; and lighter weights on them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.layers.weight_format import WeightFormat
from tests.engine.models.families.tiny import FAMILIES, YARN, tiny
from tests.engine.models.parity import TOLERANCE, make_pair, oracle_logits

LENGTH = 300  # the cache's first piece holds 256 rows; DeltaNet works in chunks of 64
GAIN = {"gemma4_text": 2.0}  # see its own test
CHANGES = {"deepseek_v3": {"rope_parameters": YARN}, "gemma4_text": {"sliding_window": 40}}


def _fed(decoder: Decoder, ids: list[int], cuts: list[int]) -> Tensor:
    state = decoder.new_state()
    logits = [decoder.forward(part, state, "all", len(ids)) for part in torch.tensor(ids).split(cuts)]
    return torch.cat([part for part in logits if part is not None])


@pytest.fixture
def ids() -> list[int]:
    """A long prompt."""
    found: list[int] = torch.randint(0, 97, (LENGTH,), generator=torch.Generator().manual_seed(3)).tolist()
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_parity_over_chunks_and_a_long_cache(family: str, ids: list[int], tmp_path: Path) -> None:
    pair = make_pair(tiny(family, **CHANGES.get(family, {})), tmp_path, gain=GAIN.get(family, 4.0))
    wanted = oracle_logits(pair.model, ids)
    for cuts in ([LENGTH], [150, 130, 16, 1, 1, 1, 1]):
        difference = (_fed(pair.ours, ids, cuts) - wanted).abs()
        print(f"{family} in {len(cuts)}: max {difference.max():.1e} mean {difference.mean():.1e}")
        assert difference.max() <= TOLERANCE


@pytest.mark.parametrize("family", FAMILIES)
def test_lighter_weights_say_nearly_the_same(family: str, ids: list[int], tmp_path: Path) -> None:
    """Mean KL divergence from float32; the bounds are several times what was seen."""
    config = tiny(family, **CHANGES.get(family, {}))
    pair = make_pair(config, tmp_path / "f32", gain=GAIN.get(family, 4.0))
    wanted = _fed(pair.ours, ids, [LENGTH]).log_softmax(-1)
    spread = (wanted.softmax(-1) * (wanted - wanted.mean(0))).sum(-1).mean()
    for dense in ("bf16", "int8"):
        light = make_pair(
            config,
            tmp_path / dense,
            gain=GAIN.get(family, 4.0),
            dense=WeightFormat(dense, kernel=NativeKernel(1)),
            kv_dtype=torch.bfloat16,
        )
        found = _fed(light.ours, ids, [290, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]).log_softmax(-1)
        kl = (wanted.softmax(-1) * (wanted - found)).sum(-1).mean()
        print(f"{family} {dense}: KL {kl:.1e} of {spread:.1e}")
        assert kl < 0.1 * spread
