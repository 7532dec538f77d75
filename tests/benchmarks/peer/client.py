"""A model open in llama.cpp, in a process of its own, asked over a pipe, with a Python that has llama.cpp."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.cgroup import Group
from tests.benchmarks.pipe import Child

SERVER = "tests.benchmarks.peer.server"
PEER = "UNDERHILL_PEER"  # environment variable: the folder of an environment that is there already
WHEELS = ("llama-cpp-python==0.3.36", "gguf==0.19.0")
FLAGS = "-DGGML_NATIVE=ON"


def peer_environment() -> dict[str, str]:
    """This process's environment without what our engine sets for torch's OpenMP: llama.cpp's threads must spin."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_"))}


class Peer(Child):
    """One model. repack: whether weights are rearranged for this processor when loaded. group: limits its memory; one
    that has a group stands still between calls."""

    def __init__(
        self, python: Path, model: Path, threads: int, context: int, *, repack: bool, group: Group | None = None,
        slots: int = 1, flash: bool = True, at_once: int = 0,
    ) -> None:  # fmt: skip
        """context: tokens, of all slots together. slots: sequences at once. flash: its flash attention, by default on.
        at_once: tokens of a prompt that it computes together, 0: all."""
        self.name = f"{model.stem}, {'repacked' if repack else 'as stored'}"
        self.name += "" if flash else ", no flash attention"
        self.name += f", {at_once} tokens at once" if at_once else ""
        arguments = {
            "model": str(model), "threads": threads, "context": context, "repack": repack, "slots": slots,
            "flash": flash, "at_once": at_once,
        }  # fmt: skip
        command = [str(python), "-m", SERVER, json.dumps(arguments)]
        if group is not None:
            command = group.command(*command)
        super().__init__("llama.cpp", command, peer_environment(), stops=group is not None)
        self.token_bytes = int(self.ready)  # that reading one token's weights takes

    def turn(self, tokens: Sequence[int]) -> tuple[float, int]:
        """Seconds to read the tokens one by one, logits after each, and bytes fetched from disks for it."""
        before = self.bytes_read
        return float(self.decode(tokens)), self.bytes_read - before


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
