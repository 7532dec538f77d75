"""What a model is good at is taken from what its page says, and never guessed."""

from __future__ import annotations

from typing import Any

import pytest
from huggingface_hub.hf_api import ModelInfo

from engine.hub.uses import stated_uses


def stated(name: str, **page: Any) -> tuple[str, ...]:
    return stated_uses(ModelInfo(id=f"coder/{name}", **page))  # who made it says nothing


@pytest.mark.parametrize(
    ("name", "uses"),
    [
        ("Qwen3-Coder-30B-A3B-Instruct-GGUF", ("code",)),
        ("Qwen3-30B-A3B-Thinking-2507", ("thinking",)),
        ("Kimi_K2_Thinking.coder", ("thinking", "code")),
        ("moe-Non-Thinking", ()),
        ("moe-no_reasoning-v2", ()),
        ("Encoder-MoE", ()),
        ("Qwen3-30B-A3B-Instruct-2507", ()),
    ],
)
def test_by_its_name(name: str, uses: tuple[str, ...]) -> None:
    assert stated(name) == uses


def test_by_its_tags() -> None:
    assert stated("moe", tags=["Code", "moe", "reasoning", "image-text-to-text"]) == ("thinking", "code")
    assert stated("moe", tags=["non-thinking", "base_model:a/Coder"]) == ()


@pytest.mark.parametrize(
    "page",
    [
        {"config": {"tokenizer_config": {"chat_template": "{% if enable_thinking %}"}}},
        {"config": {"chat_template_jinja": "{% if enable_thinking %}"}},
        {"gguf": {"chat_template": "{% if enable_thinking %}"}},
    ],
)
def test_by_the_switch_of_its_chat_template(page: dict[str, Any]) -> None:
    assert stated("moe", **page) == ("thinking",)


@pytest.mark.parametrize(
    "page",
    [
        {"config": None, "gguf": []},
        {"config": {"tokenizer_config": [], "chat_template_jinja": 3}},
        {"config": {"tokenizer_config": {"chat_template": [{"name": "default", "template": "enable_thinking"}]}}},
        {"config": {"tokenizer_config": {"chat_template": "{{ messages }}"}}},
    ],
)
def test_what_a_page_does_not_say_is_not_known(page: dict[str, Any]) -> None:
    assert stated("moe", **page) == ()
