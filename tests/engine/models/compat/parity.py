"""Open a family's tiny checkpoint with the compatibility backend and compare it with transformers, logit by logit."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PretrainedConfig

from engine.errors import UnderhillError
from engine.hub.mapping import plan_experts
from engine.models.compat.decoder import CompatDecoder
from tests.engine.models.compat.checkpoint import Checkpoint, MemoryExperts, random_model

PROMPT, STEPS, BACK, AGAIN = 20, 16, 14, 9
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Parity:
    """Largest difference between our logits and transformers', per phase; reason: why it did not open."""

    model_type: str
    prefill: float = float("nan")
    decode: float = float("nan")
    rollback: float = float("nan")
    activation: str = ""
    reached: int = -1
    reason: str = ""

    @property
    def worst(self) -> float:
        return max(self.prefill, self.decode, self.rollback)

    @property
    def ok(self) -> bool:
        return not self.reason and self.worst <= TOLERANCE


def open_saved(path: Path) -> tuple[CompatDecoder, MemoryExperts]:
    """Our decoder over a checkpoint directory, experts in memory."""
    checkpoint = Checkpoint(path)
    plan = plan_experts(checkpoint.config, checkpoint.shapes)
    backend = MemoryExperts(checkpoint, plan)
    checkpoint.without = set(checkpoint) - set(plan.dense)
    decoder = CompatDecoder(checkpoint.config, checkpoint, backend)
    backend.routed = decoder.experts
    return decoder, backend


@torch.no_grad()
def measure(config: PretrainedConfig) -> Parity:
    """Prefill, STEPS decode steps, rollback to BACK and AGAIN other tokens; the same steps with transformers alone."""
    theirs = random_model(config)
    vocab = config.get_text_config().vocab_size
    ids = torch.randint(3, vocab, (PROMPT + STEPS,), generator=torch.Generator().manual_seed(1))
    other = torch.randint(3, vocab, (AGAIN,), generator=torch.Generator().manual_seed(2))
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        try:
            ours, _ = open_saved(Path(folder))
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
    reached = state.rollback(BACK)
    again = torch.cat((ids[:BACK], other))
    output = theirs(again[None], use_cache=True)
    rollback = _difference(ours.forward(again[reached:], state, "all"), output.logits[0, reached:])
    output = theirs(ids[None, :1], past_key_values=output.past_key_values, use_cache=True)
    rollback = max(rollback, _difference(ours.forward(ids[:1], state), output.logits[0]))
    activation = next(iter(ours.experts.values())).activation
    return Parity(config.model_type, prefill, decode, rollback, activation, reached)


def _difference(a: torch.Tensor | None, b: torch.Tensor) -> float:
    assert a is not None
    assert a.shape == b.shape
    return (a - b).abs().max().item()
