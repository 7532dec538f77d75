"""Commands about recordings: experts that tokens chose, replayed through every cache policy, and what happened when."""

from __future__ import annotations

from dataclasses import dataclass

from engine.protocol.commands import Command
from engine.translatable import NO_TEXT, Translatable


@dataclass(frozen=True)
class StartRecording(Command):
    """Record routing and times of the open model from its next answer on. Done.result: RecordingList."""


@dataclass(frozen=True)
class StopRecording(Command):
    """Record no further answer; one that is being made is recorded to its end. Done.result: RecordingList."""


@dataclass(frozen=True)
class ListRecordings(Command):
    """Done.result: RecordingList."""


@dataclass(frozen=True)
class DeleteRecording(Command):
    """Remove a recording for good. Done.result: RecordingList."""

    name: str


@dataclass(frozen=True)
class ReplayRecording(Command):
    """Play a recording through every cache policy at several cache sizes, with Progress. Done.result: RecordingReplay.

    dial: the quality to take thresholds of; 'recorded': those it was recorded under.
    """

    name: str
    dial: str = "recorded"


@dataclass(frozen=True)
class ReadTimeline(Command):
    """What was read, computed and waited for in one forward pass of a recording. Done.result: PassTimeline.

    number: of the pass, from 0.
    """

    name: str
    number: int = 0


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A recording that is kept. began: seconds since 1970. answers: of how many chats or branches. path: its folder."""

    name: str
    model: str
    dial: str
    began: float
    tokens: int
    answers: int
    path: str


@dataclass(frozen=True, kw_only=True)
class RecordingList:
    """kept: the latest first. running: whether the next answers are recorded, of which `tokens` are by now.

    problem: why recording ended by itself; '' where it did not.
    """

    kept: tuple[Recording, ...]
    running: bool = False
    tokens: int = 0
    problem: Translatable = NO_TEXT


@dataclass(frozen=True)
class ReplayPoint:
    """A policy in a cache of `share` of all experts. hit_rate: None where hits are not counted. read: bytes from disk,
    as a share of those without a cache."""

    share: float
    hit_rate: float | None
    read: float


@dataclass(frozen=True)
class PolicyLine:
    """limit: no policy, but the choice of one that knows the future ('belady'), or what nobody can beat ('bound')."""

    policy: str
    points: tuple[ReplayPoint, ...]
    limit: bool = False


@dataclass(frozen=True, kw_only=True)
class RecordingReplay:
    """Every policy on one recording. fitted: whether HOBBIT had the weights fitted to this model."""

    tokens: int
    answers: int
    fitted: bool
    lines: tuple[PolicyLine, ...]


@dataclass(frozen=True, kw_only=True)
class TimelineSpan:
    """row: 'layers' (attention and router), 'experts', 'waits' or 'reads'. lane: of reads, the reader's number.

    start, end: seconds from the pass's start. expert, bytes: of reads; kind: 'demand', 'upgrade' or 'prefetch'.
    """

    row: str
    lane: int
    start: float
    end: float
    layer: int
    expert: int = -1
    bytes: int = 0
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class PassTimeline:
    """One forward pass. tokens, seconds: of every pass of the recording that has a timeline, by number. layers: seconds
    of attention and routers; experts, waited: likewise. read: bytes that arrived in it."""

    number: int
    tokens: tuple[int, ...]
    seconds: tuple[float, ...]
    spans: tuple[TimelineSpan, ...]
    layers: float
    experts: float
    waited: float
    read: int
