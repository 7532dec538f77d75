"""The words of the window keep one style and one glossary; see wording.py for the rules."""

from __future__ import annotations

import pytest

from tests.app.i18n.wording import Shown, every, faults


def test_every_text_keeps_the_style() -> None:
    found = [(shown.place, shown.english, fault) for shown in every() for fault in faults(shown)]
    assert found == [], "python -m tests.app.i18n.wording lists every text with its place"


@pytest.mark.parametrize(
    ("english", "chinese", "fault"),
    [
        ("Read 12 % of it", "读取了 12%", "no space before %"),
        ("Read {share}% of it", "读取了 {share} %", "no space before %"),
        ("Loading...", "正在加载…", "… is one sign"),
        ("Needs 3GB", "需要 3 GB", "a space before the unit"),
        ("At most 32768 tokens", "最多 32,768 词元", "digits grouped by commas"),
        ("Delete it", "您可以删除", "你, never 您"),
        ("Delete Model", "删除模型", "sentence case: Model"),
        ("Delete model.", "删除模型", "no full stop on a label"),
        ("12 tokens a second", "12 词元/秒", "not “a second”: /s"),
        ("Its licence", "许可证", "not “licence”: license"),
        ("Underhill loads it", "正在加载", "the app's name only where it introduces itself"),
    ],
)
def test_what_breaks_the_style_is_seen(english: str, chinese: str, fault: str) -> None:
    assert fault in faults(Shown("app/chat/conversation.py", english, (chinese,)))


def test_names_and_sentences_keep_their_capitals() -> None:
    for right in ("Can't read {file}. Try again.", "Open on Hugging Face", "{reason} Retrying…", "Top P"):
        assert list(faults(Shown("app/library/page.py", right, ("",)))) == []
