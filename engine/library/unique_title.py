"""A name of its own in lists for a model that has just come into the library: an import, a copy, one from the trash."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from engine.errors import UnderhillError
from engine.library import display_name
from engine.library.listing import listing, shown_title
from engine.store.output import writing
from engine.store.writer import store_lock


def keep_unique(path: Path) -> None:
    """Where another model is called or shown as the one at `path` is, show that with the next free number behind it.

    Where that cannot be written it is shown as before: the model is there all the same, and can be renamed.
    """
    title = str(shown_title(path))
    free = free_title(title, path)
    if free != title:
        with suppress(UnderhillError), store_lock(path), writing(path):
            display_name.keep(path, free)


def free_title(title: str, path: Path) -> str:
    """`title` for the model at `path`; 'Writer (2)' where another is called or shown so, in whatever case."""
    others = (other for other in listing() if other.name != path.name)
    taken = {text.casefold() for other in others for text in (other.name, str(other.title))}
    free, number = title, 2
    while free.casefold() in taken:
        ending = f" ({number})"
        free, number = title[: display_name.LONGEST - len(ending)].rstrip() + ending, number + 1
    return free
