"""What the log says of an open model: figures and settings, never a word of a chat."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from engine import settings

if TYPE_CHECKING:
    from engine.generation.messages import Stats
    from engine.session.session import Session

_log = logging.getLogger(__name__)


def opened(session: Session) -> None:
    """Which model, under which plan and settings, on which computer."""
    card, plan, machine = session.card, session.plan, session.machine
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
    changed = {name: value for name, value in session.settings.items() if value != usual[name]}
    _log.info("Its settings that are not the usual ones: %s", changed)
    _log.info(
        "It runs on %d cores, kernels %s, memory at %.1f GB/s with %.1f GB free, disk at %.2f GB/s with %.1f GB free",
        machine.cores, machine.isa, machine.memory_rate / 1e9, machine.memory.free / 1e9, machine.disk_rate / 1e9,
        machine.disk_free / 1e9,
    )  # fmt: skip


def answered(stats: Stats) -> None:
    """How an answer was made: one line for each."""
    _log.info(
        "Answered: %d tokens of prompt (%d reused) in %.2f s, %d of answer in %.2f s, %s; "
        "experts %d hits, %d misses, %.1f MB read; at most %.0f MB resident",
        stats.prompt_tokens, stats.reused_tokens, stats.prompt_seconds, len(stats.token_ids), stats.decode_seconds,
        stats.finish, stats.hits, stats.misses, stats.bytes_read / 1e6, stats.peak_rss / 1e6,
    )  # fmt: skip
