"""A text is found again among the templates, with what stands in its holes."""

from __future__ import annotations

import json
import logging

import pytest

from app.engine_words import TEMPLATES, told
from app.engine_words.book import _HOLE, Book
from tests.app.engine_words.leftover import is_chinese

SAID = {
    "{name} is missing.": "缺少 {name}。",
    "Try again.": "请重试。",
    "Wait {after} seconds": "请等待 {after} 秒",
    "{wait} and try again.": "{wait}后重试。",
    "It is {what}, and {what2}.": "它{what}，而且{what2}。",
    "slow": "很慢",
    "{low} to {high}": "{low}～{high}",
    "about {span} seconds left": "约剩 {span} 秒",
    "{action} (it was made from {source}).": "{action}（由 {source} 制作）。",
    "Give a new one. {note}": "请给一个新的。{note}",
    "Too big: {sentence}": "太大：{sentence}",
    "There are these: {choices}.": "现有：{choices}。",
    "fast": "很快",
    "{key} is {value}": "{key} 为 {value}",
    "Its metadata is wrong: {what}.": "它的元数据有误：{what}。",
}


@pytest.fixture
def book() -> Book:
    return Book(SAID, frozenset({"after", "low", "high"}), SAID.__getitem__)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Try again.", "请重试。"),
        ("a b.gguf is missing.", "缺少 a b.gguf。"),
        ("x is missing. Try again.", "缺少 x。请重试。"),
        ("Try again. Try again. y. z is missing.", "请重试。请重试。缺少 y. z。"),
        ("Wait 1,200 seconds and try again.", "请等待 1,200 秒后重试。"),
        ("about 3 to 5 seconds left", "约剩 3～5 秒"),
        ("Try again (it was made from /x/slow).", "请重试（由 /x/slow 制作）。"),
        ("Give a new one.", "请给一个新的。"),
        ("Give a new one. x is missing.", "请给一个新的。缺少 x。"),
        ("Too big: x is missing.", "太大：缺少 x。"),
        ("There are these: slow, fast, other.", "现有：很慢、很快、other。"),
        ("It is slow, and fast.", "它很慢，而且很快。"),
        ("Its metadata is wrong: a.b is 5.", "它的元数据有误：a.b 为 5。"),
        ("slow is missing.", "缺少 slow。"),
        ("Try again.\nx is missing.", "请重试。\n缺少 x。"),
    ],
)
def test_a_text_is_said_in_chinese(book: Book, english: str, chinese: str) -> None:
    assert book.tell(english) == chinese


@pytest.mark.parametrize("text", ["", "Nobody knows this.", "love is blind", "C:/what is love/x", "3 to 5"])
def test_what_is_not_known_stays_as_it_is(book: Book, text: str) -> None:
    assert book.tell(text) == text


def test_what_is_not_known_is_noted_once(book: Book, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "app.engine_words.book"):
        assert [book.tell("Nobody knows this."), book.tell("Nobody knows this.")] == ["Nobody knows this."] * 2
    assert [r.getMessage() for r in caplog.records].count(
        "No translation of what the engine said: 'Nobody knows this.'"
    ) == 1


def test_one_sentence_that_is_not_known_leaves_the_others_translated(book: Book) -> None:
    assert book.tell("x is missing. Nobody knows this. Try again.") == "缺少 x。Nobody knows this.请重试。"


def test_a_name_keeps_its_spaces_beside_chinese(book: Book) -> None:
    assert book.tell("文件 副本 is missing.") == "缺少 文件 副本。"


def test_only_the_whole_of_a_name_is_translated(book: Book) -> None:
    assert (book.exactly("slow"), book.exactly("slow is missing.")) == ("很慢", "slow is missing.")


@pytest.mark.usefixtures("chinese")
def test_every_template_of_the_engine_is_recognized_as_itself() -> None:
    """With anything in its holes; those that fill holes alone are asked for in one."""
    kept = json.loads(TEMPLATES.read_text(encoding="utf-8"))
    mine = Book(kept["texts"], frozenset(kept["numbers"]), lambda template: f"<{template}>")
    for template in kept["texts"]:
        names = _HOLE.findall(template)
        values = {name: "12.5" if name in kept["numbers"] else f"zeta{n}" for n, name in enumerate(names)}
        english = template.format(**values)
        alone = mine._hole(english)
        assert f"<{english}>" in (mine.tell(english), alone and alone.text), template
        assert is_chinese(told(english)) or not is_chinese(template), template


@pytest.mark.usefixtures("qapp")
def test_an_english_window_hears_the_engine_itself() -> None:
    assert told("The disk is full. Nobody knows this.") == "The disk is full. Nobody knows this."
