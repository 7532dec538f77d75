"""What an answer took, and what the log says of an open model: figures and settings, never a word of a chat."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from engine import settings
from engine.experts.telemetry import MOST_TIER, ExpertTelemetry
from engine.generation.answer_batch import BatchedAnswer
from engine.generation.messages import Stats
from engine.hardware import probe
from engine.session.loaded_model import LoadedModel
from engine.translatable import Translatable

_log = logging.getLogger(__name__)


@dataclass
class ExpertUse:
    """What was asked of experts: of a session so far, or by one answer, of what it shared with others as much as they.

    ran: (token, expert) pairs by the tier that they ran at; 0: skipped. substituted: those that another expert stood in
    for.
    """

    hits: float = 0.0
    misses: float = 0.0
    bytes_read: float = 0.0
    ran: list[float] = field(default_factory=lambda: [0.0] * (MOST_TIER + 1))
    substituted: float = 0.0

    @classmethod
    def counted(cls, counters: ExpertTelemetry) -> ExpertUse:
        """Since the model was loaded."""
        ran = [float(count) for count in counters.precision]
        return cls(counters.hits, counters.misses, counters.bytes_read, ran, counters.substituted[0])

    def add(self, now: ExpertUse, before: ExpertUse, among: int = 1) -> None:
        """A share of what came between two moments: there are `among` who have as much."""
        self.hits += (now.hits - before.hits) / among
        self.misses += (now.misses - before.misses) / among
        self.bytes_read += (now.bytes_read - before.bytes_read) / among
        self.substituted += (now.substituted - before.substituted) / among
        self.ran = [own + (new - old) / among for own, new, old in zip(self.ran, now.ran, before.ran, strict=True)]


def stats_of(answer: BatchedAnswer, use: ExpertUse, why: Translatable) -> Stats:
    """why: what limited its speed."""
    result, prompt, drafts = answer.answer, answer.writer.prompt, answer.drafts
    precision = {str(tier or "skipped"): round(count) for tier, count in reversed(list(enumerate(use.ran))) if count}
    return Stats(
        text=result.text,
        token_ids=tuple(result.token_ids),
        finish=result.finish,
        prompt_tokens=len(prompt.ids),
        reused_tokens=result.reused,
        dropped_turns=prompt.dropped,
        prompt_seconds=result.prompt_seconds,
        decode_seconds=result.decode_seconds,
        hits=round(use.hits),
        misses=round(use.misses),
        bytes_read=round(use.bytes_read),
        precision=precision,
        peak_rss=probe.peak_rss(),
        thinking_seconds=result.thinking_seconds,
        calls=result.calls,
        why=why,
        drafted=0 if drafts is None else drafts.drafted,
        accepted=0 if drafts is None else drafts.accepted,
        substituted=round(use.substituted),
    )


def log_opened(model: LoadedModel) -> None:
    """Log which model, under which plan and settings, on which computer."""
    card, plan, machine = model.card, model.plan, model.machine
    _log.info(
        "Opened %s: family %s, %.1f MB, %d layers, %d experts, tiers %s",
        card.name, card.family, card.disk_bytes / 1e6, card.layers, card.experts, card.tiers,
    )  # fmt: skip
    _log.info(
        "Its plan: mode %s, tier %d, other weights %s, %.1f MB of experts, context %d, chunk %d, %d threads, "
        "ceiling %.0f MB, direct I/O %s, limited by %s",
        plan.mode, plan.tier, plan.dense, plan.cache_bytes / 1e6, plan.context, plan.chunk, plan.threads,
        plan.ceiling / 1e6, plan.direct, plan.limit,
    )  # fmt: skip
    usual = {s.name: s.default for s in settings.ENGINE}  # choices and numbers: none holds a text of a person
    changed = {name: value for name, value in model.settings.items() if value != usual[name]}
    _log.info("Its settings that are not the usual ones: %s", changed)
    _log.info(
        "It runs on %d cores, kernels %s, memory at %.1f GB/s with %.1f GB free, disk at %.2f GB/s with %.1f GB free",
        machine.cores, machine.isa, machine.memory_rate / 1e9, machine.memory.free / 1e9, machine.disk_rate / 1e9,
        machine.disk_free / 1e9,
    )  # fmt: skip


def log_answered(stats: Stats) -> None:
    """Log what an answer took, in one line."""
    _log.info(
        "Answered: %d tokens of prompt (%d reused) in %.2f s, %d of answer in %.2f s, %s; "
        "experts %d hits, %d misses, %.1f MB read; at most %.0f MB resident",
        stats.prompt_tokens, stats.reused_tokens, stats.prompt_seconds, len(stats.token_ids), stats.decode_seconds,
        stats.finish, stats.hits, stats.misses, stats.bytes_read / 1e6, stats.peak_rss / 1e6,
    )  # fmt: skip
