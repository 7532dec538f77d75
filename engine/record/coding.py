"""How the codes of a matrix stand for weights: codebook, group size and the form of scales; shared by all decoders.

    w = unit * (scale * (level[code] - zero) + offset)

level[code] is a whole number: the code itself, or an entry from 0 to 254 of a codebook of 16 that ascends, so that the
top two bits of a code are a coarse code in the same order. level - zero fits in 8 bits with a sign. Coarse codes (2
bits) are always their own levels.

Forms of scales and offsets, per tile of 16 rows by one group:

    pair    16 float16 scales, 16 float16 offsets                                           64 bytes
    half    16 float16 scales; the offset is 0                                              32 bytes
    byte    16 scales of a byte: the float16 whose bits are the byte times 2^7 (5 bits of exponent, 3 of fraction,
            no sign), which holds E4M3 exactly (times 2^-8) and powers of two over 32 binades  16 bytes
    signed  16 scales of a byte: the upper byte of a float16; coarse codes alone are scaled so      16 bytes
    super   16 bytes s, 16 bytes m; scale = d * s, offset = -e * m, with float16 d and e for each row and 256 columns,
            16 d, then 16 e in a line of 64 bytes; all these lines of a row block stand before those of its groups

(super is how ggml's Q4_K and Q5_K are built: https://github.com/ggml-org/ggml, block_q4_K.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

ROWS = 16  # of a tile
SUPER = 256  # columns that share d and e
UNIT_LINE = 64  # bytes that a matrix beside the experts begins with: its unit, a float32, and zeros
FORMS = ("pair", "half", "byte", "signed", "super")  # by number, as in C
COARSE_FORM = {"pair": "pair", "half": "signed", "byte": "byte", "super": "super"}  # how the 2 bits of each are scaled
# What codes stand for where scales have a form: the kernels have a body for each of these alone.
LEVELS_OF = {
    "pair": ("plain",), "super": ("plain",), "byte": ("e2m1",), "half": ("middle8", "middle32", "iq4_nl", "nf4"),
}  # fmt: skip


@dataclass(frozen=True)
class Levels:
    """What codes stand for. table: 16 ascending levels, or empty where a code is its own level.

    zero: subtracted from a level (not always whole); coarse_zero: from the top two bits of a code, which count 0 to 3.
    meant: what level - zero stands for, where it is not exactly that; else empty.
    """

    table: tuple[int, ...]
    zero: float
    coarse_zero: float
    meant: tuple[float, ...] = ()


# Values of the formats named. E2M1 (OCP Microscaling Formats 1.0, also in NVFP4) is doubled to be whole, and
# has two zeros. IQ4_NL is ggml's. NF4 (QLoRA, appendix E) is not whole: times NF4_TIMES and moved by NF4_ZERO, its
# values are nearest to whole numbers, 0.25 % off.
_E2M1 = (-12, -8, -6, -4, -3, -2, -1, 0, 0, 1, 2, 3, 4, 6, 8, 12)
_IQ4_NL = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
_NF4 = (-124, -86, -65, -49, -35, -23, -11, 0, 10, 20, 31, 42, 55, 70, 90, 124)
_NF4_VALUES = (
    -1.0, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0.0,
    0.0795803, 0.1609302, 0.2461123, 0.3379152, 0.4407098, 0.5626170, 0.7229568, 1.0,
)  # fmt: skip
NF4_TIMES, NF4_ZERO = 124.07, 0.15


def _table(values: tuple[int, ...], zero: float = 0.0) -> Levels:
    """Levels of ascending signed values; the coarse zero is where a line through the means of each four meets 0."""
    means = [sum(values[i : i + 4]) / 4 for i in range(0, 16, 4)]
    # Least squares through four points at -1.5, -0.5, 0.5 and 1.5, whose squares sum to 5.
    slope = sum((i - 1.5) * mean for i, mean in enumerate(means)) / 5
    return Levels(tuple(v - values[0] for v in values), zero - values[0], 1.5 - sum(means) / 4 / slope)


# Coarse zeros of symmetrical codes: 2 bits are the top of 4 or 6, each the mean of 4 or 16 levels: 8 / 4 - 3 / 8, 32 /
# 16 - 15 / 32.
LEVELS = {
    "plain": Levels((), 0.0, 0.0),
    "middle8": Levels((), 8.0, 1.625),
    "middle32": Levels((), 32.0, 1.53125),
    "e2m1": _table(_E2M1),
    "iq4_nl": _table(_IQ4_NL),
    "nf4": replace(_table(_NF4, NF4_ZERO), meant=tuple(NF4_TIMES * value for value in _NF4_VALUES)),
}


@dataclass(frozen=True)
class Coding:
    """How one matrix of a record is coded. bits: of a code, 4 or 6. group: columns that share a scale.

    form: a key of COARSE_FORM. levels: a key of LEVELS, one of LEVELS_OF the form; middle8 and middle32 are those of
    symmetrical codes of 4 and 6 bits.
    Raises ValueError where these do not go together.
    """

    bits: int
    group: int
    form: str
    levels: str

    def __post_init__(self) -> None:
        if self.bits not in (4, 6) or self.levels not in LEVELS_OF.get(self.form, ()):
            raise ValueError(f"codes of {self.bits} bits, {self.levels} levels and scales as {self.form}")
        if self.group % 16 or not 16 <= self.group <= SUPER:
            raise ValueError(f"group size {self.group} is not a multiple of 16 up to {SUPER}")
        if self.form == "super" and SUPER % self.group:
            raise ValueError(f"groups of {self.group} do not divide {SUPER} columns")
        if LEVELS[self.levels].table and self.bits != 4:
            raise ValueError("a codebook has 16 entries")

    def form_of(self, tier: int) -> str:
        """How scales are stored for codes of `tier` bits: 2, or all of them."""
        return COARSE_FORM[self.form] if tier == 2 else self.form

    def zero_of(self, tier: int) -> float:
        """What is subtracted from levels of `tier` bits."""
        levels = LEVELS[self.levels]
        return levels.coarse_zero if tier == 2 else levels.zero

    def table_of(self, tier: int) -> tuple[int, ...]:
        """The levels of codes of `tier` bits; empty: the codes themselves."""
        return () if tier == 2 else LEVELS[self.levels].table


def dense_sections(coding: Coding, rows: int, cols: int) -> tuple[int, int, int, int]:
    """Bytes of what a matrix beside the experts is stored as: a line with its unit, codes in two parts, scales.

    rows, cols: as they are; cols is a multiple of the group.
    """
    stored = -(-rows // ROWS) * ROWS
    codes = (stored * cols * bits // 8 for bits in (2, coding.bits - 2))
    return (UNIT_LINE, *codes, params_bytes(coding.form, stored, cols, coding.group))  # type: ignore[return-value]


def params_bytes(form: str, rows: int, cols: int, group: int) -> int:
    """Bytes of the scales of a matrix of padded rows and columns."""
    blocks, groups = rows // ROWS, cols // group
    if form == "super":
        return blocks * (64 * -(-cols // SUPER) + 32 * groups)
    return blocks * groups * {"pair": 64, "half": 32, "byte": 16, "signed": 16}[form]
