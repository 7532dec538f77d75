"""Recordings of answers: made while a model answers, kept in a folder of their own, replayed on a thread aside."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import filesystem, protocol
from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.translatable import NO_TEXT, Translatable, msg, system_reason

if TYPE_CHECKING:
    from engine.session import Session

_log = logging.getLogger(__name__)

RECORDING = (
    protocol.StartRecording, protocol.StopRecording, protocol.ListRecordings, protocol.DeleteRecording,
)  # fmt: skip
REPLAYING = (protocol.ReplayRecording, protocol.ReadTimeline)
ROUTING, TIMELINE, ABOUT = "routing.npz", "timeline.json", "about.json"  # files of a recording
PASSES = 2000  # of a recording at most: 35 MB of a model of 48 layers
EVENTS = 50_000  # of its timeline, the latest: 15 MB
_NAME = re.compile(r"\d{8}-\d{6}(-\d+)?")
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError)


def folder() -> Path:
    """Where recordings are kept. It need not exist."""
    from engine.library.home import home

    return home() / "recordings"


class RunningRecording:
    """Records the answers of one model, and writes what there is after each of them."""

    def __init__(self, session: Session) -> None:
        from engine.library import listing
        from engine.session.trace_replay import recorder_of
        from engine.tracing.timeline import Timeline

        self.began = time.time()
        self.on = True
        self.problem: Translatable = NO_TEXT
        self.path = _new_folder(self.began)
        self._store, self._title = session.store.path, str(listing.shown_title(session.store.path))
        self._dial = str(session.settings["dial"])
        self.recorder, self._timeline = recorder_of(session, PASSES), Timeline(EVENTS)

    @contextmanager
    def listening(self, session: Session) -> Iterator[None]:
        """Record an answer that is made while this lasts, where it is the recorded model's."""
        if not self.on or session.store.path != self._store:
            yield
            return
        self._timeline.pause()
        try:
            with session.listening(self.recorder, self.recorder.begin_pass), session.observing(self._timeline):
                yield
        finally:
            self._save()

    def _save(self) -> None:
        if not self.recorder.passes:
            return
        try:
            trace = self.recorder.trace()
            self.path.mkdir(parents=True, exist_ok=True)
            trace.save(self.path / ROUTING)
            self._timeline.save(self.path / TIMELINE)
            about = {
                "model": self._title, "dial": self._dial, "began": self.began, "tokens": trace.tokens,
                "answers": trace.sequences,
            }  # fmt: skip
            replace_file(self.path / ABOUT, json.dumps(about).encode())
        except (UnderhillError, OSError) as cause:  # the answer is not to fail with it
            self.on = False
            reason = cause.sentence if isinstance(cause, UnderhillError) else system_reason(cause)
            self.problem = msg("Recording ended: it can't be saved ({reason}).", reason=reason)
            _log.warning("A recording cannot be saved", exc_info=cause)
            return
        if self.recorder.full:
            self.on = False
            self.problem = msg("Recording ended after {passes} steps.", passes=f"{PASSES:,}")


class Recordings:
    """The recording under way, if there is one, and those that are kept."""

    def __init__(self) -> None:
        # Set by the thread of control, read by that of the model, which looks once an answer.
        self._running: RunningRecording | None = None

    @contextmanager
    def listening(self, session: Session) -> Iterator[None]:
        """Record an answer of this session, where that is wanted."""
        running = self._running
        if running is None:
            yield
            return
        with running.listening(session):
            yield

    def answer(self, command: protocol.Command, session: Session | None) -> protocol.RecordingList:
        """One of RECORDING. session: of the open model."""
        running = self._running
        match command:
            case protocol.StartRecording():
                if session is None:
                    raise UnderhillError(Kind.BAD_REQUEST, msg("No model loaded."), msg("Select a model first."))
                self._running = RunningRecording(session)
            case protocol.StopRecording() if running is not None:
                running.on = False
                self._running = None
            case protocol.DeleteRecording():
                with suppress(FileNotFoundError):
                    filesystem.remove_tree(_path(command.name))
        now = self._running
        if now is None:
            return protocol.RecordingList(kept=kept())
        return protocol.RecordingList(kept=kept(), running=now.on, tokens=now.recorder.tokens, problem=now.problem)


def kept() -> tuple[protocol.Recording, ...]:
    """Recordings in the folder, the latest first; what is damaged is left out."""
    found = []
    with suppress(OSError):
        for path in sorted(folder().iterdir(), reverse=True):
            with suppress(*_DAMAGED):
                found.append(_described(path))
    return tuple(found)


def _described(path: Path) -> protocol.Recording:
    about = read_json(path / ABOUT)
    return protocol.Recording(
        name=_checked(path.name),
        model=str(about["model"]),
        dial=str(about["dial"]),
        began=float(about["began"]),
        tokens=int(about["tokens"]),
        answers=int(about["answers"]),
        path=str(path),
    )


def work(
    command: protocol.Command, report: Callable[[Translatable, int, int], None], cancelled: Callable[[], bool]
) -> Any:
    """One of REPLAYING."""
    if isinstance(command, protocol.ReadTimeline):
        return _pass(_path(command.name) / TIMELINE, command.number)
    assert isinstance(command, protocol.ReplayRecording)
    return _replayed(_path(command.name) / ROUTING, command.dial, report, cancelled)


def _replayed(
    path: Path, dial: str, report: Callable[[Translatable, int, int], None], cancelled: Callable[[], bool]
) -> protocol.RecordingReplay:
    from engine.session.trace_replay import prepare_replay
    from engine.tracing.replay import BELADY, BOUND, SHARES, compare, rows_of
    from engine.tracing.trace import load

    text = msg("Replaying")
    report(text, 0, 0)
    trace = load(path)
    replayer, fitted, _ = prepare_replay(trace, dial, cancelled)
    rows = compare(replayer, SHARES, lambda done, total: report(text, done, total))
    without = replayer.bytes_without_cache
    lines = [
        protocol.PolicyLine(
            name,
            tuple(
                protocol.ReplayPoint(row.share, row.hit_rate, min(1.0, row.bytes_read / without))
                for row in rows
                if row.policy == name
            ),
            name in (BELADY, BOUND),
        )
        for name in rows_of(replayer.thresholds)
    ]
    return protocol.RecordingReplay(tokens=trace.tokens, answers=trace.sequences, fitted=fitted, lines=tuple(lines))


def _pass(path: Path, number: int) -> protocol.PassTimeline:
    from engine.tracing.timeline import EXPERTS, FIRST_READER, LAYERS, WAITS, read

    try:
        timeline = read(path)
        number = max(0, min(number, len(timeline.passes) - 1))
        events = timeline.events_of(number)
    except FileNotFoundError as cause:
        raise UnderhillError(Kind.MISSING_FILE, msg("The recording is gone."), msg("Record again.")) from cause
    except _DAMAGED as cause:
        raise UnderhillError(Kind.BROKEN_FILE, msg("The recording is damaged."), msg("Record again.")) from cause
    rows = {LAYERS: "layers", EXPERTS: "experts", WAITS: "waits"}
    start = timeline.passes[number][0]
    spans = tuple(
        protocol.TimelineSpan(
            row=rows.get(event.row, "reads"),
            lane=max(0, event.row - FIRST_READER),
            start=event.start - start,
            end=event.end - start,
            layer=int(event.details["layer"]),
            expert=int(event.details.get("expert", -1)),
            bytes=int(event.details.get("bytes", 0)),
            kind=str(event.details.get("class", "")),
        )
        for event in events
    )

    def total(row: str) -> float:
        return sum(span.end - span.start for span in spans if span.row == row)

    return protocol.PassTimeline(
        number=number,
        tokens=tuple(tokens for _, tokens in timeline.passes),
        seconds=timeline.seconds,
        spans=spans,
        layers=total("layers"),
        experts=total("experts"),
        waited=total("waits"),
        read=sum(span.bytes for span in spans),
    )


def _new_folder(began: float) -> Path:
    """A folder that no recording has, by the time."""
    name = time.strftime("%Y%m%d-%H%M%S", time.localtime(began))
    path, number = folder() / name, 1
    while path.exists():
        number += 1
        path = folder() / f"{name}-{number}"
    return path


def _path(name: str) -> Path:
    return folder() / _checked(name)


def _checked(name: str) -> str:
    """Raises UnderhillError(BAD_REQUEST) for what no recording can be called."""
    if not _NAME.fullmatch(name):
        raise UnderhillError(Kind.BAD_REQUEST, msg("There is no recording {name}.", name=repr(name)))
    return name
