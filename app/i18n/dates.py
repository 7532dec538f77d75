"""Dates in the language of the window."""

from __future__ import annotations

from datetime import date, datetime

from PySide6.QtCore import QDate, QDateTime, QLocale

from app.i18n.translate import tr


def moment(at: datetime) -> str:
    """'21 November 2026, 14:05'."""
    pattern = tr("dd MMMM yyyy, HH:mm", about="a date and time, in the letters of Qt's QLocale")
    clock = QDateTime(at.year, at.month, at.day, at.hour, at.minute, at.second)
    return QLocale().toString(clock, pattern)


def day(on: date) -> str:
    """'21 November'."""
    return QLocale().toString(_qt(on), tr("dd MMMM", about="a date, in the letters of Qt's QLocale"))


def month(on: date, with_year: bool) -> str:
    """'November 2026', or 'November'."""
    if with_year:
        return QLocale().toString(_qt(on), tr("MMMM yyyy", about="a date, in the letters of Qt's QLocale"))
    return QLocale().toString(_qt(on), tr("MMMM", about="a date, in the letters of Qt's QLocale"))


def _qt(on: date) -> QDate:
    return QDate(on.year, on.month, on.day)
