"""The decoder's promises beside parity: what is asked for comes back, weights are checked, experts stay apart."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.convert.expert_plan import plan_experts
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.models.compat.decoder import CompatDecoder
from tests.engine.models.compat.checkpoint import Dense, MemoryExperts, random_model, shapes
from tests.engine.models.compat.parity import open_compat
from tests.engine.models.compat.tiny import DIFFERENT, tiny_config

Saved = Callable[[str], tuple[Path, Any]]
IDS = [5, 6, 7, 8, 9]


class Patched(Dense):
    """Dense weights with some of them gone or changed."""

    def __init__(self, path: Path, gone: str = "", changed: dict[str, Tensor] | None = None) -> None:
        checkpoint = Checkpoint.open(path)
        super().__init__(checkpoint, plan_experts(checkpoint.config, shapes(checkpoint)))
        self.gone, self.changed = gone, changed or {}

    def __iter__(self) -> Any:
        return (name for name in (*self.plan.dense, *(set(self.changed) - set(self.plan.dense))) if name != self.gone)

    def get(self, name: str) -> Tensor:
        return self.changed[name] if name in self.changed else super().get(name)

    def open(self, **kwargs: Any) -> CompatDecoder:
        backend = MemoryExperts(self.checkpoint, self.plan)
        decoder = CompatDecoder(self.checkpoint.config, self, backend, **kwargs)
        backend.activations = {layer: routed.activation for layer, routed in decoder.experts.items()}
        return decoder


def test_logits_of_the_last_of_all_or_of_none(saved: Saved) -> None:
    decoder, _ = open_compat(saved("kolibri1")[0])
    everything = decoder.forward(IDS, decoder.new_state(), "all")
    last = decoder.forward(torch.tensor(IDS), decoder.new_state())
    state = decoder.new_state()
    assert decoder.forward(IDS, state, "none") is None
    assert everything is not None
    assert last is not None
    assert everything.shape == (5, 96)
    assert last.shape == (1, 96)
    assert everything.dtype == last.dtype == torch.float32
    torch.testing.assert_close(everything[-1:], last, atol=1e-6, rtol=0)
    assert state.length == 5


def test_a_missing_tensor_is_named(saved: Saved) -> None:
    path, _ = saved("kolibri1")
    for gone in ("model.layers.1.self_attn.q_proj.weight", "model.layers.2.moe.router.expert_bias"):
        with pytest.raises(UnderhillError) as raised:
            Patched(path, gone=gone).open()
        assert raised.value.kind == Kind.MISSING_FILE
        assert gone.split(".")[2] in raised.value.sentence


def test_a_tensor_of_the_wrong_shape_is_named(saved: Saved) -> None:
    name = "model.layers.1.self_attn.q_proj.weight"
    with pytest.raises(UnderhillError, match=r"q_proj.*\(3, 3\)") as raised:
        Patched(saved("kolibri1")[0], changed={name: torch.zeros(3, 3)}).open()
    assert raised.value.kind == Kind.BROKEN_FILE


def test_a_head_tied_to_the_embedding_needs_no_tensor(saved: Saved) -> None:
    path, _ = saved("kolibri1")
    dense = Patched(path, gone="lm_head.weight")
    dense.checkpoint.config["tie_word_embeddings"] = True
    decoder = dense.open()
    assert decoder.model.lm_head.weight is decoder.model.model.embed_tokens.weight


def test_float8_weights_are_multiplied_out(saved: Saved) -> None:
    name = "model.layers.0.self_attn.o_proj.weight"
    path, theirs = saved("kolibri1")
    weight = theirs.model.layers[0].self_attn.o_proj.weight
    scale = torch.full((1, 1), 0.01)
    coded = (weight / scale).to(torch.float8_e4m3fn)
    decoder = Patched(path, changed={name: coded, f"{name}_scale_inv": scale}).open()
    loaded = decoder.model.model.layers[0].self_attn.o_proj.weight
    torch.testing.assert_close(loaded, weight.detach(), atol=0.03, rtol=0.1)
    assert not torch.equal(loaded, weight)


def test_bf16_halves_the_weights_but_not_what_the_family_keeps_in_float32(saved: Saved) -> None:
    path, _ = saved("kolibri1")
    exact = Patched(path).open()
    halved = Patched(path).open(dense="bf16")
    assert halved.model.model.layers[1].self_attn.q_proj.weight.dtype == torch.bfloat16
    assert halved.model.model.layers[1].mlp.gate.e_score_correction_bias.dtype == torch.float32
    a, b = (decoder.forward(IDS, decoder.new_state()) for decoder in (exact, halved))
    assert a is not None
    assert b is not None
    assert b.dtype == torch.float32
    assert 0 < (a - b).abs().max() < 0.2 * a.abs().max()


@pytest.mark.parametrize("model_type", DIFFERENT)
def test_every_kind_of_family_runs_in_bf16(saved: Saved, model_type: str) -> None:
    decoder = Patched(saved(model_type)[0]).open(dense="bf16")
    state = decoder.new_state()
    pieces = [decoder.forward(ids, state, "all") for ids in (IDS, [10], [11, 12])]
    assert all(logits is not None and logits.isfinite().all() for logits in pieces)
    assert decoder.dense == ("f32" if model_type == "minimax" else "bf16")


def test_two_models_from_one_config_keep_their_experts_apart(saved: Saved) -> None:
    path, _ = saved("kolibri1")
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    before = json.dumps(config)
    checkpoint = Checkpoint.open(path)
    plan = plan_experts(config, shapes(checkpoint))

    class Constant:
        def __init__(self, value: float) -> None:
            self.value = value

        def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
            return torch.full_like(x, self.value)

    dense = Dense(checkpoint, plan)
    first, second = (CompatDecoder(config, dense, Constant(value)) for value in (0.0, 1.0))
    a, b = (decoder.forward(IDS, decoder.new_state()) for decoder in (first, second))
    assert a is not None
    assert b is not None
    assert (a - b).abs().max() > 0.01
    assert json.dumps(config) == before


def test_experts_are_ours_even_where_there_are_no_source_files(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: Any) -> str:
        raise OSError("source code not available")

    path, theirs = saved("kolibri1")
    monkeypatch.setattr(inspect, "getsource", nothing)
    monkeypatch.delattr(type(theirs), "_can_set_experts_implementation_cached_value", raising=False)
    decoder, backend = open_compat(path)
    decoder.forward(IDS, decoder.new_state())
    assert backend.calls == len(decoder.experts)


def test_expert_parameters_take_no_memory(saved: Saved) -> None:
    decoder, _ = open_compat(saved("kolibri1")[0])
    parameters = dict(decoder.model.named_parameters())
    assert all(tensor.is_meta == (".experts." in name) for name, tensor in parameters.items())
    assert sum(".experts." in name for name in parameters) == 2 * len(decoder.experts)


@pytest.mark.parametrize("pieces", [[40], [20, 20], [39, 1], [1] * 40, [7, 1, 7, 15, 10]])
def test_a_state_space_model_answers_the_same_however_its_tokens_are_fed(pieces: list[int], tmp_path: Path) -> None:
    """transformers bounds the time steps of prompts and not those of single tokens (Nemotron-H)."""
    theirs = random_model(tiny_config("nemotron_h", time_step_min=0.02))
    theirs.save_pretrained(tmp_path)
    ours, _ = open_compat(tmp_path)
    ids = torch.randint(3, 96, (40,), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        wanted = theirs(ids[None], use_cache=False).logits[0]
    state = ours.new_state()
    found = torch.cat([ours.forward(piece, state, "all") for piece in ids.split(pieces)])
    assert (found - wanted).abs().max() <= 1e-5
