"""A soak of the built-in model from end to end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.audit.soak import growth
from tests.benchmarks.pipe import ROOT


def test_growth_is_what_the_second_half_adds() -> None:
    assert growth([0, 500, 1000, 1000, 1000, 1000], 100) == 0
    assert growth([9, 9, 9, 0, 10, 20, 30], 100) == 100
    assert growth([5], 100) == 0


@pytest.mark.slow
def test_a_soak_of_the_built_in_model_finds_the_same_logits_with_a_small_cache() -> None:
    command = [sys.executable, "-m", "tests.audit.soak", "--tokens", "120", "--segment", "40", "--chat", "80",
               "--threads", "1", "--json"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["tokens"], result["different"], result["coarse"]) == (120, 0, 0)
    assert 0 < result["hit_rate"] < 1
    assert result["missed_bytes"] > 0
