"""What may run in the engine: the tokenizers of the families that are known, and nothing that could go on for ever."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from engine.formats.gguf_tokenizer import SPLITS
from engine.generation.vetting import why_not

BPE = {"a": 0, "b": 1, "ab": 2}
SPACE = "\u2581"


def tokenizer(**parts: Any) -> Tokenizer:
    made = Tokenizer(parts.pop("model", None) or models.BPE(BPE, [("a", "b")]))
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def split(pattern: str) -> Tokenizer:
    return tokenizer(pre_tokenizer=pre_tokenizers.Split(Regex(pattern), "isolated"))


@pytest.mark.parametrize("name", [name for name in SPLITS if name != "deepseek-llm"])
def test_patterns_of_known_families_are_known(name: str) -> None:
    parts = [pre_tokenizers.Split(Regex(p), "isolated") for p in SPLITS[name].patterns]
    own = pre_tokenizers.Sequence([*parts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    assert why_not(tokenizer(pre_tokenizer=own, decoder=decoders.ByteLevel()).to_str()) == ""


def test_so_is_what_sentencepiece_makes() -> None:
    made = tokenizer(
        normalizer=normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]),
        decoder=decoders.Sequence(
            [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        ),
        post_processor=processors.TemplateProcessing("a $A", "a $A a $B", [("a", 0)]),
    )
    made.add_special_tokens([AddedToken("<s>", special=True)])
    assert why_not(made.to_str()) == ""
    made = tokenizer(model=models.Unigram([("<unk>", 0.0), ("a", -1.5)], 0), pre_tokenizer=pre_tokenizers.Metaspace())
    assert why_not(made.to_str()) == ""


@pytest.mark.parametrize("pattern", [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u30ff]+", r"\s?[A-Za-z\u00c0-\u00d6]+"])
def test_simple_expressions_need_not_be_known(pattern: str) -> None:
    assert why_not(split(pattern).to_str()) == ""


@pytest.mark.parametrize("pattern", [r"(a+)+b", r"(a|aa)+$", r"\s+$", r"a*a*b", r"(?:a*)*", r"a+b", r"(?=a*b)a"])
def test_others_may_take_for_ever(pattern: str) -> None:
    assert pattern in why_not(split(pattern).to_str())


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"normalizer": normalizers.Prepend("x" * 100)}, "beginning"),
        ({"normalizer": normalizers.Replace("a", "aa")}, "longer"),
        ({"normalizer": normalizers.Replace(Regex("(a*)*b"), "a")}, "expression"),
        ({"normalizer": normalizers.Sequence([normalizers.NFC()] * 100)}, "sequence"),
        ({"decoder": decoders.Strip(" ", 10**9, 0)}, "strip"),
        ({"decoder": decoders.Replace("a", "a" * 10**6)}, "longer"),
        ({"decoder": decoders.CTC()}, "CTC"),
        ({"model": models.BPE(BPE, [("a", "b")], dropout=0.5)}, "dropout"),
        ({"model": models.Unigram([("<unk>", 0.0), ("a" * 5000, -1.0)], 0)}, "long token"),
        ({"model": models.WordPiece({"[UNK]": 0}, unk_token="[UNK]", max_input_chars_per_word=10**6)}, "long words"),
        ({"post_processor": processors.TemplateProcessing(" ".join(["$A"] * 99), "$A $B", [])}, "template"),
    ],
)  # fmt: skip
def test_nothing_may_grow_without_bound(parts: dict[str, Any], says: str) -> None:
    assert says in why_not(tokenizer(**parts).to_str())


def test_nor_pad_nor_look_back() -> None:
    made = tokenizer()
    made.enable_padding(length=10**9)
    assert "padding" in why_not(made.to_str())
    made = tokenizer()
    made.add_tokens([AddedToken("b", lstrip=True)])
    assert "spaces" in why_not(made.to_str())


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"truncation": 1'])
def test_what_is_no_tokenizer_is_not_known(text: str) -> None:
    assert why_not(text)
