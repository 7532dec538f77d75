"""The tokenizer that a GGUF file describes, as the files that hubs keep it in: tokenizer.json and those beside it.

GGUF only names how text is cut up before it is merged into tokens (tokenizer.ggml.pre); the patterns are here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from engine.errors import Kind, UnderhillError
from engine.formats.errors import unsupported_file, unusable_file
from engine.formats.gguf_metadata import Metadata
from engine.translatable import msg

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_QWEN2 = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _REST
_QWEN35 = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}" + _REST.replace(r"\p{L}", r"\p{L}\p{M}")
_LLAMA3 = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _REST
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NOT_HAN = "&&[^\\p{Han}]]"
_KIMI = "[\\p{Han}]+|" + _O200K.replace(_UPPER, _UPPER[:-1] + _NOT_HAN).replace(_LOWER, _LOWER[:-1] + _NOT_HAN).replace(
    "/", ""
)
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
# DeepSeek lists cased letters one by one. Not among them: small Armenian, most Georgian, late Cyrillic and Latin, those
# whose scripts got cases later, and the bold, slanted and double letters of mathematics.
_UNLISTED = (
    "\u0560-\u0588\u10c7\u10cd\u10d0-\u10ff\u1c80-\u1c8f\u2d00-\u2d2d\ua790-\ua7ff\uab30-\uab68\U00010570-\U000105bc"
    "\U00010d50-\U00010d8f\U00016e40-\U00016eff\U0001d400-\U0001d7cb\U0001df00-\U0001dfff"
)
_CASED = rf"[\p{{Lu}}\p{{Ll}}\p{{Lt}}&&[^{_UNLISTED}]]"
_DEEPSEEK2 = (
    r"[\r\n]",
    rf"\s?{_CASED}+",
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
    r"\s+$",
    "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
    r"\p{N}",
)
_DEEPSEEK3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


@dataclass(frozen=True)
class Split:
    """Patterns, applied one after the other to what those before left whole.

    composed: text is put into Unicode's NFC first. whole: a piece that is a token is taken before any merging.
    """

    patterns: tuple[str, ...]
    composed: bool = False
    whole: bool = False


_LLAMA3_SPLIT = Split((_LLAMA3,), whole=True)
_QWEN2_SPLIT = Split((_QWEN2,), composed=True)

SPLITS: dict[str, Split] = {
    "chatglm-bpe": Split((_LLAMA3,)),
    "dbrx": Split((_LLAMA3,)),
    "deepseek-llm": Split(_DEEPSEEK2),
    "deepseek-r1-qwen": _QWEN2_SPLIT,
    "deepseek-v3": Split(_DEEPSEEK3),
    "glm4": Split((_LLAMA3,)),
    "gpt-2": Split((_GPT2,)),
    "gpt-4o": Split((_O200K,)),
    "hunyuan": Split((_QWEN2,)),
    "kimi-k2": Split((_KIMI,)),
    "lfm2": _LLAMA3_SPLIT,
    "llama-bpe": _LLAMA3_SPLIT,
    "llama-v3": _LLAMA3_SPLIT,
    "llama3": _LLAMA3_SPLIT,
    "minimax-m2": Split((_O200K,)),
    "olmo": Split((_GPT2,), composed=True),
    "qwen2": _QWEN2_SPLIT,
    "qwen35": Split((_QWEN35,), composed=True),
    "refact": Split((r"\p{N}", _GPT2)),
    "smaug-bpe": Split((_LLAMA3,)),
    "solar-open": Split((_QWEN2,)),
}


BYTE_LEVEL, SENTENCES = "gpt2", "llama"  # tokenizer.ggml.model
UNKNOWN, CONTROL, USER_DEFINED, BYTE = 2, 3, 4, 6  # tokenizer.ggml.token_type
SPACE = "\u2581"
# SentencePiece trains no token of more characters (trainer_interface.cc), and none of more than 16 unless asked to.
LONGEST = 512
MANY, EACH = 1_000_000, 16  # merges, and of each token where there are more: one of 16 characters has 15 at the most
_ENDS = ("eos", "eot", "eom")
_NAME = re.compile(r"[^\s:$]+")


def tokenizer_files(m: Metadata) -> dict[str, str]:
    """File name -> text: tokenizer, its settings, the tokens that end an answer, and the chat template if there is one.

    Raises UnderhillError: UNSUPPORTED_MODEL for kinds of vocabulary that are not known, BROKEN_FILE.
    """
    # a token without characters is a place that the model has and no text: each gets a name, as llama.cpp gives it one
    tokens = [token or f"[EMPTY_{n}]" for n, token in enumerate(m.strings("tokenizer.ggml.tokens"))]
    tokenizer = _tokenizer(m, tokens)
    settings: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": m.integer("context_length"),
    }
    for name, which in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
        number = m.token(which)
        if number is not None and number < len(tokens):
            settings[f"{name}_token"] = tokens[number]
    ends = sorted({n for which in _ENDS if (n := m.token(which)) is not None})
    found = {
        "tokenizer.json": tokenizer.to_str(),
        "tokenizer_config.json": json.dumps(settings, ensure_ascii=False, indent=2, sort_keys=True),
    }
    if ends:
        found["generation_config.json"] = json.dumps({"eos_token_id": ends})
    template = m.general("tokenizer.chat_template", str, "")
    if template:
        found["chat_template.jinja"] = template
    return found


def _tokenizer(m: Metadata, tokens: list[str]) -> Tokenizer:
    kind = m.general("tokenizer.ggml.model", str, "")
    types = m.numbers("tokenizer.ggml.token_type") or [1] * len(tokens)
    if not tokens or len(types) != len(tokens):
        raise _broken(msg("its vocabulary is not complete"))
    if len(set(tokens)) != len(tokens):  # one of the two could be neither written nor read
        twice = next(token for token, count in Counter(tokens).items() if count > 1)
        raise _broken(msg("its vocabulary has {twice} more than once", twice=repr(twice[:40])))
    if kind == BYTE_LEVEL:
        tokenizer = _byte_level(m, tokens)
    elif kind == SENTENCES:
        tokenizer = _sentences(m, tokens, types)
    else:
        raise unsupported_file(
            msg(
                "The vocabulary of this GGUF file is of the kind {kind}, which Underhill does not read from GGUF.",
                kind=repr(kind),
            )
        )
    known = tokenizer.get_vocab()
    added = {CONTROL: tokenizer.add_special_tokens, USER_DEFINED: tokenizer.add_tokens}
    for wanted, add in added.items():  # all at once: each call looks through all that were added before
        some = (token for token, sort in zip(tokens, types, strict=True) if sort == wanted and token in known)
        add([AddedToken(token, normalized=False, special=wanted == CONTROL) for token in some])
    bos = m.token("bos")
    if bos is not None and bos < len(tokens) and m.general("tokenizer.ggml.add_bos_token", bool, kind == SENTENCES):
        name = tokens[bos] if _NAME.fullmatch(tokens[bos]) else "BOS"  # in templates some characters mean something
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{name} $A", pair=f"{name} $A {name} $B", special_tokens=[(name, bos)]
        )
    return tokenizer


def _byte_level(m: Metadata, tokens: list[str]) -> Tokenizer:
    """Bytes spelled as letters, merged in a given order."""
    pre = m.general("tokenizer.ggml.pre", str, "")
    if pre not in SPLITS:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg(
                "The tokenizer of this GGUF file splits text by the rules {pre}, which Underhill does not know.",
                pre=repr(pre),
            )
            if pre
            else msg("This GGUF file is from before files said how their tokenizer splits text."),
            msg("Get the model in safetensors format, or a newer GGUF file of it."),
        )
    split = SPLITS[pre]
    merges = []
    for merge in m.strings("tokenizer.ggml.merges"):
        left, gap, right = merge.partition(" ")
        if not left or not gap or not right:
            raise _broken(msg("the merge {merge} is not of two tokens", merge=repr(merge)))
        merges.append((left, right))
    tokenizer = _bpe(tokens, merges, ignore_merges=split.whole)
    if split.composed:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in split.patterns]
        + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _sentences(m: Metadata, tokens: list[str], types: list[float]) -> Tokenizer:
    """SentencePiece's: spaces spelled out, any two pieces merged whose whole has the highest score."""
    scores = m.numbers("tokenizer.ggml.scores")
    if len(scores) != len(tokens):
        raise _broken(msg("its vocabulary has no scores"))
    unknown = m.token("unknown")
    number = unknown if unknown is not None else next((i for i, t in enumerate(types) if t == UNKNOWN), None)
    tokenizer = _bpe(
        tokens,
        _merges(tokens, scores, types),
        byte_fallback=BYTE in types,
        fuse_unk=True,
        unk_token=tokens[number] if number is not None and number < len(tokens) else None,
    )
    prefix = m.general("tokenizer.ggml.add_space_prefix", bool, True)
    spelled = normalizers.Replace(" ", SPACE)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), spelled]) if prefix else spelled
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
        + ([decoders.Strip(" ", 1, 0)] if prefix else [])
    )
    return tokenizer


def _merges(tokens: list[str], scores: list[float], types: list[float]) -> list[tuple[str, str]]:
    """Every way in which a token is two others, the highest scores first. What users defined is found before that.

    Raises UnderhillError(BROKEN_FILE) for what no trainer makes: it would take hours, or all memory.
    """
    vocabulary: dict[str, float] = {}
    for token, score, sort in zip(tokens, scores, types, strict=True):
        if len(token) <= LONGEST:
            if sort not in (CONTROL, BYTE):
                vocabulary[token] = score
        elif sort not in (CONTROL, BYTE, USER_DEFINED):
            raise _broken(msg("its vocabulary has a token of {token} characters", token=f"{len(token):,}"))
    found: list[tuple[float, int, int, str, str]] = []
    most = max(MANY, EACH * len(tokens))
    for number, (token, score) in enumerate(vocabulary.items()):
        found += (
            (-score, number, cut, token[:cut], token[cut:])
            for cut in range(1, len(token))
            if token[:cut] in vocabulary and token[cut:] in vocabulary
        )
        if len(found) > most:
            raise _broken(msg("its tokens are made of each other in too many ways"))
    return [(left, right) for *_, left, right in sorted(found)]


def _bpe(tokens: list[str], merges: list[tuple[str, str]], **settings: Any) -> Tokenizer:
    try:
        return Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, merges, **settings))
    except Exception as cause:  # the library raises its own kind for merges of tokens that are not there
        raise _broken(msg("its merges and its vocabulary do not fit together")) from cause


def _broken(what: str) -> UnderhillError:
    return unusable_file(msg("The tokenizer of this GGUF file is not usable: {what}.", what=what))
