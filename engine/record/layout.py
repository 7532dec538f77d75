"""Where every byte of an expert record lies: pure arithmetic, shared by writer, reader, cache and kernels.

One expert is one record. A progressive record is a row of parts, each starting on an ALIGN boundary::

    0 P2: what decodes 2-bit experts
    1 C0: a header line, the top 2 bits of every code, biases if any
    2 C1: the next 2 bits            } top tiers 4 and 8 only
    3 P4: what decodes 4-bit experts }
    4 C2: the last 4 bits           } top tier 8 only
    5 P8: what decodes 8-bit experts}

An expert of tier 2 is parts 0 and 1, of tier 4 parts 1 to 3, of tier 8 parts 1, 2, 4 and 5: the two coarser ones are
one run of bytes each, and so is what raises 2 to 4 bits (2, 3) or 4 to 8 (4, 5).
A raw record (tests, tiny models) is a single part of row-major bf16 or float32 matrices, after the same header line.

Tiles. A matrix W [rows, cols] (``y = W x``) is cut into tiles of ROWS_PER_TILE = 16 rows by one group of
``group`` columns, stored row block by row block, groups in order. Codes of a tile, for a part of b bits:
lines of 64 bytes, byte ``4*r + j`` of a line belonging to row r of the tile. Each byte packs p = 8/b codes;
bits ``b*s .. b*s+b-1`` of byte (r, j) of line n hold the part's bits of column ``n*4*p + 4*s + j`` of the group.
(With one shift and one mask per 4 columns, a line is 16 rows x 4 columns of bytes: what VNNI's dpbusd wants.)
Parameters of a tile: one line of 64 bytes, 16 float16 scales, then 16 float16 offsets.

    w = unit * (scale * code + offset),  code = the top `tier` bits of the full code

Matrices that were quantized already when they were imported may keep their own codes (ExpertSpec.codings): then group
size, form of the parameters and meaning of the codes are the matrix's own (engine/record/coding.py), and codes of 6
bits have 4 of them in C1, so that tier 4 is all there is.

``unit`` is one float32 per matrix, a power of two that keeps float16 scales out of the subnormal range;
it stands in the 64-byte header line at the start of C0 (HEADER_BYTES below); 1 in raw records.
Rows are padded to 16 with zero scale, offset and codes, so padded rows compute to 0. Columns are padded to ``group``
with code 0, which decodes to that group's offset: kernels pad the activation with zeros there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from engine.record.coding import Coding, params_bytes

ALIGN = 4096  # bytes; parts and records start on it, so direct I/O may read any of them
LINE = 64  # bytes; header, tiles and parameter lines
ROWS_PER_TILE = 16  # UH_ROWS: as many float32 as an AVX-512 register holds, two or four registers elsewhere
HEADER_BYTES, UNITS_AT = 64, 16  # magic u32 | layer u32 | expert u32 | n_matrices u32 | unit f32 x n_matrices | zeros
MAGIC = 0x58455055  # "UPEX" little endian

PLANE_BITS = (2, 2, 4)  # bits of every code in C0, C1 and C2
TIERS = (2, 4, 8)  # precision reached with those bits; tier 16 and 32 are raw records
RAW_TIERS = (16, 32)  # bf16 and float32, as the checkpoint has them
RAW = "W"  # the only part of a raw record
# on the disk, so that tiers 2 and 4, and what raises each, are one run of bytes
ORDER = ("P2", "C0", "C1", "P4", "C2", "P8")


def aligned(n: int, to: int = ALIGN) -> int:
    """n rounded up to a multiple of `to`."""
    return -(-n // to) * to


@dataclass(frozen=True)
class MatrixSpec:
    """One weight matrix of an expert: name is 'gate', 'up' or 'down'; y [rows] = W [rows, cols] x [cols]."""

    name: str
    rows: int
    cols: int


@dataclass(frozen=True)
class Section:
    """A run of bytes inside a part; offset is relative to the start of that part."""

    offset: int
    nbytes: int


@dataclass(frozen=True)
class Part:
    """One part of a record. offset is relative to the record; nbytes is a multiple of ALIGN.

    name: one of ORDER, or RAW. sections, per matrix: bits of its codes, its scale/offset lines, or the raw matrix.
    biases, per matrix: float32 [rows]; only where the header is.
    """

    index: int
    name: str
    offset: int
    nbytes: int
    sections: dict[str, Section]
    biases: dict[str, Section]


@dataclass(frozen=True)
class ExpertSpec:
    """Shape and encoding of an expert. Equal specs have equal layouts.

    top: 4 or 8 (progressive), 2 (what is left of those after lowering: their first two parts), 16 (raw bf16) or 32 (raw
    float32). group: columns per group. codings: empty, or of each of `matrices` how its codes are kept; then `group` is
    that of gate and up. Raises ValueError for what cannot be.
    """

    hidden: int
    intermediate: int
    top: int
    group: int = 64
    _: KW_ONLY
    has_gate: bool = True
    has_bias: bool = False
    codings: tuple[Coding, ...] = ()

    def __post_init__(self) -> None:
        if self.top not in (*TIERS, *RAW_TIERS):
            raise ValueError(f"top tier {self.top}: choose 2, 4, 8, 16 or 32")
        if self.group % 16 or self.group < 16:
            raise ValueError(f"group size {self.group} is not a multiple of 16")
        if min(self.hidden, self.intermediate) < 1:
            raise ValueError("an expert needs hidden and intermediate sizes of at least 1")
        if self.codings and (
            self.top not in (2, 4)
            or len(self.codings) != len(self.matrices)
            or any(coding.group != self.group for coding in self.codings[:-1])
        ):
            raise ValueError("its codings do not fit its matrices")

    @property
    def raw(self) -> bool:
        """True where the record is one part of unquantized matrices."""
        return self.top in RAW_TIERS

    @property
    def tiers(self) -> tuple[int, ...]:
        """The tiers this record can be read at, coarse first: (2,), (2, 4), (2, 4, 8), (16,) or (32,)."""
        return (self.top,) if self.raw else tuple(t for t in TIERS if t <= self.top)

    @property
    def matrices(self) -> tuple[MatrixSpec, ...]:
        """gate (where there is one), up, down; in the order in which they are stored."""
        gate = (MatrixSpec("gate", self.intermediate, self.hidden),) if self.has_gate else ()
        return (
            *gate,
            MatrixSpec("up", self.intermediate, self.hidden),
            MatrixSpec("down", self.hidden, self.intermediate),
        )

    @property
    def parameters(self) -> int:
        """Number of weights (biases not counted)."""
        return sum(m.rows * m.cols for m in self.matrices)

    @cached_property
    def layout(self) -> RecordLayout:
        """Where the bytes lie."""
        return _layout(self)

    def coding(self, m: MatrixSpec) -> Coding | None:
        """How the codes of a matrix are kept; None: as plain codes, with pairs of scale and offset for each group."""
        return self.codings[self.matrices.index(m)] if self.codings else None

    def group_of(self, m: MatrixSpec) -> int:
        """Columns per group of a matrix."""
        coding = self.coding(m)
        return self.group if coding is None else coding.group

    def plane_bits(self, m: MatrixSpec) -> tuple[int, ...]:
        """Bits of the matrix's codes in C0, C1 and C2."""
        coding = self.coding(m)
        return PLANE_BITS if coding is None else (2, coding.bits - 2)

    def padded(self, m: MatrixSpec) -> tuple[int, int]:
        """(rows, cols) of a matrix as stored; the same as (rows, cols) for raw records."""
        return (m.rows, m.cols) if self.raw else (aligned(m.rows, ROWS_PER_TILE), aligned(m.cols, self.group_of(m)))

    def params_bytes(self, m: MatrixSpec, tier: int) -> int:
        """Bytes of the scales and offsets of a matrix at a tier."""
        coding, (rows, cols) = self.coding(m), self.padded(m)
        return params_bytes("pair" if coding is None else coding.form_of(tier), rows, cols, self.group_of(m))


@dataclass(frozen=True)
class RecordLayout:
    """The parts of a record, and its length (multiple of ALIGN)."""

    spec: ExpertSpec
    parts: tuple[Part, ...]
    nbytes: int

    @cached_property
    def head(self) -> Part:
        """The part that begins with the header line and holds the biases; every tier has it."""
        return next(part for part in self.parts if part.name in ("C0", RAW))

    def codes_for(self, tier: int) -> tuple[Part, ...]:
        """The parts with the bits of the codes, top bits first; of a raw record its only part."""
        return self._by_tier(tier).codes

    def params_for(self, tier: int) -> Part:
        """The part with the scales and offsets of this tier. Raises ValueError for raw records: they have none."""
        params = self._by_tier(tier).params
        if params is None:
            raise ValueError("raw records have no scales and offsets")
        return params

    def parts_for(self, tier: int) -> tuple[int, ...]:
        """The indices, ascending, of the parts that make an expert of this tier. Raises ValueError for another tier."""
        return self._by_tier(tier).parts

    def bytes_for(self, tier: int, held: Collection[int] = ()) -> int:
        """Bytes to read for an expert of this tier where the parts `held` are there."""
        return sum(self.parts[index].nbytes for index in self.parts_for(tier) if index not in held)

    def bits_per_weight(self, tier: int) -> float:
        """Bits to read per weight at this tier: codes, parameters, header, padding and alignment."""
        return 8 * self.bytes_for(tier) / self.spec.parameters

    def _by_tier(self, tier: int) -> _Tier:
        try:
            return self._tiers[tier]
        except KeyError:
            raise ValueError(f"tier {tier} is not in this record (it has {self.spec.tiers})") from None

    @cached_property
    def _tiers(self) -> dict[int, _Tier]:
        by_name = {part.name: part for part in self.parts}
        tiers: dict[int, _Tier] = {}
        for n, tier in enumerate(self.spec.tiers, 1):
            codes = (self.head,) if self.spec.raw else tuple(by_name[f"C{i}"] for i in range(n))
            params = by_name.get(f"P{tier}")
            needed = (*codes, params) if params is not None else codes
            indices = tuple(sorted(part.index for part in needed))
            tiers[tier] = _Tier(codes, params, indices)
        return tiers


class _Tier(NamedTuple):
    codes: tuple[Part, ...]
    params: Part | None
    parts: tuple[int, ...]


@lru_cache(maxsize=256)
def _layout(spec: ExpertSpec) -> RecordLayout:
    parts: list[Part] = []
    at = 0
    names = (RAW,) if spec.raw else ORDER[: 2 * len(spec.tiers)]
    for index, name in enumerate(names):
        head = name in ("C0", RAW)
        here = HEADER_BYTES if head else 0
        sections: dict[str, Section] = {}
        biases: dict[str, Section] = {}
        for m in spec.matrices:
            rows, cols = spec.padded(m)
            if name.startswith("P"):
                nbytes = aligned(spec.params_bytes(m, int(name[1])), LINE)
            else:
                bits = spec.top if spec.raw else spec.plane_bits(m)[int(name[1])]
                # To whole cache lines, so that a kernel's 64-byte load of a tile never crosses one.
                nbytes = aligned(rows * cols * bits // 8, LINE)
            sections[m.name] = Section(here, nbytes)
            here += nbytes
        for m in spec.matrices if head and spec.has_bias else ():
            biases[m.name] = Section(here, aligned(4 * m.rows, LINE))
            here += biases[m.name].nbytes
        parts.append(Part(index, name, at, aligned(here), sections, biases))
        at += aligned(here)
    return RecordLayout(spec, tuple(parts), at)
