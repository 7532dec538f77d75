"""Commands about endpoints: servers that a person names, which a Generate asks whose model is 'endpoint:ID'."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.endpoints.definition import Endpoint
from engine.protocol.commands import Command


@dataclass(frozen=True)
class ListEndpoints(Command):
    """Done.result: tuple[EndpointCard, ...]."""


@dataclass(frozen=True)
class SaveEndpoint(Command):
    """Keep an endpoint. replacing: id of the one that it was until now; '' for a new one. Done.result: EndpointCard.

    key: goes into the keyring; '' removes what is there, None leaves it, unless the address is of another server.
    """

    endpoint: Endpoint
    replacing: str = ""
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class DeleteEndpoint(Command):
    """Delete an endpoint and its key. endpoint: its id. Done.result: the Endpoint, without its key."""

    endpoint: str


@dataclass(frozen=True)
class CheckEndpoint(Command):
    """Ask a server for its models, and the model that is named for a word. Done.result: EndpointCheck.

    replacing, key: as of SaveEndpoint; nothing is kept. Failed says what is wrong.
    """

    endpoint: Endpoint
    replacing: str = ""
    key: str | None = field(default=None, repr=False)
