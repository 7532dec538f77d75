"""Commands about tool servers: programs and addresses that offer tools to a model (MCP), and calls of their tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.protocol.commands import Command
from engine.protocol.events import Event
from engine.toolservers.definition import ToolServer, ToolServerCard


@dataclass(frozen=True)
class ListToolServers(Command):
    """Done.result: tuple[ToolServerCard, ...]. Those that are on are started, and ended where
    offline mode bars them."""


@dataclass(frozen=True)
class SaveToolServer(Command):
    """Keep a tool server, and start or end it. replacing: id of the one that it was until now; '' for a new one.

    secrets: values of ToolServer.secrets, for the keyring; one that is not here stays as it is, unless program or
    address are others. Done.result: ToolServerCard, as it is kept.
    """

    server: ToolServer
    replacing: str = ""
    secrets: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class DeleteToolServer(Command):
    """End a tool server, and delete it with its secrets. server: its id. Done.result: the ToolServer."""

    server: str


@dataclass(frozen=True)
class RestartToolServer(Command):
    """Start a tool server anew, such as one that has failed. server: its id. Done.result: None."""

    server: str


@dataclass(frozen=True)
class AllowTool(Command):
    """Have a tool called without asking from now on, or not any more. server: id. tool: '' for all that it has.

    It is the window that asks. Done.result: None.
    """

    server: str
    tool: str
    allowed: bool = True


@dataclass(frozen=True)
class CallTool(Command):
    """Have a tool do its work. server: id. Done.result: ToolResult. The person has been asked before."""

    server: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolServersChanged(Event):
    """A tool server has started, failed or ended: all of them as they are now. id is empty."""

    servers: tuple[ToolServerCard, ...]
