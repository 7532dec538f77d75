"""A decoder over transformers' own modules: any family of its experts interface, slower than the lean decoder."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from engine.convert.skeleton import RoutedExperts, build_skeleton, routed_experts
from engine.experts.backend import ExpertBackend
from engine.models.compat.modules import NamedWeights, attach, clamp_time_steps, load_weights
from engine.models.compat.state import CompatState
from engine.translatable import msg

Want = Literal["last", "next", "all", "none"]
NOTE = msg("Runs in compatibility mode, more slowly.")

# Families whose modules forget the state when several tokens follow it (seen in transformers 5.23): fed one by one.
ONE_BY_ONE = {"jamba"}

# Families whose modules multiply float32 tables with hidden states, which torch refuses in bf16.
FLOAT32_ONLY = {"minimax"}


class CompatDecoder:
    """A causal language model, one sequence at a time: the same interface as engine.models.decoder.Decoder."""

    def __init__(
        self,
        config: dict[str, Any],
        weights: NamedWeights,
        backend: ExpertBackend,
        dense: Literal["f32", "bf16"] = "f32",
    ) -> None:
        """config: of config.json. weights: everything but the routed experts, by the names of the checkpoint.

        dense: how those are held; the attribute of the same name says how they really are (see FLOAT32_ONLY).
        Raises UnderhillError: UNSUPPORTED_MODEL, MISSING_FILE or BROKEN_FILE, with the reason.
        """
        self.dense = "f32" if config.get("model_type") in FLOAT32_ONLY else dense
        skeleton = build_skeleton(config, torch.float32 if self.dense == "f32" else torch.bfloat16)
        self.experts: dict[int, RoutedExperts] = {found.layer: routed_experts(found) for found in skeleton.experts}
        load_weights(skeleton, weights)
        attach(skeleton, backend)
        clamp_time_steps(skeleton)
        self.model = skeleton.model
        self.model_type: str = self.model.config.model_type
        self._own_cache = _brings_own_cache(self.model)

    def new_state(self) -> CompatState:
        """An empty sequence."""
        return CompatState(self.model.config, self._own_cache)

    def continues(self, state: CompatState, horizon: int) -> bool:
        """True: transformers goes on from any state, whatever length it will reach."""
        return True

    @torch.inference_mode()
    def forward(
        self,
        ids: Sequence[int] | Tensor,
        state: CompatState,
        want: Want = "last",
        horizon: int = 0,
    ) -> Tensor | None:
        """Feed tokens that follow what `state` holds.

        ids: T >= 1 token ids. want: float32 logits of the 'last' or 'next' token [1, V], of 'all' [T, V], or 'none'.
        horizon is taken for the sake of the interface: transformers looks at the tokens given alone.
        Whatever is raised on the way leaves `state` usable; its length tells how much it still holds.
        """
        tokens = torch.as_tensor(ids, dtype=torch.int64)
        start = state.length
        logits = []
        try:
            for piece in self._pieces(tokens, start):
                state.begin()
                keep = 0 if want == "all" else 1  # 0 means all to transformers
                output = self.model(piece[None], past_key_values=state.cache, use_cache=True, logits_to_keep=keep)
                state.commit(len(piece), output.past_key_values)
                logits.append(output.logits[0])
        except BaseException:
            state.rollback(start)
            raise
        if want == "none":
            return None
        found = torch.cat(logits) if want == "all" else logits[-1][-1:]
        return found.float()

    most_rows = 1  # transformers' modules give several tokens other bits than each alone

    def forward_sequences(self, ids: Sequence[int], states: Sequence[CompatState]) -> Tensor:
        """Feed one token to each of several sequences, one after the other. Returns logits [N, V]."""
        found = [self.forward([token], state) for token, state in zip(ids, states, strict=True)]
        return torch.cat([logits for logits in found if logits is not None])

    def joins(self, sizes: Sequence[int]) -> bool:
        """Tokens of one sequence alone go through transformers' layers."""
        return len(sizes) == 1

    def forward_parts(self, parts: Sequence[tuple[Tensor, CompatState, Want, int]]) -> list[Tensor | None]:
        """Feed tokens to several sequences, one after the other. parts: what `forward` takes for each."""
        return [self.forward(*part) for part in parts]

    def _pieces(self, tokens: Tensor, start: int) -> Iterator[Tensor]:
        if start and self.model_type in ONE_BY_ONE:
            yield from tokens.split(1)
        else:
            yield tokens


def _brings_own_cache(model: Any) -> bool:
    """Whether the file of this model's class defines a cache of its own (MiniMax does)."""
    from transformers import Cache

    name = type(model).__module__
    return any(
        isinstance(value, type) and issubclass(value, Cache) and value.__module__ == name
        for value in vars(sys.modules[name]).values()
    )
