"""Commands about the local server, which other programs on this computer ask; and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.protocol.commands import Command
from engine.protocol.events import Event


@dataclass(frozen=True)
class StartServer(Command):
    """Let other programs ask at this address; a server that runs is started anew. Done.result: ServerState.

    host: another than this computer's own (127.0.0.1) needs a key. port: 0 takes a free one. key: '' takes that of the
    keyring, where one was kept. origins: web pages that may ask, such as https://chat.example, one a line.
    settings: names of settings.ENGINE, for models that are opened because somebody asks for them.
    """

    host: str = "127.0.0.1"
    port: int = 0
    key: str = field(default="", repr=False)
    origins: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StopServer(Command):
    """End it; answers that are being made for it are stopped. Done.result: ServerState."""


@dataclass(frozen=True)
class KeepServerKey(Command):
    """Keep the key that programs have to show in the keyring; '' removes it. Done.result: None.

    A running server goes on with the one that it was started with.
    """

    key: str = field(repr=False)


@dataclass(frozen=True)
class ServerRequest:
    """Somebody's request that waits for an answer or gets one. id: of the command that Stop takes.

    client: who asks, by address and by what its program calls itself. way: the path it was sent to. state: 'waiting',
    'reading' or 'answering'. tokens: of the answer so far. seconds: since it came.
    """

    id: str
    client: str
    way: str
    model: str
    state: str
    tokens: int
    seconds: float


@dataclass(frozen=True)
class ServerState:
    """The local server now. address: what programs are given, '' while it is off. key: whether they have to show one.

    answered, refused: requests since it was started.
    """

    address: str = ""
    key: bool = False
    requests: tuple[ServerRequest, ...] = ()
    answered: int = 0
    refused: int = 0


@dataclass(frozen=True)
class ServerChanged(Event):
    """A request came, went or is further; at most four a second. id is empty."""

    state: ServerState
