"""The layout of records: planes and sections follow one another without gaps that matter and without overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.store.layout import ALIGN, HEADER_BYTES, LINE, PLANE_BITS, ExpertSpec

SPECS = st.builds(
    ExpertSpec,
    hidden=st.integers(1, 5000),
    intermediate=st.integers(1, 3000),
    top=st.sampled_from([4, 8, 16, 32]),
    group=st.sampled_from([16, 32, 48, 64, 128]),
    has_gate=st.booleans(),
    has_bias=st.booleans(),
)


@given(SPECS)
def test_planes_are_aligned_and_sections_do_not_overlap(spec: ExpertSpec) -> None:
    end = 0
    for plane in spec.layout.planes:
        assert plane.offset == end
        assert plane.offset % ALIGN == plane.nbytes % ALIGN == 0
        end += plane.nbytes
        at = HEADER_BYTES if plane.index == 0 else 0
        sections = [s for group in (plane.codes, plane.params, plane.biases) for s in group.values()]
        for section in sections:
            assert section.offset >= at
            assert section.offset % LINE == 0
            at = section.offset + section.nbytes
        assert at <= plane.nbytes < at + ALIGN
    assert spec.layout.nbytes == end


@given(SPECS)
def test_sections_hold_what_they_must(spec: ExpertSpec) -> None:
    for plane in spec.layout.planes:
        for m in spec.matrices:
            rows, cols = spec.padded(m)
            assert rows >= m.rows
            assert cols >= m.cols
            bits = spec.top if spec.raw else PLANE_BITS[plane.index]
            assert 8 * plane.codes[m.name].nbytes >= rows * cols * bits
            if not spec.raw:
                assert plane.params[m.name].nbytes == rows * (cols // spec.group) * 4
            if spec.has_bias and plane.index == 0:
                assert plane.biases[m.name].nbytes >= 4 * m.rows
        assert plane.index == 0 or not plane.biases


@given(SPECS)
def test_prefixes_grow(spec: ExpertSpec) -> None:
    sizes = [spec.layout.prefix_bytes(t) for t in spec.tiers]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == spec.layout.nbytes
    assert [len(spec.layout.planes_for(t)) for t in spec.tiers] == list(range(1, len(spec.tiers) + 1))


def test_a_tier_that_is_not_stored() -> None:
    with pytest.raises(ValueError, match="tier 8"):
        ExpertSpec(64, 64, 4).layout.planes_for(8)


@pytest.mark.parametrize(
    "change", [{"top": 5}, {"top": 2}, {"group": 24}, {"group": 0}, {"hidden": 0}, {"intermediate": -1}]
)
def test_impossible_specs(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        ExpertSpec(**{"hidden": 64, "intermediate": 64, "top": 8, **change})


def test_bits_on_disk_of_a_common_expert() -> None:
    layout = ExpertSpec(2048, 768, 8).layout
    assert [round(layout.bits_per_weight(t), 2) for t in (2, 4, 8)] == [2.51, 5.01, 9.51]
