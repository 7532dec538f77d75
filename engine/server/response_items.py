"""An answer as the items and events of OpenAI's Responses API."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

from engine.errors import UnderhillError
from engine.protocol import Stats, TokenLogprob, ToolCall
from engine.server.asking import AnswerPiece
from engine.server.openai_common import logprob_body
from engine.server.parts import AnswerPart, Text, Thought

Event = dict[str, Any]
_CUT = ("length", "context")


class ResponseBuilder:
    """Pieces in, events out; what they add up to is in `response`."""

    def __init__(self, head: dict[str, Any], logprobs: bool) -> None:
        """head: fields of the response that stay. logprobs: whether text has those of its tokens."""
        self._head, self._logprobs = head, logprobs
        self._output: list[dict[str, Any]] = []
        self._numbers = 0
        self._open: type[AnswerPart] | None = None  # what the last item is made of, while more of it may come
        self._thinking = 0  # tokens before anything else was said

    def begin(self) -> Iterator[Event]:
        """What comes before the first piece."""
        yield self._event("response.created", response=self.response("in_progress"))
        yield self._event("response.in_progress", response=self.response("in_progress"))

    def add(self, piece: AnswerPiece) -> Iterator[Event]:
        """What a piece adds; the last one, which has Stats, ends the response."""
        for part in piece.parts:
            if isinstance(part, ToolCall):
                yield from self._close()
                yield from self._call(part)
                continue
            if type(part) is not self._open:
                yield from self._close()
                yield from self._begin(part)
            yield self._grow(part, piece.logprobs if self._logprobs and isinstance(part, Text) else ())
        if self._open is Thought and len(self._output) == 1:
            self._thinking += piece.tokens
        if piece.stats is not None:
            cut = piece.stats.finish in _CUT
            yield from self._close("incomplete" if cut else "completed")
            status = "incomplete" if cut else "completed"
            yield self._event(f"response.{status}", response=self.response(status, piece.stats))

    def fail(self, error: UnderhillError) -> Iterator[Event]:
        """It ends here, by an error."""
        yield from self._close("incomplete")
        yield self._event("response.failed", response=self.response("failed", error=error))

    def response(self, status: str, stats: Stats | None = None, error: UnderhillError | None = None) -> dict[str, Any]:
        """The response by now. status: 'in_progress', 'completed', 'incomplete' or 'failed'."""
        return {
            **self._head, "status": status, "output": list(self._output),
            "error": None if error is None else {"code": "server_error", "message": str(error.message)},
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "usage": None if stats is None else self._usage(stats),
        }  # fmt: skip

    def _usage(self, stats: Stats) -> dict[str, Any]:
        tokens = len(stats.token_ids)
        reused = {"cached_tokens": stats.reused_tokens, "cache_write_tokens": 0}
        return {
            "input_tokens": stats.prompt_tokens, "input_tokens_details": reused, "output_tokens": tokens,
            "output_tokens_details": {"reasoning_tokens": min(self._thinking, tokens)},
            "total_tokens": stats.prompt_tokens + tokens,
        }  # fmt: skip

    def _event(self, kind: str, **fields: Any) -> Event:
        self._numbers += 1
        return {"type": kind, "sequence_number": self._numbers - 1, **fields}

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self._output[-1]["id"], "output_index": len(self._output) - 1}

    def _begin(self, part: Thought | Text) -> Iterator[Event]:
        item: dict[str, Any]
        if isinstance(part, Thought):
            item = {"id": f"rs_{secrets.token_hex(12)}", "type": "reasoning", "summary": []}
            content: dict[str, Any] = {"type": "reasoning_text", "text": ""}
        else:
            item = {"id": f"msg_{secrets.token_hex(12)}", "type": "message", "role": "assistant"}
            content = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        self._output.append({**item, "status": "in_progress", "content": []})
        self._open = type(part)
        yield self._event("response.output_item.added", output_index=len(self._output) - 1, item=self._output[-1])
        yield self._event("response.content_part.added", **self._place, content_index=0, part=content)
        self._output[-1] = {**self._output[-1], "content": [content]}

    def _grow(self, part: Thought | Text, logprobs: Sequence[TokenLogprob]) -> Event:
        content = self._output[-1]["content"][0]
        grown = {**content, "text": content["text"] + part.text}
        if isinstance(part, Thought):
            self._output[-1] = {**self._output[-1], "content": [grown]}
            return self._event("response.reasoning_text.delta", **self._place, content_index=0, delta=part.text)
        likely = [logprob_body(one) for one in logprobs]
        grown["logprobs"] = [*content["logprobs"], *likely]
        self._output[-1] = {**self._output[-1], "content": [grown]}
        return self._event(
            "response.output_text.delta", **self._place, content_index=0, delta=part.text, logprobs=likely
        )

    def _close(self, status: str = "completed") -> Iterator[Event]:
        """The end of the text or thought that is open."""
        if self._open is None:
            return
        kind = "reasoning_text" if self._open is Thought else "output_text"
        self._open = None
        item = self._output[-1] = {**self._output[-1], "status": status}
        part = item["content"][0]
        likely = {"logprobs": part["logprobs"]} if kind == "output_text" else {}
        yield self._event(f"response.{kind}.done", **self._place, content_index=0, text=part["text"], **likely)
        yield self._event("response.content_part.done", **self._place, content_index=0, part=part)
        yield self._event("response.output_item.done", output_index=len(self._output) - 1, item=item)

    def _call(self, call: ToolCall) -> Iterator[Event]:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        item = {
            "id": f"fc_{secrets.token_hex(12)}", "type": "function_call", "name": call.name,
            "call_id": call.ident or f"call_{secrets.token_hex(12)}",
        }  # fmt: skip
        self._output.append({**item, "status": "in_progress", "arguments": ""})
        yield self._event("response.output_item.added", output_index=len(self._output) - 1, item=self._output[-1])
        yield self._event("response.function_call_arguments.delta", **self._place, delta=arguments)
        yield self._event("response.function_call_arguments.done", **self._place, name=call.name, arguments=arguments)
        self._output[-1] = {**item, "status": "completed", "arguments": arguments}
        yield self._event("response.output_item.done", output_index=len(self._output) - 1, item=self._output[-1])
