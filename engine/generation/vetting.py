"""Which tokenizers may run in the engine: those of which our own eyes see that nothing in them can go on for ever.

Everything else runs all the same, in the process that read it (model_process), which is slower by a fraction of a
millisecond a token. So whatever is not known here is refused.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from engine.formats.gguf_tokenizer import SPLITS

LONGEST_FILE = 64 << 20  # characters; the largest known, of 262,000 tokens, has 33 million
# some four times the largest (262,144 tokens): in Rust nothing can stop it
TOKENS, MERGES, ADDED = 1_000_000, 2_000_000, 200_000
TOKEN, PIECE = 8_192, 128  # characters of a token, and of a Unigram's, which is tried at every place of a text
ADDED_CHARACTERS = 1 << 20  # of all added tokens, which become one automaton
STEPS, SHORT = 16, 32  # of a sequence; characters of what is put in, looked for or stripped

# Linear by their structure: at most one thing that may be missing, then one thing, once or as often as there is. What
# came so far can never be in vain.
_ITEM = r"(?:\\[pP]\{\w{1,20}\}|\\.|\[\^?(?:\\.|[^\[\]\\&])+\]|[^\\\[\]().|?*+{}^$])"
_PLAIN = re.compile(rf"(?:{_ITEM}\?)?{_ITEM}(?:\+|\{{\d{{1,2}}(?:,\d{{1,2}})?\}})?", re.DOTALL)
# \s+$ looks at a run of spaces again from each of its places
_KNOWN = frozenset(pattern for split in SPLITS.values() for pattern in split.patterns if pattern != r"\s+$")


class Unknown(Exception):
    """What there is that is not known to end soon."""


def why_not(tokenizer: str) -> str:
    """tokenizer: as tokenizers.Tokenizer.to_str writes it. What in it is not known; '' where all is."""
    if len(tokenizer) > LONGEST_FILE:
        return "its length"
    try:
        found = json.loads(tokenizer)
        _demand(found["truncation"] is None and found["padding"] is None, "truncation or padding")
        _added(found["added_tokens"])
        _checked(found["normalizer"], _NORMALIZERS)
        _checked(found["pre_tokenizer"], _PRE_TOKENIZERS)
        _checked(found["post_processor"], _POST_PROCESSORS)
        _checked(found["decoder"], _DECODERS)
        _checked(found["model"], _MODELS)
    except Unknown as e:
        return str(e)
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        return f"{type(e).__name__}: {e}"[:200]
    return ""


def _demand(true: object, what: str) -> None:
    if not true:
        raise Unknown(what[:200])


Checks = dict[str, Callable[[dict[str, Any]], None]]


def _checked(part: dict[str, Any] | None, known: Checks, depth: int = 0) -> None:
    if part is None:
        return
    kind = part["type"]
    if kind == "Sequence":
        (parts,) = (value for value in part.values() if isinstance(value, list))
        _demand(depth < 2 and len(parts) <= STEPS, "a long sequence")
        for each in parts:
            _checked(each, known, depth + 1)
        return
    _demand(kind in known, f"{kind}")
    known[kind](part)


def _nothing(part: dict[str, Any]) -> None:
    """It has no settings that matter."""


def _short(*names: str) -> Callable[[dict[str, Any]], None]:
    def check(part: dict[str, Any]) -> None:
        for name in names:
            _demand(part[name] is None or len(part[name]) <= SHORT, f"{part['type']} of {name}")

    return check


def _pattern(part: dict[str, Any]) -> None:
    ((kind, text),) = part["pattern"].items()
    if kind == "String":
        _demand(0 < len(text) <= SHORT, f"{part['type']} of a long text")
    else:
        _demand(text in _KNOWN or (len(text) <= TOKEN and _PLAIN.fullmatch(text)), f"the expression {text}")


def _replace(part: dict[str, Any]) -> None:
    """What is put in may be no longer than what is taken out."""
    _pattern(part)
    taken = part["pattern"].get("String", "1")
    _demand(len(part["content"]) <= len(taken), "a replacement that makes text longer")


def _prepend(part: dict[str, Any]) -> None:
    _demand(len(part["prepend"]) <= 4, "a long beginning")  # of each stretch between two added tokens


def _strip(part: dict[str, Any]) -> None:
    _demand(max(part["start"], part["stop"]) <= SHORT, "a wide strip")


def _template(part: dict[str, Any]) -> None:
    pieces = [*part["single"], *part["pair"], *part["special_tokens"].values()]
    ids = [i for token in part["special_tokens"].values() for i in token["ids"]]
    _demand(len(pieces) <= SHORT and len(ids) <= SHORT, "a long template")


def _words(tokens: list[str], longest: int) -> None:
    _demand(len(tokens) <= TOKENS, "many tokens")
    _demand(max(map(len, tokens), default=0) <= longest, "a long token")


def _bpe(part: dict[str, Any]) -> None:
    _words(list(part["vocab"]), TOKEN)
    _demand(len(part["merges"]) <= MERGES, "many merges")
    _demand(part["dropout"] is None, "dropout")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        _demand(not part[name] or len(part[name]) <= SHORT, name)


def _unigram(part: dict[str, Any]) -> None:
    _words([piece for piece, _ in part["vocab"]], PIECE)
    _demand(all(isinstance(s, int | float) and math.isfinite(s) for _, s in part["vocab"]), "a score that is no number")


def _word_piece(part: dict[str, Any]) -> None:
    _words(list(part["vocab"]), TOKEN)
    _demand(part["max_input_chars_per_word"] <= 200, "long words")
    _demand(len(part["continuing_subword_prefix"]) <= SHORT, "a long prefix")


def _word_level(part: dict[str, Any]) -> None:
    _words(list(part["vocab"]), TOKEN)


def _added(tokens: list[dict[str, Any]]) -> None:
    _demand(len(tokens) <= ADDED, "many added tokens")
    _demand(sum(len(t["content"]) for t in tokens) <= ADDED_CHARACTERS, "long added tokens")
    # one that takes the spaces before it looks for them from the beginning of the text each time
    _demand(not any(t["lstrip"] for t in tokens), "an added token that takes the spaces before it")


_NORMALIZERS: Checks = {
    **dict.fromkeys(("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Nmt"), _nothing),
    **dict.fromkeys(("BertNormalizer", "ByteLevel"), _nothing),
    "Prepend": _prepend,
    "Replace": _replace,
}
_PRE_TOKENIZERS: Checks = {
    **dict.fromkeys(("ByteLevel", "Whitespace", "WhitespaceSplit", "BertPreTokenizer", "Digits"), _nothing),
    **dict.fromkeys(("Punctuation", "UnicodeScripts", "CharDelimiterSplit"), _nothing),
    "Metaspace": _short("replacement"),
    "Split": _pattern,
}
_POST_PROCESSORS: Checks = {
    **dict.fromkeys(("ByteLevel", "RobertaProcessing", "BertProcessing"), _nothing),
    "TemplateProcessing": _template,
}
_DECODERS: Checks = {
    **dict.fromkeys(("ByteLevel", "ByteFallback", "Fuse"), _nothing),
    "Metaspace": _short("replacement"),
    "WordPiece": _short("prefix"),
    "BPEDecoder": _short("suffix"),
    "Replace": _replace,
    "Strip": _strip,
}
_MODELS: Checks = {"BPE": _bpe, "Unigram": _unigram, "WordPiece": _word_piece, "WordLevel": _word_level}
