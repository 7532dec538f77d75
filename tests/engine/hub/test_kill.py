"""A download that is killed at any moment goes on where it was, and ends in the same bytes."""

from __future__ import annotations

import multiprocessing
import random
import sys
import time
from pathlib import Path

import pytest

from engine.hub.download import CHUNK
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.engine.hub import fetching
from tests.hubserver import Fault, HubServer

pytestmark = pytest.mark.long

KILLS = 6


@pytest.mark.skipif(sys.platform == "win32", reason="starting a process takes too long there")
def test_killed_at_random_moments_it_fetches_next_to_nothing_twice(tmp_path: Path) -> None:
    served = write_checkpoint(tmp_path / "served", layers=4, experts=8, hidden=512, inner=512)
    folder, chance = tmp_path / "downloads" / "moe", random.Random(5)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["engine.hub.download"])
    with HubServer(faults=[Fault("safetensors", rate=15e6)]) as server:
        repo = server.add("tiny/moe", served)
        total = sum(path.stat().st_size for path in repo.files.values())
        assert total > 40e6
        shards = [name for name in repo.files if name.endswith(".safetensors")]
        for moment in sorted(chance.random() for _ in range(KILLS)):
            server.forget()
            before = sum(p.stat().st_size for p in folder.glob("*.safetensors*"))
            child = context.Process(target=fetching.pull, args=(server.url, "tiny/moe", folder))
            child.start()
            while child.is_alive() and before + sum(server.sent.values()) < moment * total:
                time.sleep(0.002)
            child.kill()
            child.join()
            server.settle()
            arrived = sum(p.stat().st_size for p in folder.glob("*.safetensors*")) - before
            lost = sum(server.sent.get(name, 0) for name in shards) - arrived
            assert lost <= CHUNK
            assert not any(p.read_bytes() != (served / p.name).read_bytes() for p in folder.glob("*.safetensors"))
        child = context.Process(target=fetching.pull, args=(server.url, "tiny/moe", folder))
        child.start()
        child.join()
        assert child.exitcode == 0
    assert fetching.contents(folder) == fetching.contents(served)
