"""Lines are broken between facts, not within one, in Chinese too."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QTextLayout, QTextOption

from app.library.model_text import BETWEEN, unbroken
from app.widgets.text import units_held


def lines(text: str, width: int) -> list[str]:
    """As they are broken at a width in pixels."""
    layout = QTextLayout(text, QFont())
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    found = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        found.append(text[line.textStart() : line.textStart() + line.textLength()])
    layout.endLayout()
    return [
        " ".join(each.replace("\u2060", "").replace("\u00a0", " ").replace("\u2011", "-").split()) for each in found
    ]


@pytest.mark.usefixtures("qapp")
def test_facts_in_chinese_stay_whole() -> None:
    facts = ["下载 61.0 GB", "30.5B 参数（激活 3.3B）", "占用 17.2 GB", "42 MB/s"]
    for width in range(160, 400, 10):
        for line in lines(unbroken(BETWEEN.join(facts)), width):
            assert {part.strip() for part in line.split("·") if part.strip()} <= set(facts), (width, line)


@pytest.mark.usefixtures("qapp")
def test_long_parts_are_broken() -> None:
    long = "生成转换后的副本，原文件不变，可继续对话"
    assert unbroken(long) == long


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("text", [
    "第 2 步，共 3 步：4.0 毫秒。注意力 2.0 毫秒，专家 1.0 毫秒，等待 1.0 毫秒。读取：1.2 MB",
    "Step 2 of 3: 4.0 ms. Attention 2.0 ms, experts 1.0 ms, waiting 1.0 ms. Read: 1.2 MB",
])  # fmt: skip
def test_a_figure_and_its_unit_stay_together(text: str) -> None:
    unit = "毫秒" if "毫" in text else "ms"
    for width in range(120, 400, 5):
        found = lines(units_held(text), width)
        assert len(found) > 1
        assert sum(line.count(unit) for line in found) == text.count(unit), (width, found)
