"""In what the chat settings of two columns differ."""

from __future__ import annotations

from app.compare.settings_text import differing_settings
from app.storage.records import Style


def test_only_what_differs_is_said() -> None:
    first = Style("Rhyme.\n\nAlways.", {"temperature": 0.2, "seed": 12_345}, ("END", "\n\n"))
    second = Style("", {"temperature": 0.2, "top_k": 0, "seed": None})
    assert differing_settings(first, second) == (
        "System prompt: Rhyme. Always.  ·  Seed: 12345  ·  Stop sequences: END, \\n\\n",
        "System prompt: None  ·  Seed: Automatic  ·  Stop sequences: None",
    )


def test_a_setting_that_is_not_there_is_its_default() -> None:
    assert differing_settings(Style(), Style(sampling={"temperature": 0.7, "max_tokens": 1024})) == ("", "")
    assert differing_settings(Style(), Style(sampling={"min_p": 0.05})) == ("Min P: 0", "Min P: 0.05")


def test_settings_of_the_engine_come_first() -> None:
    engine = ({"cache_fraction": None, "kv_cache": "int8"}, {"cache_fraction": 0.5, "kv_cache": "int8"})
    assert differing_settings(Style("Rhyme."), Style(), engine) == (
        "Experts kept in memory: Automatic  ·  System prompt: Rhyme.",
        "Experts kept in memory: 50%  ·  System prompt: None",
    )
