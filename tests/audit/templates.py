"""The declarations of families against chat templates as their makers published them.

python -m tests.audit.templates FOLDER: every file of FOLDER is a chat template. Each is given a chat of three
turns at every level of its switch, with its marks as tokens and with its marks spelled out. Told of each: the family it
is taken for, the levels it tells apart, the state a prompt leaves, where thoughts go, and what is wrong.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import UnderhillError
from engine.generation.chat import ChatFormat
from engine.generation.formats.declaration import NOWHERE
from engine.generation.formats.reader import THOUGHT
from engine.generation.messages import Message, ToolCall
from engine.generation.turns import parted, written
from tests.engine.generation.mouths import Chat, model

_THOUGHTS = ("They greet me.", "A second question.")
_ANSWERS = ("Good day to you.", "Blue, most often.")


@dataclass
class Row:
    """What was found of one template."""

    name: str
    family: str = ""
    levels: tuple[str, ...] = ()
    usual: str = ""
    states: dict[str, str] = field(default_factory=dict)
    history: str = ""
    kept: bool = False  # an earlier thought is in the next prompt
    loop: str = "no tools"  # what becomes of a thought once a tool has answered
    wrong: list[str] = field(default_factory=list)


def examine(path: Path, spare: Path) -> Row:
    """One template. spare: an empty folder for models."""
    row = Row(path.stem)
    for tokens in (True, False):
        try:
            chat = model(spare / f"{tokens}", path.read_text(encoding="utf-8"), tokens=tokens)
        except UnderhillError as error:
            row.wrong.append(str(error))
            continue
        row.family, row.levels, row.usual = chat.speech.declaration.name, chat.levels, chat.usual
        row.history = chat.speech.history
        if not tokens and (chat.speech.declaration.header[0] or "HYTK" in chat.template):
            continue  # a header is made of tokens or is none, and Hy3's suffix is told by its vocabulary
        for thinking in (None, *chat.levels):
            try:
                _talk(row, chat, thinking, tokens)
            except UnderhillError as error:
                row.wrong.append(f"{thinking}: {error}")
        if tokens and "tool_calls" in chat.template:
            try:
                _call(row, chat)
            except UnderhillError as error:
                row.wrong.append(f"with a tool: {error}")
    return row


def _call(row: Row, chat: ChatFormat) -> None:
    """A thought, a call, its result: does the call come back, and the thought with it?"""
    talk = Chat(chat, chat.levels[-1] if chat.levels else None)
    talk.ask("Which colour is the sky?")
    call = ToolCall(
        "look_up", {"where": "there"}, "functions.look_up:0" if "functions." in chat.template else "abcdefghi"
    )
    said = f"<think>\n{_THOUGHTS[0]}\n</think>\n\n{written(call)}"
    talk.messages.append(Message("assistant", said))
    prompt = talk.result(call.ident, "Blue as ever.")
    row.loop = "kept" if _THOUGHTS[0] in prompt else "dropped"
    if "look_up" not in prompt or "Blue as ever." not in prompt:
        row.wrong.append("a tool's call or result is not in the next prompt")


def _talk(row: Row, chat: ChatFormat, thinking: str | None, tokens: bool) -> None:
    talk = Chat(chat, thinking)
    thinks = thinking != "off" and bool(chat.speech.declaration.thoughts or chat.speech.declaration.header[0])
    where = f"{thinking or 'by itself'}, {'tokens' if tokens else 'spelled'}"
    for turn, (thought, answer) in enumerate(zip(_THOUGHTS, _ANSWERS)):
        prompt = talk.ask("Hello there, which colour is the sky?")
        if tokens:
            row.states[thinking or "-"] = talk.state
        if turn:
            row.kept |= _THOUGHTS[0] in prompt
            if prompt.count(_ANSWERS[0]) != 1:
                row.wrong.append(f"{where}: the first answer is {prompt.count(_ANSWERS[0])} times in the next prompt")
            if prompt.count(_THOUGHTS[0]) > 1 or (row.history == NOWHERE and _THOUGHTS[0] in prompt):
                row.wrong.append(f"{where}: the first thought is fed back as it should not be")
        if thinking == "off" and talk.state == THOUGHT:
            row.wrong.append(f"{where}: off, and the prompt opens a thought")
        said = parted(talk.answer(thought if thinks else "", answer))
        wanted = (thought if thinks else "", answer)
        if (said.thought, said.answer.strip()) != wanted:
            row.wrong.append(f"{where}: read as {said.thought!r} and {said.answer!r}")


def main(folder: str) -> int:
    """Print a row for each file. Returns the number of templates with something wrong."""
    bad = 0
    for path in sorted(Path(folder).iterdir()):
        with tempfile.TemporaryDirectory() as spare:
            row = examine(path, Path(spare))
        states = " ".join(f"{name}:{state}" for name, state in row.states.items())
        levels = "/".join(row.levels) or "no switch"
        history = f"{row.history or 'nowhere'}{', kept' if row.kept else ''}; in a loop of tools {row.loop}"
        print(f"{row.name}: {row.family}; {levels} (by itself {row.usual or '-'}); {states}; thoughts to {history}",
              flush=True)  # fmt: skip
        for each in dict.fromkeys(row.wrong):
            print(f"    WRONG {each}")
        bad += bool(row.wrong)
    print(f"{bad} of {sum(1 for _ in Path(folder).iterdir())} templates with something wrong")
    return bad


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(1 if main(sys.argv[1]) else 0)
