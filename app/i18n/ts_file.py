"""Qt Linguist's .ts files: read, brought up to date with the code, and written always the same way."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.i18n.marked_texts import MarkedText

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Translation:
    """A text with its translation. forms: one, or as many as the language has plurals; done: none is missing."""

    text: MarkedText
    forms: tuple[str, ...]
    done: bool


def read(path: Path) -> dict[Key, Translation]:
    """All entries of a file in their order. Raises OSError and ET.ParseError."""
    found: dict[Key, Translation] = {}
    for context in ET.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            counted = message.get("numerus") == "yes"
            place = message.find("location")
            text = MarkedText(
                context.findtext("name", ""), message.findtext("source", ""),
                place.get("filename", "").removeprefix("../../") if place is not None else "", counted,
                message.findtext("comment", ""),
            )  # fmt: skip
            translation = message.find("translation")
            if translation is None:
                forms: tuple[str, ...] = ("",)
            elif counted:
                forms = tuple(form.text or "" for form in translation.iter("numerusform"))
            else:
                forms = (translation.text or "",)
            done = translation is not None and translation.get("type") != "unfinished" and all(forms)
            found[text.key] = Translation(text, forms, done)
    return found


def merge(texts: Iterable[MarkedText], *known: dict[Key, Translation]) -> list[Translation]:
    """An entry for every text, with the first finished translation among `known`; what is not in `texts` goes."""
    entries = []
    for text in texts:
        candidates = [k[text.key] for k in known if text.key in k and k[text.key].text.plural == text.plural]
        best = next((c for c in candidates if c.done), candidates[0] if candidates else None)
        entries.append(Translation(text, best.forms if best else ("",), best.done if best else False))
    return entries


def to_xml(entries: Iterable[Translation], language: str) -> str:
    """The file's text. Places name files only: lines would change with every change of the code."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    contexts: dict[str, ET.Element] = {}
    for entry in entries:
        text = entry.text
        if text.context not in contexts:
            contexts[text.context] = ET.SubElement(root, "context")
            ET.SubElement(contexts[text.context], "name").text = text.context
        message = ET.SubElement(contexts[text.context], "message", {"numerus": "yes"} if text.plural else {})
        ET.SubElement(message, "location", filename=f"../../{text.file}")
        ET.SubElement(message, "source").text = text.source
        if text.about:
            ET.SubElement(message, "comment").text = text.about
        translation = ET.SubElement(message, "translation", {} if entry.done else {"type": "unfinished"})
        if text.plural:
            for form in entry.forms:
                ET.SubElement(translation, "numerusform").text = form
        else:
            translation.text = entry.forms[0]
    ET.indent(root, "    ")
    body = ET.tostring(root, encoding="unicode", short_empty_elements=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n'
