"""What rounding costs on the built-in model, in KL divergence from its own weights in float32, activations exact."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import evaluate, sequences
from engine.session import Session

pytestmark = pytest.mark.long

EXACT = {"dial": "exact", "dense": "f32", "activations": "exact", "threads": 1}


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNDERHILL_HOME", str(tmp_path_factory.mktemp("home")))
        with open_calibrated("builtin", EXACT) as session:
            yield session


@pytest.fixture(scope="module")
def windows(exact: Session) -> list[list[int]]:
    return sequences(exact.chat, Path(resources.path("calibration", "eval.jsonl")), exact.context.limit, 400)


# Measured over 12,000 tokens: 0.0002, 0.0005, 0.0009, 0.011 (docs/quantization.md). Scale or sums of a group that are
# wrong anywhere cost a hundred times that.
@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"activations": "8-bit"}, 0.001),
        ({"dense": "int8"}, 0.001),
        ({"dense": "int8", "activations": "8-bit"}, 0.002),
        ({"dense": "int4", "activations": "8-bit"}, 0.03),
    ],
)
def test_rounding_costs_little(
    exact: Session, windows: list[list[int]], changes: dict[str, str], allowed: float
) -> None:
    with open_calibrated("builtin", {**EXACT, **changes}) as rounded:
        assert rounded.plan.dense == changes.get("dense", "f32")
        assert rounded.runtime.kernel.exact == ("activations" not in changes)
        kl = evaluate(exact, rounded, windows).kl_to_exact
    assert 0 < kl < allowed
