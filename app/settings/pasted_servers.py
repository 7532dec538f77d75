"""Tool servers from the JSON that programs which speak MCP share: {"mcpServers": {"name": {"command": …}}}."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from app.i18n.translate import tr
from engine import protocol

_SECRET = re.compile(r"key|token|secret|passw|auth|credential", re.IGNORECASE)
Pasted = tuple[protocol.ToolServer, dict[str, str]]  # a server, and the values of its secret variables


class NotServers(ValueError):
    """The text holds no servers; the message is a sentence for the person."""


def servers_in(text: str) -> list[Pasted]:
    """The servers of a text. Raises NotServers."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as cause:
        where = tr(" (line {line})", line=cause.lineno) if isinstance(cause, json.JSONDecodeError) else ""
        raise NotServers(tr("This isn't valid JSON{where}.", where=where)) from cause
    named = found.get("mcpServers", found.get("servers", found)) if isinstance(found, dict) else None
    if not isinstance(named, dict) or not named:
        raise NotServers(tr("There is no “mcpServers” with servers in it."))
    return [_server(str(name), said) for name, said in named.items()]


def _server(name: str, said: Any) -> Pasted:
    command, url = (said.get("command"), said.get("url", said.get("serverUrl"))) if isinstance(said, dict) else ("", "")
    if not isinstance(said, dict) or not isinstance(command or url, str):
        raise NotServers(tr("{name} has neither a “command” nor a “url”.", name=name))
    args = said.get("args", [])
    values = said.get("env" if command else "headers", {})
    if not isinstance(args, list) or not isinstance(values, dict):
        raise NotServers(
            tr("The “args” of {name} must be a list, its “env” and “headers” names with values.", name=name)
        )
    variables, secrets = _parted({str(key): _text(value) for key, value in values.items()})
    server = protocol.ToolServer(
        name=name, command=str(command or ""), args=tuple(map(_text, args)), url="" if command else str(url),
        variables=tuple(variables.items()), secrets=tuple(secrets), enabled=not said.get("disabled"),
    )  # fmt: skip
    return server, secrets


def _parted(values: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Those that may be seen, and those whose name says that they are secret."""
    secret = {name: value for name, value in values.items() if _SECRET.search(name)}
    return {name: value for name, value in values.items() if name not in secret}, secret


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
