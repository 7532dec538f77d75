"""The key in the keyring: kept, asked for only where there is one, and never done without where it cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import null
from keyring.errors import KeyringLocked

from engine.errors import Kind, UnderhillError
from engine.protocol import AskServerKey, Failed, KeepServerKey, ServerKey, StartServer
from engine.server import access_key
from tests.engine.server.serving import Serving

KEY = "a-key-of-some-length"


class Memory(KeyringBackend):
    """A keyring that can be locked, and counts how often it is asked."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False
        self.asked = 0

    def _open(self) -> None:
        self.asked += 1
        if self.locked:
            raise KeyringLocked("the prompt was dismissed")

    def get_password(self, service: str, username: str) -> str | None:
        self._open()
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        del self.held[service, username]


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """The computer's keyring, and an empty home."""
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "own"))
    before, made = keyring.get_keyring(), Memory()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_a_key_is_kept_read_and_removed_and_lies_in_no_file(ring: Memory, tmp_path: Path) -> None:
    access_key.keep(KEY)
    assert access_key.read() == KEY
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]
    access_key.keep("")
    assert (access_key.read(), ring.held) == ("", {})


def test_a_keyring_that_has_none_of_ours_is_not_asked(ring: Memory) -> None:
    ring.locked = True
    assert access_key.read() == ""
    access_key.keep("")
    assert ring.asked == 0


def test_a_locked_keyring_is_told_and_loses_nothing(ring: Memory) -> None:
    access_key.keep(KEY)
    ring.locked = True
    for act in (access_key.read, lambda: access_key.keep(""), lambda: access_key.keep(KEY + "x")):
        with pytest.raises(UnderhillError, match="is locked") as refused:
            act()
        assert refused.value.kind is Kind.DISK_ERROR
    ring.locked = False
    assert access_key.read() == KEY


def test_what_keeps_nothing_is_told(ring: Memory) -> None:
    keyring.set_keyring(null.Keyring())
    with pytest.raises(UnderhillError, match="No keyring works"):
        access_key.keep(KEY)
    assert not access_key.marker().exists()


@pytest.mark.parametrize("key", ["short", "with a space", "schlüssel-lang", "with-a-line\n"])
def test_what_no_header_can_carry_is_refused(ring: Memory, key: str) -> None:
    with pytest.raises(UnderhillError) as refused:
        access_key.keep(key)
    assert refused.value.kind is Kind.BAD_REQUEST
    assert ring.asked == 0


@pytest.mark.long
def test_no_server_is_started_without_the_key_that_was_kept_for_it(ring: Memory) -> None:
    with Serving() as serving:
        assert serving.state.key is False
        serving.result(KeepServerKey, KEY)
        assert serving.result(AskServerKey) == ServerKey(KEY)
        assert KEY not in repr(serving.events)
        assert serving.result(StartServer).key is True
        ring.locked = True
        refused = serving.end(serving.send(StartServer))
        assert isinstance(refused, Failed)
        assert "is locked" in refused.sentence
