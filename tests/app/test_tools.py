"""Tools in the window: real tool servers over stdio, the real engine, and a server that answers as the test says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import keyring
import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app import backend
from app.application import Application
from app.export import export_chats
from app.export.chat_file import chats
from app.settings.tool_editor import PasteDialog, ToolServerEditor
from app.settings.tools_page import ServerRow
from app.storage.records import ASKED, DENIED, DONE, FAILED, RUNNING, STOPPED, StoredMessage
from app.tool_servers import offered, too_long
from app.transcript.tools import ToolStrip
from engine import protocol
from tests.app.fake_cards import BUILTIN, LARGE
from tests.endpointserver import Body, EndpointServer, Handler, call, end, text
from tests.waiting import LONGEST

pytestmark = pytest.mark.slow
SERVER = '''
import os, sys, time
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("notes")
calls = Path(sys.argv[1])

def called(name):
    with calls.open("a") as file:
        file.write(name + "\\n")

@server.tool()
def read(name: str) -> str:
    """Read a note."""
    called("read")
    return f"{name}: water the plants"

@server.tool()
def hang() -> str:
    called("hang")
    time.sleep(1000)

@server.tool()
def die() -> str:
    called("die")
    os._exit(3)

@server.tool()
def flood() -> str:
    print("this is no JSON", flush=True)
    return "x" * 10_000_000

server.run()
'''


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(keyring, "get_password", lambda service, account: None)
    with EndpointServer() as running:
        yield running


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Where the tool server notes its calls, in a folder with it."""
    (tmp_path / "notes.py").write_text(SERVER)
    return tmp_path / "calls.txt"


def calls_made(notes: Path) -> list[str]:
    """Names of the tools that were really called."""
    return notes.read_text().split() if notes.exists() else []


def configured(notes: Path) -> str:
    """The tool server as people paste it."""
    args = [str(notes.with_name("notes.py")), str(notes)]
    return json.dumps({"mcpServers": {"Notes": {"command": sys.executable, "args": args, "env": {"LANGUAGE": "en"}}}})


def begin(qtbot: QtBot, underhill: Application, server: EndpointServer, pasted: str = "") -> None:
    """Have the endpoint answer, and the pasted tool server run."""
    qtbot.waitUntil(lambda: underhill.models.state == backend.READY, timeout=1000 * LONGEST)
    link, window = underhill.models.link, underhill.window
    if pasted:
        endpoint = protocol.Endpoint(name="Workstation", url=server.url, model="big")
        link.request(lambda _: underhill.models.refresh_endpoints(), pytest.fail, protocol.SaveEndpoint, endpoint)
        dialog = window.settings.open()
        paste = dialog.tools.import_json()
        paste.text.setPlainText(pasted.replace("args", "argz", 1).replace("{", "", 1))
        paste.take()
        assert "isn't valid JSON" in paste.state.text()
        paste.text.setPlainText(pasted)
        paste.take()
        qtbot.waitUntil(lambda: not dialog.tools.findChildren(PasteDialog))
        window.settings.close()
    servers = underhill.conversation.tool_calls.servers
    qtbot.waitUntil(lambda: [card.state for card in servers.cards] == [protocol.TOOLS_READY])
    qtbot.waitUntil(lambda: bool(underhill.models.endpoints))
    underhill.models.choose("endpoint:workstation")


def answers(*rounds: list[Body]) -> Callable[[Body, Handler], list[Body]]:
    """An answer for each time that the endpoint is asked."""
    left = list(rounds)
    return lambda body, handler: left.pop(0)


def calling(tool: str, **arguments: object) -> list[Body]:
    """A round in which a tool is called."""
    return [text("I look."), call(tool, json.dumps(arguments)), *end("tool_calls")]


def strip(underhill: Application, at: int = -1) -> ToolStrip:
    """The calls below an answer."""
    transcript = underhill.window.transcript
    found = transcript.tools.panel(transcript.items[at])
    assert isinstance(found, ToolStrip)
    return found


def asked(qtbot: QtBot, underhill: Application, words: str) -> ToolStrip:
    """Send a message, and wait until the person is asked."""
    underhill.window.composer.sent.emit(words, ())
    return waiting(qtbot, underhill)


def waiting(qtbot: QtBot, underhill: Application) -> ToolStrip:
    """The strip of the answer that waits for a decision."""

    def there() -> bool:
        item = underhill.window.transcript.items[-1]
        panel = underhill.window.transcript.tools.panel(item)
        return panel is not None and panel.question.isVisibleTo(panel)

    qtbot.waitUntil(there)
    return strip(underhill)


def decide(qtbot: QtBot, underhill: Application, choice: str) -> StoredMessage:
    """Press a button of the question, and wait for the end of the answer."""
    with qtbot.waitSignal(underhill.conversation.finished):
        waiting(qtbot, underhill).question.buttons[choice].click()
    return underhill.conversation.messages[-1]


def test_nothing_runs_without_a_yes(
    launch_real: Callable[[], Application], qtbot: QtBot, server: EndpointServer, notes: Path, tmp_path: Path
) -> None:
    underhill = launch_real()
    begin(qtbot, underhill, server, configured(notes))
    conversation = underhill.conversation
    assert underhill.window.composer.tools.text() == "4"
    server.answer = answers(calling("read", name="today"), [text("Water them."), *end()])
    question = asked(qtbot, underhill, "What is to do?").question
    assert question.title.text() == "Allow Notes to run read?"
    assert question.arguments.toPlainText() == "name: today"
    assert calls_made(notes) == []
    assert [each["function"]["name"] for each in server.asked[0]["tools"]] == ["read", "hang", "die", "flood"]
    decide(qtbot, underhill, "once")
    first, last = conversation.messages[-2:]
    assert (first.content, last.content) == ("I look.", "Water them.")
    assert [(use.state, use.text, use.arguments) for use in first.tools] == [
        (DONE, "today: water the plants", {"name": "today"})
    ]  # fmt: skip
    said = server.asked[1]["messages"]
    assert [each["role"] for each in said] == ["user", "assistant", "tool"]
    assert said[1]["tool_calls"][0]["function"]["name"] == "read"
    assert said[2] == {"role": "tool", "tool_call_id": "call_1", "content": "today: water the plants"}
    card = strip(underhill, -2)
    card.chips[0].click()
    assert "Result\ntoday: water the plants" in card.words.text()

    server.answer = answers(calling("read", name="b"), [text("No."), *end()])  # once is once
    asked(qtbot, underhill, "And?")
    decide(qtbot, underhill, "deny")
    assert conversation.messages[-2].tools[0].state == DENIED
    assert server.asked[-1]["messages"][-1]["content"] == "The user did not allow this call."
    assert calls_made(notes) == ["read"]

    twice = [text("x"), call("read", '{"name": "c"}'), *end("tool_calls")]
    server.answer = answers(twice, twice, [text("Done."), *end()])
    asked(qtbot, underhill, "For all of this chat")
    decide(qtbot, underhill, "chat")  # the second is not asked for
    assert calls_made(notes) == ["read"] * 3
    assert [bool(m.tools) for m in conversation.messages[-3:]] == [True, True, False]

    with qtbot.waitSignal(conversation.opened):
        underhill.window.navigator.new_chat()
    underhill.models.choose("endpoint:workstation")
    server.answer = answers(twice, [text("Yes."), *end()])
    asked(qtbot, underhill, "In another chat")
    decide(qtbot, underhill, "always")
    chat = conversation.chat
    assert chat is not None
    kept = export_chats.markdown(chat, conversation.messages)
    assert "read" in kept
    assert "c: water the plants" in kept

    underhill = launch_real()  # as it was left: the results, and what is allowed
    begin(qtbot, underhill, server)
    conversation = underhill.conversation
    qtbot.waitUntil(lambda: len(conversation.messages) == 3)
    assert [use.text for use in conversation.messages[1].tools] == ["c: water the plants"]
    server.answer = answers(twice, [text("Again."), *end()])
    with qtbot.waitSignal(conversation.finished):
        underhill.window.composer.sent.emit("Once more", ())
    assert calls_made(notes) == ["read"] * 5
    with qtbot.waitSignal(conversation.finished):
        server.answer = answers([text("Other."), *end()])
        conversation.regenerate(conversation.messages[-1].id)
    assert server.asked[-1]["messages"][-1]["role"] == "tool"

    path = tmp_path / "chat.json"
    with qtbot.waitSignal(conversation.chats_changed):
        conversation.rename(conversation.chat_id, "Plants")
    gathered: list[str] = []
    underhill.database.submit(
        lambda store: gathered.append("".join(export_chats.as_json(export_chats.gathered(store))))
    )
    qtbot.waitUntil(lambda: bool(gathered) and gathered[-1].endswith("}\n"))
    path.write_text("".join(gathered))
    read = [found[1] for found in chats(str(path), "") if found[0] == "chat"]
    uses = [use for one in read for m in one["messages"] for use in m["tools"]]
    assert {use["name"] for use in uses} == {"read"}
    assert {use["server"] for use in uses} == {""}  # of another computer: nothing here is meant


def test_calls_that_go_wrong(
    launch_real: Callable[[], Application], qtbot: QtBot, server: EndpointServer, notes: Path
) -> None:
    underhill = launch_real()
    begin(qtbot, underhill, server, configured(notes))
    conversation, servers = underhill.conversation, underhill.conversation.tool_calls.servers
    for tool, words in (("die", "ended during"), ("flood", "ended during"), ("no_such", "no such tool")):
        server.answer = answers(calling(tool), [text("A pity."), *end()])
        with qtbot.waitSignal(conversation.finished):
            underhill.window.composer.sent.emit(f"Try {tool}", ())
            if tool != "no_such":
                waiting(qtbot, underhill).question.buttons["once"].click()
        (use,) = conversation.messages[-2].tools
        assert (use.state, words in use.text) == (FAILED, True)
        assert len(use.text) < 1000
        assert server.asked[-1]["messages"][-1]["role"] == "tool"
        if tool != "no_such":
            qtbot.waitUntil(lambda: servers.cards[0].state == protocol.TOOLS_FAILED)
            servers.restart(servers.cards[0])
        qtbot.waitUntil(lambda: servers.cards[0].state == protocol.TOOLS_READY)

    server.answer = answers(calling("hang"))  # it never answers: Stop ends it
    asked(qtbot, underhill, "Hang").question.buttons["chat"].click()
    qtbot.waitUntil(lambda: calls_made(notes)[-1:] == ["hang"])
    assert conversation.messages[-1].id in conversation.answers.running
    assert conversation.answers.running[conversation.messages[-1].id].message.tools[0].state == RUNNING
    with qtbot.waitSignal(conversation.finished):
        conversation.stop()
    last = conversation.messages[-1]
    assert (last.finish, last.tools[0].state, last.unfinished) == ("cancelled", STOPPED, True)
    assert not strip(underhill).question.isVisibleTo(strip(underhill))

    server.answer = answers(calling("read", name="x"))
    asked(qtbot, underhill, "Closed while it is asked")
    underhill = launch_real()
    begin(qtbot, underhill, server)
    conversation = underhill.conversation
    qtbot.waitUntil(lambda: bool(conversation.messages))
    last = conversation.messages[-1]
    assert (last.state, last.tools[0].state) == ("cut", ASKED)
    assert underhill.window.transcript.items[-1].message.unfinished
    server.answer = answers([text("Now."), *end()])
    underhill.window.editing.continue_answer(last.id)  # it is asked again
    decide(qtbot, underhill, "once")
    assert conversation.messages[-1].content == "Now."
    assert calls_made(notes)[-1] == "read"


def test_servers_are_added_changed_and_deleted(
    launch_real: Callable[[], Application], qtbot: QtBot, server: EndpointServer, notes: Path
) -> None:
    underhill = launch_real()
    qtbot.waitUntil(lambda: underhill.models.state == backend.READY, timeout=1000 * LONGEST)
    dialog = underhill.window.settings.open()
    page = dialog.tools

    def row() -> ServerRow:
        (only,) = page.rows.values()
        return only

    editor = page.edit(None)
    editor.save()
    qtbot.waitUntil(lambda: "needs a name" in editor.state.text())
    editor.name.setText("Far")
    editor.kind.setCurrentIndex(1)
    editor.url.setText("https://tools.example.com/mcp")
    assert "tools.example.com" in editor.far.text()
    network = underhill.window.network
    with qtbot.waitSignal(network.changed):
        underhill.models.link.request(network.take, pytest.fail, protocol.KeepSettings, {"offline": True})
    editor.save()
    qtbot.waitUntil(lambda: not page.findChildren(ToolServerEditor))
    qtbot.waitUntil(lambda: bool(page.rows) and "Offline mode is on" in row().state.text())
    assert row().far.isVisibleTo(row())
    editor = page.edit(row().card)
    editor.kind.setCurrentIndex(0)
    editor.command.setText(sys.executable)
    editor.args.setPlainText(f"{notes.with_name('notes.py')}\n{notes}")
    editor.save()
    qtbot.waitUntil(lambda: bool(page.rows) and "Connected, 4 tools: read" in row().state.text())
    row().switch.click()
    qtbot.waitUntil(lambda: row().state.text() == "Off")
    row().delete.click()
    qtbot.waitUntil(lambda: not page.rows)
    (undo,) = [b for b in underhill.window.toast.findChildren(QPushButton) if b.text() == "Undo"]
    undo.click()
    qtbot.waitUntil(lambda: [each.name.text() for each in page.rows.values()] == ["Far"])


def test_the_button_says_why_there_are_no_tools(launch: Callable[..., Application], qtbot: QtBot) -> None:
    tools = tuple(protocol.Tool(name, "Reads.", {"type": "object"}) for name in ("a.b", "c"))
    one = protocol.ToolServerCard(
        id="one", server=protocol.ToolServer(name="One", command="x"), state=protocol.TOOLS_READY, tools=tools
    )  # fmt: skip
    other = replace(one, id="two", server=replace(one.server, name="Two"))
    assert list(offered((one, other), ())) == ["one_a_b", "one_c", "two_a_b", "two_c"]
    assert [(name, offer.name) for name, offer in offered((one, other), ("two",)).items()] == [
        ("a_b", "a.b"),
        ("c", "c"),
    ]
    underhill = launch(cards=(replace(BUILTIN, calls_tools=True), LARGE), tool_servers=(one, other))
    button, chooser = underhill.window.composer.tools, underhill.window.tools
    qtbot.waitUntil(lambda: button.text() == "4")
    chooser.menu.aboutToShow.emit()
    chooser.menu.actions()[1].trigger()
    assert (button.text(), underhill.conversation.tools.off) == ("2", ("two",))
    underhill.models.load("olmoe-1b-7b", {})
    qtbot.waitUntil(lambda: not button.isEnabled())
    assert "can't use tools" in button.toolTip()
    wordy = replace(one, tools=(replace(tools[0], description="x" * 5000),))
    assert too_long(offered((wordy,), ()), 1024)
    assert not too_long(offered((wordy,), ()), 32_768)
