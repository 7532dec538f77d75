"""The engine's environment is whole or not there: whatever stops its installation, and however often."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from app.install import environment
from app.install.download import InstallProblem, Reason
from app.install.environment import EngineEnvironment, InstallProgress, Options
from app.install.release import Release
from tests.app.install.publisher import Publisher, make_release, make_wheel, publish, write_script
from tests.waiting import PROCESS


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return make_release(tmp_path / "release")


def install(made: EngineEnvironment, options: Options, report: Callable[[InstallProgress], object] = bool) -> None:
    made.install(options, threading.Event(), report)


def test_it_is_installed_from_what_is_downloaded(tmp_path: Path, publisher: Publisher, release: Release) -> None:
    options = Options(mirror=str(publish(publisher, release, tmp_path / "index")))
    made = EngineEnvironment(release, tmp_path / "program")
    assert not made.is_ready
    seen: list[InstallProgress] = []
    install(made, options, seen.append)
    assert made.is_ready
    assert sorted(p.name for p in (made.folder / "site").iterdir()) == sorted(publisher.files)
    assert list(dict.fromkeys(p.step for p in seen)) == ["list", "download", "install", "check"]
    total = sum(map(len, publisher.files.values()))
    assert max(p.done for p in seen) == total == max(p.total for p in seen)
    assert [p.name for p in made.folder.parent.iterdir()] == [made.folder.name]
    assert not (tmp_path / "program" / "downloads").exists()
    install(made, Options())
    assert len(publisher.requests) == 3


def test_another_lock_has_another_folder(tmp_path: Path, release: Release) -> None:
    before = EngineEnvironment(release, tmp_path).folder
    release.locks[0].write_text("other==1.0\n")
    assert EngineEnvironment(release, tmp_path).folder != before


def test_window_and_terminal_have_one_environment_on_windows(
    tmp_path: Path, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = set()
    for name in ("pythonw.exe", "python.exe"):
        monkeypatch.setattr(sys, "executable", str(tmp_path / name))
        folders.add(EngineEnvironment(release, tmp_path).folder)
    assert len(folders) == 1


def test_a_package_that_is_not_as_locked_is_refused(tmp_path: Path, publisher: Publisher, release: Release) -> None:
    told = publish(publisher, release, tmp_path / "index")
    release.locks[0].write_text("package0==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    made = EngineEnvironment(release, tmp_path / "program")
    with pytest.raises(InstallProblem) as caught:
        install(made, Options(mirror=str(told)))
    assert caught.value.reason is Reason.DAMAGED
    assert publisher.requests == []


def test_a_disk_without_space_is_known_before_anything_is_downloaded(
    tmp_path: Path, publisher: Publisher, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "free_bytes", lambda folder: 1 << 20)
    made = EngineEnvironment(release, tmp_path / "program")
    with pytest.raises(InstallProblem) as caught:
        install(made, Options(mirror=str(publish(publisher, release, tmp_path / "index"))))
    assert caught.value.reason is Reason.DISK_FULL
    assert publisher.requests == []


def test_packages_that_lie_here_need_no_network(tmp_path: Path, publisher: Publisher, release: Release) -> None:
    make_wheel(release.folder / "packages" / "torch-1.0-py3-none-any.whl")
    made = EngineEnvironment(release, tmp_path / "program")
    install(made, Options())
    assert made.is_ready
    assert [p.name for p in (made.folder / "site").iterdir()] == ["torch-1.0-py3-none-any.whl"]
    own = tmp_path / "own"
    own.mkdir()
    make_wheel(own / "other-1.0-py3-none-any.whl")
    made = EngineEnvironment(release, tmp_path / "program2")
    install(made, Options(wheels=str(own)))
    assert [p.name for p in (made.folder / "site").iterdir()] == ["other-1.0-py3-none-any.whl"]


def test_a_second_one_at_the_same_time_is_told_so(tmp_path: Path, release: Release) -> None:
    made = EngineEnvironment(release, tmp_path)
    with FileLock(tmp_path / "install.lock"), pytest.raises(InstallProblem) as caught:
        install(made, Options())
    assert caught.value.reason is Reason.BUSY


@pytest.mark.parametrize(
    ("said", "reason"), [("error: No space left on device (os error 28)", Reason.DISK_FULL), ("odd", Reason.FAILED)]
)
def test_a_step_that_fails_leaves_nothing(tmp_path: Path, release: Release, said: str, reason: Reason) -> None:
    write_script(release.uv, f"import sys; print({said!r}); sys.exit(sys.argv[1] == 'venv')")
    make_wheel(release.folder / "packages" / "torch-1.0-py3-none-any.whl")
    made = EngineEnvironment(release, tmp_path / "program")
    with pytest.raises(InstallProblem) as caught:
        install(made, Options())
    assert caught.value.reason is reason
    assert said in caught.value.details
    assert list(made.folder.parent.iterdir()) == []


def test_a_damaged_one_is_made_anew(tmp_path: Path, release: Release) -> None:
    make_wheel(release.folder / "packages" / "torch-1.0-py3-none-any.whl")
    made = EngineEnvironment(release, tmp_path / "program")
    install(made, Options())
    (made.folder / "complete.json").unlink()
    assert not made.is_ready
    install(made, Options())
    assert made.is_ready


INSTALL = """
import os, signal, sys, threading
from pathlib import Path
from app.install.environment import EngineEnvironment
from app.install.environment import Options
from app.install.release import Release
release, program, mirror, last = sys.argv[1:]
events = [0]
def trace(event, arguments):
    # every file that is opened, renamed or removed below here is a place to be killed at
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "subprocess.Popen", "shutil.rmtree"):
        if program in str(arguments[:2]):
            events[0] += 1
            if events[0] == int(last):
                os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(trace)
EngineEnvironment(Release(Path(release)), Path(program)).install(Options(mirror=mirror), threading.Event(), bool)
print(events[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
@pytest.mark.long
@pytest.mark.slow
def test_killed_at_every_step_it_is_never_half_there(tmp_path: Path, publisher: Publisher, release: Release) -> None:
    told = publish(publisher, release, tmp_path / "index")
    root = Path(__file__).parents[3]

    def run(program: Path, last: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", INSTALL, str(release.folder), str(program), str(told), str(last)], cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True, timeout=PROCESS, check=False,
        )  # fmt: skip

    steps = int(run(tmp_path / "whole", 0).stdout)
    assert steps > 20
    program, killed = tmp_path / "program", 0
    made = EngineEnvironment(release, program)
    for last in range(1, steps + 1):
        done = run(program, last)
        killed += done.returncode == -signal.SIGKILL
        if made.is_ready:
            assert json.loads((made.folder / "complete.json").read_text())["version"] == "1.0"
            assert sorted(p.name for p in (made.folder / "site").iterdir()) == sorted(publisher.files)
            made.folder.rename(tmp_path / f"moved{last}")  # and from the beginning
    assert killed > 20
    assert run(program, 0).returncode == 0
    assert made.is_ready
    assert [p.name for p in made.folder.parent.iterdir()] == [made.folder.name]
