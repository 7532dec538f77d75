"""A message across the top of the chat: what is wrong, what to do, and the details for those who want them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app.language.words import say
from app.theme.icons import pixmap
from app.theme.theme import Theme
from app.widgets.icon_button import IconButton

Button = tuple[str, Callable[[], object]]
_MOST = 3  # banners at once; the oldest goes


class Banner(QFrame):
    """level: 'error', 'warning' or 'info'. button, other: text and what it does."""

    closed = Signal(object)

    def __init__(
        self, theme: Theme, level: str, sentence: str, action: str = "", details: str = "",
        button: Button | None = None, other: Button | None = None, parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setObjectName("banner")
        self.setProperty("level", level)
        self.setAccessibleName(f"{sentence} {action}".strip())
        self.sentence = sentence
        self._theme = theme
        self._level = level
        self._button, self._other = button, other
        self._icon = QLabel(self)
        self._icon.setAlignment(Qt.AlignmentFlag.AlignTop)
        text = QLabel(self)
        text.setWordWrap(True)
        text.setTextFormat(Qt.TextFormat.RichText)
        text.setText(
            f'<span style="font-weight:600">{_escaped(sentence)}</span>' + (f"<br>{_escaped(action)}" if action else "")
        )
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._details = QPlainTextEdit(details, self)
        self._details.setReadOnly(True)
        self._details.setAccessibleName(say("Details"))
        self._details.setFixedHeight(110)
        self._details.hide()
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._icon)
        row.addWidget(text, 1)
        if details:
            self._more = QPushButton(say("Details"), self)
            self._more.setObjectName("quiet")
            self._more.setCheckable(True)
            self._more.toggled.connect(self._details.setVisible)
            row.addWidget(self._more, 0, Qt.AlignmentFlag.AlignTop)
        if button is not None:
            act = QPushButton(button[0], self)
            act.clicked.connect(self._act)
            row.addWidget(act, 0, Qt.AlignmentFlag.AlignTop)
        if other is not None:
            more = QPushButton(other[0], self)
            more.clicked.connect(self._act_otherwise)
            row.addWidget(more, 0, Qt.AlignmentFlag.AlignTop)
        close = IconButton(theme, "close", say("Dismiss"), self, size=15)
        close.clicked.connect(self.dismiss)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 8, 10)
        column.addLayout(row)
        column.addWidget(self._details)
        self._tint()
        theme.changed.connect(self._tint)

    @Slot()
    def dismiss(self) -> None:
        """Take the banner away."""
        self.closed.emit(self)

    @Slot()
    def _act(self) -> None:
        assert self._button is not None
        self.dismiss()
        self._button[1]()

    @Slot()
    def _act_otherwise(self) -> None:
        assert self._other is not None
        self.dismiss()
        self._other[1]()

    @Slot()
    def _tint(self) -> None:
        p = self._theme.palette
        colour = {"error": p.danger, "warning": p.warning, "info": p.accent}[self._level]
        name = "info" if self._level == "info" else "alert"
        self._icon.setPixmap(pixmap(name, colour, 20, self.devicePixelRatioF()))


class Banners(QWidget):
    """The stack of banners above the conversation."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(20, 12, 20, 8)
        self._column.setSpacing(8)
        self.banners: list[Banner] = []
        self.hide()

    def show_banner(
        self, level: str, sentence: str, action: str = "", details: str = "",
        button: Button | None = None, other: Button | None = None,
    ) -> None:  # fmt: skip
        """Show a banner. One that says the same is replaced."""
        for old in [b for b in self.banners if b.sentence == sentence] + self.banners[: 1 - _MOST]:
            self._drop(old)
        banner = Banner(self._theme, level, sentence, action, details, button, other, self)
        banner.closed.connect(self._drop)
        self.banners.append(banner)
        self._column.addWidget(banner)
        self.show()

    @Slot(object)
    def _drop(self, banner: Banner) -> None:
        if banner in self.banners:
            self.banners.remove(banner)
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.setVisible(bool(self.banners))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
