"""How each vocabulary wants text cut up before it is merged into tokens, by what GGUF calls it (tokenizer.ggml.pre).

A GGUF file keeps the name alone. The patterns are those in the models' own tokenizer.json files.
"""

from __future__ import annotations

from dataclasses import dataclass

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
