"""What is kept of models between sessions: how often each is asked for, and what it costs on this computer."""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import suppress
from pathlib import Path

from engine.errors import UnderhillError
from engine.filesystem import replace_file
from engine.hardware.fingerprint import fingerprint as computer
from engine.kept_by_mark import KeptByMark
from engine.library import folders, home
from engine.planning.offload import CPU
from engine.regular_file import read_json
from engine.service.memory_split import MemorySplit
from engine.service.model_profile import ModelProfile
from engine.service.model_usage import ModelUsage
from engine.store import manifest as manifests
from engine.store.fields import DAMAGED

FILE = "model_records.json"
VERSION = 2  # another one counts as none
MOST = 200  # models whose profiles are kept; those unused for longest go first
_log = logging.getLogger(__name__)


class ModelRecords:
    """Used from one thread. Models go by their fingerprint, profiles by that of the computer and by the device as well,
    splits of the memory by the computer and the fingerprints of all models that are asked for.

    A file that is damaged or cannot be read counts as none: all of it is found anew as models are used.
    """

    def __init__(self) -> None:
        self.usage = ModelUsage()
        self.profiles: dict[str, ModelProfile] = {}
        self.splits: dict[str, MemorySplit] = {}
        self.noted = 0  # requests since this was made
        self._devices: dict[str, str] = {}  # of models that were open since
        self._keys = KeptByMark[str]()
        self._changed = False
        with suppress(*DAMAGED):
            found = read_json(_path())
            if found["version"] == VERSION:
                profiles = {str(key): ModelProfile.from_json(one) for key, one in found["profiles"].items()}
                splits = {str(key): MemorySplit.from_json(one) for key, one in found["splits"].items()}
                self.usage, self.profiles, self.splits = ModelUsage.from_json(found["usage"]), profiles, splits

    def key(self, model: str | Path) -> str:
        """The fingerprint of a model of the library or a store; '' where there is none."""
        with suppress(OSError, ValueError, UnderhillError):
            path = model if isinstance(model, Path) else _location(model)
            return self._keys.of(path / manifests.NAME, lambda: manifests.fingerprint(path))
        return ""

    def computes_on(self, key: str, device: str) -> None:
        """A model is open and computes there: CPU, or another of the modes of planning.offload. Its profile is that of
        this device from now on; until then it is that of the device where it was open last.
        """
        self._devices[key] = device

    def profile(self, key: str) -> ModelProfile:
        """What is known of a model on this computer and its device."""
        return self.profiles.get(self._of_device(key), ModelProfile())

    def keep_profile(self, key: str, profile: ModelProfile) -> None:
        """Until `save`."""
        here = self._of_device(key)
        self.profiles.pop(here, None)
        self.profiles[here] = profile
        while len(self.profiles) > MOST:
            del self.profiles[next(iter(self.profiles))]
        self._changed = True

    @property
    def split(self) -> MemorySplit | None:
        """How memory is best shared between these models on this computer; None where it was not searched yet."""
        return self.splits.get(self._these())

    @property
    def idle_share(self) -> float | None:
        """See pool.PoolRecords."""
        return None if (split := self.split) is None else split.share

    def keep_split(self, split: MemorySplit) -> None:
        """For the models that are used now, until `save`."""
        self.splits.pop(self._these(), None)
        self.splits[self._these()] = split
        while len(self.splits) > MOST:
            del self.splits[next(iter(self.splits))]
        self._changed = True

    def note_use(self, key: str, preliminary: str = "") -> None:
        """One request; see ModelUsage.note."""
        self.usage.note(key, preliminary)
        self.noted += 1
        self._changed = True

    def forget_use(self, key: str) -> None:
        """Remove all counts of a model."""
        self.usage.forget(key)
        self._changed = True

    def save(self) -> None:
        """Write what has changed. Where that fails, it is tried again the next time."""
        if not self._changed:
            return
        profiles = {key: one.to_json() for key, one in self.profiles.items()}
        splits = {key: one.to_json() for key, one in self.splits.items()}
        body = {"version": VERSION, "usage": self.usage.to_json(), "profiles": profiles, "splits": splits}
        try:
            _path().parent.mkdir(parents=True, exist_ok=True)
            replace_file(_path(), json.dumps(body).encode())
        except OSError as e:
            _log.warning("What models cost could not be kept", exc_info=e)
            return
        self._changed = False

    def _of_device(self, key: str) -> str:
        here = self._here(key)
        if (device := self._devices.get(key)) is not None:
            return here if device == CPU else f"{here}+{device}"
        # Those kept last are behind the others.
        return next((name for name in reversed(self.profiles) if name.partition("+")[0] == here), here)

    def _these(self) -> str:
        models = "\n".join(sorted(self.usage.uses))
        return self._here(hashlib.sha256(models.encode()).hexdigest()[:16])

    def _here(self, key: str) -> str:
        return f"{key}@{_computer()}"


def _path() -> Path:
    return home.home() / FILE


def _location(model: str) -> Path:
    path = Path(model)
    return path if path.is_absolute() else folders.location(model)


_computers: dict[Path, str] = {}


def _computer() -> str:
    """Of the disk that models lie on, too: it is most of what opening one takes."""
    place = folders.own()
    if place not in _computers:
        _computers[place] = hashlib.sha256(repr(computer(place)).encode()).hexdigest()[:16]
    return _computers[place]
