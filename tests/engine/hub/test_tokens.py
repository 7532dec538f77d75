"""Where a token is kept, and what is said where it cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from engine.errors import UnderhillError
from engine.hub import tokens
from engine.hub.client import Hub
from engine.hub.outline import read_outline
from engine.library.home import HOME
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


class Asking(Memory):
    """One that would want a password to be looked into."""

    def get_password(self, service: str, username: str) -> str | None:
        raise AssertionError("the keyring was asked")


@pytest.fixture(autouse=True)
def _before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(HOME, str(tmp_path))
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


def test_a_keyring_that_holds_nothing_of_ours_is_not_asked() -> None:
    keyring.set_keyring(Asking())
    assert tokens.read("https://a") == tokens.HubToken()
    assert not tokens.forget("https://a")
    keyring.set_keyring(Memory())
    tokens.keep("https://b", "secret")
    tokens.keep("https://c", "another")
    assert "secret" not in tokens.kept_for().read_text(encoding="utf-8")
    tokens.forget("https://b")
    assert tokens.read("https://c").value == "another"
    keyring.set_keyring(Asking())
    assert tokens.read("https://b") == tokens.HubToken()
    with pytest.raises(AssertionError):
        tokens.read("https://c")


def test_where_the_list_of_hubs_is_damaged_the_keyring_is_asked_and_the_list_mended() -> None:
    keyring.set_keyring(Memory())
    tokens.keep("https://a", "secret")
    tokens.kept_for().write_text("{", encoding="utf-8")
    assert tokens.read("https://a").value == "secret"
    tokens.keep("https://a", "secret")
    assert "https://a" in tokens.kept_for().read_text(encoding="utf-8")


@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring])
def test_where_no_keyring_works_nothing_is_lost_silently(
    backend: type[KeyringBackend], monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring.set_keyring(backend())
    with pytest.raises(UnderhillError, match="HF_TOKEN"):
        tokens.keep("https://a", "secret")
    assert tokens.read("https://a").value == ""
    monkeypatch.setenv("HF_TOKEN", "given\n")
    assert tokens.read("https://a") == tokens.HubToken("given")


def test_a_model_that_needs_one_says_so_where_none_can_be_kept(server: HubServer) -> None:
    keyring.set_keyring(fail.Keyring())
    server.repos["tiny/moe"].gated = "auto"
    with Hub(server.url) as hub, pytest.raises(UnderhillError, match="No system keyring"):
        read_outline(hub, "tiny/moe")
