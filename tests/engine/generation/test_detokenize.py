"""Incremental text: whole characters only, nothing lost, stop texts caught across token borders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models

from engine import resources
from engine.generation.chat import ChatFormat
from engine.generation.detokenize import Detokenizer, StopTexts


@pytest.fixture(scope="module")
def chat() -> ChatFormat:
    return ChatFormat(resources.path("builtin", "model"))


@settings(max_examples=60, deadline=None)
@given(text=st.text(min_size=1, max_size=40))
def test_pieces_put_together_are_the_text_and_no_piece_ends_inside_a_character(text: str, chat: ChatFormat) -> None:
    detokenizer = Detokenizer(chat.tokenizer)
    ids = chat.encode(text)
    pieces = [detokenizer.add(i) for i in ids] + [detokenizer.flush()]
    assert "".join(pieces) == chat.decode(ids)
    if "\ufffd" not in text:
        assert not any("\ufffd" in p for p in pieces)


def test_an_answer_cut_inside_a_character_shows_that_something_is_missing(chat: ChatFormat) -> None:
    ids = chat.encode("a😀")
    detokenizer = Detokenizer(chat.tokenizer)
    shown = "".join(detokenizer.add(i) for i in ids[:-1])
    assert shown == "a"
    assert "\ufffd" in detokenizer.flush()
    assert detokenizer.flush() == ""


def test_stop_text_across_pieces_is_caught_and_what_precedes_it_is_shown() -> None:
    stops = StopTexts(["\nUser:"])
    shown = "".join(stops.add(piece) for piece in ["Hello", ".\n", "Us", "er", ": and more"])
    assert shown == "Hello."
    assert stops.hit
    assert stops.add("x") == ""


def test_text_that_only_begins_like_a_stop_text_comes_out_later() -> None:
    stops = StopTexts(["END"])
    assert stops.add("the EN") == "the "
    assert stops.add("tire E") == "ENtire "
    assert stops.flush() == "E"
    assert not stops.hit


def test_the_earliest_of_several_stop_texts_wins() -> None:
    stops = StopTexts(["bb", "a"])
    assert stops.add("xx a bb") == "xx "


def byte_fallback() -> Tokenizer:
    """A tokenizer of the sentencepiece kind: what it has no piece for is spelled byte by byte."""
    pieces = [("<unk>", 0.0), *((f"<0x{i:02X}>", 0.0) for i in range(256)), *((p, -1.0) for p in ("▁the", "▁a", "b"))]
    tokenizer = Tokenizer(models.Unigram(pieces, 0, byte_fallback=True))
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


@settings(max_examples=200, deadline=None)
@given(ids=st.lists(st.integers(1, 259), min_size=9, max_size=40))
def test_bytes_that_are_no_characters_neither_end_the_answer_nor_take_words_with_them(ids: list[int]) -> None:
    detokenizer = Detokenizer(byte_fallback(), ids[:8])
    shown = "".join([*(detokenizer.add(i) for i in ids[8:]), detokenizer.flush()])
    assert shown.count("the") == ids[8:].count(257)
