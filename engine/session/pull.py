"""From the name of a model on a hub to a model of the library: looked at, fetched, imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.hub import folders, library
from engine.hub.home import home
from engine.hub.importer import Report
from engine.hub.remote.client import Hub
from engine.hub.remote.control import Control
from engine.hub.remote.download import discard, download, folder_of
from engine.hub.remote.meter import Progress
from engine.hub.remote.outline import Outline, read_outline
from engine.models.families import is_known, read_spec
from engine.session import preflight


def look(hub: Hub, repo: str, revision: str = "main") -> Outline:
    """A model that could be opened once it is here; nothing but headers is fetched. Raises UnderhillError."""
    outline = read_outline(hub, repo, revision)
    if is_known(outline.config):
        read_spec(outline.config)
    return outline


def pull(
    hub: Hub,
    outline: Outline,
    name: str = "",
    top: int = library.TOP,
    *,
    remove_source: bool = False,
    control: Control | None = None,
    arriving: Callable[[Progress], None] | None = None,
    importing: Report | None = None,
) -> Path:
    """Download a model and import it; interrupted in whatever way, the next call goes on where this one was.

    name: in the library; '' takes the repository's. remove_source: delete the download once it is imported; it stays
    otherwise, and where the import fails. Raises UnderhillError.
    """
    name = name or outline.repo.rpartition("/")[2]
    if folders.location(name).exists():
        raise library.taken(name)
    folder = folder_of(home(), outline.repo)
    download(hub, outline, folder, control, arriving, room=_room(folder, outline, top))
    preflight.check(folder)
    path = library.add(folder, name, top, importing)
    if remove_source:
        discard(folder)
    return path


def _room(download: Path, outline: Outline, top: int) -> int:
    """Bytes that the import will need on the disk of the download; where models are on another, it looks there."""
    ours, models = (_disk(path) for path in (download, folders.for_new(folders.paths()[0])))
    return outline.store_bytes(top) if ours == models else 0


def _disk(path: Path) -> int:
    """Which disk a folder is on, or will be."""
    while not path.exists():
        path = path.parent
    return path.stat().st_dev
