"""Commands about the local server, which other programs on this computer ask; and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.protocol.commands import Command
from engine.protocol.events import Event
from engine.translatable import NO_TEXT, Translatable


@dataclass(frozen=True)
class StartServer(Command):
    """Let other programs ask at this address; a server that runs is started anew. Done.result: ServerState.

    host: another than this computer's own (127.0.0.1) needs a key. port: 0 takes a free one. key: '' takes that of the
    keyring, where one was kept. origins: web pages that may ask, such as https://chat.example, one a line.
    settings, models: as of UpdateServer.
    """

    host: str = "127.0.0.1"
    port: int = 0
    key: str = field(default="", repr=False)
    origins: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class UpdateServer(Command):
    """How models are opened from now on that somebody asks for. Done.result: None, also where no server runs.

    settings: names of settings.ENGINE. models: the same for single models, by their names, where they differ.
    """

    settings: dict[str, Any]
    models: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class StopServer(Command):
    """End it; answers that are being made for it are stopped. Done.result: ServerState."""


@dataclass(frozen=True)
class AskServerKey(Command):
    """Done.result: ServerKey, that of the keyring. Fails where one was kept there and the keyring does not give it."""


@dataclass(frozen=True)
class KeepServerKey(Command):
    """Keep the key that programs have to show in the keyring; '' removes it. Done.result: None.

    A running server goes on with the one that it was started with.
    """

    key: str = field(repr=False)


@dataclass(frozen=True)
class ServerKey:
    """The key that programs have to show; '' for none."""

    value: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ServerRequest:
    """Somebody's request. id: of the command that Stop takes.

    client: who asks, by address and by what its program calls itself. way: the path it was sent to. state: 'waiting',
    'reading' or 'answering', and once it is over 'answered', 'failed' or 'stopped'. tokens: of the answer so far.
    seconds: since it came, or that it took. why: it failed.
    """

    id: str
    client: str
    way: str
    model: str
    state: str
    tokens: int
    seconds: float
    why: Translatable = NO_TEXT


@dataclass(frozen=True)
class ServerState:
    """The local server now. address: what programs are given, '' while it is off. key: whether they have to show one.

    requests: that wait or are answered, the oldest first. recent: the last that are over, the newest first.
    answered, refused: requests since it was started.
    """

    address: str = ""
    key: bool = False
    requests: tuple[ServerRequest, ...] = ()
    recent: tuple[ServerRequest, ...] = ()
    answered: int = 0
    refused: int = 0


@dataclass(frozen=True)
class ServerChanged(Event):
    """A request came, went or is further, at most four a second; or it has ended by itself. id is empty."""

    state: ServerState
