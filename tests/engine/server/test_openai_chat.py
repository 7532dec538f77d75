"""OpenAI's own client against /v1/chat/completions."""

from __future__ import annotations

import json

import openai
import pytest

from tests.engine.server.schemas import GET_WEATHER, PERSON
from tests.engine.server.serving import Serving

pytestmark = pytest.mark.long

HELLO = [{"role": "user", "content": "Tell me a story about a brave dog."}]
WEATHER = {"type": "function", "function": {**GET_WEATHER, "description": "The weather of a town"}}


@pytest.fixture
def ask(serving: Serving) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0, timeout=120)


def test_the_models_of_the_library_are_listed(ask: openai.OpenAI) -> None:
    assert "builtin" in [model.id for model in ask.models.list()]
    assert ask.models.retrieve("builtin").owned_by == "underhill"


def test_an_answer_is_what_the_window_gets_and_is_counted(ask: openai.OpenAI, serving: Serving) -> None:
    found = ask.chat.completions.create(model="builtin", messages=HELLO, temperature=0, max_tokens=24)
    assert found.choices[0].message.content
    assert found.choices[0].finish_reason in ("length", "stop")
    assert found.usage is not None
    assert found.usage.completion_tokens <= 24
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens
    streamed = ask.chat.completions.create(
        model="builtin", messages=HELLO, temperature=0, max_tokens=24, stream=True,
        stream_options={"include_usage": True},
    )  # fmt: skip
    chunks = list(streamed)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == found.choices[0].message.content
    assert [c.usage.completion_tokens for c in chunks if c.usage] == [found.usage.completion_tokens]
    assert chunks[-2].choices[0].finish_reason == found.choices[0].finish_reason


def test_a_seed_makes_an_answer_that_comes_again(ask: openai.OpenAI) -> None:
    def answer(seed: int) -> str | None:
        made = ask.chat.completions.create(model="builtin", messages=HELLO, temperature=1.5, seed=seed, max_tokens=12)
        return made.choices[0].message.content

    assert answer(7) == answer(7)
    assert len({answer(seed) for seed in range(4)}) > 1


def test_a_stop_text_ends_the_answer_before_it(ask: openai.OpenAI) -> None:
    usual = ask.chat.completions.create(model="builtin", messages=HELLO, temperature=0, max_tokens=24)
    words = (usual.choices[0].message.content or "").split()
    cut = ask.chat.completions.create(model="builtin", messages=HELLO, temperature=0, max_tokens=24, stop=[words[3]])
    assert cut.choices[0].finish_reason == "stop"
    assert (cut.choices[0].message.content or "").split() == words[: words.index(words[3])]


def test_log_probabilities_are_those_of_the_tokens_of_the_text(ask: openai.OpenAI) -> None:
    found = ask.chat.completions.create(
        model="builtin", messages=HELLO, temperature=0, max_tokens=8, logprobs=True, top_logprobs=3
    )
    assert found.choices[0].logprobs is not None
    tokens = found.choices[0].logprobs.content or []
    assert "".join(one.token for one in tokens) == found.choices[0].message.content
    for one in tokens:  # greedy: the likeliest was taken
        assert one.top_logprobs[0].token == one.token
        assert one.logprob == one.top_logprobs[0].logprob <= 0
        assert [t.logprob for t in one.top_logprobs] == sorted((t.logprob for t in one.top_logprobs), reverse=True)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_follows_its_schema(ask: openai.OpenAI, stream: bool) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON}}
    made = ask.chat.completions.create(
        model="builtin", messages=HELLO, response_format=wanted, max_tokens=60, stream=stream, temperature=1.0
    )
    text = "".join(c.choices[0].delta.content or "" for c in made) if stream else made.choices[0].message.content
    found = json.loads(text or "")
    assert set(found) == {"name", "old"}
    assert found["name"] in ("Ann", "Bob")
    assert isinstance(found["old"], bool)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_tool_that_must_be_called_is_called_with_arguments_of_its_schema(
    ask: openai.OpenAI, stream: bool, choice: object
) -> None:
    made = ask.chat.completions.create(
        model="builtin", messages=HELLO, tools=[WEATHER], tool_choice=choice, max_tokens=80, stream=stream
    )
    if stream:
        chunks = list(made)
        calls = [call for c in chunks for call in c.choices[0].delta.tool_calls or []]
        finish = chunks[-1].choices[0].finish_reason
    else:
        calls, finish = made.choices[0].message.tool_calls or [], made.choices[0].finish_reason
    assert finish == "tool_calls"
    assert [call.function.name for call in calls] == ["get_weather"]
    arguments = json.loads(calls[0].function.arguments)
    assert arguments["town"] in ("Rome", "Oslo")
    assert 1 <= arguments["days"] <= 9
    answered = ask.chat.completions.create(
        model="builtin", max_tokens=8, messages=[
            *HELLO,
            {"role": "assistant", "tool_calls": [{"id": calls[0].id, "type": "function", "function": {
                "name": "get_weather", "arguments": calls[0].function.arguments}}]},
            {"role": "tool", "tool_call_id": calls[0].id, "content": "rain"},
        ],
    )  # fmt: skip
    assert answered.choices[0].message.content


def test_a_model_that_is_not_there_is_told_with_those_that_are(ask: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="builtin"):
        ask.chat.completions.create(model="gpt-9", messages=HELLO)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"messages": []}, "no messages"),
        ({"temperature": 99}, "[Tt]emperature"),
        ({"n": 3}, "n is not supported"),
        ({"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "other"}}}, "no tool called"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "data: URL"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": 1}}}}, "schema"),
        ({"messages": [{"role": "user", "content": "word " * 5000}]}, "tokens"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_why(ask: openai.OpenAI, asked: dict[str, object], told: str) -> None:
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError, match=told):
            ask.chat.completions.create(**{"model": "builtin", "messages": HELLO, "stream": stream, **asked})
