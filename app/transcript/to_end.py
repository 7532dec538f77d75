"""The round button that leads back to the end of a conversation: beside the text, so that it covers none of it."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractScrollArea

from app.i18n.translate import tr
from app.theme import sizes
from app.theme.theme import Theme
from app.transcript.column import BUTTON, beside
from app.widgets.icon_button import IconButton

_BELOW = 12  # pixels between it and the foot of the page


class ToEnd(IconButton):
    """In sight while the page is away from its end."""

    def __init__(self, theme: Theme, view: QAbstractScrollArea) -> None:
        super().__init__(theme, "chevron-down", tr("Go to the end"), view, "End")
        self._view = view
        self.setObjectName("latest")
        sizes.square(self, BUTTON)
        self.hide()

    def show_for(self, away: bool) -> None:
        """away: the end is far from what is in sight."""
        if away and self.isHidden():
            self.raise_()
        self.setVisible(away)

    def place(self) -> None:
        """At the foot of the page, behind the column of text."""
        page, side = self._view.viewport().geometry(), self.width()
        self.move(round(page.right() + 1 - (beside() + side) / 2), page.bottom() + 1 - side - _BELOW)
