"""Texts of the user's where Qt would read marks into them: '<b>' in a tooltip, '&' in a menu."""

from __future__ import annotations

from html import escape


def plain_tip(text: str) -> str:
    """For a tooltip: shown as it is, broken into lines where it is long."""
    return f"<p style='white-space:pre-wrap'>{escape(text)}</p>" if text else ""


def plain_entry(text: str) -> str:
    """For an entry of a menu, or a button: no letter of it is a key, nor a tab the beginning of one."""
    return text.replace("&", "&&").replace("\t", " ")
