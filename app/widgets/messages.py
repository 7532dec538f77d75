"""Messages in the window: banners across the top of the chat, and the toast at its bottom."""

from __future__ import annotations

import html
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from app.i18n.translate import sentences, tr
from app.theme import fonts, sizes
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_label, make_timer, show_text, vbox
from app.widgets.buttons import IconButton
from app.widgets.screen_reader import announce

Button = tuple[str, Callable[[], object]]
_MOST = 3  # banners at once; the oldest goes
# Letters of the narrowest line that a text has beside the buttons; where it would be narrower, they go below.
_TEXT = 44
SHOWN_FOR = 10_000  # milliseconds
_GAP = 8  # pixels between a toast and what is below it
_BESIDE = 180  # pixels of the page that are left of it and right of it, its button among them


class Banner(QFrame):
    """One banner. level: 'error', 'warning' or 'info'. button, other: text and what it does."""

    closed = Signal(object)

    def __init__(
        self, theme: Theme, level: str, sentence: str, *, action: str = "", details: str = "",
        button: Button | None = None, other: Button | None = None, about: str = "", parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.about = about
        self.setObjectName("banner")
        self.setProperty("level", level)
        self.setAccessibleName(sentences(sentence, action))
        self.sentence = sentence
        self._theme = theme
        self._level = level
        self._actions = [given for given in (button, other) if given is not None]
        self._icon = QLabel(self)
        self._icon.setAlignment(Qt.AlignmentFlag.AlignTop if action else Qt.AlignmentFlag.AlignVCenter)
        self.text = make_label("", self, wrap=True, selectable=True)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        more = f"<br>{_escaped(action)}" if action else ""
        self.text.setText(f'<span style="font-weight:600">{_escaped(_as_title(sentence))}</span>{more}')
        self.details = QPlainTextEdit(details, self)
        self.details.setReadOnly(True)
        self.details.setAccessibleName(tr("Details"))
        self.details.setFixedHeight(110)
        self.details.hide()
        self.buttons = QWidget(self)
        row = hbox(parent=self.buttons, margins=0, spacing=10)
        if button is not None:
            row.addWidget(make_button(button[0], self, self.act))
        if other is not None:
            row.addWidget(make_button(other[0], self, lambda: self.act(1)))
        if details:
            show = make_button(tr("Details"), self, self.details.setVisible, "quiet")
            show.setCheckable(True)
            row.addWidget(show)
        close = IconButton(theme, "close", tr("Close"), self, size=15)
        close.clicked.connect(self.dismiss)
        for pressed in self.findChildren(QAbstractButton):  # by mouse: what one writes in keeps the focus
            pressed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(14, 10, 8, 10)
        self._grid.setHorizontalSpacing(10)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self._icon, 0, 0)
        self._grid.addWidget(self.text, 0, 1)
        self._grid.addWidget(close, 0, 3, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(self.details, 2, 0, 1, 4)
        self._put_buttons(False)
        sizes.follow(self, Banner._grown)
        self._tint()
        theme.changed.connect(self._tint)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _grown(self) -> None:
        if self.isVisible():  # before that it has no width to fit
            self._fit()

    def _fit(self) -> None:
        text = _TEXT * self.fontMetrics().averageCharWidth()
        below = self.width() < self.buttons.sizeHint().width() + text
        if below != self._below:
            self._grid.removeWidget(self.buttons)
            self._put_buttons(below)

    def _put_buttons(self, below: bool) -> None:
        """Put the buttons beside the text, or below it."""
        self._below = below
        if below:
            self._grid.addWidget(self.buttons, 1, 1, 1, 3, Qt.AlignmentFlag.AlignLeft)
        else:
            self._grid.addWidget(self.buttons, 0, 2, Qt.AlignmentFlag.AlignTop)

    @Slot()
    def dismiss(self) -> None:
        """Close the banner."""
        self.closed.emit(self)

    @Slot()
    def act(self, number: int = 0) -> None:
        """Close the banner and do what its button of this number says."""
        self.dismiss()
        self._actions[number][1]()

    @Slot()
    def _tint(self) -> None:
        p = self._theme.palette
        colour = {"error": p.danger, "warning": p.warning, "info": p.accent}[self._level]
        name = "info" if self._level == "info" else "alert"
        self._icon.setPixmap(pixmap(name, colour, fonts.pixels(20), self.devicePixelRatioF()))


class Banners(QWidget):
    """Stack of banners above the conversation."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._column = vbox(parent=self, margins=(20, 12, 20, 8), spacing=8)
        self.banners: list[Banner] = []
        self.hide()

    def show_banner(
        self, level: str, sentence: str, action: str = "", details: str = "",
        button: Button | None = None, other: Button | None = None, *, about: str = "",
    ) -> None:  # fmt: skip
        """Show a banner. One that says the same is replaced. about: what it belongs to, for `withdraw_about`."""
        for old in [b for b in self.banners if b.sentence == sentence] + self.banners[: 1 - _MOST]:
            self._drop(old)
        banner = Banner(
            self._theme, level, sentence, action=action, details=details, button=button, other=other, about=about,
            parent=self,
        )  # fmt: skip
        banner.closed.connect(self._drop)
        self.banners.append(banner)
        self._column.addWidget(banner)
        self.show()
        announce(banner, banner.accessibleName(), urgent=level == "error")

    def withdraw(self, sentence: str) -> None:
        """Close the banner that says this: it is no longer so."""
        for banner in [b for b in self.banners if b.sentence == sentence]:
            self._drop(banner)

    def withdraw_about(self, stale: Callable[[str], bool]) -> None:
        """Close the banners whose cause is gone. stale: tells that by a banner's `about`."""
        for banner in [b for b in self.banners if b.about and stale(b.about)]:
            self._drop(banner)

    @Slot(object)
    def _drop(self, banner: Banner) -> None:
        if banner in self.banners:
            self.banners.remove(banner)
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.setVisible(bool(self.banners))


def _as_title(sentence: str) -> str:
    """One sentence without its full stop, as a title has none."""
    for stop in (". ", "。", "\n"):
        if stop in sentence[:-1]:
            return sentence
    return sentence.removesuffix(".").removesuffix("。")


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\n", "<br>")


class Toast(QFrame):
    """covers: pixels that it takes at the bottom of its parent now, 0 when it has gone."""

    covers = Signal(int)

    def __init__(self, parent: QWidget, foot: QWidget) -> None:
        """foot: what it stands above, where that shows."""
        super().__init__(parent)
        self._foot = foot
        foot.installEventFilter(self)
        self.setObjectName("toast")
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self._button = QPushButton(self)
        self._button.clicked.connect(self._clicked)
        self._what: Callable[[], object] | None = None
        row = QHBoxLayout(self)
        self._row = row
        row.addWidget(self.label)
        row.addWidget(self._button)
        self._timer = make_timer(self, SHOWN_FOR, self.end)
        self.hide()
        sizes.follow(self, Toast._grown)

    def _grown(self) -> None:
        if self.isVisible():
            self.place()

    def show_message(self, text: str, button: str = "", what: Callable[[], object] | None = None) -> None:
        """Show the message; `what` is done if its button is clicked in time. Without one there is no button."""
        self.end()
        self.label.setText(text.replace("/", "/\u200b"))  # so that a path, too, can be broken into lines
        show_text(self._button, button)
        self._row.setContentsMargins(16, 8, 10 if button else 16, 8)
        self._what = what
        self.setAccessibleName(text)
        self.place()
        self.show()
        self.raise_()
        self._timer.start()
        announce(self, text)

    def place(self) -> None:
        """Centre at the bottom of the parent, above its foot."""
        parent = self.parentWidget()
        assert parent is not None
        self.label.setWordWrap(False)
        wide = self.label.fontMetrics().horizontalAdvance(self.label.text()) + 8
        self.label.setFixedWidth(min(wide, max(160, parent.width() - _BESIDE)))
        self.label.setWordWrap(True)
        self._row.invalidate()
        self.adjustSize()
        bottom = self._foot.y() if self._foot.isVisible() else parent.height() - _GAP
        self.move((parent.width() - self.width()) // 2, bottom - self.height() - _GAP)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the foot as it comes, goes, or grows."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide) and self.isVisible():
            self.place()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.covers.emit(self.height() + 2 * _GAP)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.covers.emit(0)

    def undo(self) -> bool:
        """Click the button, if it is there to click."""
        if self._what is None:
            return False
        self._clicked()
        return True

    @Slot()
    def end(self) -> None:
        """Hide it: the time to click is over."""
        self._timer.stop()
        self.hide()
        self._what = None

    @Slot()
    def _clicked(self) -> None:
        what, self._what = self._what, None
        self._timer.stop()
        self.hide()
        if what is not None:
            what()
