"""What a token takes to attend to the tokens before it: their rows over memory's rate, or the products with them."""

from __future__ import annotations

from engine.hardware.facts import ModelFacts
from engine.hardware.machine import Machine

USUAL = 1000  # tokens of a chat that a speed is told for: an answer or two have been given
# Of the memory's rate, what rows in bf16 are attended to at, and those in float32, which are copied on their way; both
# measured (docs/benchmarks.md, docs/planning.md), and torch's functions, where native kernels do not attend.
ROWS, WIDE_ROWS, TORCH_ROWS = 0.7, 0.4, 0.12
# Products a second and core of float32 numbers, where all heads meet the same rows (docs/benchmarks.md).
PRODUCTS, PRODUCTS_512 = 5e10, 9e10


def rows_bytes(model: ModelFacts, dense: str, context: int) -> int:
    """Bytes of keys and values that a token behind so many others sees: of some layers, those of a window alone."""
    windowed = sum(model.windowed.values())
    seen = context * (model.kv_bytes - windowed)
    seen += sum(min(window, context) * nbytes for window, nbytes in model.windowed.items())
    return seen * model.per_token(dense) // max(1, model.kv_bytes)


def attending(machine: Machine, model: ModelFacts, dense: str, context: int) -> float:
    """Seconds of a token behind so many others."""
    if model.native and model.lean:
        share = WIDE_ROWS if dense == "f32" else ROWS
    else:
        share = TORCH_ROWS
    fastest = PRODUCTS_512 if machine.isa.startswith("avx512") else PRODUCTS
    products = model.latent_products * context / (machine.cores * fastest)
    return max(rows_bytes(model, dense, context) / (machine.memory_rate * share), products)
