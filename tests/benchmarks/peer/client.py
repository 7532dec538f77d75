"""A model open in llama.cpp, in a process of its own, asked over a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SERVER = "tests.benchmarks.peer.server"


def peer_environment() -> dict[str, str]:
    """This process's environment without what our engine sets for torch's OpenMP: llama.cpp's threads must spin."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_"))}


class Peer:
    """One model, warm. repack: whether weights are rearranged for this processor when they are loaded."""

    def __init__(self, python: Path, model: Path, threads: int, context: int, *, repack: bool) -> None:
        self.name = f"{model.stem}, {'repacked' if repack else 'as stored'}"
        arguments = {"model": str(model), "threads": threads, "context": context, "repack": repack}
        command = [python, "-m", SERVER, json.dumps(arguments)]
        # a pipe that nobody empties would stop it
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=peer_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        self.token_bytes = int(self._answer())  # that reading one token's weights takes

    def decode(self, tokens: Sequence[int]) -> float:
        """Seconds to read the tokens one by one, logits after each, going on where the last call ended."""
        return float(self._ask(do="decode", tokens=list(tokens)))

    def prefill(self, tokens: Sequence[int]) -> float:
        """Seconds to read the tokens as one prompt of a new sequence, logits after the last."""
        return float(self._ask(do="prefill", tokens=list(tokens)))

    def logits(self, tokens: Sequence[int]) -> list[list[float]]:
        """Logits after each token of a new sequence."""
        found: list[list[float]] = self._ask(do="logits", tokens=list(tokens))
        return found

    def clear(self) -> None:
        """Forget the sequence."""
        self._ask(do="clear")

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=60)
        self._said.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._said.seek(0)
            raise RuntimeError(f"llama.cpp ended: {self._said.read()[-2000:]}")
        return json.loads(line)
