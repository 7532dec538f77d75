"""Reads PTX: kernels, their parameters, variables and statements. Nothing is understood of the instructions yet."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass(frozen=True)
class Param:
    """A parameter of a kernel: what cuLaunchKernel copies for it. offset: in the kernel's parameters."""

    name: str
    nbytes: int
    align: int
    offset: int


@dataclass(frozen=True)
class Statement:
    """One instruction. guard: a predicate register, with a ! where it is negated; line: of the text, from 1."""

    name: str
    operands: tuple[str, ...]
    guard: str | None
    line: int
    text: str


@dataclass
class KernelText:
    """A kernel as it is written. registers: type by name. shared: (offset, bytes) by name. labels: of statements."""

    name: str
    params: tuple[Param, ...]
    registers: dict[str, str] = field(default_factory=dict)
    shared: dict[str, tuple[int, int]] = field(default_factory=dict)
    shared_bytes: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    code: list[Statement] = field(default_factory=list)


# Dead bytes before and behind each variable in shared memory: who runs over one's end does not hit the next.
_GAP = 64


def read_kernels(ptx: str) -> dict[str, KernelText]:
    """The kernels of a module by name. Raises ValueError for what this does not know."""
    if not re.search(r"^\.version \d+\.\d+\n\.target sm_\d+\n\.address_size 64", ptx, re.MULTILINE):
        raise ValueError("no module: .version, .target and .address_size 64 are missing")
    bare = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), ptx, flags=re.DOTALL)
    bare = re.sub(r"//[^\n]*", "", bare)
    kernels = {}
    for match in re.finditer(r"\.entry\s+(\w+)\s*\((.*?)\)([^{]*)\{\n(.*?)\n\}", bare, re.DOTALL):
        kernel = KernelText(match[1], _params(match[2]))
        _read_body(kernel, match[4], 1 + bare.count("\n", 0, match.start(4)))
        kernels[kernel.name] = kernel
    if not kernels:
        raise ValueError("no kernel in it")
    return kernels


def _params(text: str) -> tuple[Param, ...]:
    found, at = [], 0
    for piece in filter(None, map(str.strip, text.split(","))):
        match = re.fullmatch(
            r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[usbf](\d+)(?:\s+\.ptr[.\w\s]*?)?\s+(\w+)(?:\[(\d+)\])?", piece
        )
        if match is None:
            raise ValueError(f"cannot read the parameter {piece}")
        each = BYTES[match[2]]
        align, nbytes = int(match[1] or each), each * int(match[4] or 1)
        at = -(-at // align) * align
        found.append(Param(match[3], nbytes, align, at))
        at += nbytes
    return tuple(found)


def _read_body(kernel: KernelText, body: str, line: int) -> None:
    for raw in re.split(r"(?<=;)|(?<=:)(?=\n)", body):
        text = raw.strip()
        at = line + raw[: len(raw) - len(raw.lstrip())].count("\n")
        line += raw.count("\n")
        text = re.sub(r"^[{}\s]*(?=[@.$\w])", "", text).strip().removesuffix(";").strip()
        text = text if re.search(r"\{[^}]*\}", text) else text.strip("{} \n\t")
        while label := re.match(r"(\$?\w+):\s*", text):
            kernel.labels[label[1]] = len(kernel.code)
            text = text[label.end() :].lstrip("{} \n\t")
        if text.startswith("."):
            _declare(kernel, text)
        elif text:
            kernel.code.append(_statement(text, at))


def _declare(kernel: KernelText, text: str) -> None:
    if match := re.fullmatch(r"\.reg\s+\.(\w+)\s+(%\w+)<(\d+)>", text):
        kernel.registers |= {f"{match[2]}{i}": match[1] for i in range(int(match[3]))}
    elif match := re.fullmatch(r"\.reg\s+\.(\w+)\s+([\w%]+(?:\s*,\s*[\w%]+)*)", text):
        kernel.registers |= {name.strip(): match[1] for name in match[2].split(",")}
    elif match := re.fullmatch(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+(\w+)\[(\d+)\]", text):
        align, nbytes = int(match[1]), int(match[3])
        at = -(-(kernel.shared_bytes + _GAP) // align) * align
        kernel.shared[match[2]] = (at, nbytes)
        kernel.shared_bytes = at + nbytes + _GAP
    elif not text.startswith((".pragma", ".maxntid", ".minnctapersm")):
        raise ValueError(f"cannot read the declaration {text}")


def _statement(text: str, line: int) -> Statement:
    one_line = " ".join(text.split())
    match = re.fullmatch(r"(?:@(!?[%\w]+)\s+)?([a-z][\w.:]*)\s*(.*)", one_line)
    if match is None:
        raise ValueError(f"line {line}: cannot read {one_line}")
    operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", match[3])
    return Statement(match[2], tuple(operands), match[1], line, one_line)
