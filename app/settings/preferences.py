"""What the window remembers between runs, in one JSON file: settings, theme, model, sizes; saved as it changes."""

from __future__ import annotations

import copy
import dataclasses
import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QObject, Slot

from app.i18n.translate import tr, tr_engine
from app.shell import Shell
from app.storage.database_thread import DatabaseThread, Problem
from engine import filesystem, protocol
from engine.regular_file import read_json

FORMAT = 1  # of the file; one that says nothing is of this
FONT_PERCENTS = (85, 100, 115, 130, 150, 175)  # of fonts.BASE_POINTS


@dataclass(kw_only=True)
class Preferences:
    """engine, sampling, server: values that differ from the defaults, by the names in protocol.settings. models: the
    same for single models, by their names, where they differ from `engine`. font_percent: of FONT_PERCENTS.
    """

    model: str = "builtin"
    team: str = ""  # id of the team, or key of the endpoint, that answered last in its place
    new_chat_model: str = ""  # key of the model or team of new chats, as Models.key_of gives it; '' is the last one
    theme: str = "system"
    contrast: str = "system"  # high contrast; or one of theme.CONTRASTS
    motion: str = "system"  # less of it; or one of motion.CHOICES
    engine: dict[str, Any] = field(default_factory=dict)
    sampling: dict[str, Any] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    server: dict[str, Any] = field(default_factory=dict)
    font_percent: int = 100
    spelling: str = "system"  # or another choice of app.spelling.checker
    language: str = "system"  # or the code of one of app.i18n.languages.languages
    thinking: str = "on"  # or another of protocol.THINKING; of a model that has no such level, the nearest
    live_open: bool = True
    sidebar_open: bool = True
    geometry: str = ""  # QMainWindow.saveGeometry in base64
    docks: str = ""  # QMainWindow.saveState in base64
    chat: int = 0  # the chat that was open
    draft: str = ""  # what is typed in a new chat
    auto_titles: bool = True  # the model writes titles for new chats
    wrap_code: bool = False  # long lines of code in answers; otherwise they scroll sideways
    advanced: bool = False  # the settings show those that few people need
    updates: bool = False  # ask for a newer version of Underhill at each start
    toured: bool = False  # the tour of the first run was finished or skipped
    closed_folders: list[int] = field(default_factory=list)  # ids

    def engine_for(self, model: str) -> dict[str, Any]:
        """The engine's settings to open a model with."""
        return {**self.engine, **self.models.get(model, {})}

    def of(self, model: str, name: str) -> Any:
        """An engine setting as it is for a model, or with '' for all."""
        return self.engine_for(model).get(name, protocol.settings.ALL[name].default)

    def set(self, model: str, name: str, value: Any) -> None:
        """Change one for a model, or with '' for all. What is as it would be otherwise is not kept."""
        otherwise = self.of("", name) if model else protocol.settings.ALL[name].default
        own = self.models.setdefault(model, {}) if model else self.engine
        own.pop(name, None)
        if value != otherwise:
            own[name] = value
        if model and not own:
            del self.models[model]

    def set_server(self, setting: protocol.settings.Setting, value: Any) -> None:
        """Change one of protocol.settings.SERVER; the default is not kept."""
        self.server.pop(setting.name, None)
        if value != setting.default:
            self.server[setting.name] = value


def load(path: Path) -> tuple[Preferences, str]:
    """The preferences at `path`, and a sentence if some of them could not be used (defaults stand in for those)."""
    try:
        found = read_json(path)
        if not isinstance(found, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        return Preferences(), ""
    except (OSError, ValueError) as error:
        return Preferences(), tr("Can't read your preferences ({error}). Defaults are used.", error=error)
    if isinstance(found.get("thinking"), bool):  # as it was kept before there were levels
        found["thinking"] = "on" if found["thinking"] else "off"
    defaults = Preferences()
    known = {
        f.name: found[f.name]
        for f in dataclasses.fields(Preferences)
        if type(found.get(f.name)) is type(getattr(defaults, f.name))
    }
    known.setdefault("toured", True)  # kept by a version that had no tour: not the first run
    known["engine"], bad = _valid(found.get("engine"), protocol.settings.ENGINE)
    known["sampling"], worse = _valid(found.get("sampling"), protocol.settings.SAMPLING)
    known["server"], worst = _valid(found.get("server"), protocol.settings.SERVER)
    own = {name: _valid(values, protocol.settings.ENGINE) for name, values in known.get("models", {}).items()}
    known["models"] = {name: good for name, (good, _) in own.items() if good}
    if known.get("thinking") not in protocol.THINKING:
        known["thinking"] = "on"
    if known.get("font_percent") not in FONT_PERCENTS:
        known["font_percent"] = 100
    newer = [] if _is_known(found) else [
        tr("Your settings were saved by a newer version."),
        tr("Install that version to change them. Nothing was changed."),
    ]  # fmt: skip
    note = " ".join([*newer, *bad, *worse, *worst, *(sentence for _, wrong in own.values() for sentence in wrong)])
    return Preferences(**known), note


def save(preferences: Preferences, path: Path) -> None:
    """Write the file whole or not at all; what a newer version has put there and this one does not know stays.

    Raises OSError; also where the file is of a newer format.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        there = read_json(path)
    except (OSError, ValueError):
        there = {}
    there = there if isinstance(there, dict) else {}
    if not _is_known(there):
        raise OSError(f"{path} is of format {there['format']}, known up to {FORMAT}")
    written = {**there, **dataclasses.asdict(preferences)}
    declared = protocol.settings
    for name, among in (("engine", declared.ENGINE), ("sampling", declared.SAMPLING), ("server", declared.SERVER)):
        before, known = there.get(name), {s.name for s in among}
        if isinstance(before, dict):
            written[name] = {n: value for n, value in before.items() if n not in known} | written[name]
    filesystem.replace_file(path, json.dumps(written, indent=1).encode())


def _is_known(found: dict[str, Any]) -> bool:
    """Whether this version knows the format that a file says it has."""
    return bool(found.get("format", FORMAT) == FORMAT)


def _valid(values: Any, among: tuple[protocol.settings.Setting, ...]) -> tuple[dict[str, Any], list[str]]:
    """The values that still hold, and a sentence for each that does not."""
    good: dict[str, Any] = {}
    bad: list[str] = []
    known = {s.name: s for s in among}
    for name, value in values.items() if isinstance(values, dict) else ():
        if name in known:
            try:
                good[name] = known[name].check(value)
            except protocol.UnderhillError as error:
                bad.append(tr_engine(str(error)))
    return good, bad


class WindowState(QObject):
    """Keeps a window's preferences in their file."""

    def __init__(self, shell: Shell, database: DatabaseThread, remembered: Preferences, path: Path) -> None:
        super().__init__(shell)
        self._shell, self._database, self._preferences, self._path = shell, database, remembered, path
        self._refused = False  # by the disk, and that was said
        self._draft = remembered.draft  # as the disk has it

    @property
    def unsaved_draft(self) -> str:
        """Draft of a new chat, where the disk does not have it."""
        draft = self._preferences.draft
        return draft if draft != self._draft else ""

    def arrange(self) -> None:
        """Put window and panels where they were."""
        p, shell = self._preferences, self._shell
        if p.geometry:
            shell.restoreGeometry(QByteArray.fromBase64(p.geometry.encode()))
        if p.docks:
            shell.live.fresh = not shell.restoreState(QByteArray.fromBase64(p.docks.encode()))

    @Slot()
    def save(self) -> None:
        """Save the preferences on the database thread."""
        p, shell = self._preferences, self._shell
        p.geometry = bytes(shell.saveGeometry().toBase64().data()).decode()
        p.docks = bytes(shell.saveState().toBase64().data()).decode()
        now, path = copy.deepcopy(p), self._path
        self._database.submit(lambda store: save(now, path), partial(self._saved, now.draft), self._not_saved)

    def keep_draft(self, text: str) -> None:
        """Save the draft of a new chat."""
        if text != self._preferences.draft:
            self._preferences.draft = text
            self.save()

    def keep_open(self, chat_id: int) -> None:
        """Save which chat is open, so that it opens again even after a power cut. 0: a new one."""
        if chat_id != self._preferences.chat:
            self._preferences.chat = chat_id
            self.save()

    def _saved(self, draft: str, _: None) -> None:
        self._refused, self._draft = False, draft
        self._shell.banners.withdraw(tr("Can't save your settings."))

    def _not_saved(self, problem: Problem) -> None:
        if not self._refused:  # otherwise it was said already
            self._refused = True
            self._shell.banners.show_banner(
                "warning", tr("Can't save your settings."), tr("They apply until you close the app."),
                problem.cause, (tr("Try again"), self._again),
            )  # fmt: skip

    @Slot()
    def _again(self) -> None:
        self._refused = False
        self.save()
