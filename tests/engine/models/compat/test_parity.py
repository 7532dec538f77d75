"""Families through the compatibility backend against transformers, and the table in the docs against the families."""

from __future__ import annotations

import re

import pytest

from engine.models.families import FAMILIES
from tests.engine.models.compat.parity import measure
from tests.engine.models.compat.sweep import DOCS, OUTSIDE, examine, families
from tests.engine.models.compat.tiny import DIFFERENT, tiny_config

pytestmark = pytest.mark.long


@pytest.mark.parametrize("model_type", DIFFERENT)
def test_family_agrees_with_transformers(model_type: str) -> None:
    parity = measure(tiny_config(model_type))
    assert parity.reason == ""
    assert parity.ok, parity


def test_activations_without_a_kernel_are_refused_before_anything_is_imported() -> None:
    assert "activation" in measure(tiny_config("olmoe", hidden_act="mish")).reason


def documented() -> dict[str, str]:
    """Family -> backend, as the table in the docs says."""
    return dict(
        re.findall(r"^\| ([\w-]+) \| (lean|compatibility|–) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_docs_list_every_family() -> None:
    assert list(documented()) == families()


@pytest.mark.slow
@pytest.mark.timeout(900)  # 160 s of one slow core: twice that beside other work
def test_every_family_opens_with_parity_or_says_why_not() -> None:
    rows = [examine(model_type) for model_type in families()]
    assert {row.model_type: row.backend for row in rows} == documented()
    assert [row for row in rows if not row.used.reason and not row.used.ok] == []
    assert {row.model_type for row in rows if row.used.reason} >= set(OUTSIDE) - set(FAMILIES)
    # everything in the interface opens but what reads only images, or does not write word by word
    refused = {row.model_type: row.used.reason for row in rows if row.used.reason and row.model_type not in OUTSIDE}
    assert len(refused) <= 5, refused
