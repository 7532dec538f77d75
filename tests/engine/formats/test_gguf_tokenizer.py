"""Tokenizers come back out of a GGUF file's metadata: the same tokens for the same text."""

from __future__ import annotations

import json
import unicodedata
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex as Pattern
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.formats.gguf_metadata import Metadata
from engine.formats.gguf_tokenizer import SPLITS, tokenizer_files
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message

TEXTS = [
    "Hello, world! It's 12345 o'clock.", "  two  spaces\n\n\tand tabs ", "Ünïcödé e\u0301 中文 テスト 🙂", "", " ", "a",
    "def f(x):\n    return x**2  # 3.14", "<|im_start|>user\nHi<|im_end|>", "DON'T we'll I'VE",
]  # fmt: skip
BASE = {"general.architecture": "qwen3moe", "qwen3moe.context_length": 512}


def builtin() -> tuple[dict[str, Any], Tokenizer]:
    """The built-in model's tokenizer as metadata, and itself."""
    folder = resources.path("builtin", "model")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    added = tokenizer.get_added_tokens_decoder()
    tokens = [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    return {
        **BASE, "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.token_type": [(3 if added[i].special else 4) if i in added else 1 for i in range(len(tokens))],
        "tokenizer.ggml.eos_token_id": tokens.index("<|im_end|>"),
        "tokenizer.ggml.padding_token_id": tokens.index("<|endoftext|>"),
        "tokenizer.chat_template": (folder / "chat_template.jinja").read_text(encoding="utf-8"),
    }, tokenizer  # fmt: skip


def written(metadata: dict[str, Any], folder: Path) -> ChatFormat:
    for name, text in tokenizer_files(Metadata(metadata)).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "config.json").write_text('{"model_type": "qwen3_moe"}', encoding="utf-8")
    return ChatFormat(folder)


def test_a_byte_level_tokenizer_and_its_template(tmp_path: Path) -> None:
    metadata, tokenizer = builtin()
    ours = written(metadata, tmp_path)
    for text in map(partial(unicodedata.normalize, "NFC"), TEXTS):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert ours.encode(text) == ids
        assert ours.decode(ids) == tokenizer.decode(ids)
    assert ours.encode("e\u0301") == ours.encode("\u00e9")  # as Qwen's own, which the built-in model leaves out
    theirs = ChatFormat(resources.path("builtin", "model"))
    chat = [Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "Who are you?")]
    assert ours.prompt(chat) == theirs.prompt(chat)
    assert metadata["tokenizer.ggml.eos_token_id"] in ours.stop_ids


def test_the_same_file_every_time() -> None:
    metadata, _ = builtin()
    assert tokenizer_files(Metadata(metadata)) == tokenizer_files(Metadata(dict(reversed(metadata.items()))))


def sentences() -> tuple[dict[str, Any], Tokenizer]:
    """A small SentencePiece-like tokenizer, as converters write Llama's, and the metadata of it."""
    trained = Tokenizer(BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    trained.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>"]
    bytes_ = [f"<0x{b:02X}>" for b in range(256)]
    texts = ["the quick brown fox jumps over the lazy dog", "hello there, all the other foxes"] * 3
    trained.train_from_iterator(texts, BpeTrainer(vocab_size=360, special_tokens=special + bytes_))
    tokens = [trained.id_to_token(i) for i in range(trained.get_vocab_size())]
    count = len(special) + len(bytes_)
    return {
        **BASE, "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * count + [-float(i) for i in range(len(tokens) - count)],
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * (len(tokens) - count),
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
    }, trained  # fmt: skip


def test_a_sentencepiece_tokenizer(tmp_path: Path) -> None:
    metadata, trained = sentences()
    ours = written(metadata, tmp_path)
    for text in ["the quick brown fox", "hello  there, 中 dog\n", "over", " lazy "]:
        ids = trained.encode(text, add_special_tokens=False).ids
        assert ours.encode(text) == ids
        assert ours.decode(ids) == text
    assert ours.tokenizer.encode("fox").ids[0] == 1  # begins with <s> unless told otherwise
    assert ours.encode("</s>") == [2]


def test_no_prefix_where_the_file_says_so(tmp_path: Path) -> None:
    metadata, _ = sentences()
    ours = written({**metadata, "tokenizer.ggml.add_space_prefix": False}, tmp_path)
    assert not ours.tokenizer.encode("fox", add_special_tokens=False).tokens[0].startswith("\u2581")


def changed(more: list[str], types: list[int]) -> Metadata:
    metadata, _ = sentences()
    for key, values in (("tokens", more), ("token_type", types), ("scores", [-9.0] * len(more))):
        metadata[f"tokenizer.ggml.{key}"] = [*metadata[f"tokenizer.ggml.{key}"], *values]
    return Metadata(metadata)


def test_a_token_that_no_trainer_makes_is_refused_before_it_is_cut_in_every_way() -> None:
    """At a million characters that alone took two minutes, and four times as long for twice as many."""
    with pytest.raises(UnderhillError, match="a token of 20,000,000 characters") as caught:
        tokenizer_files(changed(["x" * 20_000_000], [1]))
    assert caught.value.kind is Kind.BROKEN_FILE


def test_a_long_text_that_users_defined_is_a_token() -> None:
    longest = "y" * 512
    found = Tokenizer.from_str(tokenizer_files(changed(["z" * 5000, longest], [4, 1]))["tokenizer.json"])
    number = found.token_to_id("z" * 5000)
    assert number in found.encode("fox" + "z" * 5000).ids
    assert found.token_to_id(longest) == number + 1


def test_tokens_that_are_made_of_each_other_in_millions_of_ways_are_refused() -> None:
    """300 000 of them, in 80 MB of a file, would be 76 million merges."""
    letters = [chr(0x4E00 + n) for n in range(60)]
    runs = [c + "q" * n for c in ["", *letters] for n in range(512)][1:]
    with pytest.raises(UnderhillError, match="too many ways"):
        tokenizer_files(changed([run for run in runs if len(run) > 1], [1] * sum(len(run) > 1 for run in runs)))


@pytest.mark.parametrize("pre", SPLITS)
def test_every_split_leaves_no_character_out(pre: str) -> None:
    split = SPLITS[pre]
    cut = pre_tokenizers.Sequence([pre_tokenizers.Split(Pattern(p), "isolated") for p in split.patterns])
    for text in TEXTS:
        assert "".join(piece for piece, _ in cut.pre_tokenize_str(text)) == text
    assert len(cut.pre_tokenize_str("one two, 3")) > 3


@pytest.mark.parametrize(
    ("text", "pre", "pieces"),
    [
        ("it's 12345", "qwen2", ["it", "'s", " ", "1", "2", "3", "4", "5"]),
        ("it's 12345", "llama-bpe", ["it", "'s", " ", "123", "45"]),
        ("it's 12345", "gpt-2", ["it", "'s", " 12345"]),
        ("it's 123", "refact", ["it", "'s", " ", "1", "2", "3"]),
        ("it's helloWorld 12345", "gpt-4o", ["it's", " hello", "World", " ", "123", "45"]),
        ("a.b 12345 中文x", "deepseek-v3", ["a", ".b", " ", "123", "45", " ", "中文", "x"]),
        ("it's helloWorld 中文x", "kimi-k2", ["it's", " hello", "World", " ", "中文", "x"]),
        ("ab 12\n中文", "deepseek-llm", ["ab", " ", "1", "2", "\n", "中文"]),
        ("let \U0001d400\U0001d44f ab", "deepseek-llm", ["let", " \U0001d400\U0001d44f", " ab"]),
        ("x\U0001d6fcy ℝ ﬀ Ω", "deepseek-llm", ["x", "\U0001d6fc", "y", " ", "ℝ", " ﬀ", " Ω"]),
        ("Աա Ↄꞌꞑ", "deepseek-llm", ["Ա", "ա", " ", "Ↄ", "ꞌ", "ꞑ"]),
    ],
)
def test_splits_by_hand(text: str, pre: str, pieces: list[str]) -> None:
    cut = pre_tokenizers.Sequence([pre_tokenizers.Split(Pattern(p), "isolated") for p in SPLITS[pre].patterns])
    assert [piece for piece, _ in cut.pre_tokenize_str(text)] == pieces


def test_places_without_a_text_are_many_and_keep_their_numbers() -> None:
    data = builtin()[0]
    tokens = data["tokenizer.ggml.tokens"]
    types = [*data["tokenizer.ggml.token_type"], 5, 5]
    files = tokenizer_files(
        Metadata({**data, "tokenizer.ggml.tokens": [*tokens, "", ""], "tokenizer.ggml.token_type": types})
    )
    assert Tokenizer.from_str(files["tokenizer.json"]).get_vocab_size() == len(tokens) + 2


@pytest.mark.parametrize(
    ("change", "kind", "sentence"),
    [
        ({"tokenizer.ggml.model": "t5"}, Kind.UNSUPPORTED_MODEL, "kind 't5'"),
        ({"tokenizer.ggml.pre": "martian"}, Kind.UNSUPPORTED_MODEL, "rules 'martian'"),
        ({"tokenizer.ggml.pre": ""}, Kind.UNSUPPORTED_MODEL, "from before"),
        ({"tokenizer.ggml.tokens": []}, Kind.BROKEN_FILE, "not complete"),
        ({"tokenizer.ggml.tokens": "no list"}, Kind.BROKEN_FILE, "no list of texts"),
        (
            {"tokenizer.ggml.tokens": [*builtin()[0]["tokenizer.ggml.tokens"][:-1], "a"]},
            Kind.BROKEN_FILE,
            "'a' more than once",
        ),
        ({"tokenizer.ggml.merges": ["nothing"]}, Kind.BROKEN_FILE, "not of two tokens"),
        ({"tokenizer.ggml.merges": ["never there"]}, Kind.BROKEN_FILE, "do not fit together"),
        ({"tokenizer.ggml.model": "llama"}, Kind.BROKEN_FILE, "no scores"),
    ],
)
def test_what_cannot_be_rebuilt_is_said(change: dict[str, Any], kind: Kind, sentence: str) -> None:
    with pytest.raises(UnderhillError, match=sentence) as caught:
        tokenizer_files(Metadata({**builtin()[0], **change}))
    assert caught.value.kind is kind


@pytest.mark.parametrize("spelled", ["a b", "x:1", " ", "$A", "", "[BOS]"])
def test_the_first_token_may_be_spelled_in_any_way(spelled: str) -> None:
    metadata, _ = builtin()
    tokens, types = (list(metadata[f"tokenizer.ggml.{key}"]) for key in ("tokens", "token_type"))
    number = tokens.index("<|endoftext|>")
    tokens[number] = spelled
    metadata |= {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types,
                 "tokenizer.ggml.bos_token_id": number, "tokenizer.ggml.add_bos_token": True}  # fmt: skip
    found = Tokenizer.from_str(tokenizer_files(Metadata(metadata))["tokenizer.json"])
    without = found.encode("Hello", add_special_tokens=False).ids
    assert found.encode("Hello").ids == [number, *without]
