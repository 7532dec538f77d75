"""Phi-3.5-MoE's LongRoPE on both sides of the original context, where transformers needs help to be an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tests.engine.models.parity import PROMPT, STEPS, TOLERANCE, assert_parity, make_pair, oracle_logits


def phimoe(original: int) -> Any:
    rope = {
        "rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": original,
        "short_factor": [1.0 + i / 10 for i in range(6)], "long_factor": [2.0 + i for i in range(6)],
        "short_mscale": 1.1, "long_mscale": 1.3,
    }  # fmt: skip
    return AutoConfig.for_model(
        "phimoe", vocab_size=97, hidden_size=48, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
        num_local_experts=8, intermediate_size=24, max_position_embeddings=256,
        original_max_position_embeddings=original, rope_parameters=rope, pad_token_id=0,
    )  # fmt: skip


def long_factor_oracle(model: Any, ids: Sequence[int]) -> torch.Tensor:
    """transformers 5.23 asks for the short factors whatever the length; the model's own code passes the length on."""
    rotary = model.model.rotary_emb
    rotary.rope_init_fn = lambda config: ROPE_INIT_FUNCTIONS["longrope"](config, "cpu", seq_len=len(ids))
    return oracle_logits(model, ids)


def test_within_the_original_context(tmp_path: Path) -> None:
    assert_parity(phimoe(64), tmp_path)


def test_beyond_the_original_context(tmp_path: Path) -> None:
    assert_parity(phimoe(12), tmp_path, long_factor_oracle)


@pytest.fixture(scope="module")
def crossing(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return make_pair(phimoe(PROMPT + 4), tmp_path_factory.mktemp("phimoe"))


def test_a_prompt_fed_in_chunks_needs_to_know_its_length(crossing: Any) -> None:
    ids = [(7 * i) % 97 for i in range(PROMPT + STEPS)]
    wanted = long_factor_oracle(crossing.model, ids)[-1]

    def last(horizon: int) -> torch.Tensor:
        state = crossing.ours.new_state()
        crossing.ours.forward(ids[:PROMPT], state, "none", horizon)
        return crossing.ours.forward(ids[PROMPT:], state, "last", horizon)[0]

    assert (last(len(ids)) - wanted).abs().max() <= TOLERANCE
    assert (last(0) - wanted).abs().max() > 10 * TOLERANCE


def test_one_sequence_is_rotated_one_way(crossing: Any) -> None:
    decoder, ids = crossing.ours, [(5 * i) % 97 for i in range(PROMPT + 2)]
    told, not_told, short = decoder.new_state(), decoder.new_state(), decoder.new_state()
    for state, horizon in ((told, 200), (not_told, 200), (short, 0)):
        decoder.forward(ids[:PROMPT], state, "none", horizon)
    wanted = decoder.forward(ids[PROMPT:], told, "last", 200)
    assert torch.equal(decoder.forward(ids[PROMPT:], not_told, "last"), wanted)
    assert not torch.allclose(decoder.forward(ids[PROMPT:], short, "last"), wanted, atol=10 * TOLERANCE)


def test_a_state_says_when_it_cannot_go_on(crossing: Any) -> None:
    decoder = crossing.ours
    state = decoder.new_state()
    assert decoder.continues(state, 200)
    decoder.forward([1] * PROMPT, state)
    assert decoder.continues(state, PROMPT + 4)
    assert not decoder.continues(state, PROMPT + 5)
    state.rollback(0)
    decoder.forward([1] * PROMPT, state, horizon=200)
    assert decoder.continues(state, 200)
    assert not decoder.continues(state, PROMPT)
