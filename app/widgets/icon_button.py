"""Button with an icon only: named for screen readers, explained by a tooltip, drawn in the theme's colours."""

from __future__ import annotations

from PySide6.QtCore import QSize, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from app.theme import fonts, sizes
from app.theme.icons import icon
from app.theme.theme import Theme


class IconButton(QToolButton):
    """name: of the icon. label: accessible name and tooltip. shortcut: written into the tooltip.

    size: in pixels, beside text of the base size.
    """

    def __init__(
        self, theme: Theme, name: str, label: str, parent: QWidget | None = None, shortcut: str = "", size: int = 18
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        sizes.follow(self, lambda button: button.setIconSize(QSize(fonts.pixels(size), fonts.pixels(size))))
        self.set_label(label, shortcut)
        self._tint()
        theme.changed.connect(self._tint)

    def set_label(self, label: str, shortcut: str = "") -> None:
        """Set the accessible name and the tooltip."""
        self.setAccessibleName(label)
        self.setToolTip(f"{label}  ({shortcut})" if shortcut else label)

    def set_icon(self, name: str) -> None:
        """Set another icon."""
        self._name = name
        self._tint()

    @Slot()
    def _tint(self) -> None:
        colour = self._theme.palette.on_accent if self.objectName() == "send" else self._theme.palette.muted
        self.setIcon(icon(self._name, colour))
