"""Teams in the window, with the real engine in its process and the built-in model at every step."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import backend
from app.application import Application
from engine import protocol, resources
from tests.waiting import LONGEST

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not resources.path("builtin", "model").is_dir(), reason="no built-in model here"),
]
TWO = protocol.Team(
    "Two of us", (protocol.TeamStep(name="First"), protocol.TeamStep(name="Second", model="", tell="{message} {First}"))
)


def ready(qtbot: QtBot, underhill: Application) -> None:
    """Wait for the built-in model and the list of teams."""
    models = underhill.models
    qtbot.waitUntil(lambda: models.state == backend.READY and len(models.teams) >= 3, timeout=1000 * LONGEST)


def menu_entry(underhill: Application, title: str) -> object:
    """An entry of the model menu."""
    header = underhill.window.header
    header.fill_menu()
    return next(action for action in header.menu.actions() if action.text().partition("\t")[0] == title)


def ask(qtbot: QtBot, underhill: Application, words: str) -> None:
    """Send a message and wait for the end of its answer."""
    with qtbot.waitSignal(underhill.conversation.finished, timeout=1000 * LONGEST):
        underhill.window.composer.sent.emit(words, ())


def strip_of(underhill: Application) -> object:
    """The strip above the last answer."""
    transcript = underhill.window.transcript
    return transcript.strips.strip(transcript.items[-1])


def picture(underhill: Application, name: str) -> None:
    """Keep a screenshot where somebody wants to look."""
    if folder := os.environ.get("TEAM_PICTURES"):
        underhill.window.grab().save(f"{folder}/{name}.png")


def test_a_team_answers_is_shown_step_by_step_and_there_again(
    launch_real: Callable[[], Application], qtbot: QtBot
) -> None:
    underhill = launch_real()
    ready(qtbot, underhill)
    underhill.models.update({"dial": "exact"})
    menu_entry(underhill, "Draft and check").trigger()
    assert "Draft and check" in underhill.window.header.model.text()
    assert menu_entry(underhill, "Draft and check").isChecked()
    seen: list[tuple[str, ...]] = []
    underhill.conversation.answers.steps_changed.connect(lambda _, steps: seen.append(tuple(s["state"] for s in steps)))
    ask(qtbot, underhill, "Tell me a story about a brave dog.")
    message = underhill.conversation.messages[-1]
    assert seen[0] == ("working", "waiting", "waiting")
    assert set(seen[-1]) <= {"done", "skipped"}
    assert message.model == "Draft and check"
    assert message.content
    steps = message.stats["steps"]
    assert [step["name"] for step in steps] == ["Draft", "Check", "Improve"]
    assert message.content in [step["text"] for step in steps]
    qtbot.waitUntil(lambda: strip_of(underhill) is not None and strip_of(underhill).isVisible())
    strip = strip_of(underhill)
    assert strip.chips[0].text() == "✓ Draft"
    before = underhill.window.transcript.items[-1].height
    strip.chips[0].click()
    qtbot.waitUntil(lambda: underhill.window.transcript.items[-1].height > before + 10)
    assert strip.words.text() == steps[0]["text"]
    assert strip.words.isVisible()
    assert strip.geometry().bottom() <= underhill.window.transcript.origin(1).y() + (
        underhill.window.transcript.items[-1].first_block_top()
    )
    picture(underhill, "light")
    content = message.content

    underhill = launch_real()  # as it was left: the chat, its steps, and the team
    ready(qtbot, underhill)
    qtbot.waitUntil(lambda: bool(underhill.conversation.messages))
    again = underhill.conversation.messages[-1]
    assert again.content == content
    assert [dict(step) for step in again.stats["steps"]] == [dict(step) for step in steps]
    qtbot.waitUntil(lambda: strip_of(underhill) is not None and strip_of(underhill).isVisible())
    assert strip_of(underhill).chips[0].text() == "✓ Draft"
    assert "Draft and check" in underhill.window.header.model.text()
    menu_entry(underhill, underhill.models.card.title).trigger()  # and a model answers again
    assert underhill.models.team_card is None
    ask(qtbot, underhill, "And a cat?")
    assert "steps" not in underhill.conversation.messages[-1].stats
    assert underhill.conversation.messages[-1].model == underhill.models.card.title


def test_stop_and_a_failure_keep_what_was_said(launch_real: Callable[[], Application], qtbot: QtBot) -> None:
    underhill = launch_real()
    ready(qtbot, underhill)
    link, conversation = underhill.models.link, underhill.conversation
    far = protocol.Team(
        "Far", (protocol.TeamStep(name="First"), protocol.TeamStep(name="Long", tell="x " * 3900 + "{First}"))
    )
    saved: list[object] = []
    for team in (TWO, far):
        link.request(saved.append, saved.append, protocol.SaveTeam, team)
    qtbot.waitUntil(lambda: len(saved) == 2)
    underhill.models.refresh_teams()
    qtbot.waitUntil(lambda: len(underhill.models.teams) == 5)
    underhill.window.model_controller.choose_team("two-of-us")
    conversation.sampling = {"max_tokens": 4000, "temperature": 5.0, "min_p": 0.0}
    for _ in range(10):  # each token ends the step by chance, perhaps before the stop, which the next one then gets
        with qtbot.waitSignal(conversation.answers.step_text_added, timeout=1000 * LONGEST):
            underhill.window.composer.sent.emit("Tell me a long story.", ())
        conversation.stop()
        qtbot.waitUntil(lambda: not conversation.working)
        if conversation.messages[-1].stats["steps"][0]["state"] == "stopped":
            break
    message = conversation.messages[-1]
    assert message.finish == "cancelled"
    assert message.stats["steps"][0]["state"] == "stopped"
    assert message.content == message.stats["steps"][0]["text"] != ""
    conversation.sampling = {}
    underhill.window.model_controller.choose_team("far")
    with qtbot.waitSignals([conversation.finished, conversation.failed], timeout=1000 * LONGEST):
        underhill.window.composer.sent.emit("Tell me another.", ())
    message = conversation.messages[-1]
    assert message.finish == "failed"
    assert [step["state"] for step in message.stats["steps"]] == ["done", "failed"]
    assert message.content == message.stats["steps"][0]["text"] != ""


def test_teams_are_made_changed_shared_and_deleted_with_undo(
    launch_real: Callable[[], Application], qtbot: QtBot, tmp_path: Path
) -> None:
    underhill = launch_real()
    ready(qtbot, underhill)
    window, models = underhill.window, underhill.models
    window.library.show_teams()
    page = window.library.page
    assert page is not None
    teams = page.teams

    def names() -> list[str]:
        return [entry.title for entry in teams.entries]

    shipped = ["Answer in my language", "Code or talk", "Draft and check"]
    assert names() == shipped
    qtbot.wait(400)
    picture(underhill, "page")
    dialog = teams.new_team()
    dialog.name.setText("Mine")
    dialog.steps[0].name.setText("One")
    dialog.steps[0].name.editingFinished.emit()
    dialog.add_step()
    second = dialog.steps[1]
    second.name.setText("Two")
    second.name.editingFinished.emit()
    second.tell.setPlainText("{One}?")
    second.add_condition(protocol.Condition("says", "One", ("yes",)))
    dialog.steps[0].name.setText("First")
    dialog.steps[0].name.editingFinished.emit()
    wanted = protocol.TeamStep(
        name="Two", tell="{First}?", when=(protocol.Condition("says", "First", ("yes",)),)
    )  # the other step follows the name
    assert dialog.team == protocol.Team("Mine", (protocol.TeamStep(name="First"), wanted))
    qtbot.wait(400)
    if folder := os.environ.get("TEAM_PICTURES"):
        dialog.grab().save(f"{folder}/editor.png")
    dialog.steps[1].name.setText("First")
    dialog.save()
    qtbot.waitUntil(dialog.problem.isVisible)
    assert "Two steps are named First" in dialog.problem.text()
    dialog.steps[1].name.setText("Two")
    dialog.save()
    qtbot.waitUntil(lambda: names() == [*shipped, "Mine"])
    mine = next(card for card in models.teams if card.id == "mine")
    assert mine.team == protocol.Team("Mine", (protocol.TeamStep(name="First"), wanted))

    teams.export_file(mine, str(tmp_path / "mine.json"))
    qtbot.waitUntil((tmp_path / "mine.json").exists)
    teams.import_file(str(tmp_path / "mine.json"))
    qtbot.waitUntil(lambda: names() == [*shipped, "Mine", "Mine 2"])
    teams.delete(mine)
    qtbot.waitUntil(lambda: names() == [*shipped, "Mine 2"])
    qtbot.waitUntil(window.toast.isVisible)
    window.toast.undo()
    qtbot.waitUntil(lambda: names() == [*shipped, "Mine", "Mine 2"])

    check = next(card for card in models.teams if card.id == "draft-and-check")
    dialog = teams.edit(check)
    assert dialog.team == check.team
    dialog.about.setText("Mine now")
    dialog.save()
    qtbot.waitUntil(lambda: any(card.changed for card in models.teams))
    teams.delete(next(card for card in models.teams if card.changed))
    qtbot.waitUntil(lambda: not any(card.changed for card in models.teams))
    page.teams.use("code-or-talk")
    assert models.choice == "team:code-or-talk"
    assert window.on_chat
