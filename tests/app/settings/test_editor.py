"""One setting's control, as the keyboard finds it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QStyle, QStyleOptionSlider
from pytestqt.qtbot import QtBot

from app.settings.editor import SettingEditor
from app.settings.learn_more import LEARN_MORE
from app.settings.number_slider import NumberSlider
from app.theme.theme import Theme
from engine import protocol
from tests.app.acts import Launch


def test_a_setting_that_was_reset_by_keys_keeps_the_keyboard(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.show_setting("temperature")
    editor = dialog.editors["temperature"]
    assert isinstance(editor.control, QLineEdit)
    editor.control.setText("0.1")
    editor.control.editingFinished.emit()
    editor.reset_button.setFocus()
    qtbot.keyClick(editor.reset_button, Qt.Key.Key_Space)
    assert dialog.focusWidget() is editor.control
    assert not editor.reset_button.isVisible()
    assert not editor.set
    dialog.reject()


def test_an_automatic_slider_is_hollow_at_the_recommended_value(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.show_setting("memory_gb")
    memory, context = dialog.editors["memory_gb"], dialog.editors["context_length"]
    assert isinstance(memory.control, QLineEdit)
    assert memory.slider is not None
    assert context.slider is not None
    qtbot.waitUntil(lambda: memory.control.placeholderText() == "Automatic: 9.6")
    qtbot.waitUntil(lambda: context.slider.property("automatic") == "hollow")  # type: ignore[union-attr]
    assert memory.slider.property("automatic") == "hollow"
    assert memory.slider.high == 16
    assert abs(memory.slider.value_at(memory.slider.value()) - 9.6) < 0.5
    assert memory.slider.accessibleDescription() == "Automatic"
    memory.control.setText("6")
    memory.control.editingFinished.emit()
    assert memory.slider.property("automatic") == ""
    memory.reset_button.click()
    assert memory.slider.property("automatic") == "hollow"
    dialog.reject()


@pytest.mark.usefixtures("normal_size")
@pytest.mark.parametrize("percent", [100, 150])
def test_the_mark_of_a_slider_is_in_the_middle_of_its_knob(qtbot: QtBot, theme: Theme, percent: int) -> None:
    theme.set_percent(percent)
    slider = NumberSlider(protocol.settings.ALL["temperature"])
    qtbot.addWidget(slider)
    slider.resize(250, 60)
    slider.show()
    for value in (0.0, 0.3, 0.7, 1.0, 2.0):
        slider.show_value(value)
        option = QStyleOptionSlider()
        slider.initStyleOption(option)
        parts = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
        knob = slider.style().subControlRect(parts[0], option, parts[1], slider)
        assert slider.mark(value).center().x() == knob.center().x()
        assert slider.mark(value).width() == 2


def test_a_slider_comes_with_a_value_to_stand_at(qtbot: QtBot) -> None:
    editor = SettingEditor(protocol.settings.ALL["t1"], None)
    qtbot.addWidget(editor)
    editor.show()
    control, slider = editor.control, editor.slider
    assert isinstance(control, QLineEdit)
    assert slider is not None
    assert (control.placeholderText(), slider.isVisible()) == ("Automatic", False)
    chosen = []
    editor.changed.connect(lambda _, value: chosen.append(value))
    control.setFocus()
    qtbot.keyClicks(control, "0.4")
    qtbot.keyClick(control, Qt.Key.Key_Return)
    assert slider.isVisible()
    assert slider.value_at(slider.value()) == 0.4
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert chosen == [0.4, pytest.approx(0.405, abs=0.006)]
    editor.set_value(None)  # as another quality does with it
    assert not slider.isVisible()
    assert editor.window().focusWidget() is control
    editor.recommend(0.6)
    assert slider.isVisible()
    assert slider.property("automatic") == "hollow"


def test_a_share_is_shown_and_typed_in_percent(qtbot: QtBot) -> None:
    editor = SettingEditor(protocol.settings.ALL["cache_fraction"], 0.625)
    qtbot.addWidget(editor)
    control, slider = editor.control, editor.slider
    assert isinstance(control, QLineEdit)
    assert slider is not None
    assert control.text() == "62.5%"
    chosen = []
    editor.changed.connect(lambda _, value: chosen.append(value))
    for text in ("45", "57%", "0 %", "100％"):
        control.setText(text)
        control.editingFinished.emit()
    assert chosen == [0.45, 0.57, 0.0, 1.0]
    assert control.text() == "100%"
    for text in ("101", "half"):
        control.setText(text)
        control.editingFinished.emit()
        assert "Use a percentage from 0% to 100%." in editor.note.text()
    slider.setValue(100)
    assert (control.text(), chosen[4:]) == ("50%", [0.5])
    editor.reset()
    editor.recommend(0.62)
    assert (control.text(), control.placeholderText()) == ("", "Automatic: 62%")
    assert slider.toolTip() == "Recommended: 62%"


def test_large_whole_numbers_are_taken_and_shown_whole(qtbot: QtBot) -> None:
    editor = SettingEditor(protocol.settings.ALL["context_length"], None)
    qtbot.addWidget(editor)
    assert editor.slider is not None
    assert isinstance(editor.control, QLineEdit)
    chosen = []
    editor.changed.connect(lambda _, value: chosen.append(value))
    for high, words in ((1_048_576, "1048576"), (262_144, "262144")):
        editor.slider.set_high(high)
        editor.slider.setValue(editor.slider.maximum() - 1)
        editor.slider.setValue(editor.slider.maximum())
        assert editor.control.text() == words
        assert chosen[-1] == high
    assert 1_000_000 in chosen  # the step before
    assert editor.note.isHidden() or "can't be" not in editor.note.text()
    editor.reset()
    editor.recommend(1_048_576)
    assert editor.control.placeholderText() == "Automatic: 1,048,576"
    assert editor.slider.toolTip() == "Recommended: 1,048,576"


def test_learn_more_says_it_below_the_help_and_hides_it_again(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    dialog = underhill.window.settings.open()
    dialog.show_setting("memory_gb")
    editor = dialog.editors["memory_gb"]
    assert editor.long_help.isHidden()
    editor.learn.setFocus()
    qtbot.keyClick(editor.learn, Qt.Key.Key_Space)
    assert editor.long_help.isVisible()
    assert "2 GB" in editor.long_help.text()
    editor.learn.click()
    assert editor.long_help.isHidden()
    dialog.reject()


def test_every_setting_that_is_shown_has_more_to_learn(launch: Launch) -> None:
    dialog = launch().window.settings.open()
    shown = [editor for page in dialog.pages for editor in page.editors]
    assert [e.setting.name for e in shown if e.learn.isHidden() or not e.long_help.text()] == []
    assert [name for name in LEARN_MORE if name not in {e.setting.name for e in shown}] == []
    dialog.reject()
