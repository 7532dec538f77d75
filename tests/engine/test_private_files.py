"""Other users of the computer read nothing of what Underhill keeps."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import private_files
from engine.cli.main import main
from engine.hardware.machine import DiskPoint
from engine.hardware.rates import Rates
from engine.library import computer

RATES = Rates(4e10, 1, (DiskPoint(1 << 20, 4, True, 3e9),), {4: 0.9}, {64: 1e12})

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the profile's ACL sees to it there"),
    pytest.mark.long,
]


@pytest.fixture
def open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def readable_by_others(folder: Path) -> list[Path]:
    """The folder and the files directly in it that other users may read or write."""
    found = [path for path in (folder, *folder.iterdir()) if not path.is_symlink()]
    return [path for path in found if mode(path) & private_files.OTHERS]


def test_new_files_and_folders_are_this_users_alone(tmp_path: Path, open_mask: None) -> None:
    private_files.write_privately()
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "export.md").write_text("mine", encoding="utf-8")
    assert mode(tmp_path / "chats") == 0o700
    assert mode(tmp_path / "chats" / "export.md") == 0o600


def test_other_programs_are_started_with_the_users_own_mask(open_mask: None) -> None:
    os.umask(0o002)
    private_files.write_privately()
    private_files.write_privately()  # the engine in the terminal's own process
    with private_files.usual_permissions():
        assert os.umask(0o002) == 0o002
    assert os.umask(0) == private_files.OTHERS


def test_what_an_earlier_version_left_open_is_closed(tmp_path: Path, open_mask: None) -> None:
    folder = tmp_path / "underhill"
    folder.mkdir(mode=0o755)
    for name in ("chats.db", "settings.json", "crash.log"):
        (folder / name).touch(mode=0o644)
    (folder / "models").mkdir(mode=0o755)
    outside = tmp_path / "outside"
    outside.touch(mode=0o644)
    (folder / "link").symlink_to(outside)
    assert readable_by_others(folder)

    private_files.tighten(folder)

    assert readable_by_others(folder) == []
    assert mode(outside) == 0o644


def test_a_folder_that_is_meant_for_all_stays_as_it_is(
    tmp_path: Path, open_mask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, home = tmp_path / "shared", tmp_path / "home"
    shared.mkdir()
    shared.chmod(0o1777)
    home.mkdir(mode=0o755)
    monkeypatch.setenv("HOME", str(home))
    for folder in (shared, home, tmp_path / "missing"):
        private_files.tighten(folder)
    assert mode(shared) == 0o1777
    assert mode(home) == 0o755


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="needs root, to be another user")
def test_what_belongs_to_another_user_is_not_ours_to_close_or_to_trust(tmp_path: Path, open_mask: None) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    os.chown(folder, 65534, 65534)
    private_files.tighten(folder)
    assert mode(folder) == 0o755
    folder.chmod(0o700)
    assert not private_files.private_folder(folder)


def test_a_link_in_the_place_of_a_private_folder_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert private_files.private_folder(tmp_path / "real")
    assert not private_files.private_folder(tmp_path / "link")


def test_the_terminal_closes_the_data_folder_and_keeps_it_closed(
    tmp_path: Path, open_mask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o777)
    (home / "hardware.json").touch(mode=0o666)
    monkeypatch.setenv("UNDERHILL_HOME", str(home))
    monkeypatch.setattr(computer, "PATIENCE", 0.0)  # whatever runs beside the tests
    monkeypatch.setattr(computer, "probe_fully", lambda *arguments: RATES)
    assert main(["probe"]) == 0
    assert readable_by_others(home) == []
    assert (home / "hardware.json").stat().st_size
