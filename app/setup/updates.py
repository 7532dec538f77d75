"""Looks for updates where one has allowed it, offers what is found, and has it ready for the next start."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from app.backend import Models
from app.i18n import languages
from app.i18n.translate import tr
from app.install import updates
from app.install.download import InstallProblem, Reason
from app.install.environment import EngineEnvironment, load_options
from app.install.release import Release, program_folder, running
from app.install.updates import Update
from app.network import Network
from app.platform.main_thread import MainThreadQueue
from app.settings.preferences import Preferences
from app.shell import Shell
from app.widgets.text import size

_log = logging.getLogger(__name__)


def can_update() -> bool:
    """Whether this is a release whose installer was told where updates are."""
    release = running()
    return release is not None and bool(release.note["updates"]["address"])


class UpdateController(QObject):
    """Once the engine has answered, this release has started well; only then the one before it is removed.

    Nothing is asked for unless preferences.updates says so, and what is found is only offered.
    """

    def __init__(
        self, shell: Shell, release: Release, data: Path, *, models: Models, network: Network, preferences: Preferences,
        main_queue: MainThreadQueue,
    ) -> None:  # fmt: skip
        """data: the user's folder of Underhill."""
        super().__init__(shell)
        self._shell, self._release, self._program = shell, release, program_folder(data)
        self._network, self._preferences, self._main_queue = network, preferences, main_queue
        self._python = EngineEnvironment(release, self._program).python
        self._options = load_options(self._program / "options.json")
        self._thread: threading.Thread | None = None
        # Asked by the thread that downloads; set here, when the window closes.
        self._stop = threading.Event()
        self._settled = self._looked = False
        models.listed.connect(self._started)

    @Slot()
    def _started(self) -> None:
        if not self._settled:
            self._settled = True
            self._run(lambda: updates.settle(self._release, self._program), lambda _: self.look())

    @Slot()
    def look(self) -> None:
        """Ask for updates, once in a run, where that is allowed."""
        address = self._release.note["updates"]["address"]
        if address and self._preferences.updates and not self._network.offline and not self._looked:
            self._looked = self._run(
                lambda: updates.find_update(self._release, self._program, self._options, self._python),
                self._found,
                lambda _: self._found(None),
            )

    def end(self) -> None:
        """Leave off, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _found(self, update: Update | None) -> None:
        if update is None:
            if since := updates.held_back_since(self._program, date.today()):
                said = tr("No update information since {month}.", month=languages.month(since, True))
                advice = tr("Updates may be blocked. Check for a newer version where you downloaded this one.")
                self._shell.banners.show_banner("warning", said, advice)
            return
        amount = size(sum(part.file.size for part in update.missing(self._release)))
        said = tr("Underhill {version} is available ({size}).", version=update.version, size=amount)
        download = tr("Download"), lambda: self._prepare(update, said)
        self._shell.banners.show_banner("info", said, tr("Restart to use it."), "", download)

    def _prepare(self, update: Update, offer: str) -> None:
        self._shell.banners.withdraw(offer)
        going = tr("Downloading Underhill {version}…", version=update.version)

        def prepare() -> None:
            updates.prepare(update, self._release, self._program, self._options, self._stop, lambda progress: None)

        def ready(_: object) -> None:
            self._shell.banners.withdraw(going)
            self._shell.banners.show_banner("info", tr("Underhill {version} is ready.", version=update.version),
                                            tr("Restart to use it."))  # fmt: skip

        def failed(problem: InstallProblem) -> None:
            self._shell.banners.withdraw(going)
            said = tr("Underhill {version} couldn't be installed.", version=update.version)
            self._shell.banners.show_banner(
                "warning",
                said,
                tr("This version is unchanged."),
                str(problem),
                (tr("Try again"), lambda: self._prepare(update, said)),
            )

        if self._run(prepare, ready, failed):
            self._shell.banners.show_banner("info", going)

    def _run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], object],
        failed: Callable[[InstallProblem], object] | None = None,
    ) -> bool:
        """Do it on a thread, and go on here. False while another is at it."""
        if self._thread is not None:
            return False

        def run() -> None:
            try:
                made = work()
                self._main_queue.post(self._after, lambda: done(made))
            except (InstallProblem, OSError) as error:
                problem = error if isinstance(error, InstallProblem) else InstallProblem(Reason.FAILED, str(error))
                _log.warning("Updates: %s", problem)
                self._main_queue.post(self._after, lambda: failed(problem) if failed is not None else None)

        self._thread = threading.Thread(target=run, name="updates", daemon=True)
        self._thread.start()
        return True

    def _after(self, go_on: Callable[[], object]) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if not self._stop.is_set():
            go_on()
