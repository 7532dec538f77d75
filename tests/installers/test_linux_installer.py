"""What the .run does once it is unpacked: it installs for one user, replaces what is there, and removes it all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PROCESS

LINUX = Path(__file__).parents[2] / "installers" / "linux"
PLACES = (
    "share/applications/underhill.desktop", "share/metainfo/underhill.metainfo.xml",
    "share/mime/packages/underhill.xml",
    "share/icons/hicolor/scalable/apps/underhill.svg", "share/man/man1/underhill.1",
)  # fmt: skip

LAUNCH = """import pathlib, sys
if sys.argv[1:] == ["--compile"]:
    pathlib.Path(__file__).with_name("compiled").write_text(sys.argv[1])
print('1.0', *sys.argv[1:])
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an installer for Linux")


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    made = tmp_path / "payload"
    (made / "app").mkdir(parents=True)
    (made / "app" / "launch.py").write_text(LAUNCH)
    for place in PLACES:
        (made / place).parent.mkdir(parents=True, exist_ok=True)
        (made / place).write_text("Exec=underhill\n")
    (made / "launch.sh").write_text((LINUX / "launch.sh").read_text().replace("@PYTHONS@", sys.executable))
    (made / "install.sh").write_text((LINUX / "install.sh").read_text().replace("@KILOBYTES@", "10"))
    return made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "家 with spaces"
    made.mkdir()
    return made


def run(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env={"PATH": os.environ["PATH"], "HOME": str(home)}, capture_output=True, text=True, timeout=PROCESS,
        check=False,
    )  # fmt: skip


def ours(home: Path) -> list[Path]:
    """Files of Underhill's. The desktop's caches of these folders are everybody's."""
    return [p for p in home.rglob("*") if p.is_file() and "underhill" in str(p.relative_to(home))]


def install(payload: Path, home: Path, *words: str) -> None:
    done = run(home, "sh", str(payload / "install.sh"), *words)
    assert done.returncode == 0, done.stderr


def test_it_installs_starts_and_is_replaced(payload: Path, home: Path) -> None:
    install(payload, home)
    assert (home / ".local/share/underhill-app/compiled").read_text() == "--compile"
    assert run(home, str(home / ".local/bin/underhill"), "--model", "a b").stdout == "1.0 --model a b\n"
    assert run(home, str(home / ".local/bin/underhill-cli"), "chat").stdout == "1.0 --cli chat\n"
    assert (home / ".local" / PLACES[0]).read_text() == f'Exec="{home}/.local/bin/underhill" %f\n'
    (payload / "app" / "launch.py").write_text("print('2.0')\n")
    (home / ".local/share/underhill-app/old.txt").write_text("")
    install(payload, home)
    assert run(home, str(home / ".local/bin/underhill")).stdout == "2.0\n"
    assert not (home / ".local/share/underhill-app/old.txt").exists()


def test_removing_keeps_chats_and_models_unless_all_is_said(payload: Path, home: Path) -> None:
    data = home / ".local/share/underhill"
    (data / "models").mkdir(parents=True)
    (data / "program/environments").mkdir(parents=True)
    install(payload, home)
    own = home / ".local/share/underhill-app/install.sh"
    assert run(home, "sh", str(own), "--uninstall").returncode == 0
    assert (data / "models").exists()
    assert not (data / "program").exists()
    assert ours(home) == []
    install(payload, home)
    assert run(home, "sh", str(own), "--uninstall", "--all").returncode == 0
    assert not data.exists()
    assert ours(home) == []


def test_elsewhere_and_with_wrong_words(payload: Path, home: Path, tmp_path: Path) -> None:
    install(payload, home, "--prefix", str(tmp_path / "other"))
    assert run(home, str(tmp_path / "other/bin/underhill")).stdout == "1.0\n"
    assert list(home.iterdir()) == []
    done = run(home, "sh", str(payload / "install.sh"), "--odd")
    assert done.returncode == 2
    assert "--uninstall" in done.stdout


def test_without_a_python_it_says_so(payload: Path, home: Path) -> None:
    (payload / "launch.sh").write_text((LINUX / "launch.sh").read_text().replace("@PYTHONS@", "python-of-nobody"))
    install(payload, home)
    done = run(home, str(home / ".local/bin/underhill"))
    assert done.returncode == 1
    assert "Underhill needs Python 3.11, 3.12 or 3.13" in done.stderr
