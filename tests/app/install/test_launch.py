"""Which release starts: a newer one once it is whole, and the one before it after two starts that did not end well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from app.install import launch
from app.install.launch import LaunchState, choose, load, save, start_withdrawn, started_well
from tests.waiting import PROCESS


def lay(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "release.json").write_text(json.dumps({"version": version}))
    return folder


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return lay(tmp_path / "bundle", "1.0")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "program"


def update(program: Path, version: str) -> Path:
    folder = lay(program / "releases" / version, version)
    state = load(program)
    state.following = version
    save(state, program)
    return folder


def test_without_updates_the_installers_own_starts(bundle: Path, program: Path) -> None:
    assert choose(bundle, program) == bundle
    assert not program.exists()


def test_an_update_starts_next_time_and_stays_once_it_works(bundle: Path, program: Path) -> None:
    new = update(program, "1.10")
    assert choose(bundle, program) == new
    started_well(program)
    for _ in range(5):
        assert choose(bundle, program) == new


def test_after_two_failed_starts_the_one_before_is_taken_again(bundle: Path, program: Path) -> None:
    old = update(program, "1.1")
    choose(bundle, program)
    started_well(program)
    new = update(program, "1.2")
    assert [choose(bundle, program) for _ in range(5)] == [new, new, old, old, old]
    state = load(program)
    state.following = "1.2"
    save(state, program)
    assert choose(bundle, program) == old  # what was taken back is not tried again


def test_it_falls_back_to_the_installers_own(bundle: Path, program: Path) -> None:
    new = update(program, "1.1")
    assert [choose(bundle, program) for _ in range(4)] == [new, new, bundle, bundle]


def test_a_start_that_only_shows_the_open_window_does_not_count(bundle: Path, program: Path) -> None:
    new = update(program, "1.1")
    for _ in range(5):
        assert choose(bundle, program) == new
        start_withdrawn(program)


def test_an_update_that_is_not_whole_or_not_newer_is_left(bundle: Path, program: Path) -> None:
    (update(program, "1.1") / "release.json").unlink()
    assert choose(bundle, program) == bundle
    update(program, "0.9")
    assert choose(bundle, program) == bundle
    assert load(program).following == ""


def test_a_newer_installer_goes_before_an_older_update(bundle: Path, program: Path, tmp_path: Path) -> None:
    update(program, "1.1")
    choose(bundle, program)
    started_well(program)
    newer = lay(tmp_path / "newer", "2.0")
    assert choose(newer, program) == newer


def test_one_that_was_deleted_is_not_started(bundle: Path, program: Path) -> None:
    new = update(program, "1.1")
    choose(bundle, program)
    started_well(program)
    (new / "release.json").unlink()
    assert choose(bundle, program) == bundle


def test_where_nothing_can_be_counted_an_unproven_release_does_not_start(
    bundle: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(program, "1.1")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(launch, "save", full)
    assert choose(bundle, program) == bundle


def test_a_state_of_anything_is_read(program: Path) -> None:
    program.mkdir()
    for text in ("", "[]", "null", '{"tries": "many", "current": 3, "odd": 1}', "\0"):
        (program / "state.json").write_text(text)
        assert load(program) == LaunchState()


def test_what_a_newer_launcher_has_noted_stays(bundle: Path, program: Path) -> None:
    update(program, "1.1")
    newer = {"current": "1.1", "proven": False, "tries": 0, "odd": {"a": 1}, "format": 7}
    (program / "state.json").write_text(json.dumps(newer))
    assert choose(bundle, program).name == "1.1"
    kept = json.loads((program / "state.json").read_text())
    assert (kept["tries"], kept["odd"], kept["format"]) == (1, {"a": 1}, 7)


@pytest.mark.parametrize("home", ["", "/other/home"])
def test_the_folder_is_that_of_the_program(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNDERHILL_HOME", raising=False)
    if home:
        monkeypatch.setenv("XDG_DATA_HOME", home)
    else:
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert launch.data_folder() == Path(platformdirs.user_data_dir("underhill", appauthor=False))


WINDOW = "import sys\ndef main():\n    print('{version}', *sys.argv[1:])\n    return {code}\n"


@pytest.mark.long
def test_a_release_that_fails_to_start_is_taken_back(tmp_path: Path, bundle: Path, program: Path) -> None:
    (bundle / "launch.py").write_text(Path(launch.__file__).read_text(encoding="utf-8"))
    home = tmp_path / "home"
    for folder, version, code in ((bundle, "1.0", 0), (update(home / "program", "1.1"), "1.1", 1)):
        (folder / "app" / "app").mkdir(parents=True)
        (folder / "app" / "app" / "__init__.py").write_text("")
        (folder / "app" / "app" / "main.py").write_text(WINDOW.format(version=version, code=code))
    said = []
    for _ in range(4):
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(bundle / "launch.py"), "--model", "x"], env={"UNDERHILL_HOME": str(home)},
            capture_output=True, text=True, timeout=PROCESS, check=False,
        )  # fmt: skip
        said.append((done.stdout.strip(), done.returncode))
    assert said == [("1.1 --model x", 1), ("1.1 --model x", 1), ("1.0 --model x", 0), ("1.0 --model x", 0)]


@pytest.mark.long
def test_an_installer_has_the_release_compiled(bundle: Path, program: Path, tmp_path: Path) -> None:
    (bundle / "launch.py").write_text(Path(launch.__file__).read_text(encoding="utf-8"))
    (bundle / "app").mkdir(exist_ok=True)
    (bundle / "app" / "module.py").write_text("raise SystemExit('run')\n")
    command = [sys.executable, "-I", "-S", str(bundle / "launch.py"), "--compile"]
    done = subprocess.run(command, env={"UNDERHILL_HOME": str(tmp_path / "home")}, timeout=PROCESS, check=True)
    assert done.returncode == 0
    assert len(list((bundle / "app" / "__pycache__").glob("module.*.pyc"))) == 1
    assert not (tmp_path / "home").exists()  # nothing was chosen, nor counted
