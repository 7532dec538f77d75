"""What an answer took, and what the log says of an open model: figures and settings, never a word of a chat."""

from __future__ import annotations

import logging
from collections.abc import Callable

from engine import settings
from engine.experts.telemetry import ExpertSnapshot as Counters
from engine.generation.answer import Answer
from engine.generation.messages import Stats
from engine.hardware import probe
from engine.session.loaded_model import LoadedModel
from engine.translatable import Translatable

_log = logging.getLogger(__name__)


def stats_of(
    result: Answer,
    prompt_tokens: int,
    dropped: int,
    before: Counters,
    after: Counters,
    why: Callable[[int, float], Translatable],
) -> Stats:
    """before, after: the counters then. dropped: turns left out. why: what limited so many tokens, in seconds."""
    return Stats(
        text=result.text,
        token_ids=tuple(result.token_ids),
        finish=result.finish,
        prompt_tokens=prompt_tokens,
        reused_tokens=result.reused,
        dropped_turns=dropped,
        prompt_seconds=result.prompt_seconds,
        decode_seconds=result.decode_seconds,
        hits=after.hits - before.hits,
        misses=after.misses - before.misses,
        bytes_read=after.bytes_read - before.bytes_read,
        precision={key: n - before.precision.get(key, 0) for key, n in after.precision.items()},
        peak_rss=probe.peak_rss(),
        thinking_seconds=result.thinking_seconds,
        calls=result.calls,
        why=why(len(result.token_ids) - 1, result.decode_seconds),
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
