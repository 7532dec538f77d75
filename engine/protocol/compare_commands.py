"""Commands that ask a model outside every chat, to compare its answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.generation.messages import Message
from engine.protocol.commands import Command
from engine.settings import ENGINE

# What may be another for one answer: not the quality, which is said apart, nor what deletes counts where it is off.
COMPARABLE = tuple(setting for setting in ENGINE if setting.name not in ("dial", "remember_routing"))


@dataclass(frozen=True)
class QuestionApart:
    """What is asked. sampling, stop, thinking: as of Generate."""

    messages: tuple[Message, ...]
    sampling: dict[str, Any] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    thinking: bool | str | None = None


@dataclass(frozen=True)
class GenerateApart(Command):
    """Answer a question outside every chat, alone and at a quality of its own. Done.result: Stats.

    Events as of Generate. Nothing that was read before is used for it, nothing is learnt of it, and no setting is
    changed: quality and `changes` hold for this answer. model, settings: as of Generate. dial: a choice of the setting
    "dial". changes: of COMPARABLE, what is another than it is. Where one is not live, the model is loaded again for the
    answer, and with its own settings before it is used next.
    """

    question: QuestionApart
    model: str = ""
    dial: str = "exact"
    settings: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasureDivergence(Command):
    """Measure how far one quality of a model is from another on an answer, with Progress. Done.result: Divergence.

    answer: its tokens. dials: the quality that is the measure, and the one that is compared with it.
    """

    question: QuestionApart
    answer: tuple[int, ...]
    dials: tuple[str, str]
    model: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Divergence:
    """kl: mean over the answer's tokens of KL(first || second), in nats. tokens: so many.

    alike: here both come to the same thresholds, as where every expert is in memory; then nothing was measured.
    """

    kl: float
    tokens: int
    alike: bool
