"""Where things stand in dialogs: fields end together, nothing moves aside, and no dialog is mostly empty."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFont, QTextCursor
from PySide6.QtWidgets import QLabel, QMenu, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.dialogs import PrivacyDialog
from app.library.dialogs import ModelDetailsDialog
from app.prompts.dialog import PromptsDialog
from app.settings.preset_cards import PresetCards
from app.settings.style_dialog import StyleDialog
from app.storage.records import Style
from app.theme import fonts
from tests.app.acts import Launch
from tests.app.library.test_details import KNOWN
from tests.app.onboarding.test_tour import tour_of
from tests.app.places import settle

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("normal_size")]


def right(widget: QWidget) -> int:
    """Of its window."""
    return widget.mapTo(widget.window(), QPoint(widget.width(), 0)).x()


def test_settings_end_at_one_edge_on_every_page(qtbot: QtBot, launch: Launch) -> None:
    dialog = launch().window.settings.open()
    edges = set()
    for number, page in enumerate(dialog.pages):
        dialog.show_page(number)
        settle(qtbot, dialog)
        area = dialog.stack.widget(number)
        assert isinstance(area, QScrollArea)
        edges.add(right(page))
        if dialog.scope.isVisible():
            ends = {right(e.control) for e in page.editors if e.control.isVisible()}
            assert {right(dialog.scope)} == ends
    assert len(edges) == 1
    dialog.reject()


def test_four_presets_of_quality_stand_two_by_two(qtbot: QtBot, launch: Launch) -> None:
    dialog = launch().window.settings.open()
    dialog.show_setting("dial")
    dialog.advanced.setChecked(True)
    cards = dialog.editors["dial"].control
    assert isinstance(cards, PresetCards)
    settle(qtbot, dialog)
    assert [(c.x() > 0, c.y() > cards.cards["exact"].y()) for c in cards.cards.values() if c.isVisible()] == [
        (False, False), (True, False), (False, True), (True, True)
    ]  # fmt: skip
    dialog.reject()


def test_fields_and_switches_of_the_server_are_alike(qtbot: QtBot, launch: Launch) -> None:
    dialog = launch().window.settings.open()
    dialog.show_page(dialog.pages.index(dialog.server))
    settle(qtbot, dialog)
    of = {editor.setting.name: editor.control for editor in dialog.server.editors}
    port, place = of["server_port"], next(c for name, c in of.items() if type(c).__name__ == "ElidedComboBox")
    assert (port.width(), right(port)) == (place.width(), right(place))
    assert right(dialog.server.switch) == right(port)
    assert dialog.server.switch.accessibleName() == "Run the local server"
    dialog.reject()


def test_what_waits_for_a_name_says_so(qtbot: QtBot) -> None:
    dialog = StyleDialog(Style(), {}, {})
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.keep.click()
    assert {button.toolTip() for button in dialog.closing} == {"Save or discard the preset name first"}
    dialog.discard_name.click()
    assert {button.toolTip() for button in dialog.closing} == {""}
    settle(qtbot, dialog)
    assert dialog.system.mapTo(dialog, QPoint()).x() == dialog.closing[0].mapTo(dialog, QPoint()).x()
    assert right(dialog.system) == right(dialog.closing[1]) == right(dialog.remove)


def test_details_of_a_model_are_as_high_as_what_they_say(qtbot: QtBot) -> None:
    dialog = ModelDetailsDialog(KNOWN)
    qtbot.addWidget(dialog)
    dialog.show()
    settle(qtbot, dialog)
    area = dialog.findChild(QScrollArea)
    assert isinstance(area, QScrollArea)
    assert not area.verticalScrollBar().maximum()
    assert area.viewport().height() - dialog.files.geometry().bottom() < 30


def test_shortcuts_prompts_and_privacy(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    sheet = window.show_shortcuts()
    settle(qtbot, sheet)
    assert len({cap.height() for cap in sheet.findChildren(QLabel, "key")}) == 1
    sheet.reject()
    prompts = window.show_prompts()
    assert isinstance(prompts, PromptsDialog)
    buddies = {label.buddy(): label.text() for label in prompts.findChildren(QLabel) if label.buddy() is not None}
    assert buddies == {prompts.name: "Name", prompts.text: "Text of the prompt"}
    prompts.reject()
    privacy = window.network_controller.show_privacy()
    assert isinstance(privacy, PrivacyDialog)
    cursor = QTextCursor(privacy.page.document().begin())
    cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
    title = cursor.charFormat().font()
    assert title.weight() == QFont.Weight.DemiBold
    assert title.pointSizeF() == pytest.approx(1.4 * fonts.text().pointSizeF())
    privacy.reject()


def test_the_menu_of_chats_has_no_icons(launch: Launch) -> None:
    window = launch().window
    menu = QMenu(window)
    window.sidebar.fill_menu(menu)
    assert all(action.icon().isNull() for action in menu.actions())


def test_steps_of_the_tour_begin_at_one_height(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    tour = tour_of(underhill)
    tops = set()
    for step in range(3):
        tour.show_step(step)
        settle(qtbot, tour)
        tops.add(tour.sheet.y())
    assert len(tops) == 1
