"""Puts the parts of a running window together and takes them apart again in the right order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget

from app.attachments.controller import AttachmentController, AttachmentReader
from app.attachments.documents import DocumentsController
from app.backend import LOADING, EngineLink, Models, RunningEngine
from app.chat.conversation import Conversation
from app.controllers.onboarding_controller import OnboardingController
from app.controllers.tray import TrayController
from app.i18n import languages
from app.i18n.translate import tr
from app.install.release import running
from app.library.view_model import LibraryViewModel
from app.main_window import MainWindow
from app.platform import main_thread
from app.platform.logs import AppPaths
from app.platform.main_thread import MainThreadQueue
from app.platform.single_instance import SingleInstance
from app.settings import preferences
from app.settings.preferences import Preferences
from app.setup.updates import UpdateController, can_update
from app.spelling.checker import SpellChecker
from app.storage.database_thread import DatabaseThread, Problem
from app.telemetry.frame_throttle import FrameThrottle
from app.theme import fonts, motion
from app.theme.icons import icon
from app.theme.motion import Motion
from app.theme.theme import Theme
from app.token_counter import TokenCounter
from app.widgets.builders import make_timer
from app.widgets.touch import FirstTouch
from engine import client, protocol

Start = Callable[[Callable[[protocol.Event], None]], protocol.Engine]
_LANGUAGE_WAIT = 250  # milliseconds between two looks whether another language cuts nothing
_LATEST = 1000  # milliseconds; a window that starts minimized is never painted


class Application:
    """The window and the threads behind it. `close` ends them all."""

    def __init__(
        self, application: QApplication, paths: AppPaths, start: Start = client.start_subprocess,
        engine: RunningEngine | None = None,
    ) -> None:  # fmt: skip
        """engine: the engine of a window before this one; None starts one."""
        main_thread.lower_latency()
        remembered, note = preferences.load(paths.preferences)
        fonts.set_percent(remembered.font_percent)
        languages.install(remembered.language)
        self.theme = Theme(application, remembered.theme, remembered.contrast)
        self.motion = Motion(application, remembered.motion)
        self.main_queue = MainThreadQueue(application)
        self.database = DatabaseThread(paths.chats, self.main_queue, self._problem)
        self.link = EngineLink(self.main_queue, start, engine)
        self.conversation = Conversation(self.database, self.link, self.main_queue)
        self.models = Models(self.link, self.main_queue, lambda: dict(remembered.engine))
        self.library = LibraryViewModel(self.link, self.models, lambda: dict(remembered.engine))
        self.window = MainWindow(
            self.theme, self.database, self.conversation, models=self.models, view_model=self.library,
            preferences=remembered, paths=paths,
        )  # fmt: skip
        self._make_composer_services(remembered)
        self._make_tray_and_updates(paths, remembered)
        self.again = False  # whether to open a new window once this one is closed
        self.in_settings = False  # whether the settings were open then
        self._speak_later = make_timer(self.window, _LANGUAGE_WAIT, self._speak)
        self.engine: RunningEngine | None = None  # for that window, once this one is closed
        self.frame_throttle = FrameThrottle(self.main_queue)
        self._connect()
        if note:
            self.window.banners.show_banner("warning", tr("Some settings can't be used."), note)

    def _make_composer_services(self, remembered: Preferences) -> None:
        """What serves the composer: spelling, attachments, documents, and the count of tokens."""
        composer = self.window.composer
        self.spelling = SpellChecker(remembered.spelling, self.window)
        composer.edit.check_spelling(self.spelling, self.theme)
        self.window.settings.spelling = self.spelling
        self.attachments = AttachmentController(
            composer, self.window.banners, self.main_queue, self.conversation, self.models
        )
        self.conversation.opened.connect(self.attachments.forget)
        self.reading = AttachmentReader(self.window, self.theme, self.conversation, self.models)
        editing = self.window.editing
        self.token_counter = TokenCounter(composer, self.conversation, self.models, self.link, lambda: editing.edited)
        self.token_counter.counted.connect(composer.meter.show_usage)
        self.token_counter.attachments_counted.connect(lambda tokens, _: composer.show_token_counts(tokens))
        self.documents = DocumentsController(
            self.window, self.database, self.conversation, link=self.link, main_queue=self.main_queue,
            reader=self.reading,
        )  # fmt: skip
        self.attachments.too_long.connect(self.documents.add)
        self.token_counter.attachments_counted.connect(self.attachments.index_long)
        self.window.chats.trash_emptied.connect(self.documents.tidy)
        self.documents.restore()

    def _make_tray_and_updates(self, paths: AppPaths, remembered: Preferences) -> None:
        """The tray, the welcome tour and updates."""
        window = self.window
        self.tray_controller = TrayController(
            window, window.navigator, self.conversation, known=self.models, view_model=self.library, theme=self.theme
        )
        self.onboarding = OnboardingController(
            window, self.theme, self.conversation, models=self.models, view_model=self.library,
            network=window.network, preferences=remembered, state=window.state, navigator=window.navigator,
            library=window.library,
        )  # fmt: skip
        self.updates: UpdateController | None = None
        if (release := running()) is not None:
            self.updates = UpdateController(
                window, release, paths.folder, models=self.models, network=window.network, preferences=remembered,
                main_queue=self.main_queue,
            )  # fmt: skip
            if can_update():
                window.settings.find_updates = self.updates.look

    def _connect(self) -> None:
        window = self.window
        window.restart_requested.connect(self._restart)
        window.settings.look_changed.connect(self._look_changed)
        self.motion.changed.connect(lambda still: window.setAnimated(not still))
        window.setAnimated(not motion.is_reduced())
        window.closing.close_cancelled.connect(self._stayed)
        self.link.telemetry.connect(window.live.take)
        window.live.watch_changed.connect(self.link.watch)
        self.link.telemetry.connect(self.frame_throttle.take)
        self.frame_throttle.changed.connect(window.live.set_intervals)
        # the engine is there, and no answer yet that would stutter beside it
        self.models.listed.connect(
            window.transcript.builder.highlighter.prepare, Qt.ConnectionType.SingleShotConnection
        )
        # Once: it stops the window for 130 ms, and models live in the engine's process.
        self.models.loaded.connect(protocol.settle_garbage, Qt.ConnectionType.SingleShotConnection)

    def open(self) -> None:
        """Show the window and have the last model opened."""
        self.link.hold()  # the engine takes a core when it imports torch, which would hold the window up
        self.window.start()
        self.library.refresh_transfers()
        if not self.window.preferences.toured:
            self.onboarding.begin()
        self.window.show()
        self.window.live.raise_floating()
        AfterFirstPaint(self.window, self.link.release)
        FirstTouch(self.window.windowHandle(), self.theme)

    def close(self) -> None:
        """Stop the engine, write what is unwritten, end the threads."""
        if self.updates is not None:
            self.updates.end()
        self.tray_controller.end()
        self.conversation.closing = True
        if self.again and self._idle:
            self.engine = self.link.hand_over()
        else:
            self.link.close()
        self.main_queue.drain()  # what the engine said last: answers that were cut short go to disk
        self.database.close()
        self.main_queue.close()
        self.window.transcript.builder.close()
        self.window.deleteLater()
        self.motion.close()
        self.spelling.close()
        self.theme.deleteLater()  # the next window has its own

    def open_again(self, in_settings: bool = True) -> None:
        """As `open`, in the place of a window that was closed for another language, with its settings if asked."""
        self.open()
        if in_settings:
            dialog = self.window.settings.open()
            dialog.show_page(dialog.pages.index(dialog.look))

    @property
    def _idle(self) -> bool:
        """Whether nothing would be cut off, or no longer shown, if another window took the engine."""
        opening = self.models.state == LOADING or self.models.importing is not None
        serving = self.window.server.wanted or self.window.server.busy
        page = self.window.compare.page
        comparing = page is not None and page.run.busy
        return not (self.conversation.working or opening or serving or comparing or self.window.editing.editing)

    def _look_changed(self, name: str) -> None:
        if name == "language":
            self._speak_later.start(0)  # the dialog that this may close is in the middle of a signal
        elif name == "spelling":
            self.spelling.choose(self.window.preferences.spelling)
        elif name == "motion":
            self.motion.set_choice(self.window.preferences.motion)

    def _speak(self) -> None:
        """Another language was chosen: the window is made anew in it, with the same engine, once that cuts nothing."""
        if self.again or languages.resolve(self.window.preferences.language) == languages.installed():
            return  # on its way, or chosen back meanwhile
        if self._idle and QApplication.activeModalWidget() is None and QApplication.activePopupWidget() is None:
            self._restart()
        else:
            self._speak_later.start(_LANGUAGE_WAIT)

    def _restart(self) -> None:
        self.again, self.in_settings = True, self.window.settings.is_open
        self.window.close()

    def _stayed(self) -> None:
        self.again = False

    def _problem(self, problem: Problem) -> None:
        self.window.storage_controller.show_problem(problem)


def claim_single_instance(
    application: QApplication, folder: Path, look: Preferences, model: str, file: str
) -> tuple[SingleInstance, bool]:
    """Take the folder's lock. Returns it, or one that is not first and whether the first instance has answered."""
    while True:
        alone = SingleInstance(folder)
        if alone.first:
            return alone, False
        if alone.ask(model, file):
            return alone, True
        fonts.set_percent(look.font_percent)
        theme = Theme(application, look.theme, look.contrast)
        again = _asked_to_try_again(no_answer_box(alone.holder))
        theme.deleteLater()
        if not again:
            return alone, False
        alone.deleteLater()


def no_answer_box(process: int) -> QMessageBox:
    """The message that the first instance does not answer. process: its number, 0 where it is not known."""
    box = QMessageBox(QMessageBox.Icon.Warning, "Underhill", tr("Underhill is already running but not responding."))
    box.setWindowIcon(icon("underhill", ""))
    ended = (
        tr("If this doesn't change, end process {number} in the task manager.", number=process)
        if process
        else tr("If this doesn't change, end it in the task manager.")
    )
    box.setInformativeText(
        tr("It may be busy. Wait a moment, then try again.") + "\n\n" + ended + "\n\n" + tr("Your chats are safe.")
    )
    again = QPushButton(tr("Try again"), box)
    again.setObjectName("primary")  # before it is in the box, which makes it look as what it is called then
    box.addButton(again, QMessageBox.ButtonRole.AcceptRole)
    box.addButton(tr("Close"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(again)
    return box


def _asked_to_try_again(box: QMessageBox) -> bool:
    box.exec()
    again = box.clickedButton() is box.defaultButton()
    box.deleteLater()
    return again


class AfterFirstPaint(QObject):
    """Calls `then` once, after the first painting of a widget or a second."""

    def __init__(self, widget: QWidget, then: Callable[[], object]) -> None:
        super().__init__(widget)
        self._widget, self._then = widget, then
        self._done = False
        widget.installEventFilter(self)
        QTimer.singleShot(_LATEST, self, self._over)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only looks on."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._over)  # the painting itself comes first
        return False

    def _over(self) -> None:
        if not self._done:
            self._done = True
            self._widget.removeEventFilter(self)
            self._then()
