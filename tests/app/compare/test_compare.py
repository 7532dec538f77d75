"""Comparing answers: what is asked, what is shown of it, and that a chat gets only the answer that is chosen."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.compare import column as columns
from app.compare.page import ComparePage
from app.storage.records import Style
from engine import protocol, resources
from tests.app.acts import Launch, ask, button, contents
from tests.app.conftest import close, engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.places import settle

SAID = {"exact": "The **old** cat sat on the mat.", "fast": "The cat sat on a mat."}


def sent(underhill: Application, kind: type[protocol.Command]) -> list[protocol.Command]:
    return [command for command in engine_of(underhill).received if isinstance(command, kind)]


def opened(qtbot: QtBot, underhill: Application) -> ComparePage:
    underhill.window.header.compare.trigger()
    page = underhill.window.compare.page
    assert page is not None
    qtbot.waitUntil(page.isVisible)
    qtbot.waitUntil(lambda: page.columns[0].model.count() > 0)
    return page


def compared(qtbot: QtBot, page: ComparePage, text: str = "Where did the cat sit?") -> None:
    page.edit.setPlainText("")
    qtbot.keyClicks(page.edit, text)
    qtbot.keyClick(page.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.run.busy or bool(page.run.answers))
    qtbot.waitUntil(lambda: not page.run.busy)


def underlined(page: ComparePage, number: int) -> list[str]:
    return [s.cursor.selectedText() for s in page.columns[number].text.extraSelections()]


def test_one_question_to_two_qualities(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID, rate=60.0)  # Windows' clock has steps of 16 ms
    page = opened(qtbot, underhill)
    assert [c.side for c in page.columns] == [("builtin", "exact"), ("builtin", "balanced")]
    page.columns[1].choose("builtin", "fast")
    compared(qtbot, page)
    first, second = sent(underhill, protocol.GenerateApart)
    assert isinstance(first, protocol.GenerateApart)
    assert isinstance(second, protocol.GenerateApart)
    assert (first.dial, second.dial) == ("exact", "fast")
    assert first.question == second.question  # the seed, too
    assert isinstance(first.question.sampling["seed"], int)
    assert first.question.messages[-1].content == "Where did the cat sit?"
    assert [c.text.toPlainText() for c in page.columns] == ["The old cat sat on the mat.", SAID["fast"]]  # Markdown
    assert underlined(page, 0) == ["old", "the"]
    assert underlined(page, 1) == ["a"]
    for column in page.columns:
        assert "tok/" in column.figures.text()
        assert "to first token" in column.figures.text().replace("\u00a0", " ")
        assert column.use.isVisible()
    (measured,) = sent(underhill, protocol.MeasureDivergence)
    assert isinstance(measured, protocol.MeasureDivergence)
    assert measured.dials == ("exact", "fast")
    assert page.run.answers[0].stats is not None
    assert measured.answer == page.run.answers[0].stats.token_ids
    assert "Difference of Fast from Exact: KL 0.0123 (left answer, " in page.result.text()
    assert sent(underhill, protocol.UpdateSettings) == []


def save_preset(underhill: Application, name: str, style: Style) -> None:
    underhill.window.chats.database.submit(lambda store: store.keep_preset(name, style))


def test_one_question_with_two_presets(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "Short." if messages[0].role == "system" else "Not that short.")
    brief = Style("Be brief.", {"temperature": 0.2}, ("END",))
    save_preset(underhill, "Brief", brief)
    page = opened(qtbot, underhill)
    left, right = page.columns
    qtbot.waitUntil(right.presets.isVisible)
    right.choose("builtin", "exact")
    page.edit.setPlainText("Who are you?")
    assert not page.go.isEnabled()
    assert page.about.text() == "Choose another model, quality, preset or engine setting on one side."
    assert not right.settings.isVisible()
    right.presets.setCurrentIndex(right.presets.findData("Brief"))
    assert left.settings.text() == "System prompt: None  ·  Temperature: 0.7  ·  Stop sequences: None"
    assert right.settings.text() == "System prompt: Be brief.  ·  Temperature: 0.2  ·  Stop sequences: END"
    compared(qtbot, page, "Who are you?")
    first, second = (c for c in engine_of(underhill).received if isinstance(c, protocol.GenerateApart))
    assert [m.content for m in first.question.messages] == ["Who are you?"]
    assert [m.content for m in second.question.messages] == ["Be brief.", "Who are you?"]
    assert (second.question.sampling["temperature"], second.question.stop) == (0.2, ("END",))
    assert first.question.sampling["seed"] == second.question.sampling["seed"]
    assert (first.dial, second.dial) == ("exact", "exact")
    assert underlined(page, 0) == ["Not that short"]
    assert sent(underhill, protocol.MeasureDivergence) == []
    right.use.click()
    qtbot.waitUntil(lambda: len(underhill.conversation.messages) == 2)
    assert underhill.conversation.style == brief  # so that the chat goes on as it was compared


def test_two_qualities_with_presets_that_the_model_does_not_read(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID)
    page = opened(qtbot, underhill)
    assert not page.columns[0].presets.isVisible()  # there is none
    save_preset(underhill, "Calm", Style(sampling={"temperature": 0.0}))
    underhill.window.navigator.show_chat()
    page = opened(qtbot, underhill)
    qtbot.waitUntil(page.columns[0].presets.isVisible)
    page.columns[0].presets.setCurrentIndex(1)
    compared(qtbot, page)
    (measured,) = sent(underhill, protocol.MeasureDivergence)
    assert isinstance(measured, protocol.MeasureDivergence)
    assert measured.question.sampling["temperature"] == 0.0
    assert "KL 0.0123" in page.result.text()
    underhill.window.navigator.show_chat()
    assert opened(qtbot, underhill).columns[0].preset == ""  # each time it begins with the chat's own


def test_two_qualities_with_two_system_prompts_have_no_divergence(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID)
    save_preset(underhill, "Brief", Style("Be brief."))
    page = opened(qtbot, underhill)
    qtbot.waitUntil(page.columns[1].presets.isVisible)
    page.columns[1].presets.setCurrentIndex(1)
    compared(qtbot, page)
    assert page.run.complete
    assert sent(underhill, protocol.MeasureDivergence) == []
    assert page.result.text() == "Words that differ are underlined."


def set_engine(column: columns.CompareColumn, name: str, value: str) -> None:
    """Choose a setting of the engine above a column, and a value of it."""
    column.engine.setCurrentIndex(column.engine.findData(name))
    assert column.editor is not None
    control = column.editor.control
    if isinstance(control, QComboBox):
        control.setCurrentIndex(control.findData(value))
    else:
        assert isinstance(control, QLineEdit)
        control.setText(value)
        control.editingFinished.emit()


def test_one_question_under_two_settings_of_the_engine(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID)
    page = opened(qtbot, underhill)
    left, right = page.columns
    right.choose("builtin", "exact")
    page.edit.setPlainText("Hello")
    right.engine.setCurrentIndex(right.engine.findData("cache_fraction"))
    assert not page.go.isEnabled()  # it is as it is
    set_engine(right, "cache_fraction", "50%")
    assert page.go.isEnabled()
    assert left.settings.text() == "Experts kept in memory: Automatic"
    assert right.settings.text() == "Experts kept in memory: 50%"
    assert "loaded again" not in page.about.text()
    set_engine(left, "activations", "exact")
    assert left.settings.text() == "Activations: Exact  ·  Experts kept in memory: Automatic"
    assert right.settings.text() == "Activations: Auto  ·  Experts kept in memory: 50%"
    assert left.editor is not None
    assert not left.editor.note.isVisible()
    assert "The model is loaded again with the changed setting" in page.about.text()
    compared(qtbot, page, "Hello")
    first, second = (c for c in engine_of(underhill).received if isinstance(c, protocol.GenerateApart))
    assert (first.changes, second.changes) == ({"activations": "exact"}, {"cache_fraction": 0.5})
    assert first.settings == second.settings
    assert sent(underhill, protocol.UpdateSettings) == sent(underhill, protocol.MeasureDivergence) == []
    underhill.window.navigator.show_chat()
    assert [column.changes for column in opened(qtbot, underhill).columns] == [{}, {}]


def test_tab_goes_from_the_choice_of_a_setting_to_its_value_and_on_to_the_answer(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch())
    left = page.columns[0]
    set_engine(left, "kv_cache", "int8")
    assert left.editor is not None
    qtbot.waitUntil(left.editor.isVisible)
    order, widget = [], left.engine.nextInFocusChain()
    while widget is not left.text:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            order.append(widget)
        widget = widget.nextInFocusChain()
    assert order == [left.editor.reset_button, left.editor.learn, left.editor.control]


@pytest.mark.usefixtures("normal_size")
@pytest.mark.parametrize("percent", [100, 150])
def test_the_question_stays_in_sight_and_both_answers_begin_side_by_side(
    qtbot: QtBot, launch: Launch, percent: int
) -> None:
    underhill = launch(apart=SAID)
    underhill.theme.set_percent(percent)
    underhill.window.resize(1280, 820)
    page = opened(qtbot, underhill)
    set_engine(page.columns[0], "t1", "0.3")
    compared(qtbot, page)
    qtbot.waitUntil(page.result.isVisible)
    settle(qtbot, page)

    def place(widget: QWidget) -> QRect:
        return QRect(widget.mapTo(page, QPoint()), widget.size())

    left, right = (place(column.text) for column in page.columns)
    assert (left.top(), left.height()) == (right.top(), right.height())
    assert left.height() > 3 * page.fontMetrics().lineSpacing()
    for low in (820, 560, 420):
        underhill.window.resize(1280 if low == 820 else 700, low)
        settle(qtbot, page)
        for part in (page.edit, page.go, page.result):
            assert page.rect().contains(place(part)), (low, part)
        assert (place(page.go).top(), place(page.go).bottom()) == (place(page.edit).top(), place(page.edit).bottom())


def test_figures_are_broken_between_each_other_alone(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(apart=SAID))
    compared(qtbot, page)
    for column in page.columns:
        assert "·" in column.figures.text()
        for figure in column.figures.text().split("·  ")[:-1]:
            assert figure.endswith("\u00a0\u00a0")  # no line begins with the dot
            assert " " not in figure


def test_two_qualities_under_another_setting_have_no_divergence(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID)
    page = opened(qtbot, underhill)
    for column in page.columns:
        set_engine(column, "cache_fraction", "50%")
    compared(qtbot, page)
    assert page.run.complete
    assert sent(underhill, protocol.MeasureDivergence) == []


def test_a_window_that_is_closed_meanwhile_opens_with_its_own_settings(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=20.0)
    page = opened(qtbot, underhill)
    set_engine(page.columns[0], "kv_cache", "int8")
    qtbot.keyClicks(page.edit, "Tell me")
    page.ask()
    qtbot.waitUntil(lambda: len(page.columns[0].text.toPlainText()) > 10)
    close(underhill)
    again = launch()
    qtbot.waitUntil(lambda: again.models.state == "ready")
    (loaded,) = sent(again, protocol.LoadModel)
    assert isinstance(loaded, protocol.LoadModel)
    assert "kv_cache" not in loaded.settings
    assert again.window.preferences.of("builtin", "kv_cache") == "auto"


def test_nothing_is_kept_but_the_answer_that_is_chosen(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(apart=SAID, rate=60.0)
    settings = (tmp_path / "settings.json", tmp_path / "preferences.json")
    before = [path.read_bytes() for path in settings if path.exists()]
    page = opened(qtbot, underhill)
    compared(qtbot, page)
    assert [path.read_bytes() for path in settings if path.exists()] == before
    assert underhill.conversation.chat is None
    assert contents(underhill) == []
    page.columns[1].use.click()
    qtbot.waitUntil(lambda: len(underhill.conversation.messages) == 2)
    question, answer = underhill.conversation.messages
    assert (question.role, question.content) == ("user", "Where did the cat sit?")
    assert (answer.content, answer.model, answer.state) == (page.run.answers[1].text, BUILTIN.title, "whole")
    assert answer.stats["decode_seconds"] > 0
    assert underhill.window.on_chat
    chat = underhill.conversation.chat
    assert chat is not None
    assert (chat.title, chat.model) == ("Where did the cat sit?", "builtin")
    ask(qtbot, underhill, "And then?")  # it goes on like any other
    assert len(contents(underhill)) == 4


def test_a_question_of_a_chat_with_what_was_said_before(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: f"Answer {len(messages)}.")
    ask(qtbot, underhill, "First")
    ask(qtbot, underhill, "Second")
    messages = underhill.conversation.messages
    menu = underhill.window.transcript.menu_of(underhill.window.transcript.items[3], "")
    next(a for a in menu.actions() if a.text() == "Compare answers…").trigger()
    page = underhill.window.compare.page
    assert page is not None
    assert page.edit.toPlainText() == "Second"
    assert "2 messages before it" in page.about.text()
    engine_of(underhill).apart = SAID
    page.ask()
    qtbot.waitUntil(lambda: bool(page.run.answers) and not page.run.busy)
    asked = sent(underhill, protocol.GenerateApart)[0]
    assert isinstance(asked, protocol.GenerateApart)
    assert [m.content for m in asked.question.messages] == ["First", "Answer 1.", "Second"]
    page.columns[0].use.click()
    qtbot.waitUntil(lambda: contents(underhill)[-1:] == [SAID["exact"]])
    now = underhill.conversation.messages
    assert [m.id for m in now[:3]] == [m.id for m in messages[:3]]
    assert (now[3].version, now[3].versions) == (2, 2)  # the other one stays beside it
    menu.deleteLater()


def test_an_edited_question_becomes_a_version_of_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID)
    ask(qtbot, underhill, "First")
    underhill.window.compare.compare_message(underhill.conversation.messages[1].id)
    page = underhill.window.compare.page
    assert page is not None
    compared(qtbot, page, "First, but shorter")
    page.columns[0].use.click()
    qtbot.waitUntil(lambda: contents(underhill) == ["First, but shorter", SAID["exact"]])
    assert underhill.conversation.messages[0].versions == 2


def test_two_models_of_which_one_fails(qtbot: QtBot, launch: Launch) -> None:
    full = protocol.Failed("", protocol.Kind.OUT_OF_MEMORY, "OLMoE needs 8 GB.", "Lower the context length.")  # type: ignore[arg-type]
    underhill = launch(apart=SAID)
    page = opened(qtbot, underhill)
    page.columns[0].choose(LARGE.name, "fast")
    assert "If memory can't hold both models" in page.about.text()
    engine_of(underhill).fail[protocol.GenerateApart] = full
    compared(qtbot, page)
    assert page.columns[0].problem.isVisible()
    assert page.columns[0].problem.text() == "OLMoE needs 8 GB. Lower the context length."
    assert not page.columns[0].use.isVisible()
    assert page.columns[1].use.isVisible()
    assert sent(underhill, protocol.MeasureDivergence) == []
    assert page.result.text() == ""
    assert [c.model for c in sent(underhill, protocol.GenerateApart)] == [LARGE.name, "builtin"]  # type: ignore[attr-defined]


def test_stop_ends_both_and_keeps_what_was_said(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=40.0)
    page = opened(qtbot, underhill)
    qtbot.keyClicks(page.edit, "Tell me")
    page.go.click()
    qtbot.waitUntil(lambda: len(page.columns[0].text.toPlainText()) > 10)
    assert not page.go.isVisible()
    assert page.columns[1].figures.text() == "Waiting for the other answer"
    page.halt.click()
    qtbot.waitUntil(lambda: not page.run.busy)
    assert page.go.isVisible()
    assert page.columns[0].text.toPlainText()
    assert "Stopped" in page.columns[0].figures.text()
    assert page.columns[1].figures.text() == "Stopped"
    assert len(sent(underhill, protocol.GenerateApart)) == 1
    assert page.columns[0].use.isVisible()


def test_it_ends_when_another_page_is_shown(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=20.0)
    page = opened(qtbot, underhill)
    qtbot.keyClicks(page.edit, "Tell me")
    page.ask()
    qtbot.waitUntil(lambda: page.run.busy)
    underhill.window.navigator.show_chat()
    qtbot.waitUntil(lambda: not page.run.busy)
    assert underhill.window.on_chat


def test_where_nothing_can_differ_it_says_so(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(divergence=None)
    page = opened(qtbot, underhill)
    compared(qtbot, page)
    assert "Every expert is in memory" in page.result.text()
    assert "KL" not in page.result.text()
    assert "Both answers are the same." in page.result.text()
    page.columns[1].choose("builtin", "exact")
    assert not page.go.isEnabled()
    assert page.about.text() == "Choose another model, quality or engine setting on one side."


def test_kl_that_cannot_be_measured_says_why(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(apart=SAID)
    page = opened(qtbot, underhill)
    engine_of(underhill).fail[protocol.MeasureDivergence] = protocol.Failed(
        "",
        protocol.Kind.CONTEXT_FULL,
        "The text is too long.",
        "Ask a shorter question.",  # type: ignore[arg-type]
    )
    compared(qtbot, page)
    assert page.result.text().startswith("KL not measured. The text is too long. Ask a shorter question.")


def test_without_a_model_it_says_where_to_get_one(qtbot: QtBot, launch: Launch) -> None:
    gone = dataclasses.replace(BUILTIN, state="unfinished", problem="Cut off.")
    underhill = launch(cards=(gone,))
    underhill.window.header.compare.trigger()
    page = underhill.window.compare.page
    assert page is not None
    page.edit.setPlainText("Hello")
    assert not page.go.isEnabled()
    assert "No model is available" in page.about.text()


def test_the_thought_is_neither_shown_nor_copied(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(script=lambda messages: "<think>Hm, a cat.</think>A cat.")
    page = opened(qtbot, underhill)
    compared(qtbot, page)
    assert page.columns[0].text.toPlainText() == "A cat."
    button(page, "Left: copy").click()
    assert QGuiApplication.clipboard().text() == "A cat."


def test_an_engine_that_dies_ends_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill)
    engine_of(underhill).dead = True
    compared(qtbot, page)
    assert page.columns[0].problem.text() == "The engine stopped. Start it again."
    assert len(sent(underhill, protocol.GenerateApart)) == 1


@pytest.mark.slow
@pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here")
def test_the_built_in_model_compared_with_itself(
    qtbot: QtBot, launch_real: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact beside Fast with a fifth of the experts in memory; the chat and the settings stay as they were."""
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state == "ready", timeout=120_000)
    underhill.models.update({"cache_fraction": 0.2, "dial": "balanced"})
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 24}
    page = opened(qtbot, underhill)
    page.begin(underhill.conversation.style, "on", model="builtin", dial="fast")
    assert columns.DIALS == ("exact", "balanced", "fast")
    compared(qtbot, page, "Tell me a story about a fox.")
    left, right = page.run.answers
    assert left.stats is not None
    assert right.stats is not None
    assert left.stats.precision.get("2", 0) == 0
    assert right.stats.precision.get("2", 0) + right.stats.precision.get("skipped", 0) > 0
    assert left.stats.decode_tokens_per_second > 0
    found = page.run.divergence
    assert found is not None
    assert (found.alike, found.tokens) == (False, len(left.stats.token_ids))
    assert found.kl > 0
    assert "Difference of Fast from Exact: KL" in page.result.text()
    page.columns[0].use.click()
    qtbot.waitUntil(lambda: len(underhill.conversation.messages) == 2)
    assert underhill.conversation.messages[1].content == left.text
    told: list[dict[str, object]] = []
    underhill.link.request(told.append, lambda failed: None, protocol.UpdateSettings, {})
    qtbot.waitUntil(lambda: bool(told))
    assert (told[0]["dial"], told[0]["cache_fraction"]) == ("balanced", 0.2)
