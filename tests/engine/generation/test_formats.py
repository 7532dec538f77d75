"""Chats of several turns with models of every family: who thinks, answers and ends how, and what goes back to whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.generation.formats.reader import THOUGHT, Reader
from engine.generation.messages import Message
from engine.generation.turns import parted
from tests.engine.generation.makers import BY_NAME, MAKERS, Maker
from tests.engine.generation.mouths import Chat, answered, heard, model, reply

ASKED = ("Which colour is the sky?", "And the sea?", "And grass?")
THOUGHTS = ("Skies are blue.", "Seas are blue as well.", "Grass is green.")
ANSWERS = ("It is blue.", "The sea is blue, too.", "Green.")

every = pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
thinking = pytest.mark.parametrize("maker", [m for m in MAKERS if m.thinks], ids=lambda maker: maker.name)


def test_there_are_enough_of_them() -> None:
    assert len(MAKERS) >= 40


@every
def test_the_family_its_levels_and_its_ends_are_found(maker: Maker, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", maker.template)
    assert chat.speech.declaration.name == maker.family
    assert (chat.levels, chat.usual) == (maker.levels, maker.usual)
    ids = {chat.tokenizer.token_to_id(token) for token in maker.stops}
    assert ids <= chat.stop_ids
    assert not {chat.tokenizer.token_to_id(t) for t in chat.speech.declaration.lasting} & chat.stop_ids


@every
@pytest.mark.parametrize("tokens", [True, False], ids=["tokens", "spelled"])
def test_three_turns_at_every_level(maker: Maker, tokens: bool, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", maker.template, tokens=tokens)
    if not tokens and chat.speech.declaration.header[0]:
        return  # a header is made of tokens or is none
    for level in ("", *maker.levels):
        talk = Chat(chat, level or None)
        thinks = maker.thinks and level != "off"
        for turn, (asked, thought, answer) in enumerate(zip(ASKED, THOUGHTS, ANSWERS)):
            prompt = talk.ask(asked)
            assert (talk.state == THOUGHT) == (level in maker.opens), level
            for before in range(turn):
                assert prompt.count(ANSWERS[before]) == 1
                assert "<think>\n" + THOUGHTS[before] not in prompt or maker.keeps
            if turn and thinks:
                assert (THOUGHTS[turn - 1] in prompt) == maker.keeps, level
            said = talk.answer(thought if thinks else "", answer)
            assert said == (f"<think>\n{thought}\n</think>\n\n{answer}" if thinks else answer), level
            assert (talk.said.thinking_seconds > 0) == thinks
            assert talk.said.finish == "stop"


@thinking
def test_what_streams_is_never_a_mark_and_adds_up(maker: Maker, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", maker.template, tokens=maker.family == "gpt-oss")
    talk = Chat(chat, maker.levels[-1] if maker.levels else None)
    talk.ask(ASKED[0])
    raw = reply(chat, talk.state, THOUGHTS[0], ANSWERS[0])
    text, reader, tokens = heard(chat, raw, talk.state)
    pieces = [reader.add(token) for token in tokens]  # again, behind itself: the reader survives what is no answer
    assert text == f"<think>\n{THOUGHTS[0]}\n</think>\n\n{ANSWERS[0]}"
    for opens, closes in (*chat.speech.declaration.thoughts, *chat.speech.declaration.answer):
        if opens != "<think>":
            assert opens not in text + "".join(pieces[:1])
            assert closes not in text


@thinking
def test_a_thought_in_a_loop_of_tools_is_kept_where_the_family_keeps_it(maker: Maker, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", maker.template)
    talk = Chat(chat, maker.levels[-1] if maker.levels else None)
    talk.ask(ASKED[0])
    said = talk.answer(THOUGHTS[0], "I look.")
    talk.messages[-1] = Message(
        "assistant",
        f'{said}\n\n``````tool_call\n{{"name": "look", "arguments": {{"at": "sky"}}, "id": "a1"}}\n``````\n',
    )
    prompt = talk.result("a1", "It is blue there.")
    assert "It is blue there." in prompt
    assert (THOUGHTS[0] in prompt) == maker.in_loop
    assert "tool_call\n{" not in prompt
    assert parted(talk.answer(THOUGHTS[1], ANSWERS[0])).answer == ANSWERS[0]


@every
def test_an_answer_that_was_cut_goes_on_where_it_was(maker: Maker, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", maker.template)
    talk = Chat(chat, maker.levels[-1] if maker.levels else None)
    talk.ask(ASKED[0])
    raw = reply(chat, talk.state, THOUGHTS[0] if maker.thinks else "", ANSWERS[0])
    whole, _, tokens = heard(chat, raw, talk.state)
    asked = talk.ids
    for cut in range(1, len(tokens), 3):
        first = Reader(chat.tokenizer, chat.speech, (), talk.state)
        shown = "".join(map(first.add, tokens[:cut])) + first.flush()
        message = Message("assistant", shown, tokens[:cut])
        if not shown:
            continue
        prompt = chat.prompt([*talk.messages, message], continue_last=True, thinking=talk.thinking)
        if prompt.ids != asked + tokens[:cut]:  # it was cut before there was anything of its thought
            assert "<think>" not in shown
            continue
        rest = Reader(chat.tokenizer, chat.speech, (), prompt.state)
        rest.go_on(prompt.begun, prompt.said)
        more = "".join(map(rest.add, tokens[cut:])) + rest.flush()
        assert (shown + more).split() == whole.split(), cut


@every
@pytest.mark.parametrize("inside", [False, True], ids=["its answer", "its thought"])
def test_an_answer_that_was_edited_goes_on_in_the_familys_marks(maker: Maker, inside: bool, tmp_path: Path) -> None:
    chat = model(tmp_path / "m", maker.template)
    edited = "<think>\nI think </s>" if inside else "<think>\nI think.\n</think>\n\nIt is"
    if not maker.thinks:
        if inside:
            return
        edited = "It is"
    asked = [Message("user", ASKED[0]), Message("assistant", edited)]
    prompt = chat.prompt(asked, continue_last=True, thinking=maker.levels[-1] if maker.levels else None)
    assert prompt.begun
    if not inside:
        result = answered(chat, prompt, " blue.")
        assert (result.text.strip(), result.finish, bool(result.thinking_seconds)) == ("blue.", "stop", False)
    else:
        told = chat.speech.declaration
        leads = told.again[1] if told.again else f"\n{told.thoughts[0][1]}\n\n"
        result = answered(chat, prompt, f" so.{leads}Blue.")
        assert result.text.split() == ["so.", "</think>", "Blue."]
        assert "<think>" not in result.text


def test_answers_keep_their_tokens_where_the_template_writes_them_again(tmp_path: Path) -> None:
    names = "Qwen3-Next-80B-A3B-Instruct", "Kimi-K2-Instruct", "Ling-3.0-flash", "MiniMax-M3", "Trinity-Large-Thinking"
    for name in names:
        maker = BY_NAME[name]
        chat = model(tmp_path / name, maker.template)
        talk = Chat(chat)
        talk.ask(ASKED[0])
        said = reply(chat, talk.state, "", "odd words")
        odd = tuple(chat.encode(said)[:-2] + chat.encode("wo") + chat.encode("rds"))
        thought = ""
        if maker.keeps:  # as the template writes a thought, and not as reply() does
            opens, closes = chat.speech.declaration.thoughts[0]
            thought = "hm"
            start = "" if talk.state == THOUGHT else opens
            odd = tuple(chat.encode(f"{start}hm{closes}odd ") + chat.encode("wo") + chat.encode("rds"))
        first = talk.ids
        text, _, _ = heard(chat, chat.tokenizer.decode(list(odd), skip_special_tokens=False), talk.state)
        talk.messages.append(Message("assistant", text, odd))
        assert parted(text).thought == thought
        talk.ask(ASKED[1])
        assert talk.ids[: len(first) + len(odd)] == first + odd, name
