"""From a chat to prompt tokens: the model's own template, its own answers' tokens, and what fits the context."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateSyntaxError

from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message
from engine.generation.thoughts import Channels, for_template, opens_thought
from engine.importing import ALONE

_SPELLED = re.compile("\x02c(\\d+)\x03")  # stands for a control token that a content spells, see _disarmed


@dataclass(frozen=True)
class Prompt:
    """Tokens to feed. history: how many of them come before the generation prompt. dropped: turns left out.

    thinking: the answer begins inside a thought, which the template has opened.
    """

    ids: tuple[int, ...]
    history: int
    dropped: int = 0
    thinking: bool = False


class ChatFormat:
    """Tokenizer and chat template of one model, as its own files define them. No remote code is run."""

    def __init__(self, directory: Path) -> None:
        """directory: holds tokenizer.json and friends. Raises UnderhillError(BROKEN_FILE) where they do not load."""
        try:
            with ALONE:  # a second of imports, and more of them once the kind of tokenizer is known
                from transformers import AutoTokenizer
                from transformers.utils import logging

                logging.set_verbosity_error()  # what a family's name may mean for it is told by us
                self._hf: Any = AutoTokenizer.from_pretrained(
                    str(directory), trust_remote_code=False, local_files_only=True
                )
        except Exception as e:  # the library raises almost anything on bad files
            raise UnderhillError(
                Kind.BROKEN_FILE,
                "The model's tokenizer cannot be read.",
                "Download or import the model again; its tokenizer files may be missing or need code we do not run.",
            ) from e
        if not getattr(self._hf, "is_fast", False):
            raise UnderhillError(
                Kind.UNSUPPORTED_MODEL,
                "The model has no tokenizer.json, which Underhill needs to turn text into tokens.",
                "Look for a version of the model that includes tokenizer.json.",
            )
        self.tokenizer = self._hf.backend_tokenizer
        self._encoding = threading.Lock()  # the window has its drafts counted while a prompt is encoded
        self.stop_ids = frozenset(self._stop_ids(directory))
        self.has_template = bool(getattr(self._hf, "chat_template", None))
        self._control = tuple(t.content for t in self.tokenizer.get_added_tokens_decoder().values() if t.special)
        self.channels = Channels(self.tokenizer)
        self.thinking = self.has_template and "enable_thinking" in str(self._hf.chat_template)

    def _stop_ids(self, directory: Path) -> set[int]:
        """generation_config's eos (one or several), the tokenizer's, the config's, and usual end-of-turn tokens."""
        found: set[int] = set()
        for name in ("generation_config.json", "config.json"):
            found.update(_stated_ends(directory / name))
        if self._hf.eos_token_id is not None:
            found.add(int(self._hf.eos_token_id))
        for token in ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>", "<turn|>"):
            found_id = self.tokenizer.token_to_id(token)
            if found_id is not None and token in str(getattr(self._hf, "chat_template", "") or ""):
                found.add(found_id)
        if {"<|channel|>", "<|return|>"} <= set(self._hf.get_added_vocab()):  # gpt-oss: <|end|> ends a channel only
            end = self.tokenizer.token_to_id("<|end|>")
            if end is not None:
                found.discard(end)
        return found

    def encode(self, text: str) -> list[int]:
        """Text to ids, as it stands: no special tokens added. May be called from any thread."""
        with self._encoding:
            return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Ids to the text a person sees."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def prompt(
        self, messages: Sequence[Message], *, continue_last: bool = False, thinking: bool | None = None
    ) -> Prompt:
        """Render the chat with the model's template and encode it. thinking: as in `fit`.

        An assistant turn that carries its token ids keeps them (encoding its text again may split it differently,
        and then nothing after it could be reused), wherever the template leaves its text untouched.
        """
        messages = [self._disarmed(m) for m in messages]
        with_prompt = self._render(messages, not continue_last, continue_last, thinking)
        ids = self._encode_pieces(messages, with_prompt, continue_last, thinking)
        if continue_last:
            return Prompt(tuple(ids), len(ids))
        bare = self._render(messages, False, False, thinking)
        tail = with_prompt[len(bare) :] if with_prompt.startswith(bare) else ""
        history = len(ids) - len(self.encode(tail)) if tail else len(ids)
        return Prompt(tuple(ids), history, thinking=opens_thought(with_prompt))

    def _disarmed(self, message: Message) -> Message:
        """The message, the control tokens that its text spells replaced by marks; they must not act as tokens.

        An assistant's own are left to its token ids. Half a surrogate pair, which no tokenizer takes, becomes U+FFFD.
        """
        content = message.content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if message.role != "assistant":
            for number, token in enumerate(self._control):
                content = content.replace(token, f"\x02c{number}\x03")
        return Message(message.role, content, message.token_ids)

    def _encode_rendered(self, text: str) -> list[int]:
        """Text out of the template to ids; what a mark stands for is encoded as the characters it is spelled with."""
        ids: list[int] = []
        for at, part in enumerate(_SPELLED.split(text)):
            if at % 2 == 0:
                ids += self.encode(part)
            elif int(part) < len(self._control):
                ids += self._spelled(self._control[int(part)])
        return ids

    def _spelled(self, token: str) -> list[int]:
        with self._encoding:
            self.tokenizer.encode_special_tokens = True
            try:
                return list(self.tokenizer.encode(token, add_special_tokens=False).ids)
            finally:
                self.tokenizer.encode_special_tokens = False

    def _render(
        self, messages: Sequence[Message], generation_prompt: bool, continue_last: bool, thinking: bool | None
    ) -> str:
        template = str(self._hf.chat_template) if self.has_template else ""
        turns = [
            {"role": m.role, "content": for_template(m.content, template) if m.role == "assistant" else m.content}
            for m in messages
        ]
        switch = {"enable_thinking": thinking} if self.thinking and thinking is not None else {}
        if not self.has_template:  # a base model: plain text, turn after turn
            return "\n\n".join(t["content"] for t in turns)
        try:
            return str(
                self._hf.apply_chat_template(
                    turns,
                    tokenize=False,
                    add_generation_prompt=generation_prompt,
                    continue_final_message=continue_last,
                    **switch,
                )
            )
        except TemplateSyntaxError as e:
            raise UnderhillError(
                Kind.BROKEN_FILE, f"The model's chat template is broken: {e}", "Download the model again."
            ) from e
        except Exception as e:  # templates raise their own complaints (roles, order) through jinja
            raise UnderhillError(
                Kind.BAD_REQUEST, f"This model's chat template refuses the chat: {e}", "Try without the system prompt."
            ) from e

    def _encode_pieces(
        self, messages: Sequence[Message], text: str, continue_last: bool, thinking: bool | None
    ) -> list[int]:
        """Encode rendered `text`, putting in the pieces whose tokens are already decided.

        Rendered again with marks in place of those contents; where filling the marks does not give `text` back, the
        template has changed a content on its way (stripped thinking, say) and the text is encoded as it stands.
        """
        pieces = {i: known for i, m in enumerate(messages) if (known := self._own_tokens(m)) is not None}
        if pieces:
            marks = {i: f"\x02{i}\x03" for i in pieces}
            marked = [Message(m.role, marks.get(i, m.content)) for i, m in enumerate(messages)]
            skeleton = self._render(marked, not continue_last, continue_last, thinking)
            once = all(skeleton.count(mark) == 1 for mark in marks.values())
            filled = skeleton
            for i, mark in marks.items():
                filled = filled.replace(mark, messages[i].content)
            if once and filled == text:
                ids: list[int] = []
                for i, mark in marks.items():
                    before, skeleton = skeleton.split(mark)
                    ids += self._encode_rendered(before) + pieces[i]
                return ids + self._encode_rendered(skeleton)
        return self._encode_rendered(text)

    def _own_tokens(self, message: Message) -> list[int] | None:
        """The tokens of an assistant's turn, where its text is still the one they were decoded to."""
        if message.role != "assistant" or not message.token_ids:
            return None
        same = self.decode(message.token_ids).lstrip() == message.content.lstrip()
        return list(message.token_ids) if same else None


def _stated_ends(path: Path) -> set[int]:
    """eos_token_id of a model's JSON file, one or several; empty where there is no such file or it names none.

    Raises UnderhillError(BROKEN_FILE).
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        ends = found.get("eos_token_id") or (found.get("text_config") or {}).get("eos_token_id")
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, AttributeError, RecursionError) as e:
        raise UnderhillError(Kind.BROKEN_FILE, f"{path.name} of the model cannot be read.", "Import it again.") from e
    return {end for end in (ends if isinstance(ends, list) else [ends]) if isinstance(end, int)}


def fit(
    chat: ChatFormat,
    messages: Sequence[Message],
    context: int,
    reserve: int,
    *,
    continue_last: bool = False,
    thinking: bool | None = None,
) -> Prompt:
    """The prompt, with the oldest turns dropped until `reserve` tokens of `context` are left for the answer.

    thinking: on or off, where the template has that switch; None leaves it to the template.
    System prompt and last message always stay. Once something must go, turns go until another quarter of the context
    is free, and the next turns extend the same prompt until that is used up. Raises UnderhillError: CONTEXT_FULL,
    BAD_REQUEST where not one token comes of it.
    """
    reserve = max(1, min(reserve, context // 4))
    prompt = chat.prompt(messages, continue_last=continue_last, thinking=thinking)
    if not prompt.ids:  # an empty text for a model without a template
        raise UnderhillError(Kind.BAD_REQUEST, "There is nothing to answer.", "Write a message first.")
    if len(prompt.ids) + reserve <= context:
        return prompt
    system = [m for m in messages[:1] if m.role == "system"]
    turns = messages[len(system) :]
    last = max(0, len(turns) - (2 if continue_last else 1))  # of a system prompt alone nothing can go
    starts = [i for i, m in enumerate(turns) if i == last or (0 < i < last and m.role == "user")]
    sizes = _sizes(chat, messages, len(prompt.ids))
    room = context - reserve - sum(sizes[: len(system)])
    dropped = _first_kept(turns, sizes[len(system) :], starts, room, room - context // 4)
    for dropped in [i for i in starts if i >= dropped] or [last]:  # sizes are estimates: at most a few rounds
        prompt = chat.prompt([*system, *turns[dropped:]], continue_last=continue_last, thinking=thinking)
        if len(prompt.ids) + reserve <= context:
            break
    if len(prompt.ids) + 1 > context:
        raise UnderhillError(
            Kind.CONTEXT_FULL,
            f"This message takes {len(prompt.ids):,} tokens, and the model sees {context:,} at a time.",
            "Shorten it, or raise the context length in the settings if the model allows.",
        )
    return Prompt(prompt.ids, prompt.history, dropped, prompt.thinking)


def _sizes(chat: ChatFormat, messages: Sequence[Message], total: int) -> list[int]:
    """About how many tokens each message takes in a prompt of `total`, with an even share of what the template adds."""
    own = [len(m.token_ids) or len(chat.encode(m.content)) for m in messages]
    return [n + round((total - sum(own)) / len(own)) for n in own]


def _first_kept(turns: Sequence[Message], sizes: Sequence[int], starts: Sequence[int], room: int, aim: int) -> int:
    """The turn that the prompt begins with: once the turns take more than `room` tokens, they come down to `aim`.

    Found by going through the chat as it grew, so that the next question finds the same turn, and what was read for
    this one stays of use.
    """
    first, coming = 0, iter(starts)
    for end, turn in enumerate(turns):
        if turn.role != "user" and end + 1 < len(turns):
            continue  # nothing was asked here
        most = room
        while sum(sizes[first : end + 1]) > most and (start := next(coming, None)) is not None:
            first, most = start, aim
    return first
