"""A tiny random checkpoint with a layer for multi-token prediction, named as published ones have it; and its oracle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.convert.importer import import_checkpoint
from tests.engine.models.families.tiny import COMMON, LINEAR, MLA
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import give_words

GLM: dict[str, Any] = {
    "head_dim": 16, "intermediate_size": 40, "moe_intermediate_size": 24, "n_routed_experts": 8,
    "num_experts_per_tok": 3, "n_shared_experts": 1, "first_k_dense_replace": 1, "use_qk_norm": True, "n_group": 1,
    "topk_group": 1,
}  # fmt: skip
FAMILIES: dict[str, dict[str, Any]] = {
    "glm4_moe": GLM,
    "glm4_moe_lite": MLA,
    "deepseek_v3": {**MLA, "first_k_dense_replace": 1, "n_group": 4, "topk_group": 2},
    "qwen3_next": {**LINEAR, "intermediate_size": 40},
    "qwen3_5_moe_text": LINEAR,
}
LAYERS = 3
ATTENDING = ["linear_attention", "full_attention", "linear_attention", "full_attention"]  # in Qwen's, the last is MTP's
INSIDE = ("eh_proj", "enorm", "hnorm", "shared_head.norm")
APART = ("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")


def of_qwen(family: str) -> bool:
    """Whether what predicts tokens is called `mtp`, with norms that are scaled by 1 + w."""
    return family.startswith("qwen")


@dataclass
class Proposer:
    """What transformers' modules propose. model: of the LAYERS first layers. layer: the one behind them. joining: by
    the names of INSIDE. plus: what is added to the scale of norms.
    """

    model: Any
    layer: Any
    joining: dict[str, Tensor]
    plus: float

    def logits(self, ids: Sequence[int]) -> Tensor:
        """[T - 1, V]: row p proposes token p + 2 from tokens up to p + 1."""
        model, tokens = self.model.model, torch.tensor([list(ids)])
        with torch.no_grad():
            hidden = model(input_ids=tokens, use_cache=False).last_hidden_state[:, :-1]
            return self._head(self._through(self._joined(model.embed_tokens(tokens[:, 1:]), hidden)))[0]

    def further(self, ids: Sequence[int], count: int) -> list[int]:
        """`count` tokens that it proposes behind `ids`, each from its own output and guess before."""
        model, tokens = self.model.model, torch.tensor([list(ids)])
        found: list[int] = []
        with torch.no_grad():
            hidden = model(input_ids=tokens, use_cache=False).last_hidden_state[:, :-1]
            given = tokens[:, 1:]
            while len(found) < count:
                x = self._normed(self._through(self._joined(model.embed_tokens(given), hidden)))
                found.append(int(self.model.lm_head(x)[0, -1].argmax()))
                given = torch.cat((given, torch.tensor([[found[-1]]])), 1)
                hidden = torch.cat((hidden, x[:, -1:]), 1)
        return found

    def _joined(self, embedded: Tensor, hidden: Tensor) -> Tensor:
        own, eps = self.joining, self.model.config.rms_norm_eps
        both = (_rms(embedded, own["enorm"] + self.plus, eps), _rms(hidden, own["hnorm"] + self.plus, eps))
        return torch.cat(both, -1) @ own["eh_proj"].T

    def _through(self, x: Tensor) -> Tensor:
        count = x.shape[1]
        positions = torch.arange(count)[None]
        mask = torch.full((count, count), float("-inf")).triu(1)[None, None]
        angles = self.model.model.rotary_emb(x, positions)
        out = self.layer(x, attention_mask=mask, position_ids=positions, position_embeddings=angles)
        return out[0] if isinstance(out, tuple) else out

    def _normed(self, x: Tensor) -> Tensor:
        return _rms(x, self.joining["shared_head.norm"] + self.plus, self.model.config.rms_norm_eps)

    def _head(self, x: Tensor) -> Tensor:
        found: Tensor = self.model.lm_head(self._normed(x))
        return found


def _rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def write_checkpoint(family: str, folder: Path, **changes: Any) -> Proposer:
    """Of one layer more than its config says. Beside it copies of embedding and head, if published ones have them."""
    from transformers import AutoConfig

    settings, apart = {**COMMON, **FAMILIES[family], **changes}, of_qwen(family)
    if apart:
        settings["layer_types"] = ATTENDING
    model = hf_model(AutoConfig.for_model(family, **{**settings, "num_hidden_layers": LAYERS + 1}))
    model.save_pretrained(folder)
    hidden, prefix = settings["hidden_size"], f"model.layers.{LAYERS}"
    generator = torch.Generator().manual_seed(5)
    plus = 1.0 if apart else 0.0
    joining = {name: 1 - plus + 0.3 * torch.randn(hidden, generator=generator) for name in INSIDE[1:]}
    joining["eh_proj"] = 0.2 * torch.randn(hidden, 2 * hidden, generator=generator)
    tensors = load_file(folder / "model.safetensors")
    if apart:
        for name in [name for name in tensors if name.startswith(f"{prefix}.")]:
            tensors[f"mtp.layers.0.{name.removeprefix(f'{prefix}.')}"] = tensors.pop(name)
        tensors |= {f"mtp.{own}.weight": joining[name] for own, name in zip(APART, INSIDE, strict=True)}
    else:
        tensors |= {f"{prefix}.{name}.weight": tensor for name, tensor in joining.items()}
        tensors[f"{prefix}.embed_tokens.weight"] = tensors["model.embed_tokens.weight"].clone()
        tensors[f"{prefix}.shared_head.head.weight"] = tensors["lm_head.weight"].clone()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    raw = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for key in ("mlp_layer_types", "layer_types"):  # transformers writes one for each of its layers
        raw.pop(key, None)
    raw["num_hidden_layers"] = LAYERS
    if apart:
        raw["layer_types"] = ATTENDING[:LAYERS]
    if family != "qwen3_next":  # which does not say it
        raw["mtp_num_hidden_layers" if apart else "num_nextn_predict_layers"] = 1
    (folder / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    give_words(folder, settings["vocab_size"])
    last, model.model.layers = model.model.layers[LAYERS], model.model.layers[:LAYERS]
    model.config.num_hidden_layers = LAYERS
    return Proposer(model, last, joining, plus)


def mtp_store(family: str, folder: Path, top: int = 32, **changes: Any) -> tuple[Path, Proposer]:
    """The checkpoint imported at `top` bits (32: as it is), and its oracle."""
    oracle = write_checkpoint(family, folder / "checkpoint", **changes)
    import_checkpoint(folder / "checkpoint", folder / "store", top=top)
    return folder / "store", oracle
