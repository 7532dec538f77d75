"""Our side of a comparison: a session as anybody would open it, fed given tokens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from engine import settings
from engine.session import Session
from tests.benchmarks.streams import read_bytes
from tests.random_models.shapes import Shape

BITS = {"f32": 32.0, "bf16": 16.0, "int8": 8.5, "int4": 4.5}  # per dense weight, with its share of scales
PREFERRED = {8: "int8", 4: "int4", 2: "int4"}  # how dense weights are held beside experts of this tier


class Ours:
    """One model, warm; every expert in memory."""

    def __init__(self, store: Path, shape: Shape, tier: int, threads: int, context: int, dense: str | None) -> None:
        self._shape, self.tier = shape, tier
        self.dense = dense or PREFERRED[tier]
        chosen = {"dial": "exact", "tier": str(tier), "dense": self.dense, "threads": threads}
        self.session = Session.open(
            str(store), settings.validated({**chosen, "context_length": context}, settings.ENGINE)
        )
        if not self.session.all_in_memory:
            raise SystemExit(f"Not every expert fits in memory: {' '.join(self.session.card.plan)}")

    def warm(self, tokens: Sequence[int]) -> None:
        """Bring every expert into memory, by prompts until nothing is missed."""
        before = -1
        while (misses := self.session.counters().misses) != before:
            before = misses
            self.prefill(tokens)
        self.clear()

    def decode(self, tokens: Sequence[int]) -> float:
        """Seconds to read the tokens one by one, logits after each, going on where the last call ended."""
        step = self.session.context.step
        start = time.perf_counter()
        for token in tokens:
            step(token)
        return time.perf_counter() - start

    def prefill(self, tokens: Sequence[int]) -> float:
        """Seconds to read the tokens as the prompt of a new sequence, logits after the last."""
        self.clear()
        start = time.perf_counter()
        self.session.context.read(tokens)
        return time.perf_counter() - start

    def clear(self) -> None:
        """Forget the sequence."""
        self.session.context.clear()

    @property
    def token_bytes(self) -> int:
        """Bytes that one token must read: its experts' codes and parameters, the routers, all else but embeddings."""
        return self._bytes(self._shape.top_k)

    @property
    def all_bytes(self) -> int:
        """The same with every expert."""
        return self._bytes(self._shape.experts)

    def _bytes(self, experts: int) -> int:
        shape, spec = self._shape, self.session.store.spec(self.session.store.layers[0])
        expert = read_bytes(spec, self.tier)
        routers = 4 * shape.layers * shape.experts * shape.hidden
        return shape.layers * experts * expert + routers + int(shape.dense_weights() * BITS[self.dense] / 8)

    def close(self) -> None:
        """Release everything."""
        self.session.close()
