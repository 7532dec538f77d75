"""Keys in the system's keyring, by account; never in a file. Who keeps one notes elsewhere that there is one."""

from __future__ import annotations

from engine.errors import Kind, UnderhillError
from engine.hub.tokens import SERVICE, is_locked
from engine.import_lock import ALONE
from engine.translatable import msg

_UNLOCK = msg("Unlock it and try again.")
_INSTALL = msg("Unlock or install one (on Linux: GNOME Keyring or KWallet).")


def read(account: str) -> str:
    """The secret that was kept; '' where it is gone. Raises UnderhillError(DISK_ERROR) where no keyring works."""
    with ALONE:  # it looks for the system's services, which takes a moment
        import keyring
        from keyring.errors import KeyringError
    try:
        return keyring.get_password(SERVICE, account) or ""
    except (KeyringError, RuntimeError, OSError) as cause:
        raise _refused(cause) from cause


def keep(account: str, secret: str) -> None:
    """Keep it; '' removes what is kept. Raises UnderhillError(DISK_ERROR) where no keyring works."""
    with ALONE:
        import keyring
        from keyring.errors import KeyringError
    try:
        if secret:
            keyring.set_password(SERVICE, account, secret)
        elif keyring.get_password(SERVICE, account):
            keyring.delete_password(SERVICE, account)
        kept = keyring.get_password(SERVICE, account) or ""
    except (KeyringError, RuntimeError, OSError) as cause:
        raise _refused(cause) from cause
    if kept != secret:  # some keyrings take everything and keep nothing
        raise _refused(None)


def _refused(cause: Exception | None) -> UnderhillError:
    if cause is not None and is_locked(cause):
        return UnderhillError(Kind.DISK_ERROR, msg("The keyring of this computer is locked."), _UNLOCK)
    return UnderhillError(
        Kind.DISK_ERROR, msg("No keyring works on this computer, so the key can't be read or kept."), _INSTALL
    )
