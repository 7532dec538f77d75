"""Terms of a text for full-text search, in any script.

SQLite's FTS5 splits at spaces and signs. Scripts that are written without spaces are split here: each character, and
each pair of neighbours, is a term, so that 缓存 is found within 专家缓存的大小.
"""

from __future__ import annotations

import re

# Ideographs, kana, hangul, Thai, Lao, Khmer and Burmese. Not their marks, at which runs end.
_RUN = re.compile(
    "[\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1780-\u17d2\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"\w+")
_MOST = 64  # terms of a question
# Words of questions that say nothing about what is asked for; in a few short documents they would count as rare.
_SAYS_NOTHING = frozenset(
    "a about after an and any are as at be been by can could did do does for from had has have how i if in into is it "
    "its may me my of on or our should so than that the their them there these they this to was we were what when "
    "where which who why will with would you your".split()
)


def indexed(text: str) -> str:
    """Text as the index is to have it."""
    return _RUN.sub(lambda run: f" {' '.join([*run[0], *_pairs(run[0])])} ", text)


def question(text: str) -> str:
    """Expression for FTS5's MATCH that finds passages with any of the terms; '' where there are none."""
    words = _WORD.findall(_RUN.sub(" ", text.lower()).replace("_", " "))
    pairs = [term for run in _RUN.findall(text) for term in (_pairs(run) or [run])]
    terms = list(dict.fromkeys([*(word for word in words if word not in _SAYS_NOTHING), *pairs]))[:_MOST]
    return " OR ".join(f'"{term}"' for term in terms)


def spaceless(text: str) -> int:
    """How many characters of a text are in a script without spaces."""
    return sum(len(run) for run in _RUN.findall(text))


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
