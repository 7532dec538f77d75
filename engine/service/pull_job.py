"""One model's way from a hub into the library, on a thread of its own: halted, resumed, stopped or undone by others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

from engine.errors import Kind, UnderhillError, as_error
from engine.hub.meter import RateEstimator
from engine.library.entries import FAILED, FINISHED, PAUSED, Transfer
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.hub.client import Hub
    from engine.hub.control import Control
    from engine.hub.meter import DownloadProgress

OFTEN = 0.2  # seconds between words on how far it is

Tell = Callable[["PullJob", dict[str, Any]], None]  # what changes in the Transfer


class PullJob:
    """connect: the hub at an address. tell: hears how far it is; ended: how it ended. Both on the job's thread."""

    def __init__(
        self, transfer: Transfer, connect: Callable[[str], AbstractContextManager[Hub]], tell: Tell, ended: Tell
    ) -> None:
        from engine.hub.control import Control

        self._transfer, self._connect, self._tell, self._end = transfer, connect, tell, ended
        self._control: Control = Control()
        self._pace = RateEstimator()
        self._fetching = True  # whether it needs the network still
        self._offline = False
        self._undo = False
        self._over = False
        self._guard = threading.Lock()
        self._told = 0.0

    @property
    def id(self) -> str:
        """The transfer's."""
        return self._transfer.id

    def pause(self) -> None:
        """Rest, with everything at hand to go on at once."""
        self._control.pause()

    def resume(self) -> None:
        """Go on."""
        self._control.resume()

    def stop(self) -> None:
        """End soon; what has arrived stays."""
        self._control.cancel()

    def go_offline(self) -> None:
        """End soon, unless all of it is here and only has to be imported."""
        if self._fetching:
            self._offline = True
            self._control.cancel()

    def cancel(self, keep: bool) -> None:
        """End soon; unless `keep`, with nothing left of it."""
        with self._guard:
            self._undo = not keep
            late = self._over
        self._control.cancel()
        if late and not keep:
            threading.Thread(target=self.remove, name="underhill-transfer", daemon=True).start()

    def run(self) -> None:
        """All the way."""
        try:
            ending: dict[str, Any] = self._travel()
        except Exception as e:  # a defect of ours, too: it is told, and the engine stays alive
            ending = self._why(as_error(e))
        with self._guard:
            self._over = True
            undo = self._undo
        if undo:
            self.remove()
        self._end(self, ending)

    def remove(self) -> None:
        """Take what has arrived and what was begun of it off the disk; what cannot be removed is found again later."""
        from engine.hub.download import discard, folder_of
        from engine.library import library
        from engine.library.home import home

        with suppress(UnderhillError):
            discard(folder_of(home(), self._transfer.repo))
        if not library.location(self._transfer.name).exists():
            with suppress(UnderhillError):
                library.delete(self._transfer.name, now=True)

    def _travel(self) -> dict[str, Any]:
        from engine.hub.pull import look, look_patiently, pull

        t = self._transfer
        with self._connect(t.endpoint) as hub:
            self._say(text=msg("Looking at it"), force=True)
            outline = look_patiently(
                lambda: look(hub, t.repo, t.revision, t.gguf, t.top),
                self._control,
                lambda wait: self._say(text=str(wait), force=True),
            )
            self._control.hold()
            self._say(revision=outline.commit, total=outline.download_bytes, force=True)
            path = pull(
                hub, outline, t.name, t.top,
                keep_source=t.keep_source, control=self._control,
                arriving=self._arriving, importing=self._importing,
            )  # fmt: skip
        return {"state": FINISHED, "text": "", "name": path.name}

    def _arriving(self, progress: DownloadProgress) -> None:
        self._fetching = progress.done < progress.total
        if not self._control.paused and self._fetching:
            text = progress.waiting or msg("Downloading")
            self._say(text=text, done=progress.done, total=progress.total, rate=progress.rate, left=progress.eta)

    def _importing(self, phrase: Translatable, done: int, total: int) -> None:
        self._control.hold()
        if not self._fetching:
            self._pace.note(done, total)
            self._say(text=phrase, done=done, total=total, rate=self._pace.rate, left=self._pace.left)

    def _say(self, *, force: bool = False, **changes: Any) -> None:
        now = time.monotonic()
        if force or now - self._told >= OFTEN:
            self._told = now
            self._tell(self, changes)

    def _why(self, error: UnderhillError) -> dict[str, Any]:
        from engine.hub.errors import offline

        if self._offline or error.kind is Kind.OFFLINE:
            error = offline()
        told = {"kind": str(error.kind), "problem": error.sentence, "action": error.action, "text": ""}
        if error.kind is Kind.CANCELLED:
            return {"state": PAUSED, "text": ""}
        return {**told, "state": PAUSED if error.kind is Kind.OFFLINE else FAILED}
