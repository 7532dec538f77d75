"""Puts the parts of a running window together and takes them apart again in the right order."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app import preferences, promptness
from app.attachments.desk import AttachmentDesk
from app.attachments.reading_desk import ReadingDesk
from app.attention import Attention
from app.chats.keeper import Keeper
from app.chats.opening import Problem
from app.conversation import Conversation
from app.counting import Counting
from app.downloads_desk import DownloadsDesk
from app.first_paint import FirstPaint
from app.first_run.desk import FirstRunDesk
from app.i18n import languages
from app.i18n.translate import tr
from app.inbox import Inbox
from app.library.shelf import Shelf
from app.link.engine_link import EngineLink
from app.models import Models
from app.pace import Pacemaker
from app.paths import Paths
from app.theme import fonts
from app.theme.theme import Theme
from app.window import MainWindow
from engine import api

Start = Callable[[Callable[[api.Event], None]], api.Engine]


class Underhill:
    """window, and the threads behind it. `close` ends them all."""

    def __init__(self, application: QApplication, paths: Paths, start: Start = api.start_apart) -> None:
        promptness.run_at_once()
        remembered, note = preferences.load(paths.preferences)
        fonts.set_percent(remembered.font_percent)
        languages.install(remembered.language)
        self.theme = Theme(application, remembered.theme)
        self.inbox = Inbox(application)
        self.keeper = Keeper(paths.chats, self.inbox, self._problem)
        self.link = EngineLink(self.inbox, start)
        self.conversation = Conversation(self.keeper, self.link, self.inbox)
        self.models = Models(self.link, self.inbox, lambda: dict(remembered.engine))
        self.shelf = Shelf(self.link, self.models, lambda: dict(remembered.engine))
        self.window = MainWindow(
            self.theme, self.keeper, self.conversation, self.models, self.shelf, remembered, paths.preferences
        )
        composer = self.window.composer
        self.attachments = AttachmentDesk(composer, self.window.banners, self.inbox, self.conversation)
        self.conversation.opened.connect(self.attachments.forget)
        self.reading = ReadingDesk(self.window, self.theme, self.conversation, self.models)
        rewriting = self.window.rewriting
        self.counting = Counting(composer, self.conversation, self.models, self.link, lambda: rewriting.edited)
        self.counting.told.connect(composer.meter.tell)
        self.counting.attachments_told.connect(composer.tell_costs)
        self.attention = Attention(self.window, self.conversation, self.models, self.shelf, self.theme)
        self.downloads = DownloadsDesk(self.window, self.shelf)
        self.first_run = FirstRunDesk(
            self.window, self.theme, self.link, self.conversation, self.models, self.shelf, remembered
        )
        self.again = False  # whether to open anew once this one is closed
        self.window.restart_wanted.connect(self._restart)
        self.window.closing.stayed.connect(self._stayed)
        self.link.telemetry.connect(self.window.live.take)
        self.window.live.looking.connect(self.link.watch)
        self.pacemaker = Pacemaker(self.inbox)
        self.link.telemetry.connect(self.pacemaker.take)
        self.pacemaker.changed.connect(self.window.live.keep)
        # the engine is there, and no answer yet that would stutter beside it
        self.models.listed.connect(self.window.transcript.prepare, Qt.ConnectionType.SingleShotConnection)
        self.models.loaded.connect(api.settle_garbage)
        if note:
            self.window.banners.show_banner("warning", tr("Some settings could not be used."), note)

    def open(self) -> None:
        """Show the window and have the last model opened."""
        self.link.hold()  # the engine takes a core when it imports torch, which would hold the window up
        self.window.start()
        self.downloads.begin()
        self.first_run.begin_if_new()
        self.window.show()
        self.window.live.come_up()
        FirstPaint(self.window, self.link.release)

    def close(self) -> None:
        """Stop the engine, write what is unwritten, end the threads."""
        self.attention.end()
        self.conversation.closing = True
        self.link.close()
        self.inbox.drain()  # what the engine said last: answers that were cut short go to disk
        self.keeper.close()
        self.inbox.close()
        self.window.transcript.end()
        self.window.deleteLater()
        self.theme.deleteLater()  # the next window has its own

    def _restart(self) -> None:
        self.again = True
        self.window.close()

    def _stayed(self) -> None:
        self.again = False

    def _problem(self, problem: Problem) -> None:
        self.window.disk_desk.show_problem(problem)
