"""The server as programs ask it through litellm: answers, streams, tools, schemas, errors, and one that leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.server.schemas import GET_WEATHER, PERSON
from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

HELLO = [{"role": "user", "content": "Hello! What can you do?"}]
WEATHER = {"type": "function", "function": {**GET_WEATHER, "description": "The weather of a town"}}


@pytest.fixture(scope="module")
def lite() -> Iterator[Any]:
    """The library, which asks nobody else for anything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        found = pytest.importorskip("litellm", reason="a tool for development: requirements/dev.txt")
        yield found


def asked(lite: Any, serving: Serving, **more: Any) -> Any:
    values = {"messages": HELLO, "temperature": 0, "max_tokens": 24, **more}
    return lite.completion(
        "openai/builtin", api_base=f"{serving.url}/v1", api_key="none", timeout=LONGEST, max_retries=0, **values
    )


def test_whole_and_streamed_it_is_the_answer_of_the_chat(lite: Any, serving: Serving) -> None:
    wanted = serving.chat(HELLO[0]["content"]).text
    answer = asked(lite, serving)
    assert answer.choices[0].message.content == wanted
    assert answer.usage.completion_tokens > 0
    pieces = [piece.choices[0].delta.content or "" for piece in asked(lite, serving, stream=True)]
    assert "".join(pieces) == wanted
    assert len(pieces) > 3


def test_tools_are_called_with_arguments_of_their_schema(lite: Any, serving: Serving) -> None:
    choice = {"type": "function", "function": {"name": "get_weather"}}
    answer = asked(lite, serving, tools=[WEATHER], tool_choice=choice, max_tokens=200)
    (call,) = answer.choices[0].message.tool_calls
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments)["town"] in ("Rome", "Oslo")


def test_an_answer_follows_its_schema(lite: Any, serving: Serving) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    answer = asked(lite, serving, response_format=form, max_tokens=60)
    assert set(json.loads(answer.choices[0].message.content)) == {"name", "old"}


def test_errors_are_those_that_it_knows(lite: Any, serving: Serving) -> None:
    with pytest.raises(lite.NotFoundError, match="builtin"):
        lite.completion("openai/none", HELLO, api_base=f"{serving.url}/v1", api_key="none", max_retries=0)
    with pytest.raises(lite.BadRequestError, match="n is not supported"):
        asked(lite, serving, n=2)
    with pytest.raises(lite.BadRequestError, match="tokens"):
        asked(lite, serving, messages=[{"role": "user", "content": "word " * 20_000}])


def test_one_that_leaves_ends_its_answer(lite: Any, serving: Serving) -> None:
    endless = {"type": "string", "pattern": "^(no ){600}$"}
    pattern = {"type": "json_schema", "json_schema": {"name": "x", "schema": endless}}
    stream = asked(lite, serving, stream=True, response_format=pattern, max_tokens=2000)
    next(stream)
    serving.events.clear()
    stream.completion_stream.close()
    serving.quiet()
    assert serving.chat("Hello.").text
