"""DeepSeek-V4 against transformers: streams, entries of both kinds, an indexer, experts looked up by token."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load, save_file

from engine.convert.encoding import codings
from engine.convert.expert_plan import find_experts
from engine.errors import UnderhillError
from engine.formats.opening import open_source
from engine.formats.packed_floats import MXFP4_VALUES
from engine.library.facts import kv_values, state_bytes
from engine.models.families import read_spec
from engine.models.layers.compressed import Compressed
from engine.models.layers.state import SNAPSHOTS, CompressedState
from engine.models.spec import CompressedSpec
from engine.record.coding import Coding
from tests.engine.models.compat.parity import measure
from tests.engine.models.compat.tiny import tiny_config
from tests.engine.models.open_decoder import open_decoder
from tests.engine.models.parity import TOLERANCE, DirectoryWeights, assert_parity, make_pair
from tests.engine.models.reference_experts import ReferenceExperts

YARN = {
    "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 4, "beta_slow": 1
}  # fmt: skip
RATES = {"compressed_sparse_attention": 4, "heavily_compressed_attention": 6}
RENAMED = (  # as transformers saves it -> as on the hub
    (r"^model\.embed_tokens\.", "embed."), (r"^model\.hc_head\.hc_", "hc_head_"), (r"\.attn\.norm\.", ".attn.kv_norm."),
    (r"^model\.", ""),
)  # fmt: skip


def tiny(**changes: Any) -> Any:
    """Entries of 6 tokens rather than 128, so that a short text has some."""
    return tiny_config("deepseek_v4", **{"compress_rates": RATES, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sliding_window": 5, "index_topk": 2, "rope_parameters": YARN},
        {"sliding_window": 1, "hc_mult": 3, "hc_sinkhorn_iters": 1, "n_shared_experts": 1, "o_groups": 1},
        {"mlp_layer_types": ["moe"] * 4, "layer_types": ["sliding_attention"] * 4},
    ],
    ids=["both kinds of entries", "few of them, stretched", "other streams", "windows alone"],
)
def test_parity(changes: dict[str, Any], tmp_path: Path) -> None:
    assert_parity(tiny(**changes), tmp_path)


def test_its_experts_are_found_and_limited() -> None:
    parity = measure(tiny(), lean=True)
    assert parity.ok, parity


def test_a_checkpoint_of_the_hub_says_the_same(tmp_path: Path) -> None:
    """There the tensors have other names, and the config says compress_ratios and one group of rotary settings."""
    saved, hub = tmp_path / "saved", tmp_path / "hub"
    pair = make_pair(tiny(compress_rates=None, rope_parameters=YARN), saved)
    tensors = load((saved / "model.safetensors").read_bytes())
    for pattern, name in RENAMED:
        tensors = {re.sub(pattern, name, key): tensor for key, tensor in tensors.items()}
    assert {"embed.weight", "head.weight", "norm.weight", "hc_head_fn", "layers.2.attn.kv_norm.weight"} < tensors.keys()
    hub.mkdir()
    save_file(tensors, hub / "model.safetensors")
    config = json.loads((saved / "config.json").read_text(encoding="utf-8"))
    for key in ("layer_types", "mlp_layer_types", "compress_rates", "rope_parameters", "partial_rotary_factor"):
        config.pop(key, None)
    config |= {"compress_ratios": [0, 128, 4, 0, 0], "num_hash_layers": 1, "rope_scaling": {**YARN, "type": "yarn"}}
    weights = DirectoryWeights(hub)
    ours = open_decoder(config, weights, ReferenceExperts(pair.model))
    ids = torch.randint(3, 96, (40,), generator=torch.Generator().manual_seed(3)).tolist()
    found, wanted = (decoder.forward(ids, decoder.new_state(), "all") for decoder in (ours, pair.ours))
    assert found is not None
    assert wanted is not None
    assert (found - wanted).abs().max() <= TOLERANCE


def test_experts_of_four_bits_and_dense_matrices_of_eight(tmp_path: Path) -> None:
    """As the hub has them: signed bytes of two E2M1 each and float8, scales that are powers of two beside them."""
    saved, hub = tmp_path / "saved", tmp_path / "hub"
    make_pair(tiny(hidden_size=64, moe_intermediate_size=32), saved)
    generator = torch.Generator().manual_seed(1)
    plain, packed = {}, {}
    for name, tensor in load((saved / "model.safetensors").read_bytes()).items():
        stem = name.removesuffix(".weight")
        if ".experts." in name:
            codes = torch.randint(0, 16, tensor.shape, generator=generator, dtype=torch.uint8)
            powers = torch.randint(-7, -2, (len(tensor), tensor.shape[1] // 32), generator=generator)
            values = torch.tensor(MXFP4_VALUES)[codes.int()] * (2.0**powers).repeat_interleave(32, 1)
            packed[name] = (codes[:, ::2] | codes[:, 1::2] << 4).view(torch.int8)
            packed[f"{stem}.scale"] = (powers + 127).to(torch.uint8).view(torch.float8_e8m0fnu)
        elif re.search(r"\.attn\.w|shared_experts|indexer\.wq_b", name):
            held = (tensor * 64).to(torch.float8_e4m3fn)
            values = held.float() / 64
            packed[name] = held
            packed[f"{stem}.scale"] = torch.tensor([[127 - 6]], dtype=torch.uint8).view(torch.float8_e8m0fnu)
        else:
            values = packed[name] = tensor
        plain[name] = values
    hub.mkdir()
    save_file(packed, hub / "model.safetensors")
    how = {"quant_method": "fp8", "scale_fmt": "ue8m0", "weight_block_size": [128, 128]}
    config = json.loads((saved / "config.json").read_text(encoding="utf-8")) | {
        "quantization_config": how,
        "expert_dtype": "fp4",
    }
    (hub / "config.json").write_text(json.dumps(config), encoding="utf-8")
    source = open_source(hub)
    assert source.entries.keys() == plain.keys()
    for name, values in plain.items():
        assert source.tensor(name).float().equal(values.float()), name
    expert = "model.layers.1.ffn.experts.3.w2.weight"
    coded = source.coded(expert)
    assert coded is not None
    assert coded.grouped(0, 64).values().equal(plain[expert])
    plan = find_experts(source)
    assert [len(experts) for experts in plan.layers.values()] == [8] * 4
    kept = {coding for own in codings(source, plan).values() for coding in own}
    assert kept == {Coding(4, 32, "byte", "e2m1")}


def test_entries_are_cut_where_a_snapshot_says() -> None:
    state = CompressedState([(0, 3)], [2], 4, torch.float32)
    state.tensors[0] = torch.ones(5, 3)
    state.buffers[0].append(torch.ones(1, 7, 2))
    snapshot = state.snapshot()
    state.tensors[0] = torch.zeros(2, 3)
    state.buffers[0].append(torch.zeros(1, 2, 2))
    state.restore(snapshot)
    assert state.buffers[0].length == 7
    assert state.tensors[0].equal(torch.ones(5, 3))
    state.reset()
    assert state.buffers[0].length == 0
    assert state.tensors[0].shape == (0, 3)


def test_what_a_text_takes_is_known_before(tmp_path: Path) -> None:
    """Numbers per token, and of the last tokens, are those that a state of 97 tokens has."""
    pair = make_pair(tiny(), tmp_path)
    state, tokens = pair.ours.new_state(), 97
    pair.ours.forward(list(range(3, 3 + tokens - 8)) + [5] * 8, state, "none")
    spec = pair.ours.spec
    entries = sum(buffer.written // 4 for layer in state.layers for buffer in layer.buffers)
    tails = sum(tensor.numel() for layer in state.layers for tensor in layer.tensors)  # type: ignore[union-attr]
    assert entries <= kv_values(spec) * tokens <= 2 * entries
    assert tails <= state_bytes(spec) // 4 // (SNAPSHOTS + 1) <= 2 * tails
    assert state.rows_written == 4 * entries
    for layer in pair.ours.layers:
        assert isinstance(layer.mixer, Compressed)


def test_layers_that_nobody_knows_are_refused() -> None:
    config = tiny().to_dict()
    config.pop("layer_types")
    with pytest.raises(UnderhillError, match="compresses by \\[16\\]"):
        read_spec({**config, "compress_ratios": [0, 4, 16, 128]})


def test_the_published_config_is_read() -> None:
    """Its sizes are those of the class's defaults."""
    spec = read_spec({
        "model_type": "deepseek_v4", "vocab_size": 129280, "hidden_size": 4096, "num_hidden_layers": 43,
        "num_attention_heads": 64, "num_key_value_heads": 1, "head_dim": 512, "max_position_embeddings": 1048576,
        "q_lora_rank": 1024, "o_lora_rank": 1024, "qk_rope_head_dim": 64, "o_groups": 8, "n_routed_experts": 256,
        "n_shared_experts": 1, "num_experts_per_tok": 6, "moe_intermediate_size": 2048, "topk_method": "noaux_tc",
        "routed_scaling_factor": 1.5, "scoring_func": "sqrtsoftplus", "norm_topk_prob": True, "swiglu_limit": 10.0,
        "hc_mult": 4, "hc_sinkhorn_iters": 20, "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512,
        "compress_ratios": [0, 0, *[4, 128] * 20, 4, 0], "compress_rope_theta": 160000, "rope_theta": 10000,
        "rope_scaling": {"factor": 16, "original_max_position_embeddings": 65536, "beta_fast": 32, "beta_slow": 1,
                         "type": "yarn"},
        "sliding_window": 128, "num_nextn_predict_layers": 1, "num_hash_layers": 3,
    })  # fmt: skip
    first, sparse, heavy = (spec.layers[i].mixer for i in (0, 2, 3))
    assert isinstance(first, CompressedSpec)
    assert isinstance(sparse, CompressedSpec)
    assert isinstance(heavy, CompressedSpec)
    assert (first.rope.dim, first.rope.theta, first.rope.scaling) == (64, 10000, None)
    assert (heavy.rope.theta, heavy.rope.scaling and heavy.rope.scaling.attention_factor) == (160000, 1.0)
    assert [own.ratio for own in sparse.compressed] == [4, 4]
    assert [own.ratio for own in heavy.compressed] == [128]
    assert [layer for layer, moe in spec.moe_layers.items() if moe.router.by_token] == [0, 1, 2]
