"""What each precision costs on the built-in model: perplexity and KL divergence against plain transformers in float32.

The precision dials, which mix precisions, have a table of their own: tests.benchmarks.dials.

python -m tests.benchmarks.precision [--tokens N] [--only experts|activations|dense|kv] [--json]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import Sums, compared, sequences
from engine.models.layers.weight_format import WeightFormat
from engine.session import loaded_model
from tests.benchmarks.common import arguments, emit, own_home

EXACT = {"dial": "exact", "dense": "f32", "activations": "exact"}


@dataclass(frozen=True)
class Case:
    """One row of the table. held: what the setting `dense` is taken to mean."""

    group: str
    what: str
    settings: dict[str, Any]
    held: dict[str, Any] = field(default_factory=dict)


def _experts() -> Iterator[Case]:
    for tier in ("8", "4", "2"):
        yield Case("experts", f"experts {tier} bits", {**EXACT, "tier": tier})


def _activations() -> Iterator[Case]:
    for tier in ("8", "4", "2"):
        for kind in ("exact", "8-bit"):
            yield Case("activations", f"experts {tier} bits, {kind}", {**EXACT, "tier": tier, "activations": kind})
        chosen = {**EXACT, "tier": tier, "activations": "8-bit", "dense": "int8"}
        yield Case("activations", f"experts {tier} bits, 8-bit, others int8", chosen)


def _dense() -> Iterator[Case]:
    yield Case("dense", "all bf16", {**EXACT, "dense": "bf16"})
    for kind in ("int8", "int4"):
        yield Case("dense", f"all {kind}", {**EXACT, "dense": kind})
        yield Case("dense", f"attention {kind}", EXACT, {"kind": kind, "head": "f32", "table": "f32"})
        yield Case("dense", f"head {kind}", EXACT, {"head": kind, "table": "f32"})
        yield Case("dense", f"embedding {kind}", EXACT, {"head": "f32", "table": kind})
    yield Case("dense", "int4, head and embedding int8", {**EXACT, "dense": "int4"}, {"head": "int8"})


def _kv() -> Iterator[Case]:
    for tier in ("8", "4"):
        for kind in ("bf16", "int8"):
            yield Case("kv", f"experts {tier} bits, keys and values {kind}", {**EXACT, "tier": tier, "kv_cache": kind})
    yield Case("kv", "experts 8 bits, others and keys and values bf16", {**EXACT, "tier": "8", "dense": "bf16"})
    chosen = {**EXACT, "tier": "8", "dense": "bf16", "kv_cache": "int8"}
    yield Case("kv", "experts 8 bits, others bf16, keys and values int8", chosen)


CASES = (*_experts(), *_activations(), *_dense(), *_kv())


def reference_logits(windows: Sequence[Sequence[int]], dtype: torch.dtype) -> list[Tensor]:
    """Plain transformers over the windows: [T - 1, V] float32 each."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(resources.path("builtin", "model"), dtype=dtype).eval()
    return logits_of(model, windows)


def logits_of(model: torch.nn.Module, windows: Sequence[Sequence[int]]) -> list[Tensor]:
    """A model of transformers over the windows: [T - 1, V] float32 each."""
    with torch.no_grad():
        return [model(torch.tensor([ids])).logits[0, :-1].float() for ids in windows]


def compare(windows: Sequence[Sequence[int]], reference: Sequence[Tensor], found: Sequence[Tensor]) -> Sums:
    """What `found` and the reference say of the same tokens."""
    sums = Sums()
    for ids, exact, logits in zip(windows, reference, found, strict=True):
        sums = sums.plus(compared(ids, exact, logits))
    return sums


def run(case: Case, windows: Sequence[Sequence[int]]) -> tuple[list[Tensor], dict[str, float]]:
    """Logits of the case over the windows, and the shares of uses by precision."""

    def held(kind: Any, kernel: Any) -> WeightFormat:
        return WeightFormat(**{"kind": kind, **case.held}, kernel=kernel)

    with patch.object(loaded_model, "holding", held), open_calibrated("builtin", case.settings) as tested:
        logits = [tested.logits(ids, one_by_one=False) for ids in windows]
        precision = tested.counters().precision
    uses = sum(precision.values())
    return logits, {key: round(n / uses, 4) for key, n in precision.items() if n}


def measure(tokens: int, only: str | None) -> dict[str, Any]:
    """All cases over the same windows of the evaluation chats."""
    with open_calibrated("builtin", EXACT) as exact:
        windows = sequences(exact.chat, resources.path("calibration", "eval.jsonl"), exact.context.limit, tokens)
    reference = reference_logits(windows, torch.float32)
    rows: list[dict[str, Any]] = []

    def add(what: str, found: Sequence[Tensor], uses: dict[str, float]) -> None:
        sums = compare(windows, reference, found)
        perplexity, rise = math.exp(sums.nll / sums.tokens), math.expm1((sums.nll - sums.exact_nll) / sums.tokens)
        kl = sums.divergence / sums.tokens
        rows.append({"what": what, "perplexity": perplexity, "rise": rise, "kl": kl, "uses": uses})

    add("transformers, float32", reference, {})
    add("transformers, bf16", reference_logits(windows, torch.bfloat16), {})
    for case in CASES:
        if only in (None, case.group):
            add(case.what, *run(case, windows))
    return {"tokens": sum(len(w) - 1 for w in windows), "rows": rows}


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=12_000)
    parser.add_argument("--only", choices=("experts", "activations", "dense", "kv"))
    args = parser.parse_args()
    with own_home():
        emit(measure(args.tokens, args.only), args.json)


if __name__ == "__main__":
    main()
