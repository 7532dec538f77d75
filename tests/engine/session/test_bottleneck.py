"""The sentence on what limits the speed: each case by its measured numbers."""

from __future__ import annotations

from dataclasses import replace

from engine.session.bottleneck import Pace, why

READY = Pace(
    prompt=False, tokens=10.0, prompt_tokens=95.0, waiting=0.0, read=0.0, misses=0.0, weights=1_300_000_000, memory=2e10
)


def test_the_disk_is_named_with_what_a_token_reads_and_what_it_gives() -> None:
    said = why(replace(READY, waiting=0.78, read=2.8e9, misses=900.0))
    assert said.startswith("Limited by disk: 280 MB per token at 2.8 GB/s")
    assert "78% of the time" in said
    said = why(replace(READY, waiting=0.18, read=1.2e8, misses=40.0))
    assert said.startswith("Limited by computing: 12 MB per token")
    assert "18%" in said


def test_memory_is_named_only_where_it_is_nearly_used_up() -> None:
    assert "1.3 GB per token at 13.0 GB/s (65% of its speed)" in why(READY)
    assert why(replace(READY, tokens=5.0)) == "All experts in memory. Limited by computing."
    assert why(replace(READY, weights=0)) == "All experts in memory. Limited by computing."


def test_a_prompt_and_slower_kernels() -> None:
    prompt = replace(READY, prompt=True, tokens=0.0)
    assert why(prompt) == "Processing prompt at 95 tok/s, limited by computing."
    assert "(1.9 GB/s)" in why(replace(prompt, waiting=0.9, read=1.9e9))
    assert why(replace(prompt, prompt_tokens=0.0)) == "Processing prompt."


def test_little_is_told_in_small_units() -> None:
    assert "147 kB per token" in why(replace(READY, waiting=0.5, read=1.47e6, misses=40.0))


def test_other_programs_are_named_where_they_hold_the_processor() -> None:
    for pace in (READY, replace(READY, waiting=0.78, read=2.8e9, misses=900.0), replace(READY, prompt=True)):
        assert why(replace(pace, others=0.6)).endswith(" Slowed down by other apps (60% of the processor).")
        assert "other apps" not in why(replace(pace, others=0.2))
