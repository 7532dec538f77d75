"""A new engine that is asked several things at once: nothing is imported by two threads at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine import import_lock, resources

# In a process of its own, where nothing has been imported yet. Whatever a thread imports without the lock is reported:
# our own rooms and the packages that they stand on, not what a package brings along later for itself alone.
SCRIPT = """
import importlib.abc, json, queue, sys, threading
from tests.waiting import PROCESS

WATCHED = (
    "engine", "torch", "numpy", "tokenizers", "transformers", "huggingface_hub", "safetensors", "gguf", "keyring"
)
unguarded = []

class Watcher(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        from engine.import_lock import ALONE
        if name.split(".")[0] in WATCHED and threading.current_thread() is not threading.main_thread():
            if not ALONE._is_owned():
                unguarded.append(f"{threading.current_thread().name}: {name}")
        return None

from engine import client, import_lock, protocol
sys.meta_path.insert(0, Watcher())
events = queue.Queue()
engine = client.start(events.put)
asked = [
    protocol.ListModels("models"), protocol.ListCatalogue("catalogue"), protocol.ListTransfers("transfers"),
    protocol.LoadModel("load", sys.argv[1], {}), protocol.FindModels("found"),
]
for command in asked:
    engine.send(command)
ends = {}
while len(ends) < len(asked):
    event = events.get(timeout=PROCESS)
    if isinstance(event, (protocol.Done, protocol.Failed, protocol.Cancelled)):
        ends[event.id] = f"{type(event).__name__} {getattr(event, 'cause', '')}"
engine.close()
print(json.dumps({"unguarded": unguarded, "ends": ends}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_threads_of_a_new_engine_import_one_after_the_other(tmp_path: Path) -> None:
    home = {name: str(tmp_path) for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "UNDERHILL_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(resources.path("builtin", "model"))],
        env=os.environ | home, capture_output=True, text=True, timeout=300, check=False,
        encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert {end.split()[0] for end in told["ends"].values()} == {"Done"}, told["ends"]
    assert told["unguarded"] == []


def test_a_module_that_is_not_there_is_told_to_whoever_needs_it() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_lock.together(("engine.no_such_room",))
    assert import_lock.ALONE.acquire(blocking=False)
    import_lock.ALONE.release()
