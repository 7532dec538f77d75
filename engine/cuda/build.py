"""Compiles the kernels to PTX with NVRTC, which needs no card: ``python -m engine.cuda.build``.

The result, resources/cuda/, is text that the driver of a user's card compiles: Underhill runs without a compiler. NVRTC
is the package nvidia-cuda-nvrtc-cu12, of the developers' tools.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import importlib.util
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine import resources
from engine.cuda.ptx_files import ptx_name
from engine.native.build import SOURCES as NATIVE_SOURCES

SOURCES = Path(__file__).parent / "kernels"
ABI = 3  # raised when a kernel's name, parameters or grid change: whoever launches asks for it


@dataclass(frozen=True)
class Flavour:
    """What one file of PTX is compiled for. version: of PTX, the oldest that has its instructions.

    A driver refuses PTX newer than itself (error 222) and takes any that is older. 6.5 came with CUDA 10.2 and
    drivers 440, 7.0 with CUDA 11.0 and drivers 450.
    """

    name: str
    version: str


# m16n8k32 for 8 bits needs sm_80 and PTX 7.0; Turing (sm_75) has m8n8k16, since 6.5. Later cards run sm_80's.
FLAVOURS = (Flavour("sm_75", "6.5"), Flavour("sm_80", "7.0"))
# No contraction: fused multiply-adds stand where the processor's kernels have them, and nowhere else, so that results
# are the same bits.
OPTIONS = (
    "--std=c++17", "--fmad=false", "--prec-div=true", "--ftz=false", "--device-as-default-execution-space",
    "--diag-suppress=1097",  # the C library's functions are visible, which means nothing here
)  # fmt: skip
# The C library's headers include these of the C library, which NVRTC has built in or which the kernels do not use.
_INTEGERS = "\n".join(
    f"typedef {sign}{kind} {prefix}int{bits}_t;"
    for bits, kind in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
    for prefix, sign in (("", "signed "), ("u", "unsigned "))
)
_STAND_INS: Mapping[str, str] = {"stdint.h": _INTEGERS, "string.h": "", "math.h": ""}


class CompileError(Exception):
    """NVRTC is not there, or refuses a kernel; the text says which."""


def find_nvrtc() -> Path | None:
    """NVRTC's library as the package nvidia-cuda-nvrtc-cu12 has it; None where that is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec and spec.submodule_search_locations) or ():
        for pattern in ("cuda_nvrtc/lib/libnvrtc.so.12", "cuda_nvrtc/bin/nvrtc64_120_0.dll"):
            if found := sorted(Path(root).glob(pattern)):
                return found[0]
    return None


def compile_ptx(flavour: Flavour, nvrtc: Path) -> str:
    """The PTX of all kernels. Raises CompileError with the compiler's own words."""
    library = _load(nvrtc)
    program = ctypes.c_void_p()
    names = [name.encode() for name in _STAND_INS]
    texts = [text.encode() for text in _STAND_INS.values()]
    # The arrays are copied by the call. A program is destroyed whatever becomes of it.
    _checked(
        library, "nvrtcCreateProgram", ctypes.byref(program), (SOURCES / "kernels.cu").read_bytes(), b"kernels.cu",
        len(names), (ctypes.c_char_p * len(texts))(*texts), (ctypes.c_char_p * len(names))(*names),
    )  # fmt: skip
    try:
        folders = (f"--include-path={folder}" for folder in (SOURCES, NATIVE_SOURCES))
        arch = f"--gpu-architecture={flavour.name.replace('sm_', 'compute_')}"
        options = [option.encode() for option in (arch, *OPTIONS, *folders)]
        failed = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if failed:
            raise CompileError(_text(library, program, "ProgramLog"))
        return _portable(_text(library, program, "PTX"), flavour)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _load(nvrtc: Path) -> ctypes.CDLL:
    """NVRTC, which asks Windows for a second DLL by its name alone, and does not say that it lies beside its own."""
    for builtins in nvrtc.parent.glob("nvrtc-builtins64_*.dll"):
        ctypes.CDLL(str(builtins))  # a DLL that is loaded is found by its name
    return ctypes.CDLL(str(nvrtc))


def _checked(library: ctypes.CDLL, name: str, *arguments: object) -> None:
    if code := getattr(library, name)(*arguments):
        raise CompileError(f"{name}: NVRTC's error {code}")


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    _checked(library, f"nvrtcGet{what}Size", program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    _checked(library, f"nvrtcGet{what}", program, buffer)
    return buffer.value.decode()


def _portable(ptx: str, flavour: Flavour) -> str:
    """The same for the oldest driver that has these instructions, and without what changes from build to build."""
    ptx = re.sub(r"^\s*//.*\n", "", ptx, flags=re.MULTILINE)
    # Which bytes of a load are used: a hint that PTX knows since 8.3.
    ptx = re.sub(r"^\s*\.pragma \"used_bytes_mask [^\n]*\n", "", ptx, flags=re.MULTILINE)
    ptx, found = re.subn(r"^\.version .*$", f".version {flavour.version}", ptx, flags=re.MULTILINE)
    if found != 1:
        raise CompileError("NVRTC's text has no .version")
    return ptx.strip() + "\n"


def kernel_names(ptx: str) -> list[str]:
    """What a module of this text has to launch."""
    return re.findall(r"\.entry\s+(\w+)\s*\(", ptx)


def nvrtc_version(nvrtc: Path) -> str:
    """As major.minor."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _checked(_load(nvrtc), "nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def build(nvrtc: Path, folder: Path) -> None:
    """Write one file of PTX for each flavour, and manifest.json. Raises CompileError."""
    folder.mkdir(parents=True, exist_ok=True)
    flavours = {}
    for flavour in FLAVOURS:
        ptx = compile_ptx(flavour, nvrtc)
        name = ptx_name(flavour.name)
        (folder / name).write_bytes(gzip.compress(ptx.encode("ascii"), mtime=0))
        digest = hashlib.sha256(ptx.encode()).hexdigest()
        flavours[flavour.name] = {"file": name, "sha256": digest, "kernels": kernel_names(ptx)}
    manifest = {"abi": ABI, "nvrtc": nvrtc_version(nvrtc), "flavours": flavours}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="ascii", newline="\n")


def main() -> int:
    """Exit code 0: built; 3: NVRTC is not installed; 1: a kernel does not compile."""
    nvrtc = find_nvrtc()
    if nvrtc is None:
        print("NVRTC is not installed: pip install --group dev", file=sys.stderr)
        return 3
    folder = resources.path("cuda")
    try:
        build(nvrtc, folder)
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Built {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
