"""Our local server beside llama.cpp's with as many slots: clients that ask at once, answered over HTTP as text comes.

    python -m tests.benchmarks.server_peer --shape qwen3 [--clients 4] [--words 24] [--answer 48] [--repeats 3] [--json]

Both serve the same weights, all in memory: ours its store, by `underhill-cli serve`, llama.cpp's `llama-server` a file
in its own format. Each client posts a prompt of so many tokens to `/v1/completions` and reads the stream to its end:
all at once, and one client after another. The servers take turns, and the one whose turn it is not stands still.
Prompts are new in every turn, and tokens are drawn at a high temperature, so that those of a random model spread over
its experts. Each server counts the tokens that it has answered (`usage`), and an answer that is shorter than it should
be ends the run. `llama-server` is built if need be (see peer/llama_server.py); a file of the peer that was made before
it had words is to be removed first.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Self

from engine.library import folders
from tests.benchmarks.bench import PREFERRED
from tests.benchmarks.common import Quiet, arguments, conditions, emit, own_home, say
from tests.benchmarks.ours import HOT
from tests.benchmarks.peer.client import peer_environment
from tests.benchmarks.peer.llama_server import peer_server
from tests.benchmarks.pipe import QUOTED, ROOT
from tests.benchmarks.prepare import prepare_pair
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import stream

CONTEXT = 2048  # tokens, of all clients together
BAR = 1.3
START = 120.0  # seconds until a server has opened its model
ANSWER = 300.0  # seconds for an answer
FILL = 1024  # tokens of a prompt that visits all experts


class Server:
    """A server of one model in a process of its own. It stands still but in its turns."""

    def __init__(
        self, name: str, command: Sequence[str | Path], model: str, port: int, environment: dict[str, str]
    ) -> None:
        """model: what requests call it."""
        self._name, self._model, self._port = name, model, port
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=self._said, stderr=self._said)
        try:
            self._wait()
        except BaseException:
            self.close()
            raise
        self._process.send_signal(signal.SIGSTOP)

    def answers(self, prompts: Sequence[list[int]] | Sequence[str], length: int, at_once: bool) -> float:
        """Tokens a second of these answers, from the first request to the last token."""
        self._process.send_signal(signal.SIGCONT)
        try:
            begun = time.perf_counter()
            with ThreadPoolExecutor(len(prompts) if at_once else 1) as clients:
                counts = list(clients.map(lambda one: self._answer(one[1], length, one[0]), enumerate(prompts)))
            seconds = time.perf_counter() - begun
        finally:
            self._process.send_signal(signal.SIGSTOP)
        if set(counts) != {length}:
            raise SystemExit(f"{self._name} answered with {counts} tokens instead of {length} each.")
        return sum(counts) / seconds

    def _answer(self, prompt: list[int] | str, length: int, seed: int) -> int:
        """Ask, and read to the end; the tokens that the server has counted."""
        body = {
            "model": self._model, "prompt": prompt, "max_tokens": length, "temperature": HOT, "top_p": 1.0,
            "seed": seed, "stream": True, "stream_options": {"include_usage": True},
        }  # fmt: skip
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER)
        try:
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            if response.status != 200:
                raise SystemExit(f"{self._name} refused: {response.read().decode()}")
            count = 0
            for line in response:
                if line.startswith(b"data: {") and (usage := json.loads(line[6:]).get("usage")):
                    count = int(usage["completion_tokens"])
            return count
        finally:
            connection.close()

    def _wait(self) -> None:
        begun = time.monotonic()
        while not self._healthy():
            if self._process.poll() is not None or time.monotonic() - begun > START:
                self._said.seek(0)
                raise SystemExit(f"{self._name} has not started: {self._said.read()[-QUOTED:]}")
            time.sleep(0.2)

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGCONT)
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()


def our_server(store: Path, args: argparse.Namespace, port: int) -> Server:
    """`underhill-cli serve`, all experts in memory and the store in this home's library."""
    folders.own().mkdir(parents=True, exist_ok=True)
    (folders.own() / args.shape).symlink_to(store, target_is_directory=True)
    chosen = {
        "dial": "exact", "tier": args.tier, "dense": PREFERRED[args.tier], "threads": args.threads,
        "context-length": CONTEXT, "cache-fraction": 1, "port": port,
    }  # fmt: skip
    options = [str(part) for name, value in chosen.items() for part in (f"--{name}", value)]
    command = [sys.executable, "-m", "engine.cli", "serve", *options, args.shape]
    return Server("Our server", command, args.shape, port, dict(os.environ))


def their_server(program: Path, file: Path, args: argparse.Namespace, port: int) -> Server:
    """`llama-server`, with a slot for each client."""
    chosen = {"-m": file, "-c": CONTEXT, "-np": args.clients, "-t": args.threads, "-tb": args.threads, "--port": port}
    options = [str(part) for name, value in chosen.items() for part in (name, value)]
    return Server("llama.cpp", [program, *options], file.stem, port, peer_environment())


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    from tokenizers import Tokenizer

    shape = SHAPES[args.shape]
    program = peer_server(args.folder)
    model, rival = prepare_pair(shape, args.tier, args.folder, top=8)
    # New ones in every turn: neither server has read them before.
    drawn = stream("uniform", shape.vocabulary, max(FILL, 2 * args.words * args.clients * (args.repeats + 1)))
    prompts = iter([drawn[at : at + args.words] for at in range(0, len(drawn), args.words)])
    words = Tokenizer.from_file(str(model.store / "tokenizer.json"))
    quiet, taken = Quiet(args.patience), dict[str, list[float]]()
    with own_home(), our_server(model.store, args, _free_port()) as ours:
        ours.answers([words.decode(drawn[:FILL])], 1, False)
        with their_server(program, rival.file, args, _free_port()) as peer:
            for turn in range(args.repeats + 1):  # the first one warms up
                for way in ("at_once", "one_by_one"):
                    asked = [next(prompts) for _ in range(args.clients)]
                    texts = [words.decode(prompt) for prompt in asked]
                    for name, server, given in (("ours", ours, texts), ("peer", peer, asked)):
                        quiet.wait()
                        rate = server.answers(given, args.answer, way == "at_once")
                        say(f"{name}, {way}: {rate:.1f} tokens/s")
                        if turn:
                            taken.setdefault(f"{name}_{way}", []).append(rate)
    found = {name: median(rates) for name, rates in taken.items()}
    return {
        **found, "ratio": found["ours_at_once"] / found["peer_at_once"], "bar": BAR,
        "conditions": conditions(args, others=quiet.others),
    }  # fmt: skip


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "shape", "tier", "threads", "patience", "folder")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--words", type=int, default=24, help="tokens of each prompt, about")
    parser.add_argument("--answer", type=int, default=48, help="tokens of each answer")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
