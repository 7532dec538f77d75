"""Markdown cut into blocks as it streams: the same blocks whatever the pieces, and closed ones never change."""

from __future__ import annotations

import random

import pytest

from app.markdown.split import LONGEST, Block, Splitter, split
from tests.app.samples import LONG_ANSWER


def kinds(text: str) -> list[tuple[str, str]]:
    return [(b.kind, b.text) for b in split(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\ntwo\n\nthree", [("text", "one\ntwo"), ("text", "three")]),
        ("# T\ntext", [("text", "# T"), ("text", "text")]),
        ("text\n# T", [("text", "text"), ("text", "# T")]),
        ("- a\n- b\n  more\n\n  para\n- c\n\nend", [
            ("item", "- a"), ("item", "- b\n  more\n\n  para"), ("item", "- c"), ("text", "end")]),
        ("1. x\n   ```\n   a\n\n     b\n   ```\n2. y", [
            ("item", "1. x"), ("code", "a\n\n  b"), ("item", "2. y")]),
        ("- x\n  ```py\n  a\n  ```\n  so\n  - z\n\n  end\n\nout", [
            ("item", "- x"), ("code", "a"), ("text", "so"), ("item", "- z"), ("text", "end"), ("text", "out")]),
        ("1. a ```b``` c\n   ```d``` e", [("item", "1. a ```b``` c\n   ```d``` e")]),
        ("- a\nlazy line", [("item", "- a\nlazy line")]),
        ("a\n```py\nx\n\ny\n```\nb", [("text", "a"), ("code", "x\n\ny"), ("text", "b")]),
        ("~~~\n```\n~~~", [("code", "```")]),
        ("````\n```\n````", [("code", "```")]),
        ("```py\nnever closed", [("code", "never closed")]),
        ("a\n\n---\n\nb", [("text", "a"), ("rule", ""), ("text", "b")]),
        ("Title\n---\nb", [("text", "Title\n---"), ("text", "b")]),
        ("| a |\n|---|\n| 1 |\n\nafter", [("text", "| a |\n|---|\n| 1 |"), ("text", "after")]),
        ("> a\n> b\n\nc", [("text", "> a\n> b"), ("text", "c")]),
        ("a\r\n\r\nb", [("text", "a"), ("text", "b")]),
        ("\n\n  \n", []),
        ("so\n\\begin{align*}\na &= b \\\\\n\nc &= d\n\\end{align*}\nend", [
            ("text", "so"), ("math", "\\begin{align*}\na &= b \\\\\n\nc &= d\n\\end{align*}"), ("text", "end")]),
        ("see[^1]\n[^1]: one\n[^b]: two", [("text", "see[^1]"), ("text", "[^1]: one"), ("text", "[^b]: two")]),
        ("**bold** - not a list", [("text", "**bold** - not a list")]),
    ],
)  # fmt: skip
def test_blocks(text: str, blocks: list[tuple[str, str]]) -> None:
    assert kinds(text) == blocks


def test_the_language_of_code_is_kept() -> None:
    assert split("```c++ title\nx\n```")[0] == Block("code", "x", "c++")


@pytest.mark.parametrize("seed", range(5))
def test_pieces_of_any_size_give_the_same_blocks(seed: int) -> None:
    dice = random.Random(seed)
    splitter = Splitter()
    at = 0
    before: list[Block] = []
    while at < len(LONG_ANSWER):
        step = dice.randint(1, 9)
        splitter.feed(LONG_ANSWER[at : at + step])
        at += step
        assert splitter.closed[: len(before)] == before
        before = list(splitter.closed)
    splitter.finish()
    assert splitter.closed == split(LONG_ANSWER)


def test_what_is_open_is_shown_too() -> None:
    splitter = Splitter()
    splitter.feed("done\n\nhalf a sen")
    assert splitter.open() == Block("open", "half a sen", grows="text")
    splitter.feed("tence\n\n```py\nx = ")
    assert splitter.open() == Block("open", "x = ", "py", grows="code")
    splitter.finish()
    assert splitter.open() is None


def test_code_inside_an_item_is_shown_without_its_indent_while_it_grows() -> None:
    splitter = Splitter()
    splitter.feed("1. x\n   ```sh\n   ls\n     -a")
    assert splitter.open() == Block("open", "ls\n  -a", "sh", grows="code")


def test_no_words_are_lost() -> None:
    words = [w for b in split(LONG_ANSWER) for w in b.text.split()]
    expected = LONG_ANSWER.replace("```python", "").replace("```", "").replace("---\n\nThat", "That").split()
    assert words == expected


def test_prose_without_end_is_cut() -> None:
    words = " ".join(f"word{n}" for n in range(9000))
    blocks = split(words)
    assert all(len(b.text) <= LONGEST for b in blocks)
    assert " ".join(b.text for b in blocks) == words
    lines = "\n".join("a line of text" for _ in range(5000))
    assert all(len(b.text) < 1.1 * LONGEST for b in split(lines))
    assert "\n".join(b.text for b in split(lines)) == lines


def test_a_long_table_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join("| some cell | other cell |" for _ in range(1000))
    assert kinds(table) == [("text", table)]


@pytest.mark.parametrize("mark", ["-", "   -", "*", "+", "=", "--"])
def test_the_mark_of_an_item_behind_which_an_answer_was_stopped_makes_no_heading(mark: str) -> None:
    assert kinds(f"Two things:\n{mark}") == [("text", "Two things:")]
    assert kinds(f"1. Two things:\n{mark}") == [("item", "1. Two things:")]
    assert kinds(f"```\na\n{mark}") == [("code", f"a\n{mark}")]
    assert kinds(f"Two things:\n{mark}\nand more") != kinds("Two things:\nand more")
    assert kinds(mark) != []


def test_an_answer_may_end_with_a_number() -> None:
    assert "42." in " ".join(text for _, text in kinds("The answer is:\n42."))
