"""The menu of the right mouse button on a message."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QMenu

from app.i18n.translate import tr
from app.transcript.item import MessageItem

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView


def place_of(view: TranscriptView, index: int, event: QContextMenuEvent) -> QPoint:
    """Where the menu of a message opens, in the view: at the pointer, or by keys below its first line."""
    if event.reason() != QContextMenuEvent.Reason.Keyboard:
        return event.pos()
    top = view.origin(index).toPoint() + QPoint(0, view.fontMetrics().lineSpacing())
    return QPoint(top.x(), max(0, min(top.y(), view.viewport().height())))


def menu_of(view: TranscriptView, item: MessageItem, link: str) -> QMenu:
    """What can be done with a message, with the selection, and with the link under the mouse, if there is one."""
    message = item.message
    last = view.items[-1] is item
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if link:
        menu.addAction(tr("Copy the address of the link"), partial(QGuiApplication.clipboard().setText, link))
        menu.addSeparator()
    menu.addAction(tr("Copy selection"), view.copy).setEnabled(not view.selection.empty)
    as_written = menu.addAction(tr("Copy selection as Markdown"), view.copy_as_written)
    as_written.setEnabled(not view.selection.empty)
    menu.addAction(tr("Copy message"), partial(view.copy_message, message.id))
    if message.attachments:
        menu.addAction(tr("Read what is attached"), partial(view.attached.emit, message.id))
    menu.addSeparator()
    if item.is_user:
        menu.addAction(tr("Edit and send again"), partial(view.edit.emit, message.id))
    elif not item.streaming:
        menu.addAction(tr("Edit this answer"), partial(view.edit.emit, message.id))
        menu.addAction(tr("Answer again"), partial(view.again.emit, message.id))
    if message.unfinished and last:
        menu.addAction(tr("Go on from its end"), partial(view.go_on.emit, message.id))
    if not item.streaming:
        menu.addAction(tr("New chat from here"), partial(view.branch.emit, message.id))
    if item.told:
        shown = tr("Hide the figures") if item.unfolded else tr("How this answer was made")
        menu.addAction(shown, partial(view.toggle_details, message.id))
    if not item.streaming:
        menu.addSeparator()
        menu.addAction(tr("Delete message"), partial(view.erase.emit, message.id))
    return menu
