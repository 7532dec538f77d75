"""Where tool servers are kept: a file in the data folder, and their secrets in the keyring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.hub import keyring_secret
from engine.library.home import home
from engine.library.kept_list import read_list, write_list
from engine.teams.definition import team_id
from engine.toolservers.definition import ToolServer, ToolServerCard, as_json, check_variables, checked, from_json
from engine.translatable import msg


def file() -> Path:
    """Where they are kept, without their secrets. It need not exist."""
    return home() / "tool-servers.json"


def servers() -> tuple[ToolServerCard, ...]:
    """All of them, in the order in which they were added, as if all were off. Raises UnderhillError(BROKEN_FILE)."""
    return read_list(file(), _card, limits.TOOL_SERVERS, msg("Delete it and add your tool servers again."))


def find(name: str) -> ToolServerCard:
    """The server of an id. Raises UnderhillError: NOT_FOUND, BROKEN_FILE."""
    found = next((card for card in servers() if card.id == name), None)
    if found is None:
        raise UnderhillError(Kind.NOT_FOUND, msg("There is no tool server called {name}.", name=limits.shown(name)))
    return found


def variables_of(card: ToolServerCard) -> dict[str, str]:
    """Its variables with the secret ones, as far as the keyring has them. Raises UnderhillError(DISK_ERROR)."""
    kept = _secrets(card) if card.server.secrets else {}
    return dict(card.server.variables) | {name: kept[name] for name in card.server.secrets if name in kept}


def save(server: ToolServer, replacing: str = "", secrets: Mapping[str, str] | None = None) -> ToolServerCard:
    """Keep a server. replacing: id of the one it was; '' for a new one. secrets: values of the secret variables.

    One that is not among them keeps its value, unless the program or the address is another; so does what is allowed.
    Another program has another id, too, since chats keep by it what they may call unasked.

    Raises UnderhillError: BAD_REQUEST, also where another has the name; DISK_FULL, DISK_ERROR.
    """
    server, known = checked(server), list(servers())
    others = [card for card in known if card.id != replacing]
    if any(card.server.name.casefold() == server.name.casefold() for card in others):
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("There is a tool server named {name} already.", name=server.name),
            msg("Choose another name."),
        )  # fmt: skip
    if len(others) >= limits.TOOL_SERVERS:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("There are {most} tool servers already.", most=limits.TOOL_SERVERS),
            msg("Delete one first."),
        )  # fmt: skip
    before = next((card for card in known if card.id == replacing), None)
    same = before is not None and _same(before.server, server)
    card = ToolServerCard(
        id=before.id if same and before is not None else _new_id(server.name), server=server,
        allowed=before.allowed if same and before is not None else (),
    )  # fmt: skip
    _keep_secrets(card, before if same else None, secrets or {})
    if before is not None and not same and before.server.secrets:
        keyring_secret.keep(before.account, "")
    _write([card if each.id == replacing else each for each in known] if before is not None else [*known, card])
    return card


def delete(name: str) -> ToolServer:
    """Delete a server and its secrets. Raises UnderhillError: NOT_FOUND, DISK_ERROR."""
    card = find(name)
    if card.server.secrets:
        keyring_secret.keep(card.account, "")
    _write([each for each in servers() if each.id != card.id])
    return card.server


def allow(name: str, tool: str, allowed: bool) -> None:
    """Have a tool called without asking from now on, or not any more; tool '' for all of the server's.

    Raises UnderhillError: NOT_FOUND, DISK_FULL, DISK_ERROR.
    """
    card = find(name)
    kept = tuple(each for each in card.allowed if tool and each != tool)
    card = replace(card, allowed=(*kept, tool)[-limits.TOOLS :] if allowed else kept)
    _write([card if each.id == card.id else each for each in servers()])


def _same(one: ToolServer, other: ToolServer) -> bool:
    """Whether what the person has entrusted to the one may be had by the other."""
    return (one.command, one.args, one.url) == (other.command, other.args, other.url)


def _secrets(card: ToolServerCard) -> dict[str, str]:
    try:
        found = json.loads(keyring_secret.read(card.account) or "{}")
        return {str(name): str(value) for name, value in found.items()}
    except (ValueError, AttributeError):
        return {}


def _keep_secrets(card: ToolServerCard, before: ToolServerCard | None, given: Mapping[str, str]) -> None:
    """Bring the keyring up to date; it is not asked where there is no secret. before: the same program's."""
    check_variables(given.items(), headers=bool(card.server.url))
    had = before is not None and bool(before.server.secrets)
    if not card.server.secrets and not had:
        return
    old = _secrets(card) if had else {}
    new = {name: given.get(name, old.get(name, "")) for name in card.server.secrets}
    if old != new or not had:
        kept = {name: value for name, value in new.items() if value}
        keyring_secret.keep(card.account, json.dumps(kept, ensure_ascii=True) if kept else "")


def _card(written: Any) -> ToolServerCard:
    allowed = tuple(str(each) for each in written.get("allowed", ()))
    return ToolServerCard(id=str(written["id"]), server=from_json(written), allowed=allowed)


def _write(cards: list[ToolServerCard]) -> None:
    write_list(file(), ({"id": card.id, **as_json(card.server), "allowed": list(card.allowed)} for card in cards))


def _new_id(name: str) -> str:
    """One that no server has or had: chats remember deleted ones."""
    return f"{team_id(name)[:40] or 'server'}-{token_hex(4)}"
