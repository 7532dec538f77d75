"""Answers and losses of an exported checkpoint, through plain transformers."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.corpus import Message


class Checkpoint:
    """Computes in float32; answers are greedy unless a temperature is given."""

    def __init__(self, path: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(path)
        self.model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()

    def ids(self, messages: list[Message], prompt: bool) -> torch.Tensor:
        """[1, T] tokens of a chat; `prompt` adds the head of the next answer."""
        ids = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=prompt, tokenize=True, return_dict=False
        )
        return torch.tensor([ids])

    @torch.no_grad()
    def answer(self, messages: list[Message], limit: int = 200, temperature: float = 0.0) -> str:
        """The next answer, at most `limit` tokens."""
        ids = self.ids(messages, prompt=True)
        how = {"do_sample": True, "temperature": temperature, "top_p": 0.9} if temperature else {"do_sample": False}
        out = self.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=limit, eos_token_id=2, pad_token_id=0, **how
        )
        text: str = self.tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True)
        return text.strip()

    @torch.no_grad()
    def loss(self, messages: list[Message], limit: int = 1024) -> tuple[float, int]:
        """Summed cross entropy of the tokens of all answers, and how many they are; long chats are cut."""
        ids: list[int] = []
        learned: list[bool] = []
        for i, message in enumerate(messages):
            start = len(ids)
            ids = self.ids(messages[: i + 1], prompt=False)[0].tolist()
            head = len(self.ids(messages[:i], prompt=True)[0]) - start if message["role"] == "assistant" else len(ids)
            # The last token is the line break after the end mark, which is never generated.
            learned += [at - start >= head and at < len(ids) - 1 for at in range(start, len(ids))]
        tensor = torch.tensor([ids[:limit]])
        mask = torch.tensor(learned[:limit])[1:]
        logits = self.model(tensor).logits[0, :-1]
        each = torch.nn.functional.cross_entropy(logits, tensor[0, 1:], reduction="none")
        return float(each[mask].sum()), int(mask.sum())
