"""Tokenizers that never end, take all memory or end their process: one sentence, in time, and this process lives."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.generation import chat as chat_module
from engine.generation import model_files
from engine.generation.chat import ChatFormat
from engine.generation.detokenize import Detokenizer
from engine.generation.messages import Message
from engine.generation.sandboxed_tokenizer import SandboxedTokenizer

pytestmark = pytest.mark.long

MODEL = resources.path("builtin", "model")
CHAT = [Message("user", "Hi"), Message("assistant", "Hello 😀."), Message("user", "More <|im_end|> please")]
Change = Callable[[dict[str, Any]], object]


def having(folder: Path, change: Change) -> Path:
    """The built-in model, its tokenizer.json changed."""
    shutil.copytree(MODEL, folder)
    file = folder / "tokenizer.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    change(found)
    file.write_text(json.dumps(found), encoding="utf-8")
    return folder


def splits(pattern: str) -> Change:
    part = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return lambda found: found["pre_tokenizer"]["pretokenizers"].insert(0, part)


def normalizes(**part: Any) -> Change:
    return lambda found: found.update(normalizer=part)


def decodes(**part: Any) -> Change:
    return lambda found: found.update(decoder=part)


def fixed_padding(found: dict[str, Any]) -> None:
    found["padding"] = {
        "strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "<|endoftext|>",
    }  # fmt: skip


def scores_without_number(found: dict[str, Any]) -> None:
    found["model"] = {"type": "Unigram", "unk_id": 0, "vocab": [["a", float("nan")]], "byte_fallback": False}


@pytest.fixture(scope="module")
def builtin() -> ChatFormat:
    return ChatFormat(MODEL)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> ChatFormat:
    """As the built-in one, but for an expression that never matches and that nobody knows."""
    return ChatFormat(having(tmp_path_factory.mktemp("odd") / "model", splits("(?:\x05\x06)")))


def test_what_is_known_runs_here_and_all_else_apart(builtin: ChatFormat, odd: ChatFormat) -> None:
    assert not isinstance(builtin.tokenizer, SandboxedTokenizer)
    assert isinstance(odd.tokenizer, SandboxedTokenizer)


def test_apart_it_does_the_same(builtin: ChatFormat, odd: ChatFormat) -> None:
    text = "Hello, 123 wörld! 😀 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16") + "\n  <|im_end|>"
    ids = builtin.encode(text)
    assert odd.encode(text) == ids
    assert odd.decode(ids) == builtin.decode(ids)
    assert odd.prompt(CHAT) == builtin.prompt(CHAT)
    assert odd.stop_ids == builtin.stop_ids
    assert odd.tokenizer.get_vocab_size() == builtin.tokenizer.get_vocab_size()
    assert odd.tokenizer.token_to_id("<|im_end|>") == builtin.tokenizer.token_to_id("<|im_end|>")
    assert odd.tokenizer.token_to_id("no such token") is None
    here, apart = Detokenizer(builtin.tokenizer, ids[:3]), Detokenizer(odd.tokenizer, ids[:3])
    for token in ids[3:-1]:
        assert apart.add(token) == here.add(token)
    assert apart.flush() == here.flush()


def test_an_answer_goes_on_in_another_process_where_its_own_was_ended(odd: ChatFormat) -> None:
    ids = odd.encode("One two three four")
    pieces = Detokenizer(odd.tokenizer)
    said = pieces.add(ids[0])
    child = psutil.Process(model_files.PROCESS.pid)
    child.kill()
    child.wait(60)
    assert (said + "".join(map(pieces.add, ids[1:])) + pieces.flush()).split() == ["One", "two", "three", "four"]


def test_a_long_text_is_encoded_apart_and_can_be_stopped(builtin: ChatFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "A sentence of some words, 12345. " * 3000
    assert len(text) > chat_module.LONG
    apart = builtin.encode(text)
    monkeypatch.setattr(chat_module, "LONG", len(text))
    assert builtin.encode(text) == apart


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (splits("(a+)+b"), "failed|too long"),
        (splits("(a|aa)+$"), "failed|too long"),
        (normalizes(type="Prepend", prepend="x" * 50_000_000), "too much|too long"),
        (normalizes(type="Replace", pattern={"String": "a"}, content="x" * 1_000_000), "too much|too long"),
    ],
    ids=["nested", "alternatives", "prepend", "replace"],
)
def test_text_on_which_it_does_not_end_is_refused(
    change: Change, says: str, builtin: ChatFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "USE_SECONDS", 3.0)
    held = psutil.Process().memory_info().rss
    begun = time.monotonic()
    with pytest.raises(UnderhillError, match=says) as error:
        ChatFormat(having(tmp_path / "evil", change)).prompt([Message("user", "a" * 5000 + "!")])
    assert (error.value.kind, bool(error.value.action)) == (Kind.BROKEN_FILE, True)
    assert time.monotonic() - begun < model_files.LOAD_SECONDS
    assert psutil.Process().memory_info().rss - held < 400_000_000
    assert builtin.prompt(CHAT).ids


@pytest.mark.parametrize("change", [fixed_padding], ids=["padding"])
def test_what_training_wanted_is_not_done(change: Change, builtin: ChatFormat, tmp_path: Path) -> None:
    chat = ChatFormat(having(tmp_path / "padded", change))
    assert chat.prompt(CHAT) == builtin.prompt(CHAT)


@pytest.mark.parametrize(
    "change",
    [
        decodes(type="Strip", content=" ", start=4_000_000_000, stop=4_000_000_000),
        decodes(type="Replace", pattern={"String": "e"}, content="e" * 10_000_000),
        decodes(type="CTC", pad_token="", word_delimiter_token="", cleanup=True),
        normalizes(type="Precompiled", precompiled_charsmap="AAAA"),
        scores_without_number,
        lambda found: found["model"].update(merges=[["no such", "tokens"]]),
        lambda found: found["model"].update(vocab={"a": 4_000_000_000}, merges=[]),
        lambda found: found.update(model=json.loads("[" * 900 + "]" * 900)),
    ],
    ids=["strip", "replace", "ctc", "charsmap", "nan", "merges", "numbers", "deep"],
)
def test_oddities_end_in_an_answer_or_in_a_sentence(
    change: Change, builtin: ChatFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "USE_SECONDS", 5.0)
    refused = None
    try:
        chat = ChatFormat(having(tmp_path / "odd", change))
        ids = chat.prompt(CHAT).ids
        pieces = Detokenizer(chat.tokenizer)
        for token in ids:
            pieces.add(token)
        pieces.flush()
    except UnderhillError as e:
        refused = e
    assert refused is None or (refused.kind is Kind.BROKEN_FILE and refused.action)
    assert builtin.prompt(CHAT).ids
