"""One answer, made alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.generation.answer import Answer, AnswerWriter, Listener
from engine.generation.answer_batch import AnswerBatch
from engine.generation.chat import ChatFormat, Prompt
from engine.generation.context import Context
from engine.generation.sampling import Sampling


def answer(
    context: Context,
    chat: ChatFormat,
    prompt: Prompt,
    sampling: Sampling,
    stop_texts: Sequence[str],
    listener: Listener,
    **more: Any,
) -> Answer:
    """To its end. more: as AnswerWriter."""
    batch = AnswerBatch(context)
    made = batch.begin(AnswerWriter(chat, prompt, sampling, stop_texts, listener, **more), listener)
    while batch.running:
        batch.advance()
    if made.error is not None:
        raise made.error
    return made.answer
