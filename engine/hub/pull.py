"""From the name of a model on a hub to a model of the library: looked at, fetched, imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.convert.importer import Report
from engine.errors import UnderhillError
from engine.hub.client import Hub
from engine.hub.control import Control, DownloadProgress, Retry, RetryPolicy, Wait
from engine.hub.download import discard, download, folder_of, was_passing
from engine.hub.errors import HubError
from engine.hub.outline import Outline, read_outline
from engine.hub.streaming import hindrance, opened
from engine.library import folders, library, preflight
from engine.library.entries import UNFINISHED
from engine.library.home import BUILTIN, home
from engine.models.families import is_known, read_spec
from engine.store.reader import load_manifest

LOOKS = 4  # at a model that is to be fetched, while its hub is busy or out of reach


def look(hub: Hub, repo: str, revision: str = "main", gguf: str = "", top: int = library.AUTOMATIC) -> Outline:
    """A model that could be opened once it is here; nothing but headers is fetched. Raises UnderhillError.

    gguf, top: see read_outline.
    """
    outline = read_outline(hub, repo, revision, gguf, top)
    if is_known(outline.config):
        read_spec(outline.config)
    return outline


def look_patiently(look: Callable[[], Outline], control: Control, tell: Callable[[Wait], object]) -> Outline:
    """What `look` gives, tried again after a while where that may help. tell: as of Retry.

    Raises UnderhillError: CANCELLED, and what `look` raises at last.
    """
    retry = Retry(RetryPolicy(tries=LOOKS), control, tell)
    while True:
        try:
            return look()
        except HubError as e:
            retry.after(e)
            control.hold()


def pull(
    hub: Hub,
    outline: Outline,
    name: str = "",
    top: int = library.AUTOMATIC,
    *,
    keep_source: bool = False,
    control: Control | None = None,
    arriving: Callable[[DownloadProgress], None] | None = None,
    importing: Report | None = None,
    retry_policy: RetryPolicy | None = None,
) -> Path:
    """Bring a model into the library; interrupted in whatever way, the next call goes on where this one was.

    It is imported while it arrives, so that its files never lie on the disk all at once, unless `keep_source` asks for
    them or something is in the way (`streaming.hindrance`, a hub that only sends whole files): then it is downloaded
    first, and imported then.
    name: in the library; '' takes the repository's. arriving: told how far the download is; importing: how far the
    import is, of a model that is imported while it arrives at the same time. Raises UnderhillError; what has arrived
    stays then.
    """
    name = name or outline.repo.rpartition("/")[2]
    folder, path = folder_of(home(), outline.repo), folders.location(name)
    if name == BUILTIN:
        raise library.taken(name)
    if path.exists():
        cut_off = not keep_source and was_passing(folder, outline) and _is_of(path, outline, top)
        if not cut_off or _is_wanted(folder, outline.repo):
            raise library.taken(name)
        library.tidy()  # an earlier call was cut off when all but this had been done
        discard(folder)
        return path
    same_disk = _disk(folder) == _disk(folders.for_new(folders.paths()[0]))
    if keep_source or hub.sends_whole or hindrance(outline, folder):
        room = outline.store_bytes(top) if same_disk else 0  # where models are on another disk, the import looks there
        download(
            hub,
            outline,
            folder,
            control=control,
            report=arriving,
            retry_policy=retry_policy,
            room=room,
            passing=not keep_source,
        )
        preflight.check(folder)
        path = library.add(folder, name, top, importing)
    else:
        with opened(hub, outline, folder, same_disk, control, arriving, retry_policy=retry_policy) as stream:
            with stream.source.companions() as files:
                preflight.check_files(files[0].parent)
            path = library.add_arriving(stream, outline.repo, name, top, importing)
    if not keep_source:
        discard(folder)
    return path


def _is_of(store: Path, outline: Outline, top: int) -> bool:
    """Whether a store was made of these files, at this tier."""
    try:
        manifest = load_manifest(store)
    except UnderhillError:
        return False
    source, weights = manifest.source, {(file.name, file.sha256) for file in outline.weights}
    same = (source.repo, source.revision) == (outline.repo, outline.commit)
    return (
        same
        and weights <= {(f.name, f.sha256) for f in source.files}
        and {s.top for s in manifest.specs} == {top or outline.automatic}
    )


def _is_wanted(folder: Path, repo: str) -> bool:
    """Whether an unfinished model of another name is being made of what there is of a download."""
    return any(card.state == UNFINISHED and card.source in (repo, str(folder)) for card in library.listing())


def _disk(path: Path) -> int:
    """Which disk a folder is on, or will be."""
    # The nearest folder that is there: a new one is made on the disk of the one around it.
    while not path.exists():
        path = path.parent
    return path.stat().st_dev
