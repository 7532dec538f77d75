"""The token of a hub: in the system's keyring, or in HF_TOKEN where somebody puts it there. Never in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from engine.errors import Kind, UnderhillError
from engine.importing import ALONE

VARIABLE = "HF_TOKEN"
SERVICE = "underhill"  # what the keyring lists our entries under; the account is the address of the hub
NO_KEYRING = f"No keyring works on this computer, so a token cannot be kept; set {VARIABLE} instead."


@dataclass(frozen=True)
class Token:
    """value: '' where there is none. note: why it could not be looked for, in a sentence."""

    value: str = field(default="", repr=False)
    note: str = ""


def given() -> str:
    """What the environment says; ''."""
    return os.environ.get(VARIABLE, "").strip()


def read(endpoint: str) -> Token:
    """The token for this hub and no other; HF_TOKEN goes before the keyring."""
    if value := given():
        return Token(value)
    with ALONE:  # it looks for the system's services, which takes a moment
        import keyring
        from keyring.errors import KeyringError

    try:
        return Token(keyring.get_password(SERVICE, endpoint) or "")
    except (KeyringError, RuntimeError, OSError):  # locked, refused, or none there
        return Token(note=NO_KEYRING)


def keep(endpoint: str, token: str) -> None:
    """Put a token in the keyring. Raises UnderhillError(DISK_ERROR) where none works."""
    with ALONE:
        import keyring
        from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, endpoint, token)
        kept = keyring.get_password(SERVICE, endpoint)
    except (KeyringError, RuntimeError, OSError) as cause:
        raise _no_keyring() from cause
    if kept != token:  # some keyrings take everything and keep nothing
        raise _no_keyring()


def forget(endpoint: str) -> bool:
    """Take the token of this hub out of the keyring; False where there was none.

    Raises UnderhillError(DISK_ERROR) where no keyring works.
    """
    with ALONE:
        import keyring
        from keyring.errors import KeyringError

    try:
        if not keyring.get_password(SERVICE, endpoint):
            return False
        keyring.delete_password(SERVICE, endpoint)
    except (KeyringError, RuntimeError, OSError) as cause:
        raise _no_keyring() from cause
    return True


def _no_keyring() -> UnderhillError:
    return UnderhillError(
        Kind.DISK_ERROR,
        "No keyring works on this computer, so the token cannot be kept safely.",
        f"Unlock or install one (on Linux: GNOME Keyring or KWallet), or set the variable {VARIABLE}.",
    )
