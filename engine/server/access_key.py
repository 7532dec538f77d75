"""The key that programs have to show: in the system's keyring, never in a file."""

from __future__ import annotations

from engine.errors import Kind, UnderhillError
from engine.import_lock import ALONE
from engine.translatable import msg

_SERVICE, _ACCOUNT = "underhill", "local server"
LEAST = 8  # characters


def read() -> str:
    """The key that is kept; '' for none, or where no keyring works."""
    with ALONE:
        import keyring
        from keyring.errors import KeyringError
    try:
        return keyring.get_password(_SERVICE, _ACCOUNT) or ""
    except (KeyringError, RuntimeError, OSError):
        return ""


def keep(key: str) -> None:
    """Keep it; '' removes what is kept. Raises UnderhillError: BAD_REQUEST, DISK_ERROR where no keyring works."""
    if key:
        check(key)
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
        raise _refused() from cause
    if kept != key:  # some keyrings take everything and keep nothing
        raise _refused()


def check(key: str) -> None:
    """Raises UnderhillError(BAD_REQUEST) for a key that is too short, or that no header can carry."""
    if len(key) < LEAST or not key.isascii() or not key.isprintable() or " " in key:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("A key has at least {least} characters: letters, digits and signs, no spaces.", least=LEAST),
        )


def _refused() -> UnderhillError:
    return UnderhillError(
        Kind.DISK_ERROR,
        msg("No keyring works on this computer, so the key cannot be kept safely."),
        msg("Unlock or install one (on Linux: GNOME Keyring or KWallet)."),
    )
