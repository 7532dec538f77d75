"""The sentence on what limits the speed: each case by its measured numbers."""

from __future__ import annotations

from dataclasses import replace

from engine.session.bottleneck import Pace, why

READY = Pace(False, 10.0, 95.0, 0.0, 0.0, 0.0, 1_300_000_000, 2e10)


def test_the_disk_is_named_with_what_a_token_reads_and_what_it_gives() -> None:
    said = why(replace(READY, waiting=0.78, read=2.8e9, misses=900.0))
    assert said.startswith("Waiting for the disk: every token reads 280 MB from the disk, which gives 2.8 GB a second")
    assert "78 % of the time" in said
    said = why(replace(READY, waiting=0.18, read=1.2e8, misses=40.0))
    assert said.startswith("Mostly computing: every token reads 12 MB")
    assert "18 %" in said


def test_memory_is_named_only_where_it_is_nearly_used_up() -> None:
    assert "1.3 GB of it, at 13.0 GB a second: 65 % of what the memory gives" in why(READY)
    assert why(replace(READY, tokens=5.0)) == "Every expert needed is in memory; computing sets the pace."
    assert why(replace(READY, weights=0)) == "Every expert needed is in memory; computing sets the pace."


def test_a_prompt_and_slower_kernels() -> None:
    prompt = replace(READY, prompt=True, tokens=0.0)
    assert why(prompt) == "Reading the prompt at 95 tokens a second; computing sets the pace."
    assert "which gives 1.9 GB a second" in why(replace(prompt, waiting=0.9, read=1.9e9))
    assert why(replace(prompt, prompt_tokens=0.0)) == "Reading the prompt."


def test_little_is_told_in_small_units() -> None:
    assert "every token reads 147 kB from the disk" in why(replace(READY, waiting=0.5, read=1.47e6, misses=40.0))


def test_other_programs_are_named_where_they_hold_the_processor() -> None:
    for pace in (READY, replace(READY, waiting=0.78, read=2.8e9, misses=900.0), replace(READY, prompt=True)):
        assert why(replace(pace, others=0.6)).endswith(
            " Other programs hold 60 % of the processor, which makes it slower."
        )
        assert "Other programs" not in why(replace(pace, others=0.2))
