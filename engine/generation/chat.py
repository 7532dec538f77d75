"""From a chat to prompt tokens: the model's own template, its own answers' tokens, and what fits the context."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message


@dataclass(frozen=True)
class Prompt:
    """Tokens to feed. history: how many of them come before the generation prompt. dropped: turns left out."""

    ids: tuple[int, ...]
    history: int
    dropped: int = 0


class ChatFormat:
    """Tokenizer and chat template of one model, as its own files define them. No remote code is run."""

    def __init__(self, directory: Path) -> None:
        """directory: holds tokenizer.json and friends. Raises UnderhillError(BROKEN_FILE) where they do not load."""
        from transformers import AutoTokenizer

        try:
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
        self.stop_ids = frozenset(self._stop_ids(directory))
        self.has_template = bool(getattr(self._hf, "chat_template", None))
        self._control = tuple(t.content for t in self.tokenizer.get_added_tokens_decoder().values() if t.special)
        self.thinking = self.has_template and "enable_thinking" in str(self._hf.chat_template)

    def _stop_ids(self, directory: Path) -> set[int]:
        """generation_config's eos (one or several), the tokenizer's, the config's, and usual end-of-turn tokens."""
        found: set[int] = set()
        for name in ("generation_config.json", "config.json"):
            path = directory / name
            if path.exists():
                eos = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id")
                found.update(eos if isinstance(eos, list) else [eos] if isinstance(eos, int) else [])
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
        """Text to ids, as it stands: no special tokens added."""
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """Ids to the text a person sees."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def prompt(self, messages: Sequence[Message], *, continue_last: bool = False) -> Prompt:
        """Render the chat with the model's template and encode it.

        An assistant turn that carries its token ids keeps them (encoding its text again may split it differently,
        and then nothing after it could be reused), wherever the template leaves its text untouched.
        """
        with_prompt = self._render(messages, not continue_last, continue_last)
        ids = self._encode_pieces(messages, with_prompt, continue_last)
        if continue_last:
            return Prompt(tuple(ids), len(ids))
        bare = self._render(messages, False, False)
        tail = with_prompt[len(bare) :] if with_prompt.startswith(bare) else ""
        return Prompt(tuple(ids), len(ids) - len(self.encode(tail)) if tail else len(ids))

    def _render(self, messages: Sequence[Message], generation_prompt: bool, continue_last: bool) -> str:
        turns = [{"role": m.role, "content": m.content} for m in messages]
        if not self.has_template:  # a base model: plain text, turn after turn
            return "\n\n".join(t["content"] for t in turns)
        try:
            return str(
                self._hf.apply_chat_template(
                    turns,
                    tokenize=False,
                    add_generation_prompt=generation_prompt,
                    continue_final_message=continue_last,
                )
            )
        except Exception as e:  # templates raise their own complaints (roles, order) through jinja
            raise UnderhillError(
                Kind.BAD_REQUEST, f"This model's chat template refuses the chat: {e}", "Try without the system prompt."
            ) from e

    def _encode_pieces(self, messages: Sequence[Message], text: str, continue_last: bool) -> list[int]:
        """Encode rendered `text`, putting in the pieces whose tokens are already decided.

        Rendered again with marks in place of those contents; where filling the marks does not give `text` back, the
        template has changed a content on its way (stripped thinking, say) and the text is encoded as it stands.
        """
        pieces = {i: known for i, m in enumerate(messages) if (known := self._decided(m)) is not None}
        if pieces:
            marks = {i: f"\x02{i}\x03" for i in pieces}
            marked = [Message(m.role, marks.get(i, m.content)) for i, m in enumerate(messages)]
            skeleton = self._render(marked, not continue_last, continue_last)
            once = all(skeleton.count(mark) == 1 for mark in marks.values())
            filled = skeleton
            for i, mark in marks.items():
                filled = filled.replace(mark, messages[i].content)
            if once and filled == text:
                ids: list[int] = []
                for i, mark in marks.items():
                    before, skeleton = skeleton.split(mark)
                    ids += self.encode(before) + pieces[i]
                return ids + self.encode(skeleton)
        return self.encode(text)

    def _decided(self, message: Message) -> list[int] | None:
        """The tokens of a content where they are not simply those of its text, else None.

        An assistant's own tokens; and text that spells a control token, which must not act as one.
        """
        if message.role == "assistant":
            same = message.token_ids and self.decode(message.token_ids).lstrip() == message.content.lstrip()
            return list(message.token_ids) if same else None
        if any(token in message.content for token in self._control):
            self.tokenizer.encode_special_tokens = True
            try:
                return self.encode(message.content)
            finally:
                self.tokenizer.encode_special_tokens = False
        return None


def fit(
    chat: ChatFormat, messages: Sequence[Message], context: int, reserve: int, *, continue_last: bool = False
) -> Prompt:
    """The prompt, with the oldest turns dropped until `reserve` tokens of `context` are left for the answer.

    System prompt and last message always stay. Once something must go, turns go until a quarter of the context is
    free, so that the next few turns still extend the same prefix. Raises UnderhillError(CONTEXT_FULL).
    """
    reserve = max(1, min(reserve, context // 4))
    prompt = chat.prompt(messages, continue_last=continue_last)
    if len(prompt.ids) + reserve <= context:
        return prompt
    system = [m for m in messages[:1] if m.role == "system"]
    turns = list(messages[len(system) :])
    must_keep = 2 if continue_last else 1
    dropped = 0
    while len(turns) > must_keep:
        turns.pop(0)
        dropped += 1
        while len(turns) > must_keep and turns[0].role != "user":
            turns.pop(0)
            dropped += 1
        prompt = chat.prompt([*system, *turns], continue_last=continue_last)
        if len(prompt.ids) + max(reserve, context // 4) <= context:
            break
    if len(prompt.ids) + 1 > context:
        raise UnderhillError(
            Kind.CONTEXT_FULL,
            f"This message takes {len(prompt.ids):,} tokens, and the model sees {context:,} at a time.",
            "Shorten it, or raise the context length in the settings if the model allows.",
        )
    return Prompt(prompt.ids, prompt.history, dropped)
