"""llama.cpp in a Python environment of its own, built for this processor from the package index."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

PEER = "UNDERHILL_PEER"  # environment variable: the folder of an environment that is there already
WHEELS = ("llama-cpp-python==0.3.36", "gguf==0.19.0")
FLAGS = "-DGGML_NATIVE=ON"


def peer_python(cache: Path) -> Path:
    """The interpreter that has llama_cpp and gguf; installed below `cache` first if need be, which takes minutes.

    Raises subprocess.CalledProcessError, with what the installer said on the terminal.
    """
    given = os.environ.get(PEER)
    folder = Path(given) if given else cache / "peer"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not _works(python):
        if given:
            raise SystemExit(f"{PEER} is {given}, and there is no llama_cpp in it.")
        print(f"Building llama.cpp in {folder}; this takes some minutes.", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--no-binary", "llama-cpp-python", *WHEELS]
        subprocess.run(command, check=True, env={**os.environ, "CMAKE_ARGS": FLAGS}, stdout=sys.stderr)
    return python


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    return subprocess.run([python, "-c", "import llama_cpp, gguf"], capture_output=True).returncode == 0
