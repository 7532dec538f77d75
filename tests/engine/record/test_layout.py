"""The layout of records: parts and sections follow one another without gaps that matter and without overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.record.layout import ALIGN, HEADER_BYTES, LINE, ExpertSpec

SPECS = st.builds(
    ExpertSpec,
    hidden=st.integers(1, 5000),
    intermediate=st.integers(1, 3000),
    top=st.sampled_from([2, 4, 8, 16, 32]),
    group=st.sampled_from([16, 32, 48, 64, 128]),
    has_gate=st.booleans(),
    has_bias=st.booleans(),
)


@given(SPECS)
def test_parts_are_aligned_and_sections_do_not_overlap(spec: ExpertSpec) -> None:
    end = 0
    for part in spec.layout.parts:
        assert part.offset == end
        assert part.offset % ALIGN == part.nbytes % ALIGN == 0
        end += part.nbytes
        at = HEADER_BYTES if part is spec.layout.head else 0
        sections = [s for group in (part.sections, part.biases) for s in group.values()]
        for section in sections:
            assert section.offset >= at
            assert section.offset % LINE == 0
            at = section.offset + section.nbytes
        assert at <= part.nbytes < at + ALIGN
    assert spec.layout.nbytes == end


@given(SPECS)
def test_sections_hold_what_they_must(spec: ExpertSpec) -> None:
    layout = spec.layout
    for m in spec.matrices:
        rows, cols = spec.padded(m)
        assert rows >= m.rows
        assert cols >= m.cols
        for tier in spec.tiers:
            assert sum(8 * part.sections[m.name].nbytes for part in layout.codes_for(tier)) >= rows * cols * tier
            if not spec.raw:
                assert layout.params_for(tier).sections[m.name].nbytes == rows * (cols // spec.group) * 4
        if spec.has_bias:
            assert layout.head.biases[m.name].nbytes >= 4 * m.rows
    assert not any(part.biases for part in layout.parts if part is not layout.head or not spec.has_bias)


@given(SPECS)
def test_every_tier_has_what_it_needs_and_no_more(spec: ExpertSpec) -> None:
    layout = spec.layout
    sizes = [layout.bytes_for(tier) for tier in spec.tiers]
    assert sizes == sorted(set(sizes))
    for tier in spec.tiers:
        params = () if spec.raw else (layout.params_for(tier),)
        parts = layout.parts_for(tier)
        assert set(parts) == {part.index for part in (*layout.codes_for(tier), *params)}
        assert layout.head.index in parts
        assert layout.bytes_for(tier) == sum(layout.parts[index].nbytes for index in parts)
        assert layout.bytes_for(tier, parts[:1]) == layout.bytes_for(tier) - layout.parts[parts[0]].nbytes


def test_coarse_and_four_bits_are_one_run_each_and_so_is_every_step_up() -> None:
    layout = ExpertSpec(64, 64, 8).layout
    assert [part.name for part in layout.parts] == ["P2", "C0", "C1", "P4", "C2", "P8"]
    assert [layout.parts_for(tier) for tier in (2, 4, 8)] == [(0, 1), (1, 2, 3), (1, 2, 4, 5)]
    assert [part.name for part in ExpertSpec(64, 64, 4).layout.parts] == ["P2", "C0", "C1", "P4"]


def test_a_tier_that_is_not_stored() -> None:
    with pytest.raises(ValueError, match="tier 8"):
        ExpertSpec(64, 64, 4).layout.parts_for(8)
    with pytest.raises(ValueError, match="no scales"):
        ExpertSpec(64, 64, 16).layout.params_for(16)


@pytest.mark.parametrize(
    "change", [{"top": 5}, {"top": 1}, {"group": 24}, {"group": 0}, {"hidden": 0}, {"intermediate": -1}]
)
def test_impossible_specs(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        ExpertSpec(**{"hidden": 64, "intermediate": 64, "top": 8, **change})


def test_bits_on_disk_of_a_common_expert() -> None:
    layout = ExpertSpec(2048, 768, 8).layout
    assert [round(layout.bits_per_weight(t), 2) for t in (2, 4, 8)] == [2.51, 4.51, 8.51]
    assert round(8 * layout.nbytes / layout.spec.parameters, 2) == 9.51
