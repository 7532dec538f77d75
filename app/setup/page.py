"""The window of the first start: a page that installs the engine, on a thread of its own, and says how far it is."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QMainWindow,
    QProgressBar,
    QPushButton,
    QWidget,
)

from app.i18n.translate import sentences, tr, tr_noop
from app.install.download import InstallProblem, Reason
from app.install.environment import EngineEnvironment, InstallProgress, Options, load_options, save_options
from app.install.release import program_folder, running
from app.onboarding import FittingScrollArea, TourStep
from app.platform.single_instance import SingleInstance
from app.settings.preferences import Preferences
from app.theme import fonts
from app.theme.icons import icon
from app.theme.theme import Theme
from app.widgets import keyboard
from app.widgets.builders import hbox, make_button, raise_window, set_progress, vbox
from app.widgets.text import size, time_left

_STEPS = {
    "list": tr_noop("Looking up the packages…"),
    "install": tr_noop("Installing the packages…"),
    "check": tr_noop("Checking the installation…"),
}
_PROBLEMS = {
    Reason.NETWORK: (tr_noop("The packages can't be reached."),
                     tr_noop("Check the internet connection, or set a mirror or proxy under Options.")),
    Reason.DISK_FULL: (tr_noop("The disk is full."), tr_noop("Free some space, then try again.")),
    Reason.DAMAGED: (tr_noop("A downloaded package is damaged."), tr_noop("Try again, or use another mirror.")),
    Reason.NOT_WRITABLE: (tr_noop("A file can't be written."), tr_noop("Check the disk and its permissions.")),
    Reason.BUSY: (tr_noop("Another window is installing the engine."),
                  tr_noop("Wait for it to finish, then try again.")),
    Reason.FAILED: (tr_noop("The engine couldn't be installed."), tr_noop("Try again.")),
}  # fmt: skip
_INTERVAL = 0.1  # seconds between two tellings: chunks come by the thousand
_WINDOW = 5.0  # seconds that the rate is an average of


class SetupPage(TourStep):
    """Begins by itself where all packages lie here already; otherwise on a click. quit_requested: one wants to quit."""

    quit_requested = Signal()

    def __init__(self, work: InstallWork, options: Options, keep: Path, parent: QWidget | None = None) -> None:
        """keep: the file that options are kept in."""
        super().__init__(tr("Install the engine"), parent)
        self._work, self._keep, self._rate = work, keep, TransferRate()
        fat = work.environment.release.is_fat
        self.words(
            tr("The engine runs the models. Its packages are part of this installer.")
            if fat
            else tr(
                "The engine runs the models. Its packages are downloaded once, about {amount}.",
                amount=size(work.environment.download_bytes),
            )
        )
        need = size(work.environment.disk_bytes)
        self.words(
            tr("They need about {amount} in {folder}.", amount=need, folder=work.environment.program), muted=True
        )
        self.doing = self.words("")
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Installation progress"))
        self.column.addWidget(self.bar)
        self.trouble = self.words("")
        self.details = self.words("", muted=True)
        self.go = make_button(tr("Install"), self, self.begin, "primary")
        self.halt = make_button(tr("Pause"), self, work.pause)
        self.fold = make_button(tr("Options"), self, self._fold, "quiet")
        self.quit = make_button(tr("Quit"), self, self.quit_requested, "quiet")
        self.column.addLayout(hbox(self.go, self.halt, self.fold, ..., self.quit, spacing=8))
        self.form = _Form(options, self)
        self.form.hide()
        self.column.addWidget(self.form)
        self.column.addStretch(1)
        work.progressed.connect(self._show)
        work.failed.connect(self._stopped)
        self._rest()
        if fat or work.environment.is_ready:
            self.begin()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the focus, as in a dialog."""
        if not keyboard.press_focused(self, event):
            super().keyPressEvent(event)

    @Slot()
    def begin(self) -> None:
        """Install, or go on."""
        options = self.form.options
        with suppress(OSError):  # the installation says what is wrong with the disk
            save_options(options, self._keep)
        for label in (self.trouble, self.details):
            label.hide()
        self.doing.setText(tr(_STEPS["list"]))
        self.doing.show()
        set_progress(self.bar, 0, 0)
        self.bar.show()
        self.go.hide()
        self.halt.show()
        self.halt.setEnabled(True)
        self.halt.setFocus()
        self.form.setEnabled(False)
        self._work.start(options)

    @Slot()
    def _fold(self) -> None:
        self.form.setVisible(self.form.isHidden())

    def _rest(self) -> None:
        for widget in (self.doing, self.bar, self.trouble, self.details, self.halt):
            widget.hide()
        self.go.show()
        self.go.setFocus()
        self.form.setEnabled(True)

    @Slot(object)
    def _show(self, progress: InstallProgress) -> None:
        if not progress.total:
            set_progress(self.bar, 0, 0)
            self.doing.setText(tr(_STEPS.get(progress.step, _STEPS["list"])))
            return
        set_progress(self.bar, progress.done, progress.total)
        rate = self._rate.add(progress.done, time.monotonic())
        text = tr("Downloading: {done} of {total}", done=size(progress.done), total=size(progress.total))
        if rate:
            left = time_left((progress.total - progress.done) / rate)
            text += f" · {tr('{amount}/s', amount=size(rate))} · {left}"
        self.doing.setText(text)

    @Slot(object)
    def _stopped(self, problem: InstallProblem) -> None:
        self._rest()
        if problem.reason is Reason.STOPPED:
            self.go.setText(tr("Resume"))
            self.doing.setText(tr("Paused. The download so far is kept."))
            self.doing.show()
            return
        self.go.setText(tr("Try again"))
        what, then = _PROBLEMS.get(problem.reason, _PROBLEMS[Reason.FAILED])
        self.trouble.setText(sentences(tr(what), tr(then)))
        self.trouble.show()
        self.details.setText(problem.details[-600:])
        self.details.setVisible(bool(problem.details))
        if problem.reason is Reason.NETWORK:
            self.form.show()


class _Form(QWidget):
    """Mirror, torch's builds, proxy, and a folder of wheels."""

    def __init__(self, options: Options, parent: QWidget) -> None:
        super().__init__(parent)
        rows = QFormLayout(self)
        rows.setContentsMargins(0, 8, 0, 0)
        rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        automatic = tr("Automatic")
        self._lines: dict[str, QLineEdit] = {}
        for name, label, empty in (
            ("mirror", tr("Package mirror URL"), automatic),
            ("torch", tr("Torch builds (URL or folder)"), automatic),
            ("proxy", tr("Proxy URL"), tr("System")),
            ("wheels", tr("Offline packages (folder)"), tr("None")),
        ):
            line = self._lines[name] = QLineEdit(getattr(options, name), self)
            line.setPlaceholderText(empty)
            line.setAccessibleName(label)
            if name == "wheels":
                browse = QPushButton(tr("Choose…"), self)
                browse.clicked.connect(self._browse)
                rows.addRow(label, hbox((line, 1), browse, spacing=8))
            else:
                rows.addRow(label, line)

    @property
    def options(self) -> Options:
        """What stands in it."""
        return Options(**{name: line.text().strip() for name, line in self._lines.items()})

    @Slot()
    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Offline packages (folder)"))
        if folder:
            self._lines["wheels"].setText(folder)


def engine_python(application: QApplication, look: Preferences, data: Path, alone: SingleInstance) -> Path | None:
    """The interpreter that the engine runs on, once there is one: this one, unless an installer laid Underhill down.

    data: the user's folder. None where one has closed the window before the engine was there.
    """
    release = running()
    if release is None:
        return Path(sys.executable)
    environment = EngineEnvironment(release, program_folder(data))
    if environment.is_ready:
        return environment.python
    fonts.set_percent(look.font_percent)
    theme = Theme(application, look.theme, look.contrast)
    window = SetupWindow(environment)
    alone.activation_requested.connect(window.come_forward)
    window.show()
    window.loop.exec()
    window.deleteLater()
    theme.deleteLater()
    return environment.python if environment.is_ready else None


class SetupWindow(QMainWindow):
    """loop: ends when the engine is there, and when the window is closed."""

    def __init__(self, environment: EngineEnvironment) -> None:
        super().__init__()
        self.setWindowTitle("Underhill")
        self.setWindowIcon(icon("underhill", ""))
        self.setMinimumSize(560, 420)
        self.resize(820, 560)
        self.loop = QEventLoop()
        self.work = InstallWork(environment, self)
        kept = environment.program / "options.json"
        inner = QWidget(self)
        inner.setObjectName("page")
        self.page = SetupPage(self.work, load_options(kept), kept, inner)
        vbox(self.page, parent=inner, margins=(48, 40, 48, 32))
        self.setCentralWidget(FittingScrollArea(inner, self))
        self.setAccessibleName(tr("Install the engine"))
        self.page.quit_requested.connect(self.close)
        self.work.done.connect(self.close)

    @Slot(str, str)
    def come_forward(self, _model: str, _file: str) -> None:
        """Another start asked for this window."""
        raise_window(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.work.close()  # a chunk or a tenth of a second
        self.loop.quit()
        super().closeEvent(event)


class InstallWork(QObject):
    """progressed: InstallProgress. failed: InstallProblem, STOPPED after `pause`. done: the engine is there."""

    progressed = Signal(object)
    failed = Signal(object)
    done = Signal()
    _ended = Signal(object)

    def __init__(self, environment: EngineEnvironment, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.environment = environment
        self._thread: threading.Thread | None = None
        # Asked by the thread that installs; set on Cancel. Results come back by `_ended` alone.
        self._stop = threading.Event()
        self._told = ("", 0.0)
        self._ended.connect(self._after, Qt.ConnectionType.QueuedConnection)

    def start(self, options: Options) -> None:
        """Begin, or go on where it was paused or has failed."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(options,), name="install", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Leave off soon; `failed` follows. What was downloaded is kept."""
        self._stop.set()

    def close(self) -> None:
        """Leave off, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, options: Options) -> None:
        try:
            self.environment.install(options, self._stop, self._report)
            self._ended.emit(None)
        except InstallProblem as problem:
            self._ended.emit(problem)
        except Exception as error:  # the page must not stand still for ever, whatever it was
            self._ended.emit(InstallProblem(Reason.FAILED, repr(error)))

    def _report(self, progress: InstallProgress) -> None:
        step, when = self._told
        now = time.monotonic()
        if progress.step != step or now - when >= _INTERVAL:
            self._told = (progress.step, now)
            self.progressed.emit(progress)

    @Slot(object)
    def _after(self, problem: InstallProblem | None) -> None:
        assert self._thread is not None
        self._thread.join()
        self._thread = None
        if problem is None:
            self.done.emit()
        else:
            self.failed.emit(problem)


class TransferRate:
    """Bytes a second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, done: int, now: float) -> float:
        """Returns the rate; 0 while it is not known."""
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        (_, before), elapsed = self._seen[0], now - self._seen[0][0]
        return (done - before) / elapsed if elapsed > 0.5 else 0.0
