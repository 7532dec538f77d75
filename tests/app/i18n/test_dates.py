"""Dates and runs of sentences in two languages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

import pytest
from PySide6.QtWidgets import QApplication

from app.i18n import languages
from app.i18n.languages import day, moment, month, short_date
from app.i18n.translate import sentences

AT = datetime(2026, 3, 5, 9, 7)


@pytest.fixture
def speak(qapp: QApplication) -> Iterator[None]:
    yield
    languages.install("en")


@pytest.mark.usefixtures("speak")
def test_dates_are_written_as_the_language_does() -> None:
    languages.install("en")
    assert (moment(AT), day(AT.date()), month(AT.date(), False), month(AT.date(), True)) == (
        "5 March 2026, 09:07", "5 March", "March", "March 2026",
    )  # fmt: skip
    assert short_date(AT.date()) == "5 Mar 2026"
    languages.install("zh_CN")
    assert (moment(AT), day(AT.date()), month(AT.date(), False), month(date(2026, 12, 1), True)) == (
        "2026年3月5日 09:07", "3月5日", "3月", "2026年12月",
    )  # fmt: skip
    assert short_date(AT.date()) == "2026年3月5日"


@pytest.mark.parametrize(
    ("given", "run"),
    [
        (("One.", "", "Two."), "One. Two."),
        (("甲。", "乙！", "Two."), "甲。乙！Two."),
        (("One.", "乙。"), "One. 乙。"),
        (("可用 11.2 GB", "乙。"), "可用 11.2 GB。乙。"),
        (("Free 11.2 GB", "Two."), "Free 11.2 GB. Two."),
        (("", ""), ""),
    ],
)
def test_sentences_follow_each_other(given: tuple[str, ...], run: str) -> None:
    assert sentences(*given) == run
