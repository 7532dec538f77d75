"""Where every byte of an expert record lies: pure arithmetic, shared by writer, reader, cache and kernels.

One expert is one record. A progressive record is a row of planes, each starting on an ALIGN boundary::

    plane 0: the top 2 bits of every code   | what decodes 2-bit experts   | biases, if any
    plane 1: the next 2 bits                | what decodes 4-bit experts
    plane 2: the last 4 bits (top tier 8)   | what decodes 8-bit experts

so that the first n planes are an expert of tier 2, 4 or 8, and raising the tier reads only what follows.
A raw record (tests, tiny models) is a single plane of row-major bf16 or float32 matrices.

Tiles. A matrix W [rows, cols] (``y = W x``) is cut into tiles of ROWS_PER_TILE = 16 rows by one group of
``group`` columns, stored row block by row block, groups in order. Codes of a tile, for a plane of b bits:
lines of 64 bytes, byte ``4*r + j`` of a line belonging to row r of the tile. Each byte packs p = 8/b codes;
bits ``b*s .. b*s+b-1`` of byte (r, j) of line n hold the plane's bits of column ``n*4*p + 4*s + j`` of the group.
(With one shift and one mask per 4 columns, a line is 16 rows x 4 columns of bytes: what VNNI's dpbusd wants.)
Parameters of a tile: one line of 64 bytes, 16 float16 scales, then 16 float16 offsets, of that plane's tier.

    w = unit * (scale * code + offset),  code = the top `tier` bits of the full code

``unit`` is one float32 per matrix, a power of two that keeps float16 scales out of the subnormal range;
it stands in the record's 64-byte header line at the start of plane 0 (HEADER_BYTES below); 1 in raw records.
Rows are padded to 16 with zero scale, offset and codes, so padded rows compute to 0. Columns are padded to ``group``
with code 0, which decodes to that group's offset: whoever multiplies pads the activation with zeros there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

ALIGN = 4096  # bytes; planes and records start on it, so direct I/O may read any of them
LINE = 64  # bytes; header, tiles and parameter lines
ROWS_PER_TILE = 16
HEADER_BYTES = 64  # magic u32 | layer u32 | expert u32 | n_matrices u32 | unit f32 x n_matrices | zeros
MAGIC = 0x58455055  # "UPEX" little endian

PLANE_BITS = (2, 2, 4)  # bits added by each plane
TIERS = (2, 4, 8)  # precision reached with that plane; tier 16 and 32 are raw records
RAW_TIERS = (16, 32)


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
    """A run of bytes inside a plane; offset is relative to the start of that plane."""

    offset: int
    nbytes: int


@dataclass(frozen=True)
class Plane:
    """One plane of a record. offset is relative to the record; nbytes is a multiple of ALIGN."""

    index: int
    tier: int
    offset: int
    nbytes: int
    codes: dict[str, Section]  # per matrix; for raw records the matrix itself
    params: dict[str, Section]  # per matrix: scale/offset lines; empty for raw records
    biases: dict[str, Section]  # per matrix: float32 [rows]; only in plane 0


@dataclass(frozen=True)
class ExpertSpec:
    """Shape and encoding of an expert. Equal specs have equal layouts.

    top: 4 or 8 (progressive planes), 16 (raw bf16) or 32 (raw float32). group: columns per group.
    """

    hidden: int
    intermediate: int
    top: int
    group: int = 64
    has_gate: bool = True
    has_bias: bool = False

    def __post_init__(self) -> None:
        if self.top not in (4, 8, *RAW_TIERS):
            raise ValueError(f"top tier {self.top}: choose 4, 8, 16 or 32")
        if self.group % 16 or self.group < 16:
            raise ValueError(f"group size {self.group} is not a multiple of 16")
        if min(self.hidden, self.intermediate) < 1:
            raise ValueError("an expert needs hidden and intermediate sizes of at least 1")

    @property
    def raw(self) -> bool:
        """True where the record is one plane of unquantized matrices."""
        return self.top in RAW_TIERS

    @property
    def tiers(self) -> tuple[int, ...]:
        """The tiers this record can be read at, coarse first: (2, 4), (2, 4, 8), (16,) or (32,)."""
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

    def padded(self, m: MatrixSpec) -> tuple[int, int]:
        """(rows, cols) of a matrix as stored; the same as (rows, cols) for raw records."""
        return (m.rows, m.cols) if self.raw else (aligned(m.rows, ROWS_PER_TILE), aligned(m.cols, self.group))


@dataclass(frozen=True)
class RecordLayout:
    """The planes of a record, and its length (multiple of ALIGN)."""

    spec: ExpertSpec
    planes: tuple[Plane, ...]
    nbytes: int

    def planes_for(self, tier: int) -> tuple[Plane, ...]:
        """The planes that make an expert of this tier."""
        if tier not in self.spec.tiers:
            raise ValueError(f"tier {tier} is not in this record (it has {self.spec.tiers})")
        return self.planes[: self.spec.tiers.index(tier) + 1]

    def prefix_bytes(self, tier: int) -> int:
        """Bytes to read for an expert of this tier from nothing."""
        last = self.planes_for(tier)[-1]
        return last.offset + last.nbytes

    def bits_per_weight(self, tier: int) -> float:
        """Bits on disk per weight at this tier: codes, parameters, header, padding and alignment."""
        return 8 * self.prefix_bytes(tier) / self.spec.parameters


@lru_cache(maxsize=256)
def _layout(spec: ExpertSpec) -> RecordLayout:
    planes: list[Plane] = []
    at = 0
    for index, tier in enumerate(spec.tiers):
        here = HEADER_BYTES if index == 0 else 0
        codes: dict[str, Section] = {}
        params: dict[str, Section] = {}
        biases: dict[str, Section] = {}
        for m in spec.matrices:
            rows, cols = spec.padded(m)
            bits = spec.top if spec.raw else PLANE_BITS[index]
            codes[m.name] = Section(here, aligned(rows * cols * bits // 8, LINE))
            here += codes[m.name].nbytes
        if not spec.raw:
            for m in spec.matrices:
                rows, cols = spec.padded(m)
                tiles = (rows // ROWS_PER_TILE) * (cols // spec.group)
                params[m.name] = Section(here, tiles * LINE)
                here += tiles * LINE
        if index == 0 and spec.has_bias:
            for m in spec.matrices:
                biases[m.name] = Section(here, aligned(4 * m.rows, LINE))
                here += biases[m.name].nbytes
        planes.append(Plane(index, tier, at, aligned(here), codes, params, biases))
        at += aligned(here)
    return RecordLayout(spec, tuple(planes), at)
