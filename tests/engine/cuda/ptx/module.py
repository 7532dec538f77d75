"""A module of PTX, ready to be launched on the machine."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.native.build import SOURCES as NATIVE_SOURCES
from engine.native.build import commands
from tests.engine.cuda.ptx.encode import Encoded, Instruction, encode
from tests.engine.cuda.ptx.memory import BASE, READ, WROTE, DeviceMemory
from tests.engine.cuda.ptx.text import KernelText, Param, read_kernels

_HERE = Path(__file__).parent
Size = tuple[int, int, int]


class PtxFault(Exception):
    """A launch did what no kernel may do. kind: a short name of it, one of KINDS."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


KINDS = (
    "fine", "out of bounds", "misaligned", "uninitialized", "race", "unset register", "lanes missing",
    "barrier in diverged code", "missing at a barrier", "shared out of bounds", "shared uninitialized", "shared race",
    "parameter out of bounds", "bad instruction", "endless", "no memory",
)  # fmt: skip


class _Memory(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("bytes", "state", "written", "read", "page_read", "page_written")),
        *((name, ctypes.c_void_p) for name in ("pages_read", "pages_written")),
        ("base", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        *((name, ctypes.c_int32) for name in ("n_pages_read", "n_pages_written")),
        ("launch", ctypes.c_uint32),
    )


class _Launch(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_void_p),
        *((name, ctypes.c_int32) for name in ("length", "registers")),
        ("fixed", ctypes.c_void_p),
        ("n_fixed", ctypes.c_int32),
        ("special", ctypes.c_int32 * 12),
        *((name, ctypes.c_int32) for name in ("laneid", "shared_bytes")),
        *((name, ctypes.c_void_p) for name in ("shared_map", "params")),
        ("params_bytes", ctypes.c_int32),
        ("grid", ctypes.c_int32 * 3),
        ("block", ctypes.c_int32 * 3),
        ("seed", ctypes.c_uint64),
        ("memory", ctypes.c_void_p),
    )


class _Outcome(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in ("kind", "pc", "lane", "warp")),
        ("block", ctypes.c_int64),
        ("address", ctypes.c_uint64),
        ("executed", ctypes.c_int64),
        ("sectors", ctypes.c_int64),
    )


@functools.cache
def machine() -> ctypes.CDLL:
    """The machine, compiled once per change of its sources and kept among temporary files."""
    sources = [*sorted(_HERE.glob("*.[ch]")), NATIVE_SOURCES / "half.h"]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"underhill-ptx-machine-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"machine-{digest}.so"
    if os.name == "nt" and not commands():
        library = _HERE / "machine.dll"  # tests.windows puts it there
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / library.name
            # No contraction: add and mul round on their own, as they do on a card.
            options = ["-O2", "-fPIC", "-shared", "-std=c11", "-ffp-contract=off", f"-I{NATIVE_SOURCES}"]
            environment = {"ZIG_GLOBAL_CACHE_DIR": scratch, "ZIG_LOCAL_CACHE_DIR": scratch, **os.environ}
            command = [*commands()[0], *options, str(_HERE / "machine.c"), "-o", str(made), "-lm"]
            subprocess.run(command, check=True, capture_output=True, env=environment)
            os.replace(made, library)
    loaded = ctypes.CDLL(str(library))
    loaded.machine_name.restype = ctypes.c_char_p
    loaded.machine_run.argtypes = (ctypes.POINTER(_Launch), ctypes.POINTER(_Outcome))
    for which, structure in enumerate((Instruction, _Launch, _Memory)):
        assert loaded.machine_sizes(which) == ctypes.sizeof(structure), "machine.h and module.py differ"
    return loaded


@functools.cache
def _operations() -> dict[str, int]:
    found: dict[str, int] = {}
    while name := machine().machine_name(len(found)):
        found[name.decode()] = len(found)
    return found


@dataclass(frozen=True)
class LaunchReport:
    """What a launch did. reads, writes: (address, bytes), ascending. executed: instructions, counted by warps.

    requested: bytes that its loads and stores asked caches and memory for, in sectors of 32, each once for a warp.
    """

    reads: list[tuple[int, int]]
    writes: list[tuple[int, int]]
    executed: int
    requested: int


class PtxKernel:
    """One kernel: parameters, and its code for the machine."""

    def __init__(self, text: KernelText) -> None:
        self.name, self.text = text.name, text
        self.params: tuple[Param, ...] = text.params
        self.shared_map = np.zeros(max(text.shared_bytes, 1), np.uint8)
        for at, nbytes in text.shared.values():
            self.shared_map[at : at + nbytes] = 1

    @functools.cached_property
    def encoded(self) -> Encoded:
        """The kernel as the machine runs it. Raises ValueError for what that does not know."""
        return encode(self.text, _operations())

    @functools.cached_property
    def fixed(self) -> np.ndarray:
        """What the last registers hold."""
        return np.array(self.encoded.fixed or [0], np.uint64)

    def pack(self, arguments: Sequence[bytes]) -> bytes:
        """The kernel's parameters as they lie. Raises ValueError where they do not fit."""
        if len(arguments) != len(self.params):
            raise ValueError(f"{self.name} takes {len(self.params)} parameters, not {len(arguments)}")
        packed = bytearray()
        for param, argument in zip(self.params, arguments):
            if len(argument) != param.nbytes:
                raise ValueError(f"{self.name}: {param.name} has {param.nbytes} bytes, not {len(argument)}")
            packed += bytes(param.offset - len(packed)) + argument
        return bytes(packed)


@functools.lru_cache(maxsize=4)  # each card of a test loads the same text again, and reading it takes seconds
def _kernels(ptx: str) -> dict[str, PtxKernel]:
    return {name: PtxKernel(text) for name, text in read_kernels(ptx).items()}


class Module:
    """The kernels of a text, by name. Raises ValueError for text that is no PTX."""

    def __init__(self, ptx: str) -> None:
        self.kernels = _kernels(ptx)

    def launch(
        self,
        name: str,
        grid: Size,
        block: Size,
        shared: int,
        args: Sequence[bytes],
        memory: DeviceMemory,
        seed: int = 0,
    ) -> LaunchReport:
        """Run a kernel to its end. args: the bytes of each parameter. seed: of the order of blocks and warps.

        Raises PtxFault for what is wrong in the kernel, ValueError for what is wrong in the call.
        """
        kernel = self.kernels[name]
        if shared:
            raise ValueError("no kernel takes dynamic shared memory")
        if min(*grid, *block) < 1 or block[0] * block[1] * block[2] > 1024 or max(grid[1:]) > 65535:
            raise ValueError(f"grid {grid} of blocks {block} cannot be launched")
        params = ctypes.create_string_buffer(kernel.pack(args))
        memory.launches += 1
        encoded = kernel.encoded
        # Addresses of arrays of this frame, of the kernel and of the memory, all alive until the call returns.
        view = _Memory(
            *(a.ctypes.data for a in (memory.bytes, memory.state, memory.stamps[WROTE], memory.stamps[READ])),
            *(memory.page_stamps[which].ctypes.data for which in (READ, WROTE)),
            *(memory.pages[which].ctypes.data for which in (READ, WROTE)),
            BASE, len(memory.bytes), 0, 0, memory.launches,
        )  # fmt: skip
        launch = _Launch(
            ctypes.addressof(encoded.code), len(encoded.code), encoded.registers, kernel.fixed.ctypes.data,
            len(encoded.fixed), (ctypes.c_int32 * 12)(*encoded.special), encoded.laneid, kernel.text.shared_bytes,
            kernel.shared_map.ctypes.data, ctypes.addressof(params), len(params) - 1, (ctypes.c_int32 * 3)(*grid),
            (ctypes.c_int32 * 3)(*block), seed, ctypes.addressof(view),
        )  # fmt: skip
        outcome = _Outcome()
        if machine().machine_run(launch, outcome):
            raise PtxFault(KINDS[outcome.kind], self._where(kernel, outcome))
        reads, writes = memory.touched(READ, view.n_pages_read), memory.touched(WROTE, view.n_pages_written)
        return LaunchReport(reads, writes, outcome.executed, 32 * outcome.sectors)

    @staticmethod
    def _where(kernel: PtxKernel, outcome: _Outcome) -> str:
        code = kernel.text.code
        at = f"line {code[outcome.pc].line}, {code[outcome.pc].text}" if 0 <= outcome.pc < len(code) else "the end"
        return (
            f"{kernel.name}, {at} (block {outcome.block}, warp {outcome.warp}, lane {outcome.lane}, "
            f"address {outcome.address:#x})"
        )
