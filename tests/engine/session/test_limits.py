"""The ceiling of a whole process: kept by itself, and under the hard limit of a control group, with the same words."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import protocol
from engine.hardware.machine import GB
from engine.process.engine_process import EngineProcess
from tests.engine.session.shaped import shaped_store
from tests.waiting import PROCESS

pytestmark = pytest.mark.long

LINUX = sys.platform == "linux"
CHOSEN: dict[str, object] = {"dial": "exact", "threads": 1, "context_length": 2048}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose experts are well above what the interpreter itself takes."""
    return shaped_store(tmp_path_factory.mktemp("limits"))


def run(root: Path, model: Path, group: Path | None = None, **chosen: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.engine.session.limited", str(model), json.dumps({**CHOSEN, **chosen}), "24"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, *([] if group is None else [str(group)])],
        cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False,
        encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, f"{done.returncode} {done.stderr[-2000:]}"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def unlimited(root: Path, model: Path) -> dict[str, Any]:
    return run(root, model)


def test_it_keeps_to_the_ceiling_at_a_quarter_of_its_experts_and_says_the_same(
    root: Path, model: Path, unlimited: dict[str, Any]
) -> None:
    """By itself: nothing but the plan holds it back."""
    whole = unlimited["whole"]
    assert unlimited["cache"] == whole
    ceiling = (unlimited["least"] + whole // 4) / GB
    limited = run(root, model, memory_gb=ceiling)
    assert limited["ids"] == unlimited["ids"]
    assert limited["misses"] > unlimited["misses"]
    assert limited["cache"] < 0.35 * whole
    assert limited["cache"] < limited["capacity"] < whole  # while the context is short
    assert max(limited["rss"], limited["hwm"]) <= limited["ceiling"] <= ceiling * GB
    assert unlimited["rss"] > ceiling * GB


def test_too_little_is_refused_with_figures(root: Path, model: Path, unlimited: dict[str, Any]) -> None:
    refused = run(root, model, memory_gb=0.3)
    assert "of memory; 300 MB may be used. Raise the memory limit to" in refused["refused"]
    assert refused["hwm"] - refused["imported"] < 0.9 * unlimited["whole"]  # before any experts were loaded


@contextlib.contextmanager
def control_group(limit: int) -> Iterator[Path]:
    """A new memory control group, of v1 or v2, below the one this process is in, or at the top."""
    tried = []
    for root, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = Path(root) / f"underhill-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError as cause:
            tried.append(f"{root}: {cause.strerror}")
            continue
        try:
            (folder / file).write_text(str(limit), encoding="utf-8")
        except OSError as cause:
            tried.append(f"{folder / file}: {cause.strerror}")
            folder.rmdir()
            continue
        try:
            yield folder
        finally:
            for _ in range(100):  # the kernel takes a moment to see that a process has gone
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.05)
        return
    pytest.skip(f"no memory control group can be made here ({'; '.join(tried)})")


@pytest.mark.skipif(not LINUX, reason="control groups are of Linux")
def test_less_memory_than_its_libraries_take_is_told_before_the_system_kills_it(root: Path) -> None:
    chat = [sys.executable, "-m", "engine.cli", "chat", "builtin", "--prompt", "Hello"]
    with control_group(220_000_000) as group:
        enter = ["sh", "-c", f'echo $$ > "{group}/cgroup.procs" && exec "$@"', "sh"]
        told = subprocess.run(
            [*enter, *chat], cwd=root, capture_output=True, text=True, timeout=PROCESS, check=False, encoding="utf-8"
        )
    assert told.returncode == 1, told.stderr
    assert "The app needs 370 MB of memory and may use 220 MB." in told.stderr


@pytest.mark.skipif(not LINUX, reason="control groups are of Linux")
def test_the_windows_engine_tells_it_too_and_outlives_it() -> None:
    events: queue.Queue[protocol.Event] = queue.Queue()
    with control_group(220_000_000) as group:
        enter = f"open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))"
        engine = EngineProcess(
            events.put, ("-c", f"import os, sys\n{enter}\nfrom engine.process.host import main\nmain(int(sys.argv[1]))")
        )
        try:
            for command in (protocol.LoadModel("1", "builtin"), protocol.ListModels("2")):
                engine.send(command)
                failed = events.get(timeout=PROCESS)
                assert isinstance(failed, protocol.Failed)
                assert (failed.id, failed.kind) == (command.id, protocol.Kind.OUT_OF_MEMORY)
                assert "of memory and may use" in failed.sentence
        finally:
            engine.close()


def number(folder: Path, *names: str) -> int:
    """The first of these files that there is."""
    return next(int((folder / name).read_text(encoding="utf-8")) for name in names if (folder / name).exists())


@pytest.mark.skipif(not LINUX, reason="control groups are of Linux")
def test_under_a_control_groups_limit_it_plans_for_that_and_is_not_killed(
    root: Path, model: Path, unlimited: dict[str, Any]
) -> None:
    limit = unlimited["least"] + unlimited["whole"] // 4 + 48_000_000
    with control_group(limit) as group:
        limited = run(root, model, group)
        highest = number(group, "memory.max_usage_in_bytes", "memory.peak")
        if (group / "memory.events").exists():
            assert "oom_kill 0" in (group / "memory.events").read_text(encoding="utf-8")
    assert limited["ids"] == unlimited["ids"]
    assert limited["misses"] > unlimited["misses"]
    assert limited["ceiling"] < limit
    assert limited["cache"] < limited["capacity"]
    assert max(limited["rss"], limited["hwm"]) <= limited["ceiling"]
    assert highest <= limit


@pytest.mark.skipif(not LINUX, reason="control groups are of Linux")
def test_a_control_group_that_is_too_small_is_refused_before_it_kills(root: Path, model: Path) -> None:
    with control_group(375_000_000) as group:
        refused = run(root, model, group)
    assert "of memory; " in refused["refused"]
