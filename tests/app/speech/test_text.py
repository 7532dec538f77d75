"""What is read aloud of an answer, and in which language."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from app.speech.text import language_of, lines_to_read

ANSWER = """<think>
Let me think.
</think>

# A **short** answer

It is `x`, see [the page](https://example.org/long/address) and note[^1].

```python
print("never read")
```

The area is $\\pi r^2$.

- one
- ![a hill](hill.png)

---

| a | b |
|---|---|
| 1 | 2 |
"""


def test_marks_are_left_out_and_code_is_named(qapp: QApplication) -> None:
    lines = lines_to_read(ANSWER)
    assert lines == [
        "A short answer", "It is x, see the page and note.", "Code: python", "The area is pi r^2.", "one", "a hill",
        "a", "b", "1", "2",
    ]  # fmt: skip


def test_code_without_a_language_is_named_too(qapp: QApplication) -> None:
    assert lines_to_read("```\nx = 1\n```") == ["Code"]


def test_no_line_is_long(qapp: QApplication) -> None:
    text = "A sentence of some words. " * 100 + "word " * 300 + "字" * 900
    lines = lines_to_read(text)
    assert max(map(len, lines)) <= 400
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert lines[0].endswith(".")  # where sentences do


def test_chinese_sentences_are_not_parted_by_spaces(qapp: QApplication) -> None:
    assert lines_to_read("山很安静。灯亮了。") == ["山很安静。灯亮了。"]


@pytest.mark.parametrize(
    ("text", "language"),
    [("The hill was quiet.", "en"), ("山很安静，use Python。", "zh"), ("丘は静かでした。", "ja"),
     ("언덕은 조용했다.", "ko"), ("Холм был тих.", "ru"), ("1 + 1", "en")],
)  # fmt: skip
def test_the_language_is_that_of_most_letters(qapp: QApplication, text: str, language: str) -> None:
    assert language_of(text) == language
