"""What a layer call asks for; here: as if nothing were in memory."""

from __future__ import annotations

import torch

from engine.experts.precision import EXACT, Thresholds
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

SPEC = ExpertSpec(48, 40, 8, 16)


def test_many_tokens_as_if_missing_are_what_each_alone_is_with_an_empty_cache() -> None:
    source = MemorySource(SPEC)
    x, ids, weights = source.routing(9, 4, 1)
    cuts = Thresholds(0.5, 0.8)

    def run(rows: slice, together: bool) -> torch.Tensor:
        runtime = source.open(8, thresholds=cuts, exact=True)
        runtime.as_if_missing = together
        try:
            found = runtime.moe(source.layers[0], x[rows], ids[rows], weights[rows])
            used.append(dict(runtime.snapshot().precision))
            return found
        finally:
            runtime.close()

    used: list[dict[str, int]] = []
    alone = torch.cat([run(slice(at, at + 1), False) for at in range(9)])
    expected = {key: sum(one.get(key, 0) for one in used) for key in ("8", "2", "skipped")}
    together = run(slice(0, 9), True)
    assert used[-1] == expected
    assert min(expected.values()) > 0
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4 * float(alone.abs().max()))


def test_under_exact_nothing_changes() -> None:
    source = MemorySource(SPEC)
    runtime = source.open(8, thresholds=EXACT)
    try:
        x, ids, weights = source.routing(7, 3, 2)
        plain = runtime.moe(source.layers[0], x, ids, weights)
        runtime.as_if_missing = True
        assert torch.equal(runtime.moe(source.layers[0], x, ids, weights), plain)
    finally:
        runtime.close()
