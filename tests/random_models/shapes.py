"""Shapes of real models to measure with, as Hugging Face configs. Imports nothing: the peer's Python reads it too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

VOCABULARY = 32_000
ROLL = 16  # experts of a layer are one expert's rows, moved round by multiples of this
STRIDES = {"gate": 1, "up": 3, "down": 1}


@dataclass(frozen=True)
class Shape:
    """One model. names: of the gate, up and down projections in a checkpoint; mlp: of the module that holds them.

    qk_norm: width of the norm over queries and keys: 'none', 'head' or 'full'. permute: whether llama.cpp keeps the
    rotated halves of a head interleaved, as it does for everything it calls llama.
    """

    name: str
    family: str
    peer_family: str
    layers: int
    hidden: int
    intermediate: int
    experts: int
    top_k: int
    heads: int
    kv_heads: int
    head_dim: int
    normalize: bool
    qk_norm: str
    permute: bool
    theta: float
    eps: float
    mlp: str
    names: tuple[str, str, str]
    vocabulary: int = VOCABULARY

    def config(self) -> dict[str, Any]:
        """config.json."""
        mixtral = self.family == "mixtral"
        return {
            "architectures": [{"olmoe": "OlmoeForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM"}.get(
                self.family, "MixtralForCausalLM")],
            "model_type": self.family,
            "torch_dtype": "bfloat16",
            "hidden_act": "silu",
            "hidden_size": self.hidden,
            "intermediate_size": self.intermediate,
            "moe_intermediate_size": self.intermediate,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "num_local_experts" if mixtral else "num_experts": self.experts,
            "num_experts_per_tok": self.top_k,
            "norm_topk_prob": self.normalize,
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
            "max_position_embeddings": 4096,
            "rope_theta": self.theta,
            "rms_norm_eps": self.eps,
            "tie_word_embeddings": False,
            "attention_bias": False,
            "vocab_size": self.vocabulary,
        }  # fmt: skip

    def matrices(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of an expert's matrices."""
        wide, narrow = (self.intermediate, self.hidden), (self.hidden, self.intermediate)
        return {"gate": wide, "up": wide, "down": narrow}

    def expert_tensor(self, layer: int, expert: int, matrix: str) -> str:
        """Name of one matrix of one expert in the checkpoint."""
        name = self.names[("gate", "up", "down").index(matrix)]
        return f"model.layers.{layer}.{self.mlp}.experts.{expert}.{name}.weight"

    def shift(self, matrix: str, expert: int) -> int:
        """How far down this expert's rows are moved against expert 0's: no two experts have the same three."""
        rows, _ = self.matrices()[matrix]
        return ROLL * STRIDES[matrix] * expert % rows

    def attention(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of the projections of attention."""
        wide, narrow = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "q_proj": (wide, self.hidden), "k_proj": (narrow, self.hidden),
            "v_proj": (narrow, self.hidden), "o_proj": (self.hidden, wide),
        }  # fmt: skip

    def qk_norms(self) -> dict[str, int]:
        """Widths of the norms over queries and keys, where there are any."""
        if self.qk_norm == "none":
            return {}
        if self.qk_norm == "head":
            return {"q_norm": self.head_dim, "k_norm": self.head_dim}
        return {"q_norm": self.heads * self.head_dim, "k_norm": self.kv_heads * self.head_dim}

    @property
    def mtp(self) -> tuple[int, ...]:
        """Numbers of layers for multi-token prediction: see tests.random_models.predicting."""
        return ()

    def weights(self) -> int:
        """All of them, less routers and norms."""
        experts = self.layers * self.experts * sum(r * c for r, c in self.matrices().values())
        return experts + self.dense_weights() + self.vocabulary * self.hidden

    def router_weights(self) -> int:
        """How many weights all routers have."""
        return self.layers * self.experts * self.hidden

    def dense_weights(self) -> int:
        """Weights that every token reads besides its experts: attention, and the head. Routers are counted apart."""
        return self.layers * sum(r * c for r, c in self.attention().values()) + self.vocabulary * self.hidden


_PROJECTIONS = ("gate_proj", "up_proj", "down_proj")
SHAPES = {
    "olmoe": Shape(
        "olmoe", "olmoe", "olmoe", 16, 2048, 1024, 64, 8, 16, 16, 128, False, "full", False, 1e4, 1e-5,
        "mlp", _PROJECTIONS,
    ),
    "qwen3": Shape(
        "qwen3", "qwen3_moe", "qwen3moe", 12, 2048, 768, 128, 8, 32, 4, 128, True, "head", False, 1e6, 1e-6,
        "mlp", _PROJECTIONS,
    ),
    "mixtral": Shape(
        "mixtral", "mixtral", "llama", 4, 4096, 14336, 8, 2, 32, 8, 128, True, "none", True, 1e6, 1e-5,
        "block_sparse_moe", ("w1", "w3", "w2"),
    ),
}  # fmt: skip
LARGE = {"olmoe": {"layers": 18, "experts": 128}, "qwen3": {"layers": 24}, "mixtral": {"layers": 10}}


def large(name: str, layers: int | None = None) -> Shape:
    """The same widths with so many layers and experts that they take 8 GB or more at 4 bits; or with these layers."""
    shape = replace(SHAPES[name], **LARGE[name])
    shape = shape if layers is None else replace(shape, layers=layers)
    return replace(shape, name=f"{name}-{shape.layers}x{shape.experts}")


def small(name: str) -> Shape:
    """A shape of the same family in which everything can go wrong that can in the large one."""
    return replace(
        SHAPES[name], layers=2, hidden=256, intermediate=256, experts=8, top_k=2,
        heads=8, kv_heads=8 if name == "olmoe" else 4, head_dim=32, vocabulary=512,
    )  # fmt: skip
