"""What a tool server is, and what comes of a call."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Tool
from engine.translatable import NO_TEXT, Translatable, msg

_VARIABLE = re.compile(r"[^=\x00\s][^=\x00]*")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OFF, STARTING, READY, FAILED = "off", "starting", "ready", "failed"  # states of a server


@dataclass(frozen=True, kw_only=True)
class ToolServer:
    """A program that is started (command, args), or an address that is asked (url); one of the two.

    variables: of the program's environment, or headers of what is sent to the address. secrets: names of those whose
    values are in the keyring; here they are empty.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    secrets: tuple[str, ...] = ()
    enabled: bool = True

    @property
    def host(self) -> str:
        """Where calls go that leave this computer; '' where they stay."""
        host = (urlsplit(self.url).hostname or "") if self.url else ""
        return "" if is_loopback(host) else host


@dataclass(frozen=True, kw_only=True)
class ToolServerCard:
    """A server as it is kept, and how it is now. id: stays when the name changes.

    allowed: names of tools that may be called without asking. tools: that it offers, once READY. problem: why it
    FAILED, or what of it cannot be used. said: the last lines that a program wrote to its standard error.
    """

    id: str
    server: ToolServer
    allowed: tuple[str, ...] = ()
    state: str = OFF
    tools: tuple[Tool, ...] = ()
    problem: Translatable = NO_TEXT
    said: str = ""

    @property
    def account(self) -> str:
        """What its secrets are called in the keyring."""
        return f"tools:{self.id}"


@dataclass(frozen=True)
class ToolResult:
    """What a tool answered. failed: it is the server's word for what went wrong; the model is told that, too."""

    text: str
    failed: bool = False


def checked(server: ToolServer) -> ToolServer:
    """The server, where it can be started or asked. Raises UnderhillError(BAD_REQUEST)."""
    made = replace(server, name=server.name.strip(), command=server.command.strip(), url=server.url.strip())
    if not made.name or len(made.name) > limits.ENDPOINT_NAME:
        raise _bad(msg("A tool server needs a name of at most {most} characters.", most=limits.ENDPOINT_NAME))
    if bool(made.command) == bool(made.url):
        raise _bad(msg("A tool server needs either a command or an address."))
    if made.url and not _is_address(made.url):
        raise _bad(msg("{shown} isn't the address of a server.", shown=limits.shown(made.url)))
    texts = (made.command, made.url, *made.args, *(text for pair in made.variables for text in pair))
    if any("\0" in text or len(text) > limits.ENDPOINT_TEXT for text in texts) or len(texts) > limits.TOOL_WORDS:
        raise _bad(msg("The command, its arguments or its variables are too long."))
    check_variables(made.variables, headers=bool(made.url))
    return made


def check_variables(variables: Iterable[tuple[str, str]], *, headers: bool) -> None:
    """Raises UnderhillError(BAD_REQUEST) for names and values that no environment, or no header, can have."""
    for name, value in variables:
        if not (_HEADER if headers else _VARIABLE).fullmatch(name):
            raise _bad(msg("{name} can't be the name of a variable or a header.", name=limits.shown(name)))
        if headers and not (value.isascii() and (value.isprintable() or not value)):
            raise _bad(msg("The value of {name} has characters that no header can have.", name=name))


def as_json(server: ToolServer) -> dict[str, Any]:
    """As it is kept."""
    return {
        "name": server.name, "command": server.command, "args": list(server.args), "url": server.url,
        "variables": dict(server.variables), "secrets": list(server.secrets), "enabled": server.enabled,
    }  # fmt: skip


def from_json(said: dict[str, Any]) -> ToolServer:
    """The inverse of as_json. Raises UnderhillError(BAD_REQUEST), LookupError, TypeError, AttributeError."""
    return checked(
        ToolServer(
            name=str(said["name"]), command=str(said.get("command", "")),
            args=tuple(str(each) for each in said.get("args", ())),
            url=str(said.get("url", "")),
            variables=tuple((str(name), str(value)) for name, value in said.get("variables", {}).items()),
            secrets=tuple(str(each) for each in said.get("secrets", ())), enabled=bool(said.get("enabled", True)),
        )
    )  # fmt: skip


def is_loopback(host: str) -> bool:
    """Whether a host is this computer."""
    try:
        return host.lower() in ("", "localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def _bad(sentence: Translatable) -> UnderhillError:
    return UnderhillError(Kind.BAD_REQUEST, sentence)
