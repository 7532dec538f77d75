"""Chats of three turns with models of every family: thoughts, answers, ends, calls, and what goes back."""

from __future__ import annotations

import tempfile
from pathlib import Path

from engine.generation.chat import ChatFormat
from engine.generation.formats.reader import THOUGHT
from engine.generation.messages import Message
from engine.generation.turns import parted
from tests.audit.finding import Finding
from tests.engine.generation.makers import MAKERS, Maker
from tests.engine.generation.mouths import Chat, answered, model
from tests.engine.generation.test_calls import CALLS

_SAID = (("Skies are blue.", "It is blue."), ("Seas are blue as well.", "The sea is blue, too."), ("Hm.", "Green."))


def examine() -> Finding:
    """Through the prompt and the decode loop of the app; the models are texts in the families' marks."""
    wrong: list[str] = []
    turns = levels = calls = 0
    with tempfile.TemporaryDirectory() as spare:
        for number, maker in enumerate(MAKERS):
            chat = model(Path(spare) / str(number), maker.template)
            levels += len(chat.levels)
            if chat.levels != maker.levels or not _stops(chat, maker):
                wrong.append(f"{maker.name}: levels {chat.levels}, ends {sorted(chat.stop_ids)}")
            for level in ("", *maker.levels):
                talk = Chat(chat, level or None)
                thinks = maker.thinks and level != "off"
                for at, (thought, said) in enumerate(_SAID):
                    prompt = talk.ask("And now?")
                    fed = [t for t, _ in _SAID[:at] if t in prompt]
                    text = talk.answer(thought if thinks else "", said)
                    wanted = f"<think>\n{thought}\n</think>\n\n{said}" if thinks else said
                    kept = maker.keeps and thinks
                    begun = (talk.state == THOUGHT) == (level in maker.opens)
                    turns += 1
                    if text != wanted or talk.said.finish != "stop" or not begun or bool(at) * kept > bool(fed):
                        wrong.append(f"{maker.name} at {level or 'its own'}: {text!r}, {talk.said.finish}, {fed}")
                    if fed and not kept:
                        wrong.append(f"{maker.name} at {level or 'its own'}: fed back {fed}")
            if maker.name in CALLS:
                raw, arguments = CALLS[maker.name]
                prompt_ids = chat.prompt([Message("user", "Weather?")], thinking="off")
                result = answered(chat, prompt_ids, raw)
                calls += len(result.calls)
                if [(c.name, c.arguments) for c in result.calls] != [("weather", arguments)]:
                    wrong.append(f"{maker.name}: calls {result.calls}")
                if parted(result.text).calls != result.calls:
                    wrong.append(f"{maker.name}: its call is shown as {result.text!r}")
    found = {"models": len(MAKERS), "turns": turns, "levels": levels, "calls": calls, "wrong": wrong}
    return Finding(ok=not wrong and len(MAKERS) >= 30 and calls == len(CALLS), found=found)


def _stops(chat: ChatFormat, maker: Maker) -> bool:
    tokens = chat.tokenizer
    lasting = {tokens.token_to_id(t) for t in chat.speech.declaration.lasting}
    ends = chat.stop_ids
    return {tokens.token_to_id(t) for t in maker.stops} <= ends and not lasting & ends
