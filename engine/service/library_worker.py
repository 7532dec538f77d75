"""What the service does with the library: imports, moves, checks and lists, on whichever thread asks for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.errors import Kind, UnderhillError
from engine.hub.control import RateEstimator
from engine.kept_by_mark import KeptByMark
from engine.service.command_worker import CancelledWork
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.library.fit_estimates import Known

# What takes its time, one after the other; and what is answered at once, also while that goes on.
LONG = (
    protocol.ImportModel, protocol.ContinueImport, protocol.FindModels, protocol.AdoptModels, protocol.VerifyModel,
    protocol.MoveModel, protocol.EmptyTrash,
)  # fmt: skip
QUICK = (
    protocol.Pause, protocol.Resume, protocol.RenameModel, protocol.RestoreModel, protocol.ListDeleted,
    protocol.ListFolders, protocol.AddFolder, protocol.ForgetFolder, protocol.ReadSettings, protocol.KeepSettings,
)  # fmt: skip
POLL = 0.1  # seconds between looks for the end of a pause
PACE = 0.1  # seconds between two reports of how far something is
TIDY = 3600.0  # seconds between two times that the library is tidied unasked


class LibraryWorker:
    """Runs the commands of the library.

    emit: where events go. loaded: the store that is open now, if any. holds: whether a long command is still there.
    closed: whether nothing has a store open; where a model is only kept open, it will be closed soon.

    The hub is imported late: it brings torch along.
    """

    def __init__(
        self,
        emit: Callable[[protocol.Event], None],
        loaded: Callable[[], Path | None],
        holds: Callable[[str], bool],
        closed: Callable[[Path], bool],
    ) -> None:
        self._emit, self._loaded, self._holds, self._closed = emit, loaded, holds, closed
        # Used by two threads without a lock: single operations of a set are one step each under Python's lock, and a
        # look that misses one sees it POLL later.
        self._resting: set[str] = set()
        self._tidied: float | None = None
        self._known: Known = KeptByMark()

    def do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        """One of LONG, on the thread for those."""
        try:
            unit = "models" if isinstance(command, protocol.FindModels) else "bytes"
            return self._do(command, self.reporter(command, cancelled, unit), cancelled)
        finally:
            self._resting.discard(command.id)

    def _do(
        self,
        command: protocol.Command,
        report: Callable[[Translatable, int, int], None],
        cancelled: Callable[[], bool],
    ) -> Any:
        from engine.library import external_models, fit_estimates, library, preflight, relocation, trash

        match command:
            case protocol.ImportModel():
                preflight.check(Path(command.path))
                return library.card(library.add(Path(command.path), command.name, command.top, report))
            case protocol.ContinueImport():
                return library.card(library.go_on(command.name, report))
            case protocol.AdoptModels():
                return relocation.adopt(Path(command.folder), report)
            case protocol.VerifyModel():
                return _verified(command.name, report)
            case protocol.MoveModel():
                path = library.location(command.name)
                name = command.name
                return library.card(
                    relocation.move(name, command.folder, report, lambda: self._wait_closed(name, path, cancelled))
                )
            case protocol.EmptyTrash():
                return trash.empty()
            case protocol.FindModels():
                return external_models.find(report, rate=fit_estimates.FitEstimates().config)
        raise TypeError(f"not a long command of the library: {command!r}")

    def answer(self, command: protocol.Command) -> Any:
        """One of QUICK, on any one thread."""
        if isinstance(command, protocol.Pause):
            if held := self._holds(command.target):
                self._resting.add(command.target)
            return held
        if isinstance(command, protocol.Resume):
            rested = command.target in self._resting
            self._resting.discard(command.target)
            return rested
        from engine.library import folders, library, listing, settings_file, trash

        match command:
            case protocol.ReadSettings():
                return settings_file.read()
            case protocol.RenameModel():
                return library.card(library.rename(command.name, command.title))
            case protocol.RestoreModel():
                return library.card(library.restore(command.name, command.new_name))
            case protocol.ListDeleted():
                return trash.deleted()
            case protocol.AddFolder():
                folders.add(command.folder, first=command.first)
            case protocol.ForgetFolder():
                folders.forget(command.folder)
        return listing.model_folders()

    def cards(self, chosen: dict[str, Any]) -> tuple[protocol.ModelCard, ...]:
        """Everything in the library, with estimates. chosen: settings that a model would be opened with."""
        from engine.library import library
        from engine.library.fit_estimates import FitEstimates

        if self._tidied is None:  # from now on there is something to tidy
            self._tidied = -TIDY
        return FitEstimates(chosen, known=self._known).library(library.listing())

    def tidy(self) -> None:
        """Called while nothing long goes on."""
        now = time.monotonic()
        if self._tidied is None or now - self._tidied < TIDY:
            return
        from engine.library import library

        self._tidied = now
        with suppress(UnderhillError, OSError):  # nobody asked for it; whoever uses the library hears what is wrong
            library.tidy()

    def reporter(
        self, command: protocol.Command, cancelled: Callable[[], bool], unit: str = "bytes"
    ) -> Callable[[Translatable, int, int], None]:
        """Progress of something long, as events: one every PACE seconds, and whenever something else begins or it is
        done. Where the user has halted it, it waits here, stopped, it ends here.
        """
        pace = RateEstimator()
        last, due = "", 0.0

        def report(text: Translatable, done: int, total: int) -> None:
            nonlocal last, due
            said = False
            while command.id in self._resting and not cancelled():
                if not said:
                    self._emit(
                        protocol.Progress(
                            id=command.id, text=msg("Paused: {text}", text=text), done=done, total=total, unit=unit
                        )
                    )
                    said = True
                time.sleep(POLL)
            if cancelled():
                raise CancelledWork()
            pace.note(done, total)
            now = time.monotonic()
            if text == last and now < due and not (total and done >= total) and not said:
                return
            last, due = text, now + PACE
            self._emit(
                protocol.Progress(
                    id=command.id, text=text, done=done, total=total, unit=unit, rate=pace.rate, left=pace.left
                )
            )

        return report

    def _wait_closed(self, name: str, path: Path, cancelled: Callable[[], bool]) -> None:
        """Until no model of this store is kept open: Windows neither moves nor removes a folder of open files.

        Raises UnderhillError(BUSY) where it is the model in use, CANCELLED.
        """
        while True:
            if self._loaded() == path:
                raise UnderhillError(Kind.BUSY, msg("{name} is in use.", name=name), msg("Select another model first."))
            if self._closed(path):
                return
            if cancelled():
                raise CancelledWork()
            time.sleep(POLL)


def _verified(name: str, report: Callable[[Translatable, int, int], None]) -> protocol.VerifyReport:
    from engine.library import library, verification

    return protocol.VerifyReport(*verification.verify_files(library.prepare(name, report), report))
