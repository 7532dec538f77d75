"""Write a run as a Hugging Face checkpoint: `python -m training.export --run DIR --tokenizer DIR --out DIR`.

The layout is that of Qwen3-MoE on the hub, one tensor per expert and matrix, in bfloat16.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from training.saved import part, read
from training.shape import Shape

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


def config(s: Shape) -> dict[str, Any]:
    """config.json."""
    return {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        "vocab_size": s.vocab,
        "hidden_size": s.hidden,
        "intermediate_size": s.width * s.top_k,  # of dense layers, of which there are none
        "moe_intermediate_size": s.width,
        "num_hidden_layers": s.layers,
        "num_attention_heads": s.heads,
        "num_key_value_heads": s.kv_heads,
        "head_dim": s.head_dim,
        "num_experts": s.experts,
        "num_experts_per_tok": s.top_k,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "hidden_act": "silu",
        "rms_norm_eps": s.eps,
        "rope_theta": s.theta,
        "rope_scaling": None,
        "max_position_embeddings": s.context,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "router_aux_loss_coef": 0.06,
        "output_router_logits": False,
        "sliding_window": None,
        "use_sliding_window": False,
        "use_cache": True,
        "bos_token_id": None,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "torch_dtype": "bfloat16",
    }


# Low temperature: the model knows few phrases and knows them well.
GENERATION = {"eos_token_id": 2, "pad_token_id": 0, "do_sample": True, "temperature": 0.5, "top_p": 0.9}


def tensors(state: dict[str, Tensor], s: Shape) -> dict[str, Tensor]:
    """Names and layouts of the hub: projections are [out, in]."""
    found = {"model.embed_tokens.weight": state["embedding"], "model.norm.weight": state["norm"]}
    rows = [s.heads * s.head_dim, s.kv_heads * s.head_dim, s.kv_heads * s.head_dim]
    for layer in range(s.layers):
        here, there = f"blocks.{layer}.", f"model.layers.{layer}."
        q, k, v = state[f"{here}qkv"].split(rows)
        found |= {
            f"{there}input_layernorm.weight": state[f"{here}attention_norm"],
            f"{there}post_attention_layernorm.weight": state[f"{here}expert_norm"],
            f"{there}self_attn.q_proj.weight": q,
            f"{there}self_attn.k_proj.weight": k,
            f"{there}self_attn.v_proj.weight": v,
            f"{there}self_attn.o_proj.weight": state[f"{here}out"],
            f"{there}self_attn.q_norm.weight": state[f"{here}q_norm"],
            f"{there}self_attn.k_norm.weight": state[f"{here}k_norm"],
            f"{there}mlp.gate.weight": state[f"{here}router"],
        }
        for e in range(s.experts):
            gate, up = state[f"{here}gate_up"][e].t().split(s.width)
            found |= {
                f"{there}mlp.experts.{e}.gate_proj.weight": gate,
                f"{there}mlp.experts.{e}.up_proj.weight": up,
                f"{there}mlp.experts.{e}.down_proj.weight": state[f"{here}down"][e].t(),
            }
    return {name: t.bfloat16().contiguous() for name, t in found.items()}


def weights(checkpoint: Path, s: Shape) -> dict[str, Tensor]:
    """The other way: the training model's parameters, in float32, from an exported checkpoint."""
    found = load_file(checkpoint / "model.safetensors")
    state = {"embedding": found["model.embed_tokens.weight"], "norm": found["model.norm.weight"]}
    for layer in range(s.layers):
        here, there = f"blocks.{layer}.", f"model.layers.{layer}."
        experts = [f"{there}mlp.experts.{e}." for e in range(s.experts)]
        state |= {
            f"{here}attention_norm": found[f"{there}input_layernorm.weight"],
            f"{here}expert_norm": found[f"{there}post_attention_layernorm.weight"],
            f"{here}qkv": torch.cat([found[f"{there}self_attn.{name}_proj.weight"] for name in "qkv"]),
            f"{here}out": found[f"{there}self_attn.o_proj.weight"],
            f"{here}q_norm": found[f"{there}self_attn.q_norm.weight"],
            f"{here}k_norm": found[f"{there}self_attn.k_norm.weight"],
            f"{here}router": found[f"{there}mlp.gate.weight"],
            f"{here}gate_up": torch.stack(
                [torch.cat((found[f"{e}gate_proj.weight"], found[f"{e}up_proj.weight"])).t() for e in experts]
            ),
            f"{here}down": torch.stack([found[f"{e}down_proj.weight"].t() for e in experts]),
        }
    return {name: t.float().contiguous() for name, t in state.items()}


def export(run: Path, tokenizer: Path, out: Path) -> None:
    """Read RUN/state.pt; write the checkpoint's six files."""
    out.mkdir(parents=True, exist_ok=True)
    state, _ = read(run)
    save_file(tensors(part(state, "model."), Shape()), out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(json.dumps(config(Shape()), indent=1) + "\n", encoding="utf-8")
    (out / "generation_config.json").write_text(json.dumps(GENERATION, indent=1) + "\n", encoding="utf-8")
    for name in _TOKENIZER_FILES:
        shutil.copy(tokenizer / name, out / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    export(args.run, args.tokenizer, args.out)


if __name__ == "__main__":
    main()
