"""A download, or an import of what arrives, in a process of its own, to be killed."""

from __future__ import annotations

from pathlib import Path


def pull(endpoint: str, repo: str, folder: Path) -> None:
    """Download everything of a model."""
    import huggingface_hub.constants

    from engine.hub.client import connect
    from engine.hub.download import download
    from engine.hub.outline import read_outline

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    with connect({"endpoint": endpoint}) as hub:
        download(hub, read_outline(hub, repo), folder)


def stream(endpoint: str, repo: str, folder: Path, store: Path, chunk: int) -> None:
    """Import a model while it arrives, in chunks of this size; of its headers nothing is read but themselves."""
    import huggingface_hub.constants

    from engine.convert.importer import import_checkpoint
    from engine.hub import download, outline, streaming
    from engine.hub.client import connect

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    download.CHUNK = chunk
    outline.FIRST_LOOK = 1024
    with connect({"endpoint": endpoint}) as hub:
        found = outline.read_outline(hub, repo)
        with streaming.opened(hub, found, folder, True) as incoming:
            import_checkpoint(incoming, store, 4)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, but for the download's own note."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "download.json"}
