"""Where endpoints are kept: a file in the data folder, and their keys in the keyring."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import limits
from engine.endpoints.definition import PREFIX, Endpoint, EndpointCard, as_json, checked
from engine.errors import Kind, UnderhillError
from engine.hub import keyring_secret
from engine.library.home import home
from engine.library.kept_list import read_list, write_list
from engine.teams.definition import team_id
from engine.translatable import msg


def file() -> Path:
    """Where they are kept, without their keys. It need not exist."""
    return home() / "endpoints.json"


def endpoints() -> tuple[EndpointCard, ...]:
    """All endpoints, in the order in which they were added. Raises UnderhillError(BROKEN_FILE)."""
    return read_list(file(), _card, limits.ENDPOINTS, msg("Delete it and add your endpoints again."))


def find(name: str) -> EndpointCard:
    """The endpoint of an id, with or without PREFIX. Raises UnderhillError: NOT_FOUND, BROKEN_FILE."""
    wanted = name.removeprefix(PREFIX)
    found = next((card for card in endpoints() if card.id == wanted), None)
    if found is None:
        raise UnderhillError(
            Kind.NOT_FOUND, msg("There is no endpoint called {name}.", name=limits.shown(wanted)),
            msg("Add it on the models page."),
        )  # fmt: skip
    return found


def key_of(card: EndpointCard) -> str:
    """Its key; ''. The keyring is asked only where one was kept. Raises UnderhillError(DISK_ERROR)."""
    return keyring_secret.read(card.key) if card.has_key else ""


def save(endpoint: Endpoint, replacing: str = "", key: str | None = None) -> EndpointCard:
    """Keep an endpoint. replacing: id of the one it was; '' for a new one. key: None leaves it, '' removes it.

    Raises UnderhillError: BAD_REQUEST, also where another has the name; DISK_FULL, DISK_ERROR.
    """
    endpoint, known = checked(endpoint), list(endpoints())
    others = [card for card in known if card.id != replacing]
    if any(card.endpoint.name.casefold() == endpoint.name.casefold() for card in others):
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("There is an endpoint named {name} already.", name=endpoint.name),
            msg("Choose another name."),
        )  # fmt: skip
    if len(others) >= limits.ENDPOINTS:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("There are {most} endpoints already.", most=limits.ENDPOINTS),
            msg("Delete one first."),
        )  # fmt: skip
    before = next((card for card in known if card.id == replacing), None)
    card = EndpointCard(
        id=before.id if before is not None else _new_id(endpoint.name, {card.id for card in known}),
        endpoint=endpoint, has_key=before is not None and before.has_key,
    )  # fmt: skip
    if before is not None and key is None and card.has_key and not same_server(before.endpoint, endpoint):
        key = ""  # it was given to another server
    if key is not None and (key or card.has_key):
        keyring_secret.keep(card.key, _header_safe(key))
        card = replace(card, has_key=bool(key))
    _write([card if each.id == card.id else each for each in known] if before is not None else [*known, card])
    return card


def delete(name: str) -> Endpoint:
    """Delete an endpoint and its key. Raises UnderhillError: NOT_FOUND, DISK_ERROR."""
    card = find(name)
    if card.has_key:
        keyring_secret.keep(card.key, "")
    _write([each for each in endpoints() if each.id != card.id])
    return card.endpoint


def _card(written: Any) -> EndpointCard:
    endpoint = Endpoint(**{name: str(written.get(name, "")) for name in ("name", "url", "model", "ca_file")})
    return EndpointCard(id=str(written["id"]), endpoint=checked(endpoint), has_key=bool(written.get("has_key")))


def _write(cards: list[EndpointCard]) -> None:
    write_list(file(), ({"id": card.id, **as_json(card.endpoint), "has_key": card.has_key} for card in cards))


def _new_id(name: str, taken: set[str]) -> str:
    first = team_id(name)[:40] or "endpoint"
    number, made = 2, first
    while made in taken:
        made, number = f"{first}-{number}", number + 1
    return made


def same_server(one: Endpoint, other: Endpoint) -> bool:
    """Whether a key of the one may be sent to the other."""
    return (one.host, one.encrypted) == (other.host, other.encrypted)


def _header_safe(key: str) -> str:
    """Raises UnderhillError(BAD_REQUEST) for a key that no header can carry."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UnderhillError(Kind.BAD_REQUEST, msg("A key has letters, digits and signs, and no spaces."))
    return key
