"""What is read aloud of a message: plain lines without the marks of Markdown, and the language they are written in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from PySide6.QtCore import QLocale
from PySide6.QtGui import QTextDocumentFragment

from app.i18n.translate import tr
from app.markdown.document import is_costly
from app.markdown.formula import extract_formulas, placeholder
from app.markdown.split import Block, split, without_thought

_LINE = 400  # characters of a line; a voice that is told to be silent may end the line that it reads
_UNSPACED = "。！？；"  # after which no space comes
_SENTENCE = re.compile(rf"(?<=[.!?…])\s+|(?<=[{_UNSPACED}])")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)\s]*\)")
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:?")
_PICTURE = "\ufffc"  # what Qt has in plain text where an image is
_SIGNS = re.compile(r"[\\{}&]+")  # of LaTeX, that are no words
_SCRIPTS = (
    ("ja", "\u3040", "\u30ff"), ("ko", "\uac00", "\ud7a3"), ("zh", "\u4e00", "\u9fff"), ("ru", "\u0400", "\u04ff"),
    ("el", "\u0370", "\u03ff"), ("he", "\u0590", "\u05ff"), ("ar", "\u0600", "\u06ff"), ("hi", "\u0900", "\u097f"),
    ("th", "\u0e00", "\u0e7f"),
)  # fmt: skip
_LATIN = "latin"
_DENSE, _DENSITY = ("zh", "ja", "ko"), 4  # a word in Latin letters has so many more


def lines_to_read(answer: str) -> list[str]:
    """The lines of an answer that are read: code is named only, formulas are their text, a thought is left out."""
    found: list[str] = []
    for block in split(without_thought(answer)):
        for paragraph in _words(block).split("\n"):
            found += _cut(" ".join(paragraph.split()))
    return found


def language_of(text: str) -> str:
    """Two letters of the language that a voice is needed for, by the script of most letters.

    Languages of Latin letters are not told apart: it is the first of them that the user asks the system for.
    """
    counts = Counter(_script(letter) for letter in text if letter.isalpha())
    for code in _DENSE:
        counts[code] *= _DENSITY
    script = counts.most_common(1)[0][0] if counts.total() else _LATIN
    if script == "zh" and counts["ja"]:
        return "ja"  # whose texts are half of Chinese characters
    wanted = [QLocale(name) for name in [*QLocale.system().uiLanguages(), "en"]]
    if script != _LATIN:
        same = (code for code in map(_code, wanted) if code in _SAME.get(script, ()))
        return next(same, script)
    return next(_code(locale) for locale in wanted if locale.script() == QLocale.Script.LatinScript)


_SAME = {"ru": ("ru", "uk", "bg", "sr", "be", "mk"), "ar": ("ar", "fa", "ur")}  # that share letters


def _code(locale: QLocale) -> str:
    return locale.name().partition("_")[0]


def _script(letter: str) -> str:
    return next((code for code, first, last in _SCRIPTS if first <= letter <= last), _LATIN)


def _words(block: Block) -> str:
    """What is said of a block."""
    if block.kind == "code":
        return tr("Code: {language}", language=block.language) if block.language else tr("Code")
    if block.kind == "rule":
        return ""
    if is_costly(block.text):
        return block.text
    text, formulas = extract_formulas(_NOTE.sub("", _IMAGE.sub(r"\1", block.text)))
    plain = QTextDocumentFragment.fromMarkdown(text).toPlainText().replace(_PICTURE, "")
    for number, formula in enumerate(formulas):
        plain = plain.replace(placeholder(number), _SIGNS.sub(" ", formula.latex))
    return plain


def _cut(paragraph: str) -> Iterator[str]:
    """Lines of a paragraph, none of them longer than _LINE; they end where sentences do, if those are short enough."""
    line = ""
    for sentence in _SENTENCE.split(paragraph):
        while len(sentence) > _LINE:
            at = sentence.rfind(" ", 1, _LINE)
            at = at if at > 0 else _LINE
            yield from filter(None, (line, sentence[:at]))
            line, sentence = "", sentence[at:].lstrip()
        if line and len(line) + len(sentence) >= _LINE:
            yield line
            line = ""
        line = f"{line} {sentence}" if line and line[-1] not in _UNSPACED else line + sentence
    if any(letter.isalnum() for letter in line):
        yield line
