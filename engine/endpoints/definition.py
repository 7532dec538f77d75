"""What an endpoint is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.translatable import NO_TEXT, Translatable, msg

PREFIX = "endpoint:"  # of its id, where a model's name may stand
_TAIL = re.compile(r"/+(chat/completions/*)?$")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible server. url: what /chat/completions is added to. model: as the server calls it.

    ca_file: path of certificates (PEM) that are trusted beside the system's; ''.
    """

    name: str
    url: str
    model: str
    ca_file: str = ""

    @property
    def host(self) -> str:
        """Host and port, for people."""
        return urlsplit(self.url).netloc

    @property
    def encrypted(self) -> bool:
        """Whether nobody on the way can read along."""
        return self.url.startswith("https:")


@dataclass(frozen=True, kw_only=True)
class EndpointCard:
    """An endpoint as it is kept. id: stays when the name changes. has_key: one is in the keyring."""

    id: str
    endpoint: Endpoint
    has_key: bool = False

    @property
    def key(self) -> str:
        """What it is called where a model's name may stand."""
        return f"{PREFIX}{self.id}"


@dataclass(frozen=True, kw_only=True)
class EndpointCheck:
    """What a test found. models: that the server lists, () where it lists none. seconds: until it had answered."""

    models: tuple[str, ...]
    seconds: float


def checked(endpoint: Endpoint, *, model_needed: bool = True) -> Endpoint:
    """The endpoint with its address in plain form. Raises UnderhillError(BAD_REQUEST) where it cannot be asked."""
    texts = {name: str(value).strip() for name, value in as_json(endpoint).items()}
    made = replace(endpoint, **{**texts, "url": _TAIL.sub("", texts["url"])})
    if not made.name or len(made.name) > limits.ENDPOINT_NAME:
        raise _bad(msg("An endpoint needs a name of at most {most} characters.", most=limits.ENDPOINT_NAME))
    if not _is_address(made.url):
        raise _bad(
            msg("{shown} isn't the address of a server.", shown=limits.shown(made.url)),
            msg("It looks like http://workstation/v1."),
        )
    if max(len(made.url), len(made.model), len(made.ca_file)) > limits.ENDPOINT_TEXT:
        raise _bad(msg("Address, model and file have at most {most} characters.", most=limits.ENDPOINT_TEXT))
    if model_needed and not made.model:
        raise _bad(msg("Which model shall answer?"), msg("Test the connection to see the models of this server."))
    return made


def as_json(endpoint: Endpoint) -> dict[str, Any]:
    """As it is kept."""
    return {"name": endpoint.name, "url": endpoint.url, "model": endpoint.model, "ca_file": endpoint.ca_file}


def _is_address(url: str) -> bool:
    if not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port  # ValueError where it is no number
    except ValueError:
        return False
    plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain


def _bad(sentence: Translatable, action: Translatable = NO_TEXT) -> UnderhillError:
    return UnderhillError(Kind.BAD_REQUEST, sentence, action)
