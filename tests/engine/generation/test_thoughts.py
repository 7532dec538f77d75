"""Thoughts come out in one way, whichever way a model marks them, and are timed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tokenizers import AddedToken

from engine import resources
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message
from engine.generation.thoughts import reader, without_thought

MODEL = resources.path("builtin", "model")
HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>")
QWEN = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)


def model(tmp_path: Path, template: str, tokens: tuple[str, ...], special: bool) -> ChatFormat:
    folder = tmp_path / "model"
    shutil.copytree(MODEL, folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    chat = ChatFormat(folder)
    chat.tokenizer.add_tokens([AddedToken(t, special=special) for t in tokens])
    if special:
        chat.tokenizer.add_special_tokens([AddedToken(t, special=True) for t in tokens])
    chat.channels.__init__(chat.tokenizer)  # type: ignore[misc]
    return chat


def said(chat: ChatFormat, text: str, begun: bool = False) -> tuple[str, float]:
    read = reader(chat.tokenizer, chat.channels, (), begun)
    shown = "".join(read.add(token) for token in chat.encode(text)) + read.flush()
    return shown, read.seconds


@pytest.mark.parametrize("special", [False, True])
def test_tags_of_the_models_own_come_out_as_they_are(tmp_path: Path, special: bool) -> None:
    chat = model(tmp_path, QWEN, ("<think>", "</think>"), special)
    shown, seconds = said(chat, "<think>\nhm, so\n</think>\n\nYes.")
    assert shown.split() == ["<think>", "hm,", "so", "</think>", "Yes."]
    assert seconds > 0
    assert said(chat, "Just so.") == ("Just so.", 0.0)


def test_channels_become_a_thought_and_an_answer(tmp_path: Path) -> None:
    chat = model(tmp_path, QWEN, HARMONY, True)
    text = (
        "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant<|channel|>commentary<|message|>More."
        "<|end|><|start|>assistant<|channel|>final<|message|>The answer."
    )
    shown, seconds = said(chat, text)
    assert shown == "<think>\nThey ask.\n\nMore.\n</think>\n\nThe answer."
    assert seconds > 0
    assert said(chat, "<|channel|>final<|message|>At once.") == ("At once.", 0.0)


def test_a_thought_that_the_prompt_opened_is_opened_in_the_text(tmp_path: Path) -> None:
    chat = model(tmp_path, QWEN.replace("{% if enable", "<think>\n{% if enable"), (), False)
    prompt = chat.prompt([Message("user", "Hi")])
    assert prompt.thinking
    shown, seconds = said(chat, "hm</think>Yes.", prompt.thinking)
    assert shown == "<think>\nhm</think>Yes."
    assert seconds > 0


def test_the_switch_reaches_the_template(tmp_path: Path) -> None:
    chat = model(tmp_path, QWEN, (), False)
    assert chat.thinking
    ends = [chat.decode(chat.prompt([Message("user", "Hi")], thinking=t).ids)[-12:] for t in (None, True, False)]
    assert ends[0] == ends[1] != ends[2]
    assert ends[2].rstrip().endswith("</think>")


def test_a_template_that_knows_no_thoughts_is_not_shown_any(tmp_path: Path) -> None:
    plain = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    chat = model(tmp_path, plain, (), False)
    prompt = chat.prompt([Message("user", "Hi"), Message("assistant", "<think>\nsecret\n</think>\n\nHello.")])
    assert "secret" not in chat.decode(prompt.ids)
    assert "Hello." in chat.decode(prompt.ids)


def test_without_thought() -> None:
    assert without_thought("<think>\na\n</think>\n\nb") == "b"
    assert without_thought("a </think> b") == "a </think> b"
    assert without_thought("<think>never ended") == ""
