"""OpenAI's own client against /v1/responses, and the events of what the built-in model does not say by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import openai
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from engine.errors import Kind, UnderhillError
from engine.protocol import Message, Stats, ToolCall
from engine.server.asking import AnswerPiece
from engine.server.openai_responses import messages_of
from engine.server.parts import Text, Thought
from engine.server.response_items import ResponseBuilder
from engine.translatable import translated
from tests.engine.server.schemas import GET_WEATHER, PERSON
from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

STORY = "Tell me a story about a brave dog."
GREEDY: dict[str, Any] = {"model": "builtin", "temperature": 0}
WEATHER = {"type": "function", **GET_WEATHER}
HEAD = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tools": [], "tool_choice": "auto",
    "parallel_tool_calls": True,
}  # fmt: skip
KNOWN: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


@pytest.fixture
def ask(serving: Serving) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0, timeout=LONGEST) as client:
        yield client


@pytest.mark.long
def test_an_answer_is_that_of_the_chat_whole_and_streamed(ask: openai.OpenAI) -> None:
    chat = ask.chat.completions.create(
        **GREEDY, max_tokens=24,
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": STORY}],
    )  # fmt: skip
    asked: dict[str, Any] = {**GREEDY, "instructions": "Be brief.", "input": STORY, "max_output_tokens": 24}
    found = ask.responses.create(**asked)
    assert found.output_text == chat.choices[0].message.content
    assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")  # type: ignore[union-attr]
    assert found.usage is not None
    assert chat.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (chat.usage.prompt_tokens, 24)
    with ask.responses.stream(**asked) as stream:
        events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert len(deltas) > 2
    assert "".join(deltas) == found.output_text
    last = events[-1]
    assert last.type == "response.incomplete"
    assert last.response.output_text == found.output_text


@pytest.mark.long
def test_a_conversation_is_sent_back_as_it_was_told(ask: openai.OpenAI) -> None:
    first = ask.responses.create(**GREEDY, input=STORY, max_output_tokens=8)
    turns: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": STORY}]}]
    turns += [item.model_dump() for item in first.output]
    turns.append({"role": "user", "content": "And then?"})
    second = ask.responses.create(**GREEDY, input=turns, max_output_tokens=8)
    assert second.output_text
    assert second.usage is not None
    assert first.usage is not None
    assert second.usage.input_tokens > first.usage.input_tokens + 8
    assert second.usage.input_tokens_details.cached_tokens > 0


@pytest.mark.long
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "get_weather"}])
def test_a_function_is_called_and_its_result_taken(ask: openai.OpenAI, stream: bool, choice: Any) -> None:
    asked: dict[str, Any] = {**GREEDY, "input": STORY, "tools": [WEATHER], "tool_choice": choice}
    if stream:
        with ask.responses.stream(**asked) as running:
            events = list(running)
            found = running.get_final_response()
        told = "".join(e.delta for e in events if e.type == "response.function_call_arguments.delta")
    else:
        found, told = ask.responses.create(**asked), None
    calls = [item for item in found.output if item.type == "function_call"]
    assert [call.name for call in calls] == ["get_weather"]
    arguments = json.loads(calls[0].arguments)
    assert arguments["town"] in ("Rome", "Oslo")
    assert told in (None, calls[0].arguments)
    assert found.status == "completed"
    turns: list[Any] = [
        {"role": "user", "content": STORY},
        *(item.model_dump() for item in found.output),
        {"type": "function_call_output", "call_id": calls[0].call_id, "output": "rain"},
    ]
    assert ask.responses.create(**GREEDY, input=turns, max_output_tokens=8).output_text


@pytest.mark.long
def test_a_schema_and_log_probabilities(ask: openai.OpenAI) -> None:
    form: Any = {"format": {"type": "json_schema", "name": "person", "schema": PERSON, "strict": True}}
    found = ask.responses.create(model="builtin", input=STORY, text=form, max_output_tokens=60)
    assert set(json.loads(found.output_text)) == {"name", "old"}
    likely = ask.responses.create(
        **GREEDY, input=STORY, max_output_tokens=6, top_logprobs=2, include=["message.output_text.logprobs"]
    )
    content = likely.output[0].content[0]  # type: ignore[union-attr, index]
    assert "".join(one.token for one in content.logprobs) == likely.output_text  # type: ignore[union-attr]
    assert all(len(one.top_logprobs) == 2 for one in content.logprobs)  # type: ignore[union-attr]


@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"input": []}, "no messages"),
        ({"previous_response_id": "resp_1"}, "previous_response_id is not supported"),
        ({"tools": [{"type": "web_search"}]}, "web_search are not supported"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "item_reference are not supported"),
        ({"input": [{"role": "robot", "content": "x"}]}, "The role"),
        ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "data: URL"),
        ({"input": [{"role": "user", "content": [5]}]}, "list of parts"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": 5}]}, "list of parts"),
        ({"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"}]}, "JSON object"),
        ({"temperature": 99}, "[Tt]emperature"),
        ({"input": "word " * 5000}, "tokens"),
    ],
)
def test_what_cannot_be_done_is_refused_with_why(serving: Serving, asked: dict[str, object], told: str) -> None:

    for stream in (False, True):
        body = {"model": "builtin", "input": STORY, "stream": stream, **asked}
        found = httpx.post(f"{serving.url}/v1/responses", json=body, timeout=LONGEST)
        assert found.status_code == 400, found.text
        assert re.search(told, found.json()["error"]["message"])


def test_items_of_one_turn_of_the_model_are_one_message() -> None:
    found = messages_of("Be brief.", [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "42"},
    ])  # fmt: skip
    assert [message.role for message in found] == ["system", "user", "assistant", "tool"]
    assert found[0].content == "Be brief.\n\nBe kind."
    for part in ("Hm.", "Let me look.", '"f"'):
        assert part in found[2].content
    assert found[3] == Message("tool", "42", answers="c1")


def events_of(*pieces: AnswerPiece) -> list[dict[str, Any]]:
    builder = ResponseBuilder(HEAD, False)
    return [*builder.begin(), *(event for piece in pieces for event in builder.add(piece))]


def stats(tokens: int, finish: str = "stop") -> Stats:
    return Stats(
        text="",
        token_ids=tuple(range(tokens)),
        finish=finish,
        prompt_tokens=5,
        reused_tokens=2,
        dropped_turns=0,
        prompt_seconds=0.1,
        decode_seconds=0.1,
        hits=0,
        misses=0,
        bytes_read=0,
        precision={},
        peak_rss=0,
    )


def test_thought_text_and_calls_are_items_of_their_own_which_openais_types_know() -> None:
    call = ToolCall("f", {"x": 1}, "c1")
    events = events_of(
        AnswerPiece((Thought("H"),), tokens=1),
        AnswerPiece((Thought("m."),), tokens=2),
        AnswerPiece((Text("Well"),), tokens=1),
        AnswerPiece((Text("."), call, call), tokens=9),
        AnswerPiece((), stats=stats(13)),
    )
    for event in events:
        KNOWN.validate_python(event)
    response = events[-1]["response"]
    assert [item["type"] for item in response["output"]] == ["reasoning", "message", "function_call", "function_call"]
    assert response["output"][0]["content"][0]["text"] == "Hm."
    assert response["output"][1]["content"][0]["text"] == "Well."
    assert {item["status"] for item in response["output"]} == {"completed"}
    assert len({item["id"] for item in response["output"]}) == 4
    assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 3}
    assert response["usage"]["input_tokens_details"] == {"cached_tokens": 2, "cache_write_tokens": 0}
    begun = [event["output_index"] for event in events if event["type"] == "response.output_item.added"]
    ended = [event["output_index"] for event in events if event["type"] == "response.output_item.done"]
    assert begun == ended == [0, 1, 2, 3]


def test_what_is_cut_short_says_so_and_an_error_ends_the_response() -> None:
    events = events_of(AnswerPiece((Text("We"),), tokens=1), AnswerPiece((), stats=stats(1, "length")))
    assert events[-1]["response"]["output"][0]["status"] == "incomplete"
    builder = ResponseBuilder(HEAD, False)
    events = [*builder.begin(), *builder.add(AnswerPiece((Text("We"),)))]
    events += builder.fail(UnderhillError(Kind.BUSY, translated("Busy.")))
    for event in events:
        KNOWN.validate_python(event)
    assert events[-1]["type"] == "response.failed"
    assert events[-1]["response"]["error"]["message"] == "Busy."
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "We"
