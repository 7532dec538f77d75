"""The access token of a hub: in the system's keyring, or in the environment as HF_TOKEN. Never in a file."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.import_lock import ALONE
from engine.library.home import home
from engine.regular_file import read_json
from engine.store.output import writing
from engine.translatable import NO_TEXT, Translatable, msg

VARIABLE = "HF_TOKEN"
SERVICE = "underhill"  # what the keyring lists our entries under; the account is the address of the hub
NO_KEYRING = msg("No system keyring available. Set {variable} instead.", variable=VARIABLE)
LOCKED = msg("The system keyring is locked. Unlock it, then try again.")


@dataclass(frozen=True)
class HubToken:
    """value: '' where there is none. note: why it could not be looked for, in a sentence."""

    value: str = field(default="", repr=False)
    note: Translatable = NO_TEXT


def given() -> str:
    """What the environment says; ''."""
    return os.environ.get(VARIABLE, "").strip()


def kept_for() -> Path:
    """The file that lists the hubs whose token is in the keyring, not the tokens. It need not exist."""
    return home() / "hubs-with-a-token.json"


def read(endpoint: str) -> HubToken:
    """The token for this hub and no other; HF_TOKEN goes before the keyring.

    A keyring that holds nothing of ours is not asked: to be looked into, it may want a password, or to be made first.
    """
    if value := given():
        return HubToken(value)
    with ALONE:  # it looks for the system's services, which takes a moment
        import keyring
        from keyring.backends import fail, null
        from keyring.errors import KeyringError

    if not _may_hold(endpoint):
        return HubToken(note=NO_KEYRING if isinstance(keyring.get_keyring(), fail.Keyring | null.Keyring) else NO_TEXT)
    try:
        return HubToken(keyring.get_password(SERVICE, endpoint) or "")
    except (KeyringError, RuntimeError, OSError) as refused:
        return HubToken(note=LOCKED if is_locked(refused) else NO_KEYRING)


def keep(endpoint: str, token: str) -> None:
    """Put a token in the keyring. Raises UnderhillError(DISK_ERROR) where none works, or where the disk fails."""
    with ALONE:
        import keyring
        from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, endpoint, token)
        kept = keyring.get_password(SERVICE, endpoint)
    except (KeyringError, RuntimeError, OSError) as cause:
        raise _refused(cause) from cause
    if kept != token:  # some keyrings take everything and keep nothing
        raise _refused()
    _note(endpoint, True)


def forget(endpoint: str) -> bool:
    """Take the token of this hub out of the keyring; False where there was none.

    Raises UnderhillError(DISK_ERROR) where no keyring works.
    """
    if not _may_hold(endpoint):
        return False
    with ALONE:
        import keyring
        from keyring.errors import KeyringError

    try:
        there_is = bool(keyring.get_password(SERVICE, endpoint))
        if there_is:
            keyring.delete_password(SERVICE, endpoint)
    except (KeyringError, RuntimeError, OSError) as cause:
        raise _refused(cause) from cause
    _note(endpoint, False)
    return there_is


def _may_hold(endpoint: str) -> bool:
    """Whether a token was kept for this hub; where the list cannot be read, it may have been."""
    try:
        return endpoint in known_hubs()
    except (OSError, ValueError):
        return True


def known_hubs() -> list[str]:
    """Return the addresses of the hubs that a token is kept for."""
    try:
        return [str(hub) for hub in read_json(kept_for())]
    except FileNotFoundError:
        return []


def _note(endpoint: str, kept: bool) -> None:
    try:
        hubs = set(known_hubs())
    except (OSError, ValueError):
        hubs = set()
    hubs = hubs | {endpoint} if kept else hubs - {endpoint}
    with writing(kept_for()):
        kept_for().parent.mkdir(parents=True, exist_ok=True)
        replace_file(kept_for(), json.dumps(sorted(hubs)).encode())


def is_locked(error: BaseException) -> bool:
    """Whether there is a keyring, and nobody unlocked it: who was asked for its password dismissed that."""
    from keyring.errors import KeyringLocked

    return isinstance(error, KeyringLocked) or "dismissed" in str(error)  # for a keyring that was yet to be made


def _refused(error: BaseException | None = None) -> UnderhillError:
    if error is not None and is_locked(error):
        return UnderhillError(
            Kind.DISK_ERROR,
            msg("The system keyring is locked. Nothing was changed."),
            msg("Unlock it and try again, or set {variable}.", variable=VARIABLE),
        )
    return UnderhillError(
        Kind.DISK_ERROR,
        msg("No system keyring available to save the token."),
        msg(
            "Install one (on Linux: GNOME Keyring or KWallet), or set {variable}.",
            variable=VARIABLE,
        ),
    )
