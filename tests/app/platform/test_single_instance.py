"""A second start brings the first window forward, whatever became of the one before."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from app import main
from app.application import Application, claim_single_instance
from app.library.dialogs import ImportDialog
from app.main_window import MainWindow
from app.platform import single_instance
from app.platform.single_instance import SingleInstance
from app.settings.preferences import Preferences
from tests.waiting import LONGEST, PROCESS

ROOT = Path(__file__).parents[3]
SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.platform.single_instance import SingleInstance
application = QCoreApplication([])
alone = SingleInstance(Path(sys.argv[1]))
print(alone.first, flush=True)
if alone.first:
    sys.stdin.read()
else:
    print(alone.ask(sys.argv[2], "/a file"), flush=True)
"""


def start(folder: Path, model: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SECOND, str(folder), model], cwd=ROOT, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "XDG_ACTIVATION_TOKEN": "token-1"},
    )  # fmt: skip


@pytest.fixture
def first(qapp: QApplication, tmp_path: Path) -> Iterator[SingleInstance]:
    made = SingleInstance(tmp_path)
    yield made
    made.close()
    made.deleteLater()


def test_a_second_start_asks_the_first(
    qtbot: QtBot, first: SingleInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_ACTIVATION_TOKEN", raising=False)
    assert first.first
    with qtbot.waitSignal(first.activation_requested) as asked:
        second = start(tmp_path, "some-model")
    assert asked.args == ["some-model", "/a file"]
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "token-1"
    assert second.communicate(timeout=PROCESS)[0].split() == ["False", "True"]


def test_other_folders_are_other_windows(first: SingleInstance, tmp_path: Path) -> None:
    other = SingleInstance(tmp_path / "other")
    assert other.first
    other.close()


def test_a_killed_one_does_not_count(qapp: QApplication, tmp_path: Path) -> None:
    killed = start(tmp_path)
    assert killed.stdout is not None
    assert killed.stdout.readline().strip() == "True"
    killed.kill()
    killed.communicate()
    alone = SingleInstance(tmp_path)
    assert alone.first
    alone.close()


def test_nonsense_on_the_socket_shows_nothing(qtbot: QtBot, first: SingleInstance) -> None:
    heard: list[str] = []
    first.activation_requested.connect(lambda model, _file: heard.append(model))
    for said in (b"hello\n", b'{"model": 1}\n', b"[]\n", b"x" * (1 << 17)):
        socket = QLocalSocket()
        socket.connectToServer(first._name)
        assert socket.waitForConnected(int(1000 * LONGEST))
        socket.write(said)
        qtbot.waitUntil(lambda socket=socket: socket.state() == QLocalSocket.LocalSocketState.UnconnectedState)
    assert heard == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a folder one may not write to")
def test_a_folder_one_may_not_write_to_is_no_reason_not_to_start(qapp: QApplication, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    alone = SingleInstance(tmp_path)
    assert alone.first
    alone.close()
    tmp_path.chmod(0o700)


INTRUDER = """
import os, socket, sys
os.setuid(65534)
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    s.sendall(b'{"model": "theirs", "tokens": {}}\\n')
    print(s.recv(16), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root, to be another user")
def test_another_user_is_not_heard(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as entered_by_all:
        folder = Path(entered_by_all)
        folder.chmod(0o777)
        monkeypatch.setattr(single_instance, "address", lambda _: str(folder / "open"))
        first = SingleInstance(folder)
        (folder / "open").chmod(0o777)
        heard: list[str] = []
        first.activation_requested.connect(lambda model, _file: heard.append(model))
        intruder = subprocess.Popen(
            [sys.executable, "-c", INTRUDER, str(folder / "open")], text=True, stdout=subprocess.PIPE
        )
        qtbot.waitUntil(lambda: intruder.poll() is not None)
        assert "shown" not in intruder.communicate()[0]
        assert heard == []
        first.close()


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe there, with rights of its own")
def test_it_listens_where_no_other_user_may_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as short:  # pytest's own folders are too deep for the address of a socket
        runtime, chats = Path(short) / "run", Path(short) / "chats"
        runtime.mkdir(mode=0o700)
        chats.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        assert Path(single_instance.address(chats)).parent == runtime
        runtime.chmod(0o755)
        assert Path(single_instance.address(chats)).parent == chats
        deep = Path(short) / ("deep" * 30)
        deep.mkdir(mode=0o700)
        found = Path(single_instance.address(deep)).parent
        assert found.name == f"underhill-{os.getuid()}"
        assert found.stat().st_mode & 0o077 == 0


def test_one_that_hangs_is_told_of(
    first: SingleInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    said: list[str] = []
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    monkeypatch.setattr(single_instance, "PATIENCE", 50)

    def press(box: QMessageBox) -> int:
        said.append(f"{box.text()} {box.informativeText()}")
        wanted = ("Try again", "Close")[len(said) - 1]
        next(button for button in box.buttons() if button.text() == wanted).click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", press)
    assert main.main([]) == main.NO_ANSWER  # the first is on this thread, which is busy asking
    assert len(said) == 2
    assert "not responding" in said[0]
    assert str(os.getpid()) in said[0]


def test_one_that_has_ended_meanwhile_is_not_asked_again(
    first: SingleInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    monkeypatch.setattr(single_instance, "PATIENCE", 50)

    def press(box: QMessageBox) -> int:
        first.close()
        next(button for button in box.buttons() if button.text() == "Try again").click()
        return 0

    monkeypatch.setattr(QMessageBox, "exec", press)
    alone, _ = claim_single_instance(qapp, tmp_path, Preferences(), "", "")
    assert alone.first
    alone.close()


def test_the_window_comes_forward(qtbot: QtBot, launch: Callable[..., Application], raised: list[MainWindow]) -> None:
    underhill = launch()
    window = underhill.window
    window.showMinimized()
    asked: list[str] = []
    underhill.models.load = lambda model, settings, **more: asked.append(model)  # type: ignore[method-assign]
    window.come_forward("")
    assert not window.isMinimized()
    assert window.isVisible()
    assert raised == [window]
    assert asked == []
    window.come_forward("other")
    assert asked == ["other"]


def test_a_file_that_a_second_start_brings_is_offered_for_import(
    qtbot: QtBot, launch: Callable[..., Application], raised: list[MainWindow], monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    offered: list[str] = []
    monkeypatch.setattr(ImportDialog, "exec", lambda dialog: offered.append(dialog.name_field.text()) or 0)
    underhill.window.come_forward("", "/some where/Mixtral.gguf")
    assert offered == []  # the second start has its answer before a dialog waits here
    qtbot.waitUntil(lambda: offered == ["Mixtral"])
