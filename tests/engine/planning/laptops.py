"""Laptops that people have and models that people run, as numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from engine.hardware.machine import GB, Gpu, Machine, Memory

RAM = (8, 16, 32, 64)  # GB
DISKS = {"HDD": 0.15e9, "SATA": 0.5e9, "NVMe 1.5": 1.5e9, "NVMe 3": 3e9, "NVMe 7": 7e9}  # bytes per second
CHIPS = {"4 cores": (4, 25e9), "8 cores": (8, 45e9), "12 cores": (12, 80e9)}  # cores, memory's bytes per second
# By GB of graphics memory, its bytes a second: of GeForce RTX laptop cards as their maker states it (3050, 4050, 4060,
# 4080, 4090, 5090).
CARDS = {0: 0.0, 4: 192e9, 6: 192e9, 8: 256e9, 12: 432e9, 16: 576e9, 24: 896e9}
TAKEN = 0.5 * GB  # of it, by the screen and other programs
LINK = 12e9  # bytes a second to it
USED = 0.3  # of the memory, by other programs


def laptop(ram: int, disk: str, chip: str) -> Machine:
    """Without a graphics card that computes."""
    cores, memory_rate = CHIPS[chip]
    memory = Memory(int(ram * GB), int(ram * GB * (1 - USED)))
    return Machine(
        cores=cores, memory=memory, memory_rate=memory_rate, disk_rate=DISKS[disk], disk_free=400 * GB, isa="avx2"
    )


def with_card(machine: Machine, gigabytes: int, unified: bool = False) -> Machine:
    """The same with a graphics card of so much memory; 0: without one."""
    if not gigabytes:
        return machine
    own, free = CARDS.get(gigabytes, CARDS[4]), int(gigabytes * GB - TAKEN)
    return replace(
        machine,
        gpus=(
            Gpu(
                name="Card", total=gigabytes * GB, free=free, pinned=LINK, rate=own, unified=unified, capability=(8, 9)
            ),
        ),
    )


def laptops() -> Iterator[tuple[tuple[int, str, str], Machine]]:
    """Sixty of them, by (GB of memory, disk, chip)."""
    for key in itertools.product(RAM, DISKS, CHIPS):
        yield key, laptop(*key)


COMMON: dict[str, Any] = {"rms_norm_eps": 1e-6, "rope_theta": 1e6, "hidden_act": "silu", "tie_word_embeddings": False}
QWEN: dict[str, Any] = {
    **COMMON, "model_type": "qwen3_moe", "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
    "norm_topk_prob": True, "vocab_size": 151936, "max_position_embeddings": 40960,
}  # fmt: skip
GPT_OSS: dict[str, Any] = {
    **COMMON, "model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "head_dim": 64,
    "num_attention_heads": 64, "num_key_value_heads": 8, "num_experts_per_tok": 4, "vocab_size": 201088,
    "sliding_window": 128, "max_position_embeddings": 131072, "attention_bias": True, "swiglu_limit": 7.0,
    "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
                     "original_max_position_embeddings": 4096},
}  # fmt: skip

# name: (thousand million parameters that its makers state, config.json)
MODELS: dict[str, tuple[float, dict[str, Any]]] = {
    "OLMoE-1B-7B": (6.9, {
        **COMMON, "model_type": "olmoe", "hidden_size": 2048, "intermediate_size": 1024, "num_hidden_layers": 16,
        "num_attention_heads": 16, "num_key_value_heads": 16, "num_experts": 64, "num_experts_per_tok": 8,
        "vocab_size": 50304, "max_position_embeddings": 4096,
    }),
    "DeepSeek-V2-Lite": (15.7, {
        **COMMON, "model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
        "moe_intermediate_size": 1408, "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16,
        "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
        "n_group": 1, "topk_group": 1, "topk_method": "greedy", "routed_scaling_factor": 1.0, "norm_topk_prob": False,
        "vocab_size": 102400, "max_position_embeddings": 32768,
    }),
    "gpt-oss-20b": (20.9, {**GPT_OSS, "num_hidden_layers": 24, "num_local_experts": 32}),
    "Qwen3-30B-A3B": (30.5, {
        **QWEN, "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_hidden_layers": 48,
        "num_attention_heads": 32, "num_key_value_heads": 4,
    }),
    "Mixtral-8x7B": (46.7, {
        **COMMON, "model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2,
        "vocab_size": 32000, "max_position_embeddings": 32768,
    }),
    "GLM-4.5-Air": (106.8, {
        **COMMON, "model_type": "glm4_moe", "hidden_size": 4096, "intermediate_size": 10944,
        "moe_intermediate_size": 1408, "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
        "head_dim": 128, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
        "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "routed_scaling_factor": 1.0, "attention_bias": True,
        "partial_rotary_factor": 0.5, "norm_topk_prob": True, "vocab_size": 151552, "max_position_embeddings": 131072,
    }),
    "gpt-oss-120b": (116.8, {**GPT_OSS, "num_hidden_layers": 36, "num_local_experts": 128}),
    "Qwen3-235B-A22B": (235.0, {
        **QWEN, "hidden_size": 4096, "intermediate_size": 12288, "moe_intermediate_size": 1536,
        "num_hidden_layers": 94, "num_attention_heads": 64, "num_key_value_heads": 4,
    }),
}  # fmt: skip
