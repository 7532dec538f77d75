"""A download in a process of its own, to be killed."""

from __future__ import annotations

from pathlib import Path


def pull(endpoint: str, repo: str, folder: Path) -> None:
    """Download everything of a model."""
    import huggingface_hub.constants

    from engine.hub.remote.client import connect
    from engine.hub.remote.download import download
    from engine.hub.remote.outline import read_outline

    huggingface_hub.constants.HF_HUB_OFFLINE = False
    with connect({"endpoint": endpoint}) as hub:
        download(hub, read_outline(hub, repo), folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, but for the download's own note."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "download.json"}
