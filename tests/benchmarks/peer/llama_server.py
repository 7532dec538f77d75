"""llama.cpp's own server, `llama-server`, built from the sources that come with the peer's Python package."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.benchmarks.peer.client import FLAGS, WHEELS, peer_python

SERVER = "UNDERHILL_PEER_SERVER"  # environment variable: a llama-server that is there already
TARGET = "llama-server"
OPTIONS = (
    *FLAGS.split(), "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
)  # fmt: skip


def peer_server(cache: Path) -> Path:
    """The program; built below `cache` first if need be, with CMake and a C++ compiler, in some ten minutes.

    Raises subprocess.CalledProcessError, with what the build said on the terminal.
    """
    if given := os.environ.get(SERVER):
        if not Path(given).is_file():
            raise SystemExit(f"{SERVER} is {given}, and there is no such file.")
        return Path(given)
    folder = cache / "peer-server"
    program = folder / "bin" / (f"{TARGET}.exe" if os.name == "nt" else TARGET)
    if not program.is_file():
        print(f"Building {TARGET} in {folder}; this takes some minutes.", file=sys.stderr)
        with tempfile.TemporaryDirectory() as sources:
            _build(_sources(peer_python(cache), Path(sources)), folder)
    return program


def _sources(python: Path, folder: Path) -> Path:
    """llama.cpp as the package of the peer has it, of the same version, unpacked into a folder."""
    package = WHEELS[0]
    command = [python, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-d", folder, package]
    subprocess.run(command, check=True, stdout=sys.stderr)
    with tarfile.open(next(folder.glob("llama_cpp_python-*.tar.gz"))) as packed:
        packed.extractall(folder, filter="data")
    return next(folder.glob("llama_cpp_python-*/vendor/llama.cpp"))


def _build(sources: Path, folder: Path) -> None:
    subprocess.run(["cmake", "-S", sources, "-B", folder, *OPTIONS], check=True, stdout=sys.stderr)
    command = ["cmake", "--build", folder, "--target", TARGET, "--config", "Release", "-j", str(os.cpu_count() or 1)]
    subprocess.run(command, check=True, stdout=sys.stderr)
