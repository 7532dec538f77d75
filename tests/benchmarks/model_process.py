"""What it costs that chat templates run in a process of their own: python -m tests.benchmarks.model_process

For chats of 1, 10 and 100 messages: `ask`, all that one prompt has a template write, in one call; `render`, what of it
the template itself takes, in this process; `apart`, the difference. Milliseconds, the middle of --repeats. `start`:
until the process answers for the first time, and `memory`: what it holds then, in MB.

`token`, to turn one token of an answer into text, and `draft`, to encode a kilobyte, where the tokenizer runs in the
engine; `apart`: where it runs in that process.
"""

from __future__ import annotations

import time
from typing import Any

import psutil

from engine import resources
from engine.generation import model_files
from engine.generation.chat import ChatFormat
from engine.generation.detokenize import Detokenizer
from engine.generation.messages import Message
from engine.generation.sandboxed_tokenizer import SandboxedTokenizer
from tests.benchmarks.common import arguments, emit, median_ms

LINE = "A sentence of a chat, as long as people write them, and a few more words. "


def chat_of(messages: int) -> list[Message]:
    """A chat with answers whose tokens are known, of about a kilobyte a message."""
    roles = ("user", "assistant")
    return [Message(roles[i % 2], f"{i}: {LINE * 14}", (5, 6, 7) if i % 2 else ()) for i in range(messages)]


def rendered_here(wanted: list[dict[str, Any]], template: str) -> None:
    """The same without another process."""
    from transformers.utils.chat_template_utils import render_jinja_template

    for one in wanted:
        render_jinja_template(conversations=[one["turns"]], chat_template=template, add_generation_prompt=one["prompt"])


def measure(repeats: int) -> dict[str, Any]:
    """All figures."""
    begun = time.perf_counter()
    chat = ChatFormat(resources.path("builtin", "model"))
    found: dict[str, Any] = {"start": time.perf_counter() - begun}
    found["memory"] = psutil.Process(model_files.PROCESS.pid).memory_info().rss / 1e6
    for count in (1, 10, 100):
        messages = chat_of(count)
        wanted = chat.wanted(messages)
        turns = [{"role": m.role, "content": m.content} for m in messages]
        same = [{"turns": turns, "prompt": prompt} for _, prompt in wanted]
        ask = median_ms(lambda wanted=wanted: chat.rendering.texts(wanted, ""), repeats)  # type: ignore[misc]
        render = median_ms(lambda same=same: rendered_here(same, chat.template), repeats)  # type: ignore[misc]
        found[str(count)] = {"ask": ask, "render": render, "apart": ask - render}
    apart = SandboxedTokenizer(chat.files.ask, {"added": [], "size": 0})
    for where, tokenizer in (("", chat.tokenizer), (" apart", apart)):
        pieces = Detokenizer(tokenizer)
        found[f"token{where}"] = median_ms(lambda pieces=pieces: pieces.add(42), 20 * repeats)  # type: ignore[misc]
        found[f"draft{where}"] = median_ms(
            lambda own=tokenizer: own.encode(LINE * 14, add_special_tokens=False), repeats
        )  # type: ignore[misc]
    return found


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    emit(measure(options.repeats), options.json)


if __name__ == "__main__":
    main()
