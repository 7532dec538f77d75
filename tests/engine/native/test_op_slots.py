"""Names of what an op is given are the same in Python and in C, in the same order, and fit into uh_op."""

from __future__ import annotations

import re

import pytest

from engine.native.build import SOURCES
from engine.native.op_graph import ADDRESSES, FACTORS, NUMBERS, Op
from engine.native.op_slots import SLOTS, OpKind

HEADER = re.sub(r"/\*.*?\*/", "", (SOURCES / "op_slots.h").read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_header_has_the_same_names_in_the_same_order() -> None:
    found = [re.split(r",\s*", names.strip()) for names in re.findall(r"enum \{(.*?)\}", HEADER, re.DOTALL)]
    wanted = [
        [f"UH_{kind.name}_{name.upper()}" for name in names]
        for kind in OpKind
        for names in (SLOTS[kind].numbers, SLOTS[kind].factors, SLOTS[kind].addresses)
        if names
    ]
    assert found == wanted


@pytest.mark.parametrize("kind", OpKind)
def test_names_fit_and_none_stands_twice(kind: OpKind) -> None:
    slots = SLOTS[kind]
    names = (*slots.numbers, *slots.factors, *slots.addresses)
    assert len(set(names)) == len(names)
    # The last address is that of what a card computes.
    assert len(slots.numbers) <= NUMBERS
    assert len(slots.factors) <= FACTORS
    assert len(slots.addresses) < ADDRESSES


def test_an_op_with_a_name_too_many_or_too_few_is_refused() -> None:
    with pytest.raises(ValueError, match="SCALE takes"):
        Op(OpKind.SCALE, {"count": 1, "by": 2.0})
    with pytest.raises(ValueError, match="SCALE takes"):
        Op(OpKind.SCALE, {"count": 1, "by": 2.0, "x": None, "width": 3})
