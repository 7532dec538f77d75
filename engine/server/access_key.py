"""The key that programs have to show: in the system's keyring, never in a file."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.hub import keyring_secret
from engine.library.home import home
from engine.store.output import writing
from engine.translatable import msg

_ACCOUNT = "local server"  # in the keyring
LEAST = 8  # characters


def marker() -> Path:
    """The file that says that the keyring has a key. It need not exist."""
    return home() / "server-key-in-keyring"


def read() -> str:
    """The key that is kept; '' for none. A keyring that holds none of ours is not asked: it may want its password.

    Raises UnderhillError(DISK_ERROR) where one was kept and cannot be had: without it the server would answer anybody.
    """
    if not marker().exists():
        return ""
    return keyring_secret.read(_ACCOUNT)


def keep(key: str) -> None:
    """Keep it; '' removes what is kept. Raises UnderhillError: BAD_REQUEST, DISK_ERROR where no keyring works."""
    if key:
        check(key)
    elif not marker().exists():
        return
    keyring_secret.keep(_ACCOUNT, key)
    with writing(marker()):
        if key:
            marker().parent.mkdir(parents=True, exist_ok=True)
            replace_file(marker(), b"")
        else:
            marker().unlink(missing_ok=True)


def check(key: str) -> None:
    """Raises UnderhillError(BAD_REQUEST) for a key that is too short, or that no header can carry."""
    if len(key) < LEAST or not key.isascii() or not key.isprintable() or " " in key:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("A key has at least {least} characters: letters, digits and signs, no spaces.", least=LEAST),
        )
