"""Recordings of a scripted engine: one chat, replayed in no time."""

from __future__ import annotations

from dataclasses import replace

from engine import protocol

RECORDING = protocol.Recording(
    name="20261127-154000", model="OLMoE 1B-7B Instruct", dial="balanced", began=1_795_000_000.0, tokens=212, answers=2,
    path="/data/recordings/20261127-154000",
)  # fmt: skip
_RATES = {"hobbit": (0.3, 0.49, 0.73), "lru": (0.05, 0.43, 0.71), "belady": (0.5, 0.68, 0.83)}


def _line(policy: str, rates: tuple[float, ...]) -> protocol.PolicyLine:
    points = (protocol.ReplayPoint(share, rate, 1 - rate) for share, rate in zip((0.125, 0.25, 0.5), rates))
    return protocol.PolicyLine(policy, tuple(points), policy == "belady")


BOUND = protocol.PolicyLine("bound", tuple(protocol.ReplayPoint(s, None, 0.2) for s in (0.125, 0.25, 0.5)), True)
REPLAY = protocol.RecordingReplay(
    tokens=212, answers=2, fitted=True, lines=(*(_line(name, rates) for name, rates in _RATES.items()), BOUND)
)
SPANS = (
    protocol.TimelineSpan(row="layers", lane=0, start=0.0, end=0.002, layer=0),
    protocol.TimelineSpan(row="waits", lane=0, start=0.002, end=0.003, layer=0),
    protocol.TimelineSpan(row="experts", lane=0, start=0.003, end=0.004, layer=0),
    protocol.TimelineSpan(
        row="reads", lane=1, start=0.001, end=0.003, layer=0, expert=17, bytes=1_200_000, kind="demand"
    ),
)


class FakeRecordings:
    """kept: those there are. running: whether answers are recorded."""

    def __init__(self) -> None:
        self.kept: tuple[protocol.Recording, ...] = ()
        self.running = False

    def answer(self, command: protocol.Command) -> object:
        """Of every command about recordings."""
        match command:
            case protocol.ReplayRecording():
                return REPLAY
            case protocol.ReadTimeline():
                return protocol.PassTimeline(
                    number=min(command.number, 2), tokens=(35, 1, 1), seconds=(0.04, 0.004, 0.003), spans=SPANS,
                    layers=0.002, experts=0.001, waited=0.001, read=1_200_000,
                )  # fmt: skip
            case protocol.StartRecording():
                self.running = True
            case protocol.StopRecording():
                self.running, self.kept = False, (RECORDING, *self.kept)
            case protocol.DeleteRecording():
                self.kept = tuple(one for one in self.kept if one.name != command.name)
        found = protocol.RecordingList(kept=self.kept)
        return replace(found, running=True, tokens=35) if self.running else found
