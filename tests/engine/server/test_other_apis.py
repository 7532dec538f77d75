"""Ollama's and Anthropic's own clients, and OpenAI's older API."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import ollama
import openai
import pytest

from tests.engine.server.serving import Serving
from tests.engine.server.test_openai_chat import HELLO, PERSON, WEATHER

pytestmark = pytest.mark.long

GREEDY = {"temperature": 0, "num_predict": 16}
TOOL = {"name": "get_weather", "description": "", "input_schema": WEATHER["function"]["parameters"]}  # type: ignore[index]


@pytest.fixture(scope="module")
def plain(serving: Serving) -> str:
    """What the window's chat is answered."""
    return str(serving.chat(HELLO[0]["content"], max_tokens=16).text)


@pytest.fixture
def whale(serving: Serving) -> ollama.Client:
    return ollama.Client(serving.url, timeout=120)


@pytest.fixture
def claude(serving: Serving) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=serving.url, api_key="none", max_retries=0, timeout=120)


def test_ollama_lists_and_shows(whale: ollama.Client) -> None:
    assert "builtin" in [model.model for model in whale.list().models]
    assert whale.show("builtin").capabilities == ["completion", "tools"]


def test_ollama_chats(whale: ollama.Client, plain: str) -> None:
    found = whale.chat("builtin:latest", HELLO, options=GREEDY)
    assert found.message.content == plain
    assert found.done
    assert found.eval_count is not None
    assert 0 < found.eval_count <= 16
    streamed = list(whale.chat("builtin", HELLO, options=GREEDY, stream=True))
    assert "".join(each.message.content or "" for each in streamed) == plain
    assert [each.done for each in streamed] == [False] * (len(streamed) - 1) + [True]


def test_ollama_generates_and_keeps_to_a_schema(whale: ollama.Client, plain: str) -> None:
    prompt = HELLO[0]["content"]
    assert whale.generate("builtin", prompt, options=GREEDY).response == plain
    raw = whale.generate("builtin", "Once upon a time", raw=True, options=GREEDY)
    assert raw.response
    assert raw.prompt_eval_count is not None
    assert raw.prompt_eval_count < 12  # no template around it
    held = whale.generate("builtin", prompt, format=PERSON, options={"num_predict": 60})
    assert set(json.loads(held.response)) == {"name", "old"}


def test_ollama_is_told_what_is_wrong(whale: ollama.Client) -> None:
    for ask in (lambda: whale.chat("none", HELLO), lambda: list(whale.chat("none", HELLO, stream=True))):
        with pytest.raises(ollama.ResponseError, match="builtin") as refused:
            ask()
        assert refused.value.status_code == 404
    with pytest.raises(ollama.ResponseError, match=r"[Tt]emperature"):
        whale.chat("builtin", HELLO, options={"temperature": -3})


def test_anthropic_answers(claude: anthropic.Anthropic, plain: str) -> None:
    asked: dict[str, Any] = {"model": "builtin", "max_tokens": 16, "messages": HELLO, "extra_body": {"temperature": 0}}
    found = claude.messages.create(**asked)
    assert [block.text for block in found.content if block.type == "text"] == [plain]
    assert found.stop_reason in ("max_tokens", "end_turn")
    assert 0 < found.usage.output_tokens <= 16
    with claude.messages.stream(**asked) as stream:
        assert "".join(stream.text_stream) == plain
        assert stream.get_final_message().usage.output_tokens == found.usage.output_tokens
    # an answer whose beginning is given goes on there
    begun = {**asked, "messages": [*HELLO, {"role": "assistant", "content": plain[:9]}], "max_tokens": 4}
    assert claude.messages.create(**begun).content


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_calls_tools(claude: anthropic.Anthropic, stream: bool) -> None:
    asked: dict[str, Any] = {
        "model": "builtin", "max_tokens": 80, "messages": HELLO, "tools": [TOOL], "tool_choice": {"type": "any"},
    }  # fmt: skip
    if stream:
        with claude.messages.stream(**asked) as events:
            found = events.get_final_message()
    else:
        found = claude.messages.create(**asked)
    (call,) = found.content
    assert call.type == "tool_use"
    assert call.name == "get_weather"
    assert call.input["town"] in ("Rome", "Oslo")
    assert found.stop_reason == "tool_use"
    result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "rain"}]}
    talk = [*HELLO, {"role": "assistant", "content": [call.model_dump()]}, {"role": "user", "content": [result]}]
    assert claude.messages.create(model="builtin", max_tokens=8, messages=talk, tools=[TOOL]).content


def test_anthropic_is_told_what_is_wrong(claude: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="builtin"):
        claude.messages.create(model="none", max_tokens=4, messages=HELLO)
    with pytest.raises(anthropic.BadRequestError, match="None is fetched"):
        claude.messages.create(
            model="builtin", max_tokens=4, messages=[{"role": "user", "content": [{"type": "image", "source": {}}]}]
        )


def test_a_text_goes_on(serving: Serving) -> None:
    ask = openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0, timeout=120)
    wanted: dict[str, Any] = {"model": "builtin", "prompt": "Once upon a time", "max_tokens": 8, "temperature": 0}
    found = ask.completions.create(**wanted, logprobs=2)
    choice = found.choices[0]
    assert choice.text
    assert choice.logprobs is not None
    assert "".join(choice.logprobs.tokens or []) == choice.text
    streamed = ask.completions.create(**wanted, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == choice.text
    with pytest.raises(openai.BadRequestError, match="echo"):
        ask.completions.create(**wanted, echo=True)
