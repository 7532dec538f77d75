"""Models that only have a voice: the built-in tokenizer with a family's template and marks, and answers in them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer
from torch import Tensor

from engine import resources
from engine.generation.answer import Answer
from engine.generation.chat import ChatFormat, Prompt
from engine.generation.context import Context
from engine.generation.formats.declaration import Declaration
from engine.generation.formats.reader import HEADER, THOUGHT, Reader
from engine.generation.formats.speech import recognised
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from tests.engine.generation.answering import answer
from tests.engine.generation.fakes import FakeModel, FakeState

MODEL = resources.path("builtin", "model")
_BARS = re.compile(
    r"<\|[^|<>\s'\"]{1,30}\|>|<｜[^｜<>\s'\"]{1,30}｜>|<\|[a-z_]+>|<[a-z_]+\|>|｜DSML｜|\[/?[A-Z_]{3,}\]|\[e~\[|\]~b\]"
)
_SUFFIX = re.compile(r"HYTK = '(:\w+)'")  # Hy3's template puts it to its marks


def marks_of(told: Declaration) -> set[str]:
    """Marks of a declaration that are tokens where a family has tokens for them; ends as well."""
    pairs = {mark for pair in (*told.thoughts, *told.answer) for mark in pair}
    blocks = {
        mark
        for call in told.calls
        for mark in (call.open, call.close)
        if mark and not call.bare and not mark.startswith("<func")
    }
    parts = {m for mark in blocks | pairs if (m := mark) and not re.search(r"DSML|channel>th|minimax\[", mark)}
    return parts | set(told.ends) | set(told.lasting) | set(told.header[0]) | set(filter(None, [told.header[1]]))


def model(
    folder: Path, template: str, *, tokens: bool = True, extra: tuple[str, ...] = (), **config: Any
) -> ChatFormat:
    """A model in `folder` with that template. tokens: its marks are special tokens; otherwise they are spelled."""
    shutil.copytree(MODEL, folder)
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    found = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    found |= {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"} | config
    found.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(found), encoding="utf-8")
    if tokens:
        told = recognised(template)
        wanted = marks_of(told) | set(_BARS.findall(template))
        if suffix := _SUFFIX.search(template):
            wanted = {re.sub(r"(｜?>)$", rf"{suffix[1]}\1", each) for each in wanted}
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in sorted(wanted)])
        tokenizer.save(str(folder / "tokenizer.json"))
    return ChatFormat(folder)


def reply(chat: ChatFormat, state: str, thought: str, answer: str) -> str:
    """What a model of that family writes, from the state that the prompt leaves. thought: '' for none."""
    told = chat.speech.declaration
    for opens, closes in told.answer[:1]:
        if told.name in ("hunyuan", "ernie-thinking", "granite"):
            answer = f"{opens}\n{answer}\n{closes}"
    if told.name == "gpt-oss":
        first = "" if state == HEADER else "<|start|>assistant"
        said = f"{first}<|channel|>analysis<|message|>{thought}<|end|>" if thought else ""
        again = "<|start|>assistant" if thought else first
        return f"{said}{again}<|channel|>final<|message|>{answer}"
    if told.name == "solar-open":
        said = f"<|think|>{thought}<|end|><|begin|>assistant" if thought else ""
        return f"{said}<|content|>{answer}"
    opens, closes = told.thoughts[0]
    if not thought:
        return answer if state != THOUGHT else f"{closes}{answer}"
    return ("" if state == THOUGHT else f"{opens}\n") + f"{thought}\n{closes}\n\n{answer}"


def heard(chat: ChatFormat, text: str, state: str) -> tuple[str, Reader, tuple[int, ...]]:
    """The text as it is shown, the reader that read it token by token, and the tokens."""
    tokens = tuple(chat.encode(text))
    reader = Reader(chat.tokenizer, chat.speech, (), state)
    return "".join(map(reader.add, tokens)) + reader.flush(), reader, tokens


class Voice(FakeModel):
    """Says one text after a prompt, token by token."""

    def __init__(self, vocabulary: int, prompt: int, says: list[int]) -> None:
        super().__init__(script=lambda seen: says[min(max(len(seen) - prompt, 0), len(says) - 1)])
        self._vocabulary = vocabulary

    def forward(self, ids: Sequence[int], state: FakeState, want: str = "last", horizon: int = 0) -> Tensor | None:
        state.seen += map(int, ids)
        logits = torch.zeros(1, self._vocabulary)
        logits[0, self._script(state.seen)] = 1
        return None if want == "none" else logits


class Nobody:
    """A listener."""

    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Sequence[int]) -> None: ...

    def cancelled(self) -> bool:
        return False


def answered(chat: ChatFormat, prompt: Prompt, raw: str) -> Answer:
    """What comes of it where a model answers a prompt with that text and then a token that ends it."""
    own = (chat.tokenizer.token_to_id(token) for token in chat.speech.declaration.ends)
    stop = next((i for i in own if i in chat.stop_ids), min(chat.stop_ids))
    voice = Voice(chat.tokenizer.get_vocab_size(), len(prompt.ids), [*chat.encode(raw), stop])
    return answer(Context(voice, 20_000, 8), chat, prompt, Sampling(temperature=0, max_tokens=2_000), (), Nobody())


class Chat:
    """A chat of several turns with such a model."""

    def __init__(self, chat: ChatFormat, thinking: bool | str | None = None, system: str = "") -> None:
        self.chat, self.thinking = chat, thinking
        self.messages: list[Message] = [Message("system", system)] if system else []
        self.prompt = ""
        self.made = Prompt(ids=(), history=0)
        self.said = Answer()

    @property
    def ids(self) -> tuple[int, ...]:
        """Of the last prompt."""
        return self.made.ids

    @property
    def state(self) -> str:
        """That the last prompt leaves."""
        return self.made.state

    def ask(self, question: str) -> str:
        """The prompt that comes of a question."""
        self.messages.append(Message("user", question))
        return self._prompted()

    def result(self, ident: str, text: str) -> str:
        """The prompt that comes of a tool's result."""
        self.messages.append(Message("tool", text, (), ident))
        return self._prompted()

    def _prompted(self) -> str:
        self.made = self.chat.prompt(self.messages, thinking=self.thinking)
        self.prompt = self.chat.tokenizer.decode(list(self.made.ids), skip_special_tokens=False)
        return self.prompt

    def say(self, raw: str) -> str:
        """The model's answer, in its own marks; the text it is shown and kept as."""
        self.said = answered(self.chat, self.made, raw)
        self.messages.append(Message("assistant", self.said.text, tuple(self.said.token_ids)))
        return self.said.text

    def answer(self, thought: str, answer: str) -> str:
        """An answer as this family would write it."""
        return self.say(reply(self.chat, self.state, thought, answer))
