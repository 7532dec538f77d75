"""Families through the compatibility backend against transformers, and the table in the docs against the families."""

from __future__ import annotations

import re

import pytest

from tests.engine.models.compat.parity import measure
from tests.engine.models.compat.sweep import DOCS, OUTSIDE, examine, families
from tests.engine.models.compat.tiny import tiny_config

# One family for each thing that can be different.
DIFFERENT = {
    "aria_text": "transposed experts, gate and up one after the other",
    "deepseek_v32": "an indexer with keys of its own in the cache",
    "gpt_oss": "transposed and interleaved experts with biases",
    "granitemoe_swa": "all experts of a layer in one tensor",
    "inkling_text": "convolutions beside sliding attention in one cache layer",
    "jamba": "several tokens after a state have to be fed one by one",
    "kimi_linear": "dense tensors that are merged, recurrent layers",
    "kolibri1": "sliding windows, whose rows have to outlive the window",
    "minimax": "a cache of its own",
    "minimax_m3_vl": "a vision tower that is never loaded, clamped SwiGLU",
    "muse_spark": "a norm between the expert and its weight",
    "nemotron_h": "experts without a gate, in a latent space",
    "qwen3_vl_moe": "experts that may lie transposed, positions in three axes",
    "zaya": "a router that can choose nobody",
}


@pytest.mark.parametrize("model_type", DIFFERENT)
def test_family_agrees_with_transformers(model_type: str) -> None:
    parity = measure(tiny_config(model_type))
    assert parity.reason == ""
    assert parity.ok, parity


def test_activations_without_a_kernel_are_refused_before_anything_is_imported() -> None:
    assert "activation" in measure(tiny_config("deepseek_v4")).reason


def test_docs_list_every_family() -> None:
    rows = re.findall(r"^\| ([\w-]+) \| (lean|compatibility|–) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == families()


@pytest.mark.slow
def test_every_family_opens_with_parity_or_says_why_not() -> None:
    rows = [examine(model_type) for model_type in families()]
    assert [row for row in rows if not row.used.reason and not row.used.ok] == []
    assert {row.model_type for row in rows if row.used.reason} >= set(OUTSIDE)
    # everything in the interface opens but what reads only images, writes by diffusion, or needs a kernel
    refused = {row.model_type: row.used.reason for row in rows if row.used.reason and row.model_type not in OUTSIDE}
    assert len([reason for reason in refused.values() if "activation" not in reason]) <= 5, refused
