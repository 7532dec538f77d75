"""The shipped checkpoint: what anyone who opens it with plain transformers finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(__file__).resolve().parents[3] / "resources" / "builtin" / "model"


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def ask(folder: Path, tokenizer: Any) -> Ask:
    """Greedy answer to a chat given as user and assistant lines in turn."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def answer(*lines: str) -> str:
        messages = [{"role": ("user", "assistant")[i % 2], "content": line} for i, line in enumerate(lines)]
        ids = torch.tensor(
            [tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)]
        )
        with torch.no_grad():
            out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=60)
        assert out[0, -1] == tokenizer.eos_token_id, "the answer does not end"
        return str(tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True))

    return answer


def test_it_is_small_and_of_a_standard_architecture(folder: Path) -> None:
    assert sum(f.stat().st_size for f in folder.iterdir()) <= 40_000_000
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["architectures"] == ["Qwen3MoeForCausalLM"]
    assert "auto_map" not in config  # no remote code
    assert config["hidden_size"] % 64 == config["moe_intermediate_size"] % 64 == 0
    assert {f.suffix for f in folder.iterdir()} == {".json", ".jinja", ".safetensors"}


def test_every_tensor_is_finite_bfloat16(folder: Path) -> None:
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        for name in file.keys():  # noqa: SIM118
            tensor = file.get_tensor(name)
            assert tensor.dtype == torch.bfloat16, name
            assert torch.isfinite(tensor).all(), name


@pytest.mark.parametrize("text", ["Hello!", "naïve façade 東京 ¿qué?", "👩‍🚀 🙂", "a\n\n  b\t c ", "12 + 7 = 19"])
def test_any_text_survives_the_tokenizer(tokenizer: Any, text: str) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_template_marks_turns_with_single_tokens(tokenizer: Any) -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    assert text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n"
    ids = tokenizer(text)["input_ids"]
    assert ids.count(1) == ids.count(2) == 2
    assert tokenizer.eos_token_id == 2


def test_it_greets(ask: Ask) -> None:
    assert ask("Hello!").startswith(("Hello", "Hi"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [("What is the capital of France?", "Paris"), ("What is the opposite of hot?", "cold"), ("What is 2 + 3?", "5")],
)
def test_it_answers_simple_questions(ask: Ask, question: str, answer: str) -> None:
    assert answer in ask(question)


def test_it_says_what_it_is(ask: Ask) -> None:
    answer = ask("Who are you?")
    assert "small" in answer
    assert "Underhill" in answer


def test_it_remembers_within_a_chat(ask: Ask) -> None:
    assert "Clara" in ask("My name is Clara.", "Nice to meet you, Clara!", "What is my name?")
