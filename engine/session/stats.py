"""What an answer took, from the counters before and behind it."""

from __future__ import annotations

from collections.abc import Callable

from engine.experts.telemetry import ExpertSnapshot as Counters
from engine.generation.answer import Answer
from engine.generation.messages import Stats
from engine.hardware import probe
from engine.translatable import Translatable


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
