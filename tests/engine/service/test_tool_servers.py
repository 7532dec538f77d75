"""Tool servers through the engine: a real one over stdio, and what goes wrong with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import psutil
import pytest

from engine import limits
from engine.protocol import (
    TOOLS_FAILED,
    TOOLS_OFF,
    TOOLS_READY,
    AllowTool,
    CallTool,
    Cancelled,
    DeleteToolServer,
    Failed,
    Kind,
    ListToolServers,
    RestartToolServer,
    SaveToolServer,
    Stop,
    ToolResult,
    ToolServer,
    ToolServerCard,
    ToolServersChanged,
)
from engine.toolservers import folder
from tests.engine.service.test_service import Desk

pytestmark = pytest.mark.long
SERVER = '''
import os, subprocess, sys, time
from mcp.server import MCPServer

server = MCPServer("demo")

@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

@server.tool()
def environment(name: str) -> str:
    return os.environ.get(name, "nothing")

@server.tool()
def long() -> str:
    return "x" * 200_000

@server.tool()
def endless() -> str:
    return "x" * 9_000_000

@server.tool()
def hang() -> str:
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(1000)
    return ""

@server.tool()
def die() -> str:
    print("out of ink", file=sys.stderr, flush=True)
    os._exit(3)

server.run()
'''


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SECRET_OF_MINE", "never told")
    monkeypatch.setattr(keyring, "get_password", lambda service, account: None)
    (tmp_path / "server.py").write_text(SERVER)
    made = Desk()
    yield made
    made.engine.close()


def state(desk: Desk, wanted: str, after: int = 0) -> ToolServerCard:
    """The first server once it is in this state, as told behind so many events."""

    def there(event: object) -> bool:
        return isinstance(event, ToolServersChanged) and bool(event.servers) and event.servers[0].state == wanted

    event = desk.first(lambda event: there(event) and event in desk.events[after:])
    assert isinstance(event, ToolServersChanged)
    return event.servers[0]


def demo(tmp_path: Path, **more: object) -> ToolServer:
    """The server of these tests."""
    args = (str(tmp_path / "server.py"), str(tmp_path / "pid"))
    return ToolServer(
        **{"name": "Demo", "command": sys.executable, "args": args, "variables": (("GIVEN", "yes"),), **more}
    )


def test_tools_are_listed_and_called(desk: Desk, tmp_path: Path) -> None:
    assert desk.result(ListToolServers) == ()
    desk.result(SaveToolServer, demo(tmp_path))
    card = state(desk, TOOLS_READY)
    assert [tool.name for tool in card.tools] == ["add", "environment", "long", "endless", "hang", "die"]
    assert card.tools[0].description == "Add two numbers."
    assert desk.result(CallTool, folder.servers()[0].id, "add", {"a": 2, "b": 3}) == ToolResult("5")
    assert desk.result(CallTool, folder.servers()[0].id, "add", {"a": "two"}).failed
    assert desk.result(CallTool, folder.servers()[0].id, "environment", {"name": "GIVEN"}).text == "yes"
    assert desk.result(CallTool, folder.servers()[0].id, "environment", {"name": "SECRET_OF_MINE"}).text == "nothing"
    cut = desk.result(CallTool, folder.servers()[0].id, "long").text
    assert len(cut) < limits.TOOL_RESULT + 100
    assert cut.endswith("[cut: 200,000 characters]")
    desk.result(SaveToolServer, demo(tmp_path, enabled=False), folder.servers()[0].id)
    assert desk.result(ListToolServers)[0].state == TOOLS_OFF
    off = desk.wait(desk.send(CallTool, folder.servers()[0].id, "add", {"a": 2, "b": 3}))
    assert isinstance(off, Failed)
    assert off.kind is Kind.NOT_FOUND
    was = folder.servers()[0].id
    assert desk.result(DeleteToolServer, was).name == "Demo"
    assert folder.save(demo(tmp_path, enabled=False)).id != was  # a chat that trusted the one asks for the other
    folder.delete(folder.servers()[0].id)
    assert desk.result(ListToolServers) == ()


def test_a_call_that_hangs_is_stopped_and_its_server_ends_with_the_engine(desk: Desk, tmp_path: Path) -> None:
    desk.result(SaveToolServer, demo(tmp_path))
    state(desk, TOOLS_READY)
    command = desk.send(CallTool, folder.servers()[0].id, "hang")
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        os.sched_yield()
    process = psutil.Process(int(pid.read_text()))
    desk.result(Stop, command)
    assert isinstance(desk.wait(command), Cancelled)
    desk.engine.close()
    assert not process.is_running()


def test_a_server_that_dies_or_floods_is_told_and_started_again(desk: Desk, tmp_path: Path) -> None:
    desk.result(SaveToolServer, demo(tmp_path))
    begun = 0
    for tool, words in (("die", "has ended"), ("endless", "without end")):
        state(desk, TOOLS_READY, begun)
        before = len(desk.events)
        ended = desk.wait(desk.send(CallTool, folder.servers()[0].id, tool))
        assert isinstance(ended, Failed) or ended.result.failed
        card = state(desk, TOOLS_FAILED, before)
        assert words in card.problem
        assert tool != "die" or "out of ink" in card.said
        begun = len(desk.events)
        desk.result(RestartToolServer, folder.servers()[0].id)


def test_secrets_are_in_the_keyring_and_what_is_allowed_goes_with_the_program(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda service, account: kept.get(account))
    monkeypatch.setattr(keyring, "set_password", lambda service, account, secret: kept.update({account: secret}))
    monkeypatch.setattr(keyring, "delete_password", lambda service, account: kept.pop(account))
    desk.result(SaveToolServer, demo(tmp_path, secrets=("TOKEN",)), "", {"TOKEN": "hush hush"})
    state(desk, TOOLS_READY)
    assert desk.result(CallTool, folder.servers()[0].id, "environment", {"name": "TOKEN"}).text == "hush hush"
    assert "hush" not in folder.file().read_text()
    desk.result(AllowTool, folder.servers()[0].id, "add")
    before = len(desk.events)
    desk.result(
        SaveToolServer, demo(tmp_path, name="Other", secrets=("TOKEN",)), folder.servers()[0].id
    )  # nothing is typed again
    assert state(desk, TOOLS_READY, before).allowed == ("add",)
    assert desk.result(CallTool, folder.servers()[0].id, "environment", {"name": "TOKEN"}).text == "hush hush"
    before, trusted = len(desk.events), folder.servers()[0].id
    args = (*demo(tmp_path).args, "another")
    desk.result(SaveToolServer, demo(tmp_path, name="Other", args=args, secrets=("TOKEN",)), folder.servers()[0].id)
    assert state(desk, TOOLS_READY, before).allowed == ()
    assert folder.servers()[0].id != trusted  # by which chats keep what they may call
    assert desk.result(CallTool, folder.servers()[0].id, "environment", {"name": "TOKEN"}).text == "nothing"
    assert kept == {}


def test_a_program_that_is_not_there_is_named(desk: Desk) -> None:
    desk.result(SaveToolServer, ToolServer(name="Gone", command="/no/such/program"))
    assert "/no/such/program" in state(desk, TOOLS_FAILED).problem
    for wrong in (
        ToolServer(name="A"),
        ToolServer(name="A", command="x", url="http://y"),
        ToolServer(name="A", url="z"),
    ):
        failed = desk.wait(desk.send(SaveToolServer, wrong))
        assert isinstance(failed, Failed)
        assert failed.kind is Kind.BAD_REQUEST
