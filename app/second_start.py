"""A start while another window of the same folder is open, or hangs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

from app.i18n.translate import tr
from app.preferences import Preferences
from app.single_instance import SingleInstance
from app.theme import fonts
from app.theme.icons import icon
from app.theme.theme import Theme


def only_one(application: QApplication, folder: Path, look: Preferences, model: str) -> tuple[SingleInstance, bool]:
    """This start as the only one; or one that is not the first, and whether the first has answered it."""
    while True:
        alone = SingleInstance(folder)
        if alone.first:
            return alone, False
        if alone.ask(model):
            return alone, True
        fonts.set_percent(look.font_percent)
        theme = Theme(application, look.theme)
        again = _asked_to_try_again(no_answer(alone.holder))
        theme.deleteLater()
        if not again:
            return alone, False
        alone.deleteLater()


def no_answer(process: int) -> QMessageBox:
    """Says that the first one does not answer. process: its number, 0 where it is not known."""
    box = QMessageBox(QMessageBox.Icon.Warning, "Underhill", tr("Underhill is already running but does not answer."))
    box.setWindowIcon(icon("underhill", ""))
    ended = (
        tr("If it stays like that, end the process {number} with the system's task manager.", number=process)
        if process
        else tr("If it stays like that, end it with the system's task manager.")
    )
    box.setInformativeText(
        tr("It may be busy: wait a moment and try again.") + "\n\n" + ended + "\n\n" + tr("Your chats are kept.")
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
