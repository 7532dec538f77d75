"""Turns a kernel's statements into what the machine runs: numbers of operations and registers."""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass, field

from tests.engine.cuda.ptx.text import BYTES, KernelText, Statement

OPERANDS, NONE = 16, -1
SPACES = {"global": 0, "shared": 1, "param": 2, "generic": 3}
SPECIAL = tuple(f"%{what}.{axis}" for what in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz")


class Instruction(ctypes.Structure):
    """instruction of machine.h."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("op", "guard", "negated", "reads", "writes")),
        ("operand", ctypes.c_int32 * OPERANDS),
        *((name, ctypes.c_int32) for name in ("space", "bytes", "count", "sign", "target")),
        ("offset", ctypes.c_int64),
    )


@dataclass
class Encoded:
    """A kernel for the machine: code, how many registers, what the last of them hold, and which are special."""

    code: ctypes.Array[Instruction]
    registers: int
    fixed: list[int]
    special: list[int]
    laneid: int


@dataclass
class _Encoder:
    kernel: KernelText
    operations: dict[str, int]
    variables: dict[str, int] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)

    def register(self, name: str) -> int:
        if name not in self.kernel.registers and name not in SPECIAL and name != "%laneid":
            raise ValueError(f"there is no register {name}")
        return self.variables.setdefault(name, len(self.variables))

    def value(self, text: str) -> int:
        """The register of an operand; constants have negative numbers until all are known."""
        if text == "_":
            return NONE
        if text.startswith("%") or text in self.kernel.registers:
            return self.register(text)
        if text in self.kernel.shared:
            return self.constant(self.kernel.shared[text][0])
        if found := [p for p in self.kernel.params if p.name == text]:
            return self.constant(found[0].offset)
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
            return self.constant(int(text[2:], 16))
        return self.constant(int(text, 0) & (2**64 - 1))

    def constant(self, value: int) -> int:
        return -2 - self.constants.setdefault(value, len(self.constants))

    def address(self, text: str) -> tuple[int, int]:
        match = re.fullmatch(r"\[\s*([%$\w]+)\s*(?:\+\s*(-?\w+)\s*)?\]", text)
        if match is None:
            raise ValueError(f"cannot read the address {text}")
        return self.value(match[1]), int(match[2] or "0", 0)


# PTX has several types for what is the same to the machine.
_SIGNLESS = ("add", "sub", "mul.lo", "mad.lo", "and", "or", "xor", "not", "shl", "neg")


def _operation(name: str) -> str:
    """The machine's name of an instruction that lanes do on their own."""
    parts = [p for p in name.split(".") if p not in ("approx", "ftz", "full", "sat")]
    op, kind = parts[0], parts[-1]
    if op in ("mov", "selp", "cvta"):
        return "selp" if op == "selp" else "mov"
    if kind == "pred":
        return "not_pred" if op == "not" else f"{op}_b16"
    if kind.startswith("f") and op != "cvt":
        return "_".join([op, *(p for p in parts[1:-1] if p != "rn"), kind])
    if op == "cvt":
        to, source = parts[-2], parts[-1]
        if "f" in to + source:
            return "_".join(parts)
        # What is wider is cut down; what is narrower widens by its own sign.
        narrow = source if int(source[1:]) <= int(to[1:]) else to
        return "mov" if narrow[1:] == "64" else f"cvt_{narrow}"
    bits = kind[1:]
    stem = ".".join(parts[:-1])
    if stem in _SIGNLESS:
        return f"{stem.replace('.', '_')}_b{bits}"
    if op == "setp":
        sign = "s" if kind[0] == "s" else "u"
        named = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(parts[1], parts[1])
        return f"setp_{named}_{sign}{bits}"
    if op in ("shr", "min", "max", "div", "rem", "abs") and kind[0] == "b":
        return f"{op}_u{bits}"
    return "_".join(parts)


def encode(kernel: KernelText, operations: dict[str, int]) -> Encoded:
    """The kernel for the machine. operations: its numbers by name. Raises ValueError for what it does not know."""
    encoder = _Encoder(kernel, operations)
    special = [encoder.register(name) for name in SPECIAL]
    laneid = encoder.register("%laneid")
    code = (Instruction * len(kernel.code))()
    for instruction, statement in zip(code, kernel.code):
        try:
            _encode(encoder, statement, instruction)
        except (ValueError, KeyError) as error:
            raise ValueError(f"line {statement.line}: cannot run {statement.text}: {error}") from error
    variables = len(encoder.variables)
    for instruction in code:  # constants come behind all variables
        for i, number in enumerate(instruction.operand):
            if number < NONE:
                instruction.operand[i] = variables - 2 - number
    return Encoded(code, variables + len(encoder.constants), list(encoder.constants), special, laneid)


def _encode(encoder: _Encoder, statement: Statement, to: Instruction) -> None:
    to.guard = encoder.register(statement.guard.lstrip("!")) if statement.guard else NONE
    to.negated = bool(statement.guard and statement.guard.startswith("!"))
    parts, operands = statement.name.split("."), statement.operands
    match parts[0]:
        case "ld" | "st":
            _memory(encoder, parts, operands, to)
        case "bra":
            _set(encoder, to, "bra", (), ())
            to.target = encoder.kernel.labels[operands[0]]
        case "ret" | "exit":
            _set(encoder, to, "ret", (), ())
        case "bar" | "barrier" if "warp" in parts:
            _set(encoder, to, "warpsync", (), operands)
        case "bar" | "barrier":
            if operands != ("0",):
                raise ValueError("only barrier 0 of the whole block is known")
            _set(encoder, to, "bar", (), ())
        case "shfl":
            first, _, second = operands[0].partition("|")
            _set(encoder, to, f"shfl_{parts[2]}", (first, second or "_"), operands[1:])
        case "mma":
            shape = {"m16n8k32": "mma_16_8_32", "m8n8k16": "mma_8_8_16"}[parts[3]]
            if parts[4:] != ["row", "col", "s32", "u8", "s8", "s32"]:
                raise ValueError("only products of u8 and s8 are known")
            written, *read = [[r.strip() for r in operand.strip("{}").split(",")] for operand in operands]
            _set(encoder, to, shape, tuple(written), tuple(r for group in read for r in group))
        case "mov" if operands[0].startswith("{"):
            _set(encoder, to, f"unpack_{parts[1]}", _listed(operands[0]), operands[1:])
        case "mov" if operands[1].startswith("{"):
            _set(encoder, to, f"pack_{parts[1]}", operands[:1], _listed(operands[1]))
        case "cvta" if parts[1] == "to" and parts[2] != "global":
            raise ValueError("only addresses of global memory may be generic")
        case _:
            _set(encoder, to, _operation(statement.name), operands[:1], operands[1:])


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.strip("{}").split(","))


def _set(encoder: _Encoder, to: Instruction, name: str, written: tuple[str, ...], read: tuple[str, ...]) -> None:
    to.op = encoder.operations[name]
    numbers = [*map(encoder.value, written), *map(encoder.value, read)]
    to.writes, to.reads = len(written), len(read)
    to.operand[: len(numbers)] = numbers


def _memory(encoder: _Encoder, parts: list[str], operands: tuple[str, ...], to: Instruction) -> None:
    kind, load = parts[-1], parts[0] == "ld"
    to.space = SPACES[next((p for p in parts if p in SPACES), "generic")]
    vector = next((int(p[1]) for p in parts if re.fullmatch(r"v\d", p)), 1)
    to.bytes, to.count, to.sign = BYTES[kind[1:]], vector, kind[0] == "s"
    where, data = (operands[1], operands[0]) if load else (operands[0], operands[1])
    values = _listed(data)
    if len(values) != vector:
        raise ValueError(f"{len(values)} registers for {vector} values")
    base, to.offset = encoder.address(where)
    to.op = encoder.operations["ld" if load else "st"]
    numbers = [encoder.value(name) for name in values]
    numbers = [*numbers, base] if load else [base, *numbers]
    to.writes, to.reads = (vector, 1) if load else (0, 1 + vector)
    to.operand[: len(numbers)] = numbers


def float_bits(value: float) -> int:
    """A float32 as a register holds it."""
    return int.from_bytes(struct.pack("<f", value), "little")
