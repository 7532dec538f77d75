"""Open a family's tiny checkpoint and compare it with transformers, logit by logit, along a chat's life."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import PretrainedConfig

from engine.convert.expert_plan import find_experts, plan_experts
from engine.convert.skeleton import build_skeleton
from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.kernels.activation import Activation
from engine.models.compat.decoder import ONE_BY_ONE, CompatDecoder
from engine.models.families import read_spec
from tests.engine.models.compat.checkpoint import Dense, MemoryExperts, random_model, shapes
from tests.engine.models.open_decoder import open_decoder

PROMPT, STEPS, BACK, AGAIN = 20, 16, 14, 9
TOLERANCE = 1e-5
# Gemma 4 divides no scores by a root, so steps of float32 weigh more in its attention; Qwen3-Next's recurrent state
# adds them up from token to token. 1.1e-5 was seen of both.
LOUD = {"gemma4": 2e-5, "gemma4_text": 2e-5, "qwen3_next": 2e-5}


Save = Callable[[Any, Path], Any]


class Decoder(Protocol):
    """What both backends promise."""

    def new_state(self) -> Any: ...

    def forward(self, ids: Any, state: Any, want: Any = "last") -> Tensor | None: ...


@dataclass(frozen=True)
class Parity:
    """Largest difference between our logits and transformers', per phase; reason: why it did not open."""

    model_type: str
    prefill: float = float("nan")
    decode: float = float("nan")
    rollback: float = float("nan")
    reason: str = ""

    @property
    def worst(self) -> float:
        return max(self.prefill, self.decode, self.rollback)

    @property
    def ok(self) -> bool:
        return not self.reason and self.worst <= LOUD.get(self.model_type, TOLERANCE)


def open_compat(path: Path) -> tuple[CompatDecoder, MemoryExperts]:
    """The compatibility backend over a checkpoint directory, experts in memory."""
    checkpoint = Checkpoint.open(path)
    plan = plan_experts(checkpoint.config, shapes(checkpoint))
    backend = MemoryExperts(checkpoint, plan)
    decoder = CompatDecoder(checkpoint.config, Dense(checkpoint, plan), backend)
    backend.activations = {layer: routed.activation for layer, routed in decoder.experts.items()}
    return decoder, backend


def open_lean(path: Path) -> tuple[Decoder, MemoryExperts]:
    """The lean decoder over a checkpoint directory, experts in memory."""
    checkpoint = Checkpoint.open(path)
    plan = find_experts(checkpoint)
    backend = MemoryExperts(checkpoint, plan)
    backend.activations = lean_activations(checkpoint.config)
    return open_decoder(checkpoint.config, Dense(checkpoint, plan), backend), backend


def refusal(config: dict[str, Any]) -> str:
    """The sentence with which a family is refused before any weights are looked at; '' if it is not."""
    try:
        build_skeleton(config)
    except UnderhillError as refused:
        return refused.sentence if refused.kind == Kind.UNSUPPORTED_MODEL else ""
    return ""


def as_it_saves(model: Any, path: Path) -> None:
    """The checkpoint as transformers' model saves itself."""
    model.save_pretrained(path)


@torch.no_grad()
def measure(config: PretrainedConfig, lean: bool = False, save: Save = as_it_saves) -> Parity:
    """A prompt in two pieces, STEPS single tokens, rollback to BACK and AGAIN other tokens, and one more.

    save: how transformers' model becomes a checkpoint of the hub.
    """
    theirs = random_model(config)
    vocab = config.get_text_config().vocab_size
    ids = torch.randint(3, vocab, (PROMPT + STEPS,), generator=torch.Generator().manual_seed(1))
    other = torch.randint(3, vocab, (AGAIN,), generator=torch.Generator().manual_seed(2))
    with tempfile.TemporaryDirectory() as folder:
        save(theirs, Path(folder))
        try:
            ours, backend = (open_lean if lean else open_compat)(Path(folder))
        except UnderhillError as refused:
            return Parity(config.model_type, reason=refused.sentence)
    state = ours.new_state()
    output = theirs(ids[None, :PROMPT], use_cache=True)
    prefill = _difference(ours.forward(ids[:BACK], state, "all"), output.logits[0, :BACK])
    state.snapshot()
    prefill = max(prefill, _difference(ours.forward(ids[BACK:PROMPT], state, "all"), output.logits[0, BACK:]))
    decode = 0.0
    for at in range(PROMPT, PROMPT + STEPS):
        output = theirs(ids[None, at : at + 1], past_key_values=output.past_key_values, use_cache=True)
        decode = max(decode, _difference(ours.forward(ids[at : at + 1], state), output.logits[0]))
    again = torch.cat((ids[:BACK], other, ids[:1]))
    reached = state.rollback(BACK)
    assert reached == BACK, f"{config.model_type} went back to {reached}"
    rollback = _difference(ours.forward(again[reached:], state, "all"), _fresh(theirs, again)[reached:])
    assert backend.calls > 0
    return Parity(config.model_type, prefill, decode, rollback)


def _fresh(model: Any, ids: Tensor) -> Tensor:
    """transformers' logits [T, V], cut into the same pieces where it can take them."""
    if model.config.get_text_config().model_type in ONE_BY_ONE:
        return model(ids[None]).logits[0]
    first = model(ids[None, :BACK], use_cache=True)
    rest = model(ids[None, BACK:], past_key_values=first.past_key_values, use_cache=True)
    return torch.cat((first.logits[0], rest.logits[0]))


def _difference(a: Tensor | None, b: Tensor) -> float:
    assert a is not None
    assert a.shape == b.shape
    return (a - b).abs().max().item()


def lean_activations(config: dict[str, Any]) -> dict[int, Activation]:
    """Activations by layer, as the lean decoder's spec of the family says."""
    specs = {layer: moe.experts.activation for layer, moe in read_spec(config).moe_layers.items()}
    return {layer: Activation(spec.kind, spec.alpha, spec.limit) for layer, spec in specs.items()}
