"""The rows of the ablation, and a soak of the built-in model from end to end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from engine import settings
from tests.benchmarks.ablation import OVERLAP, STEPS, rows, settings_of
from tests.benchmarks.pipe import ROOT
from tests.benchmarks.soak import growth


def test_every_row_adds_one_thing_to_the_row_above() -> None:
    table = [
        {OVERLAP: values.get(OVERLAP, True), **settings.validated(settings_of(values), settings.ENGINE)}
        for _, values in rows()
    ]
    assert len(table) == len(STEPS) + 1
    for above, here, step in zip(table, table[1:], STEPS):
        changed = {name for name in here if above[name] != here[name]}
        assert changed == set(step.without) | set(step.with_)
        assert changed


def test_growth_is_what_the_second_half_adds() -> None:
    assert growth([0, 500, 1000, 1000, 1000, 1000], 100) == 0
    assert growth([9, 9, 9, 0, 10, 20, 30], 100) == 100
    assert growth([5], 100) == 0


@pytest.mark.slow
def test_a_soak_of_the_built_in_model_finds_the_same_logits_with_a_small_cache() -> None:
    command = [sys.executable, "-m", "tests.benchmarks.soak", "--tokens", "120", "--segment", "40", "--chat", "80",
               "--threads", "1", "--json"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["tokens"], result["different"], result["coarse"]) == (120, 0, 0)
    assert 0 < result["hit_rate"] < 1
    assert result["missed_bytes"] > 0
