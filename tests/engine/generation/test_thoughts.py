"""Thoughts come out in one way, whichever way a model marks them, and are timed; strays and late ones as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer

from engine.generation.chat import ChatFormat
from engine.generation.formats.declaration import nearest
from engine.generation.formats.reader import FRESH, HEADER, THOUGHT
from engine.generation.messages import Message
from engine.generation.turns import parted, without_thought
from tests.engine.generation.makers import BY_NAME
from tests.engine.generation.mouths import Chat, heard, model

QWEN = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)


def of(name: str, tmp_path: Path, tokens: bool = True) -> ChatFormat:
    return model(tmp_path / name, BY_NAME[name].template, tokens=tokens)


def said(chat: ChatFormat, text: str, state: str = FRESH) -> tuple[str, float]:
    shown, reader, _ = heard(chat, text, state)
    return shown, reader.seconds


@pytest.mark.parametrize("tokens", [False, True])
def test_tags_of_the_models_own_come_out_as_they_are(tmp_path: Path, tokens: bool) -> None:
    chat = model(tmp_path / "m", QWEN, tokens=tokens)
    shown, seconds = said(chat, "<think>\nhm, so\n</think>\n\nYes.")
    assert shown == "<think>\nhm, so\n</think>\n\nYes."
    assert seconds > 0
    assert said(chat, "Just so.") == ("Just so.", 0.0)


def test_channels_become_a_thought_and_an_answer(tmp_path: Path) -> None:
    chat = of("gpt-oss-120b", tmp_path)
    text = (
        "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant<|channel|>analysis<|message|>More."
        "<|end|><|start|>assistant<|channel|>final<|message|>The answer."
    )
    shown, seconds = said(chat, text, HEADER)
    assert shown == "<think>\nThey ask.\n\nMore.\n</think>\n\nThe answer."
    assert seconds > 0
    assert said(chat, "<|channel|>final<|message|>At once.", HEADER) == ("At once.", 0.0)
    assert said(chat, "No channel, and yet an answer.", HEADER) == ("No channel, and yet an answer.", 0.0)


def test_what_a_model_says_before_it_calls_a_tool_is_no_thought(tmp_path: Path) -> None:
    chat = of("gpt-oss-120b", tmp_path)
    text = (
        "<|channel|>analysis<|message|>They ask.<|end|><|start|>assistant<|channel|>commentary<|message|>I look it up."
        '<|end|><|start|>assistant to=functions.look<|channel|>commentary json<|message|>{"at": "sky"}'
    )
    shown, reader, _ = heard(chat, text, HEADER)
    assert shown.startswith("<think>\nThey ask.\n</think>\n\nI look it up.\n\n``````tool_call\n")
    assert [(c.name, c.arguments) for c in reader.calls] == [("look", {"at": "sky"})]
    assert reader.calls == list(parted(shown).calls)


def test_end_is_a_stop_for_some_and_none_for_others(tmp_path: Path) -> None:
    for name, stops in (("Phi-3.5-MoE", True), ("Solar-Open-100B", False), ("gpt-oss-120b", False)):
        chat = of(name, tmp_path)
        assert (chat.tokenizer.token_to_id("<|end|>") in chat.stop_ids) == stops


def test_a_thought_that_the_prompt_opened_is_opened_in_the_text(tmp_path: Path) -> None:
    chat = model(tmp_path / "m", QWEN.replace("{% if enable", "<think>\n{% if enable"), tokens=False)
    prompt = chat.prompt([Message("user", "Hi <think>")])
    assert prompt.state == THOUGHT
    shown, seconds = said(chat, "hm</think>Yes.", prompt.state)
    assert shown == "<think>\nhm\n</think>\n\nYes."
    assert seconds > 0
    assert chat.prompt([Message("user", "Hi <think>")], thinking=False).state == FRESH


def test_a_question_about_marks_opens_no_thought(tmp_path: Path) -> None:
    chat = of("Qwen3-30B-A3B", tmp_path, tokens=False)
    assert chat.prompt([Message("user", "What does <think> mean?")]).state == FRESH
    shown, _ = said(chat, "The tag <think> begins a thought, and </think> ends it.")
    assert shown == "The tag <think> begins a thought, and </think> ends it."


def test_the_switch_reaches_the_template(tmp_path: Path) -> None:
    chat = model(tmp_path / "m", QWEN, tokens=False)
    assert (chat.levels, chat.usual, chat.plain_thinking) == (("off", "on"), "on", "on")
    asked = [Message("user", "Hi")]
    ends = [chat.decode(chat.prompt(asked, thinking=t).ids)[-12:] for t in (None, True, False, "max", "off")]
    assert ends[0] == ends[1] == ends[3]
    assert ends[0] != ends[2] == ends[4]
    assert ends[2].rstrip().endswith("</think>")


def test_a_level_that_changes_nothing_is_not_offered(tmp_path: Path) -> None:
    deaf = (
        "{% set enable_thinking = enable_thinking | default(true) %}{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    assert model(tmp_path / "m", deaf).levels == ()
    strict = BY_NAME["GLM-5"].template + "{% if reasoning_effort == 'max' %}{{ raise_exception('no') }}{% endif %}"
    assert model(tmp_path / "n", strict).levels == ("off", "high")


def test_the_nearest_level_is_taken() -> None:
    levels = ("off", "low", "high")
    wanted = (None, True, False, "on", "off", "medium", "max", "minimal", "high")
    assert [nearest(levels, "high", w) for w in wanted] == ["", *"high off high off low high low high".split()]
    assert [nearest(("low", "medium", "high"), "medium", w) for w in (True, False, "off")] == ["medium", "low", "low"]
    assert nearest((), "", "high") == ""


def test_a_template_that_knows_no_thoughts_is_not_shown_any(tmp_path: Path) -> None:
    plain = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    mentions = plain + "{# </think> #}{% if messages[0].content == '</think>' %}{% endif %}"
    for at, template in enumerate((plain, mentions)):
        chat = model(tmp_path / str(at), template, tokens=False)
        prompt = chat.prompt([Message("user", "Hi"), Message("assistant", "<think>\nsecret\n</think>\n\nHello.")])
        assert "secret" not in chat.decode(prompt.ids)
        assert "Hello." in chat.decode(prompt.ids)


@pytest.mark.parametrize("special", [False, True])
def test_the_box_around_a_result_is_not_seen(tmp_path: Path, special: bool) -> None:
    """GLM-4.5V and 4.6V have both marks in their vocabulary, as tokens that are not special."""
    of("GLM-4.5-Air", tmp_path)
    file = tmp_path / "GLM-4.5-Air" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(file))
    marks = [AddedToken(f"<|{edge}_of_box|>", special=special, normalized=False) for edge in ("begin", "end")]
    (tokenizer.add_special_tokens if special else tokenizer.add_tokens)(marks)
    tokenizer.save(str(file))
    chat = ChatFormat(tmp_path / "GLM-4.5-Air")
    thought = "<think>\nIt may be <|begin_of_box|>5<|end_of_box|>.\n</think>\n"
    shown, _ = said(chat, f"{thought}<|begin_of_box|>4<|end_of_box|>\n\nSo <|begin_of_box|>**4**<|end_of_box|>.")
    assert shown == "<think>\nIt may be 5.\n</think>\n\n4\n\nSo **4**."
    assert said(chat, "\n<|begin_of_box|>4<|end_of_box|>")[0].strip() == "4"


def test_strays_are_absorbed(tmp_path: Path) -> None:
    chat = of("GLM-4.7", tmp_path)
    assert said(chat, "</think>At once.")[0] == "At once."
    assert said(chat, "a<think>b</think>Yes.</think> No.", THOUGHT)[0] == "<think>\nab\n</think>\n\nYes. No."
    gemma = of("gemma-4-26B-A4B", tmp_path)
    assert said(gemma, "Yes.<|channel>thought\n<channel|>")[0] == "Yes."
    assert said(of("MiniMax-M3", tmp_path), "</mm:think>Yes.")[0] == "Yes."
    solar = of("Solar-Open-100B", tmp_path)
    text = "<|think|>again<|end|><|begin|>assistant<|content|>Yes."
    assert said(solar, text)[0] == "<think>\nagain\n</think>\n\nYes."


def test_thoughts_one_after_the_other_are_one_and_a_late_one_stands_apart(tmp_path: Path) -> None:
    chat = of("Mistral-Small-4", tmp_path)
    assert said(chat, "[THINK]a[/THINK]\n[THINK]b[/THINK]c")[0] == "<think>\na\n\nb\n</think>\n\nc"
    shown, _ = said(chat, "[THINK]a[/THINK]c[THINK]late[/THINK]d")
    assert shown == "<think>\na\n</think>\n\nc\n\n``````thought\nlate\n``````\n\nd"
    assert (parted(shown).thought, parted(shown).answer) == ("a\n\nlate", "c\n\nd")


def test_an_empty_thought_is_none(tmp_path: Path) -> None:
    chat = of("Qwen3-30B-A3B", tmp_path)
    assert said(chat, "<think>\n\n</think>\n\nYes.") == ("Yes.", 0.0)
    assert said(chat, "<think>\nnever ended")[0] == "<think>\nnever ended"


def test_an_answer_between_marks(tmp_path: Path) -> None:
    for tokens in (True, False):
        hunyuan = model(tmp_path / f"h{tokens}", BY_NAME["Hunyuan-A13B"].template, tokens=tokens)
        text = "<think>\nhm\n</think>\n<answer>\nYes.\n\nAnd <b>no</b>.\n</answer>"
        assert said(hunyuan, text)[0] == "<think>\nhm\n</think>\n\nYes.\n\nAnd <b>no</b>."
        granite = model(tmp_path / f"g{tokens}", BY_NAME["Granite-3.3-MoE"].template, tokens=tokens)
        assert said(granite, "<think>hm</think><response>Yes.</response>")[0] == "<think>\nhm\n</think>\n\nYes."
        ernie = model(tmp_path / f"e{tokens}", BY_NAME["ERNIE-4.5-21B-A3B-Thinking"].template, tokens=tokens)
        assert said(ernie, "hm\n</think>\n\nno marks", THOUGHT)[0] == "<think>\nhm\n</think>\n\nno marks"


def test_a_release_that_puts_a_suffix_to_its_tokens(tmp_path: Path) -> None:
    import re

    bare = BY_NAME["Hy3"].template
    suffixed = re.sub(r"(</?think)>", r"\1:opensource>", bare)
    suffixed = re.sub(r"(<｜(?:hy|reasoning)_\w+)｜>", r"\1:opensource｜>", suffixed)
    chat = model(tmp_path / "m", suffixed + "{# HYTK = ':opensource' #}")
    assert chat.tokenizer.token_to_id("<｜hy_eos:opensource｜>") in chat.stop_ids
    talk = Chat(chat, "high")
    assert "<think:opensource>" in talk.ask("Hi")
    assert talk.state == THOUGHT
    assert talk.say("hm</think:opensource>Yes.") == "<think>\nhm\n</think>\n\nYes."
    assert "<think:opensource></think:opensource>Yes." in talk.ask("And?")


def test_deepseek_without_a_template_is_given_one(tmp_path: Path) -> None:
    template = BY_NAME["DeepSeek-V3.2"].template
    model(tmp_path / "m", template)  # for its tokens
    (tmp_path / "m" / "chat_template.jinja").unlink()
    chat = ChatFormat(tmp_path / "m")
    assert (bool(chat.template), chat.levels, chat.usual) == (True, ("off", "on"), "off")
    for level in chat.levels:
        talk = Chat(chat, level, system="Be brief.")
        assert talk.ask("Hi").endswith(
            "Be brief.<｜User｜>Hi<｜Assistant｜>" + ("<think>" if level == "on" else "</think>")
        )
        talk.answer("hm" if level == "on" else "", "Yes.")
        assert "<｜Assistant｜></think>Yes.<｜end▁of▁sentence｜><｜User｜>And?" in talk.ask("And?")


def test_an_end_that_is_spelled_ends_the_answer(tmp_path: Path) -> None:
    chat = of("Ling-3.0-flash", tmp_path, tokens=False)
    shown, reader, _ = heard(chat, "hm</think>Yes.<|role_end|><role>HUMAN</role>", THOUGHT)
    assert (shown, reader.ended) == ("<think>\nhm\n</think>\n\nYes.", True)


def test_without_thought() -> None:
    assert without_thought("<think>\na\n</think>\n\nb") == "b"
    assert without_thought("a </think> b") == "a </think> b"
    assert without_thought("<think>never ended") == ""
