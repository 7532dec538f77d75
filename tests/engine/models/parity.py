"""Parity of the lean decoder with transformers on a tiny random model: the harness that every family's test uses."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from engine.models.decoder import Decoder
from tests.engine.models.open_decoder import open_decoder, plain_weights, without_op_graph
from tests.engine.models.reference_experts import ReferenceExperts

os.environ.setdefault("HF_HUB_OFFLINE", "1")

_EXPERT = re.compile(r"\.experts\.|\.block_sparse_moe\.(input|output)_linear\.")  # granite's are called so

PROMPT, STEPS, BACK = 20, 16, 13
TOLERANCE = 1e-5


class DirectoryWeights:
    """Tensors of a directory of safetensors files, read one by one when asked for; what was read is in `seen`."""

    def __init__(self, path: Path) -> None:
        self._files = {}
        for file in sorted(path.glob("*.safetensors")):
            with safe_open(file, framework="pt") as f:
                self._files.update(dict.fromkeys(f.keys(), file))
        self.seen: set[str] = set()

    @property
    def names(self) -> set[str]:
        """All tensors there are."""
        return set(self._files)

    def has(self, name: str) -> bool:
        """Whether there is such a tensor."""
        return name in self._files

    def get(self, name: str) -> Tensor:
        """The tensor, copied out of the file."""
        self.seen.add(name)
        with safe_open(self._files[name], framework="pt") as f:
            tensor: Tensor = f.get_tensor(name)
        return tensor.clone()


def randomize(model: torch.nn.Module, seed: int = 0, gain: float = 4.0) -> None:
    """Make differences visible: matrices times `gain`, norms around 1, biases and correction biases not zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if name.endswith("tid2eid"):  # the experts of a token, none of them twice
                experts = torch.rand(len(tensor), 8, generator=generator).argsort(-1)
                tensor.copy_(experts[:, : tensor.shape[1]])
            if not tensor.is_floating_point() or "inv_freq" in name or "embed_scale" in name:
                continue
            noise = torch.randn(tensor.shape, generator=generator)
            if "correction_bias" in name or name.endswith("A_log") or "expert_bias" in name:
                tensor.copy_(noise * 0.1)
            elif name.endswith("layer_scalar"):
                tensor.copy_(1 + 0.1 * noise)
            elif "norm" in name.rsplit(".", 2)[-2] and name.endswith("weight"):
                tensor.copy_(tensor + 0.3 * noise)
            elif tensor.dim() >= 2:
                tensor.copy_(noise * 0.02 * gain)
            else:
                tensor.copy_(tensor + 0.3 * noise)


def hf_model(config: Any, seed: int = 0, gain: float = 4.0) -> Any:
    """A random transformers model of this config, in float32, on eager attention."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForCausalLM, AutoModelForImageTextToText

    torch.manual_seed(seed)
    # some language models are only known as what sees as well
    auto = AutoModelForCausalLM if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING else AutoModelForImageTextToText
    model = auto.from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
    randomize(model, seed, gain)
    return model


@dataclass
class Pair:
    """The oracle and ours, made from the same saved checkpoint."""

    model: Any
    ours: Decoder
    config: dict[str, Any]
    weights: DirectoryWeights


def make_pair(config: Any, path: Path, seed: int = 0, gain: float = 4.0, **kwargs: Any) -> Pair:
    """Build, save in the hub's layout, open. kwargs go to open_decoder."""
    model = hf_model(config, seed, gain)
    model.save_pretrained(path)
    raw = json.loads((path / "config.json").read_text(encoding="utf-8"))
    weights = DirectoryWeights(path)
    return Pair(model, open_decoder(raw, weights, ReferenceExperts(model), **kwargs), raw, weights)


@dataclass
class Differences:
    """Absolute differences of logits seen so far."""

    parts: dict[str, Tensor]

    @property
    def largest(self) -> float:
        """Over everything compared."""
        return max(float(part.max()) for part in self.parts.values())

    @property
    def mean(self) -> float:
        """Over everything compared."""
        return float(torch.cat([part.flatten() for part in self.parts.values()]).mean())


def oracle_logits(model: Any, ids: Sequence[int]) -> Tensor:
    """[T, V] from one pass without a cache."""
    with torch.no_grad():
        return model(input_ids=torch.tensor([list(ids)]), use_cache=False).logits[0].float()


def compare(pair: Pair, oracle: Callable[[Any, Sequence[int]], Tensor] = oracle_logits, seed: int = 1) -> Differences:
    """Prefill, 16 decode steps, rollback and other tokens, prefill in chunks; each against the oracle's full pass."""
    generator = torch.Generator().manual_seed(seed)
    vocab = pair.ours.spec.vocab
    first = torch.randint(0, vocab, (PROMPT + STEPS,), generator=generator).tolist()
    other = torch.randint(0, vocab, (PROMPT - BACK + STEPS,), generator=generator).tolist()
    state = pair.ours.new_state()
    parts: dict[str, Tensor] = {}

    wanted = oracle(pair.model, first)
    parts["prefill"] = (_logits(pair, first[:PROMPT], state) - wanted[:PROMPT]).abs()
    steps = [_logits(pair, [token], state, "last") for token in first[PROMPT:]]
    parts["decode"] = (torch.cat(steps) - wanted[PROMPT:]).abs()

    reached = state.rollback(BACK)
    assert reached == state.length <= BACK
    again = first[reached:BACK] + other
    wanted = oracle(pair.model, first[:BACK] + other)
    parts["rollback"] = (_logits(pair, again, state) - wanted[reached:]).abs()

    chunked = pair.ours.new_state()
    total = len(first)
    bounds = [0, 7, 8, 15, 30, total]
    wanted = oracle(pair.model, first)
    chunks = [_logits(pair, first[a:b], chunked, "all", total) for a, b in itertools.pairwise(bounds)]
    parts["chunked"] = (torch.cat(chunks) - wanted).abs()
    return Differences(parts)


def _logits(pair: Pair, ids: Sequence[int], state: Any, want: Any = "all", horizon: int = 0) -> Tensor:
    logits = pair.ours.forward(ids, state, want, horizon)
    assert logits is not None
    assert logits.dtype == torch.float32
    return logits


def layers_pair(pair: Pair) -> Pair | None:
    """The same model without an op graph, as single tokens behind some images go; None where it never has one."""
    if not pair.ours.native_layers:
        return None
    with without_op_graph():
        decoder = Decoder(
            pair.ours.spec, pair.weights, ReferenceExperts(pair.model), plain_weights(), pair.ours.kv_dtype
        )
    return Pair(pair.model, decoder, pair.config, pair.weights)


def assert_parity(
    config: Any, path: Path, oracle: Callable[[Any, Sequence[int]], Tensor] = oracle_logits, **kwargs: Any
) -> Pair:
    """The whole comparison, with the op graph and without; prints maximum and mean, fails above TOLERANCE.

    Returns the pair for further looks.
    """
    pair = make_pair(config, path, **kwargs)
    for way, looked_at in (("as it runs", pair), ("without op graph", layers_pair(pair))):
        if looked_at is None:
            continue
        found = compare(looked_at, oracle)
        text = ", ".join(f"{name} {float(part.max()):.1e}" for name, part in found.parts.items())
        print(f"{pair.ours.spec.family}, {way}: max {found.largest:.1e} mean {found.mean:.1e} ({text})")
        assert found.largest <= TOLERANCE, f"{way}: {text}"
    assert not unread(pair)
    return pair


def unread(pair: Pair) -> set[str]:
    """Tensors of the checkpoint that the decoder did not look at, experts aside: a family's file forgot them."""
    return {name for name in pair.weights.names - pair.weights.seen if not _EXPERT.search(name)}
