"""Where a token is kept, and what is said where it cannot be."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from engine.errors import UnderhillError
from engine.hub.remote import tokens
from engine.hub.remote.client import Hub
from engine.hub.remote.outline import read_outline
from tests.hubserver import HubServer


class Memory(KeyringBackend):
    """A keyring that works."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(autouse=True)
def _before() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


def test_each_hub_has_its_own() -> None:
    keyring.set_keyring(Memory())
    tokens.keep("https://a", "secret")
    assert tokens.read("https://a").value == "secret"
    assert tokens.read("https://b").value == ""
    assert "secret" not in repr(tokens.read("https://a"))
    assert tokens.forget("https://a")
    assert not tokens.forget("https://a")
    assert tokens.read("https://a").value == ""


@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring])
def test_where_no_keyring_works_nothing_is_lost_silently(
    backend: type[KeyringBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring.set_keyring(backend())
    with pytest.raises(UnderhillError, match="HF_TOKEN"):
        tokens.keep("https://a", "secret")
    assert tokens.read("https://a").value == ""
    monkeypatch.setenv("HF_TOKEN", "given\n")
    assert tokens.read("https://a") == tokens.Token("given")


def test_a_model_that_needs_one_says_so_where_none_can_be_kept(server: HubServer) -> None:
    keyring.set_keyring(fail.Keyring())
    server.repos["tiny/moe"].gated = "auto"
    with Hub(server.url) as hub, pytest.raises(UnderhillError, match="No keyring works"):
        read_outline(hub, "tiny/moe")
