"""What Underhill keeps itself, spoiled by whoever can write there: it does without, or says which file is damaged."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.settings import preferences
from engine.calibration.calibrator import CalibrationState
from engine.experts.eam import EamCollection
from engine.formats import checkpoint
from engine.hardware import fingerprint as hardware
from engine.hub import download, search, tokens
from engine.library import dials, folders, listing, offline_index, partial_imports, settings_file, store_copy, trash
from engine.library.entries import HubModel
from engine.library.home import HOME
from engine.service import transfers
from engine.session import policy_weights
from engine.store.journal import Journal
from engine.tracing import trace
from tests.attack.case import Case
from tests.attack.given import JSON, STANDING, put

Reader = Callable[[Path], object]  # of the home folder


def _config_kept(home: Path) -> object:
    model = HubModel(repo="a/b", title="b", model_type="x", parameters=1, download_bytes=1, licence="", commit="c" * 40)
    return search.cached_config(home / "configs", "https://x", model)


def _config_place() -> str:
    return f"configs/{search.cached_config_file(Path(), 'https://x', 'a/b').name}"


READERS: dict[str, tuple[str, Reader]] = {
    "settings": ("settings.json", lambda home: settings_file.read()),
    "folders": ("settings.json", lambda home: folders.paths()),
    "library": ("settings.json", lambda home: listing.listing()),
    "seen": ("seen.json", lambda home: offline_index.cards(home / "models")),
    "transfers": ("transfers.json", lambda home: transfers.read_transfers()),
    "hardware": ("hardware.json", lambda home: hardware.kept_rows(home)),
    "tokens": ("tokens.json", lambda home: tokens.known_hubs()),
    "preferences": ("preferences.json", lambda home: preferences.load(home / "preferences.json")),
    "calibration": ("calibration.json", lambda home: dials.read(home)),
    "unfinished": ("m.partial/import.json", lambda home: partial_imports.read(home / "m")),
    "copy": ("copy.json", lambda home: store_copy.read(home)),
    "origin": ("download.json", lambda home: checkpoint.origin(home)),
    "download": ("download.json", lambda home: download.noted_downloads(home)),
    "config of a hub": (_config_place(), _config_kept),
    "policy": ("policy.json", lambda home: policy_weights.read(home)),
    "journal": ("journal.jsonl", lambda home: Journal(home / "journal.jsonl", "it").close()),
    "matrices": ("eam.npz", lambda home: EamCollection.load(home / "eam.npz", 2, 4)),
    "half a calibration": ("calibration.part.npz", lambda home: CalibrationState.load(home)),
    "trace": ("trace.npz", lambda home: trace.load(home / "trace.npz")),
    "trash": (".trash/m@1", lambda home: trash.nbytes(home)),
}
STANDS = tuple(STANDING)


def cases() -> list[Case]:
    found = []
    for what, (place, reader) in READERS.items():
        found += [Case(f"{what}: {kind}", partial(_json, place, reader, text), True) for kind, text in JSON.items()]
        found += [Case(f"{what} is {kind}", partial(_standing, place, reader, kind), True) for kind in STANDS]
    return found


def _json(place: str, reader: Reader, text: bytes, folder: Path) -> None:
    os.environ[HOME] = str(folder)
    put(folder / place, text)
    (folder / place).chmod(0o600)
    reader(folder)


def _standing(place: str, reader: Reader, kind: str, folder: Path) -> None:
    os.environ[HOME] = str(folder)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    STANDING[kind](folder / place)
    reader(folder)
