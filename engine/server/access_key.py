"""The key that programs have to show: in the system's keyring, never in a file."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.hub.tokens import is_locked
from engine.import_lock import ALONE
from engine.library.home import home
from engine.store.output import writing
from engine.translatable import msg

_SERVICE, _ACCOUNT = "underhill", "local server"
LEAST = 8  # characters
_UNLOCK = msg("Unlock it and try again.")
_INSTALL = msg("Unlock or install one (on Linux: GNOME Keyring or KWallet).")
_LOCKED = msg("The keyring of this computer is locked, so the key was neither kept nor removed."), _UNLOCK
_NONE = msg("No keyring works on this computer, so the key cannot be kept safely."), _INSTALL
_LOCKED_UNREAD = (
    msg("The keyring of this computer is locked, so the key of the local server in it cannot be read."), _UNLOCK
)  # fmt: skip
_NONE_UNREAD = msg("No keyring works on this computer, so the key of the local server cannot be read."), _INSTALL


def marker() -> Path:
    """The file that says that the keyring has a key. It need not exist."""
    return home() / "server-key-in-keyring"


def read() -> str:
    """The key that is kept; '' for none. A keyring that holds none of ours is not asked: it may want its password.

    Raises UnderhillError(DISK_ERROR) where one was kept and cannot be had: without it the server would answer anybody.
    """
    if not marker().exists():
        return ""
    with ALONE:
        import keyring
        from keyring.errors import KeyringError
    try:
        return keyring.get_password(_SERVICE, _ACCOUNT) or ""
    except (KeyringError, RuntimeError, OSError) as cause:
        raise UnderhillError(Kind.DISK_ERROR, *(_LOCKED_UNREAD if is_locked(cause) else _NONE_UNREAD)) from cause


def keep(key: str) -> None:
    """Keep it; '' removes what is kept. Raises UnderhillError: BAD_REQUEST, DISK_ERROR where no keyring works."""
    if key:
        check(key)
    elif not marker().exists():
        return
    with ALONE:
        import keyring
        from keyring.errors import KeyringError
    try:
        if key:
            keyring.set_password(_SERVICE, _ACCOUNT, key)
        elif keyring.get_password(_SERVICE, _ACCOUNT):
            keyring.delete_password(_SERVICE, _ACCOUNT)
        kept = keyring.get_password(_SERVICE, _ACCOUNT) or ""
    except (KeyringError, RuntimeError, OSError) as cause:
        raise UnderhillError(Kind.DISK_ERROR, *(_LOCKED if is_locked(cause) else _NONE)) from cause
    if kept != key:  # some keyrings take everything and keep nothing
        raise UnderhillError(Kind.DISK_ERROR, *_NONE)
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
