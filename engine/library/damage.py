"""Damage that shows only when a store is read: what helps, said where it is found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.library import folders
from engine.library.home import BUILTIN
from engine.translatable import Translatable, msg

FLAG = "damaged"  # a file in the store of the built-in model: it is imported again before it is opened
_KINDS = (Kind.BROKEN_FILE, Kind.MISSING_FILE)


@contextmanager
def explained(store: Path) -> Iterator[None]:
    """Errors of damage in this store say what to do about this very one."""
    try:
        yield
    except UnderhillError as error:
        if error.kind not in _KINDS:
            raise
        raise UnderhillError(error.kind, error.sentence, remedy(store)) from error


def remedy(store: Path, named: bool = False) -> Translatable:
    """What to do about a damaged store; the built-in one is noted as damaged, so that opening it again helps.

    named: everything that is damaged has been named.
    """
    if store != folders.own() / BUILTIN:
        if named:
            return msg("Import it again.")
        return msg("Import it again. Verify its files to list all damage.")
    try:
        # A file and no state of this process: the store is opened anew in the next one, perhaps.
        (store / FLAG).touch()
    except OSError:
        return msg("Delete it; it is rebuilt when next used.")
    return msg("Load the built-in model again; it is rebuilt.")


def is_known(store: Path) -> bool:
    """Whether the store has turned out to be damaged, or is no longer there: a session must not go on using it."""
    return (store / FLAG).exists() or not store.is_dir()
