"""The account on a hub that Underhill speaks for: given, tried, kept, asked about and forgotten."""

from __future__ import annotations

from engine.errors import Kind, UnderhillError
from engine.hub import tokens
from engine.hub.client import Hub
from engine.library.entries import TokenState
from engine.translatable import msg


def accept_token(hub: Hub, value: str) -> str:
    """Try a token, then keep it in the keyring; whose it is. Raises UnderhillError; a token that fails is not kept."""
    value = value.strip()
    if not value:
        raise UnderhillError(
            Kind.BAD_REQUEST, msg("No token was given."), msg("Paste it, or give it on standard input.")
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise UnderhillError(Kind.BAD_REQUEST, msg("This is not a token."), msg("Copy it again, whole and alone."))
    with Hub(hub.endpoint, hub.proxy, hub.offline, tokens.HubToken(value)) as tried:
        name = tried.account()
    tokens.keep(hub.endpoint, value)
    return name


def token_state(hub: Hub) -> TokenState:
    """Whether there is a token for this hub, and where; nothing is sent."""
    if tokens.given():
        return TokenState(hub.endpoint, tokens.VARIABLE)
    found = tokens.read(hub.endpoint)
    return TokenState(hub.endpoint, "keyring" if found.value else "", found.note)
