"""An import of what arrives, killed at any moment, goes on where it was and ends in the same bytes."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sys
import time
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from engine.convert.importer import import_checkpoint
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.engine.hub import fetching
from tests.engine.hub.test_stream import held, same
from tests.hubserver import Fault, HubServer

pytestmark = pytest.mark.long

KILLS = 10
CHUNK = 1 << 18


def header_bytes(served: Path) -> int:
    """What looking at the model takes of the files that hold weights."""
    return sum(8 + int.from_bytes(p.read_bytes()[:8], "little") for p in served.glob("*.safetensors"))


@pytest.mark.skipif(sys.platform == "win32", reason="starting a process takes too long there")
def test_killed_at_ten_random_moments_it_fetches_next_to_nothing_twice(tmp_path: Path) -> None:
    served = write_checkpoint(tmp_path / "served", layers=4, experts=8, hidden=256, inner=256)
    folder, store, chance = tmp_path / "downloads" / "moe", tmp_path / "models" / "moe", random.Random(5)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["engine.hub.streaming", "engine.convert.importer"])
    with HubServer(faults=[Fault("safetensors", rate=2e6)]) as server:
        repo = server.add("tiny/moe", served)
        shards = [name for name in repo.files if name.endswith(".safetensors")]
        total = sum(repo.files[name].stat().st_size for name in shards)
        assert total > 12e6
        arguments = (server.url, "tiny/moe", folder, store, CHUNK)
        in_all = runs = 0
        for moment in sorted(chance.random() for _ in range(KILLS)):
            server.forget()
            child = context.Process(target=fetching.stream, args=arguments)
            child.start()

            def heard(child: BaseProcess, at: float, later: float) -> None:
                """Kills it from within the connection that it waits for, so that it cannot have ended before."""
                if sum(server.sent.get(n, 0) for n in shards) >= at:
                    time.sleep(later)
                    child.kill()

            # Some into what is quantized and written only then.
            server.heard = partial(heard, child, 0.85 * moment * total - in_all, chance.random() * 0.03)
            child.join()
            server.heard = None
            assert child.exitcode == -signal.SIGKILL
            server.settle()
            in_all += max(0, sum(server.sent.get(n, 0) for n in shards) - header_bytes(served))
            runs += 1
            assert not store.exists()
        server.forget()
        child = context.Process(target=fetching.stream, args=arguments)
        child.start()
        child.join()
        assert child.exitcode == 0
        server.settle()
        in_all += sum(server.sent.get(n, 0) for n in shards) - header_bytes(served)
        assert total <= in_all <= total + KILLS * CHUNK
    print(f"fetched {in_all:,} of {total:,} bytes in {runs + 1} runs")
    assert held(folder) == 0
    assert same(store, import_checkpoint(served, tmp_path / "local", 4))
