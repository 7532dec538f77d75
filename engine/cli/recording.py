"""What a chat in the terminal can leave behind: its routing, and a timeline of what happened when."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.cli.output import say
from engine.errors import Kind, UnderhillError
from engine.experts.precision import full_tier
from engine.session import Session
from engine.store.manifest import fingerprint
from engine.tracing.recorder import Recorder
from engine.tracing.timeline import Timeline
from engine.tracing.trace import TraceConditions
from engine.translatable import msg, system_reason


class Recording:
    """Writes the routing of a chat to a file after every answer; a disk that refuses does not end the chat."""

    def __init__(self, session: Session, file: Path) -> None:
        self._file = file
        spec = session.store.spec(session.store.layers[0])
        tier = full_tier(spec, session.plan.tier)
        dial, mark = str(session.settings["dial"]), fingerprint(session.store.path)
        known = TraceConditions(session.card.title, dial, session.thresholds, tier, spec, mark, session.low)
        self.recorder = Recorder(session.store.layers, session.card.experts, known)
        self.failed = False

    def answered(self) -> bool:
        """One more answer is there; False when it could not be kept. The first refusal is told."""
        if not self.failed:
            try:
                self.recorder.trace().save(self._file)
            except UnderhillError as e:
                self.failed = True
                say(f"{e.sentence} {e.action}")
        return not self.failed


@contextmanager
def recording(session: Session, file: str | None) -> Iterator[Recording | None]:
    """Record the routing of what goes on inside."""
    if file is None:
        yield None
        return
    made = Recording(session, Path(file))
    with session.listening(made.recorder, made.recorder.begin_pass):
        yield made
    if made.recorder.passes and not made.failed:
        say(f"Routing recorded in {file}.")


@contextmanager
def timed(session: Session, file: str | None) -> Iterator[None]:
    """Record what happens when inside, and write it at the end."""
    if file is None:
        yield
        return
    timeline = Timeline()
    with session.observing(timeline):
        yield
    _save(timeline.save, file, "timeline")
    say(f"Timeline written to {file}; chrome://tracing and ui.perfetto.dev open it.")


def _save(save: Callable[[Path], None], file: str, what: str) -> None:
    try:
        save(Path(file))
    except OSError as e:
        full = e.errno == errno.ENOSPC
        raise UnderhillError(
            Kind.DISK_FULL if full else Kind.DISK_ERROR,
            msg(
                "The {what} cannot be written to {file} ({strerror}).", what=what, file=file, strerror=system_reason(e)
            ),
            msg("Free some space and record it anew.") if full else msg("Check the folder."),
        ) from e
