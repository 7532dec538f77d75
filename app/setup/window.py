"""The window of the first start: it installs the engine, and makes way for the main window."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QEventLoop, Slot
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from app.i18n.translate import tr
from app.install import options
from app.install.environment import EngineEnvironment
from app.install.release import program_folder, running
from app.onboarding import FittingScrollArea
from app.settings.preferences import Preferences
from app.setup.page import SetupPage
from app.setup.work import InstallWork
from app.theme import fonts
from app.theme.icons import icon
from app.theme.theme import Theme
from app.widgets.builders import raise_window, vbox


def engine_python(application: QApplication, look: Preferences, data: Path) -> Path | None:
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
    theme = Theme(application, look.theme)
    window = SetupWindow(environment)
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
        self.page = SetupPage(self.work, options.load(kept), kept, inner)
        vbox(self.page, parent=inner, margins=(48, 40, 48, 32))
        self.setCentralWidget(FittingScrollArea(inner, self))
        self.setAccessibleName(tr("Install the engine"))
        self.page.leave.connect(self.close)
        self.work.done.connect(self.close)

    @Slot(str)
    def come_forward(self, _model: str) -> None:
        """Another start asked for this window."""
        raise_window(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.work.close()  # a chunk or a tenth of a second
        self.loop.quit()
        super().closeEvent(event)
