"""Real clients that stop listening in the middle of an answer, which ends then; and tools in the words of Ollama."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import anthropic
import httpx2 as httpx
import ollama
import openai
import pytest

from tests.engine.server.serving import Serving
from tests.engine.server.test_openai_chat import HELLO, WEATHER
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

ENDLESS = {"type": "string", "pattern": "^(no ){600}$"}  # takes seconds, whatever the model would say


def leave_openai(url: str) -> None:
    asked = {"type": "json_schema", "json_schema": {"name": "x", "schema": ENDLESS}}
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=LONGEST)
    with client.chat.completions.create(
        model="builtin", messages=HELLO, response_format=asked, max_tokens=2000, stream=True
    ) as stream:
        next(stream)


def leave_ollama(url: str) -> None:
    client = ollama.Client(url, timeout=LONGEST)
    stream: Any = client.chat("builtin", HELLO, format=ENDLESS, options={"num_predict": 2000}, stream=True)
    with closing(stream):
        next(stream)


def leave_anthropic(url: str) -> None:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=LONGEST)
    schema = {"type": "object", "properties": {"x": ENDLESS}, "required": ["x"]}
    with client.messages.stream(
        model="builtin", max_tokens=2000, messages=HELLO, tools=[{"name": "say", "input_schema": schema}],
        tool_choice={"type": "any"},
    ) as stream:  # fmt: skip
        next(iter(stream))


@pytest.mark.parametrize("leave", [leave_openai, leave_ollama, leave_anthropic])
def test_one_that_leaves_ends_its_answer(serving: Serving, leave: Callable[[str], None]) -> None:
    def cancelled() -> float:
        lines = httpx.get(f"{serving.url}/metrics", timeout=LONGEST).text.splitlines()
        return next(float(line.split()[-1]) for line in lines if 'outcome="cancelled"' in line)

    before = cancelled()
    serving.events.clear()
    leave(serving.url)
    serving.quiet()
    assert cancelled() == before + 1
    assert serving.chat("Hello.").text  # the model is free again


def test_ollama_offers_tools_and_tells_what_came_of_a_call(serving: Serving) -> None:
    client = ollama.Client(serving.url, timeout=LONGEST)
    options = {"temperature": 0, "num_predict": 8}
    plain = client.chat("builtin", HELLO, options=options)
    offered = client.chat("builtin", HELLO, tools=[WEATHER], options=options)
    assert plain.prompt_eval_count is not None
    assert offered.prompt_eval_count is not None
    assert offered.prompt_eval_count > plain.prompt_eval_count  # the model is told of the tool
    call = {"function": {"name": "get_weather", "arguments": {"town": "Rome", "days": 2}}}
    talk = [*HELLO, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_name": "get_weather",
            "content": "rain"}]  # fmt: skip
    assert client.chat("builtin", talk, tools=[WEATHER], options=options).message.content
