"""What screen readers are told that no widget shows by itself; nothing is done while none listens."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Have a text read out. urgent: at once, and not after what is being read."""
    if QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(widget, text)
        levels = QAccessible.AnnouncementPoliteness
        event.setPoliteness(levels.Assertive if urgent else levels.Polite)
        QAccessible.updateAccessibility(event)
