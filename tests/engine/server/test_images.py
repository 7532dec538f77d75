"""Images of requests, by the clients of each API, to a model that reads them and to one that does not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import anthropic
import httpx
import httpx2
import ollama
import openai
import pytest
from starlette.applications import Starlette

from engine import limits
from engine.protocol import BLANK_CARD, Done, Event, Generate, ListModels, Message, Stats, TextDelta
from engine.server.application import Access, application
from engine.server.asking import Asker
from engine.translatable import translated

PNG, JPEG, WEBP = b"\x89PNG\r\n\x1a\nhill", b"\xff\xd8\xff\xe0lamp", b"RIFF\x04\0\0\0WEBPoak"
ADDRESS = "http://127.0.0.1"
STATS = Stats(
    text="A hill.", token_ids=(1, 2), finish="stop", prompt_tokens=9, reused_tokens=0, dropped_turns=0,
    prompt_seconds=0.1, decode_seconds=0.1, hits=0, misses=0, bytes_read=0, precision={}, peak_rss=0,
)  # fmt: skip


class ScriptedBridge:
    """Stands for the engine: two models, 'eyes' and 'blind', and one answer to everything. asked: what came."""

    def __init__(self) -> None:
        self.asked: list[Generate] = []

    async def ask(self, command: Callable[[str], Any]) -> Any:
        card = replace(BLANK_CARD, title=translated("One"), path="/models/one")
        if not isinstance(command("1"), ListModels):
            return ()
        return replace(card, name="eyes", reads_images=True), replace(card, name="blind")

    async def answer(
        self, command: Callable[[str], Generate], model: str, client: str, path: str
    ) -> AsyncIterator[Event]:
        self.asked.append(command("2"))
        yield TextDelta("2", STATS.text, STATS.token_ids)
        yield Done("2", STATS)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Those of the last question."""
        return self.asked[-1].messages


@pytest.fixture
def bridge() -> ScriptedBridge:
    return ScriptedBridge()


@pytest.fixture
def server(bridge: ScriptedBridge) -> Starlette:
    return application(Asker(bridge, {}), Access("127.0.0.1", "", (), lambda: 0))  # type: ignore[arg-type]


def http(server: Starlette) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=server), base_url=ADDRESS)


def gpt(server: Starlette) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{ADDRESS}/v1", api_key="none", max_retries=0, http_client=http(server))


def claude(server: Starlette) -> anthropic.AsyncAnthropic:
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=server), base_url=ADDRESS)
    return anthropic.AsyncAnthropic(base_url=ADDRESS, api_key="none", max_retries=0, http_client=client)


def whale(server: Starlette) -> ollama.AsyncClient:
    return ollama.AsyncClient(ADDRESS, transport=httpx.ASGITransport(app=server))


def encoded(image: bytes) -> str:
    return base64.b64encode(image).decode()


def url(image: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{encoded(image)}"


def part(address: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": address, "detail": "high"}}


def asked(*parts: dict[str, Any], role: str = "user") -> Any:
    return [{"role": role, "content": list(parts)}]


TEXT = {"type": "text", "text": "What is this?"}
QUESTION = Message("user", "What is this?", images=(PNG,))


def test_openai_chat(server: Starlette, bridge: ScriptedBridge) -> None:
    async def run() -> str | None:
        found = await gpt(server).chat.completions.create(
            model="eyes", messages=asked(TEXT, part(url(PNG)), part(url(JPEG, "jpeg")), part(url(WEBP, "webp")))
        )
        return found.choices[0].message.content

    assert asyncio.run(run()) == "A hill."
    assert bridge.messages == (replace(QUESTION, images=(PNG, JPEG, WEBP)),)


def test_openai_responses(server: Starlette, bridge: ScriptedBridge) -> None:
    async def run() -> str:
        content = [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": url(PNG)}]
        given: Any = [{"role": "user", "content": content}]
        return (await gpt(server).responses.create(model="eyes", input=given)).output_text

    assert asyncio.run(run()) == "A hill."
    assert bridge.messages == (QUESTION,)


def test_anthropic(server: Starlette, bridge: ScriptedBridge) -> None:
    async def run() -> Any:
        source = {"type": "base64", "media_type": "image/png", "data": encoded(PNG)}
        given = asked({"type": "image", "source": source}, TEXT)
        return await claude(server).messages.create(model="eyes", max_tokens=9, messages=given)

    assert asyncio.run(run()).content[0].text == "A hill."
    assert bridge.messages == (QUESTION,)


def test_anthropic_takes_an_image_beside_the_result_of_a_tool(server: Starlette, bridge: ScriptedBridge) -> None:
    async def run() -> None:
        result = {"type": "tool_result", "tool_use_id": "t", "content": "done"}
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(PNG)}}
        await claude(server).messages.create(model="eyes", max_tokens=9, messages=asked(result, image))

    asyncio.run(run())
    assert bridge.messages == (Message("tool", "done", answers="t"), Message("user", "", images=(PNG,)))


def test_ollama(server: Starlette, bridge: ScriptedBridge) -> None:
    async def run() -> list[str | None]:
        message = {"role": "user", "content": "What is this?", "images": [PNG]}
        chat = await whale(server).chat("eyes", [message])
        made = await whale(server).generate("eyes", "What is this?", images=[encoded(PNG)])
        return [chat.message.content, made.response, *((await whale(server).show("eyes")).capabilities or ())]

    assert asyncio.run(run()) == ["A hill.", "A hill.", "completion", "tools", "vision"]
    assert [command.messages for command in bridge.asked] == [(QUESTION,)] * 2


def refusal(server: Starlette, path: str, body: dict[str, Any]) -> str:
    async def run() -> httpx.Response:
        async with http(server) as client:
            return await client.post(path, json={"model": "eyes", "max_tokens": 9, "stream": False, **body})

    found = asyncio.run(run())
    assert found.status_code == 400
    error = found.json()["error"]
    return str(error if isinstance(error, str) else error["message"])


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("https://example.com/hill.png", "as a data: URL. This server fetches none"),
        ("file:///etc/passwd", "as a data: URL. This server fetches none"),
        ("data:image/png,abc", "is in base64"),
        ("data:image/png;base64,ab*c", "not in base64"),
        (url(b"GIF89a hill", "gif"), "are PNG, JPEG or WebP"),
        (url(b"%PDF-1.4"), "are PNG, JPEG or WebP"),
    ],
)
def test_nothing_is_fetched_and_odd_data_is_refused(
    server: Starlette, bridge: ScriptedBridge, address: str, sentence: str
) -> None:
    assert sentence in refusal(server, "/v1/chat/completions", {"messages": asked(part(address))})
    given = [{"role": "user", "content": [{"type": "input_image", "image_url": address}]}]
    assert sentence in refusal(server, "/v1/responses", {"input": given})
    assert not bridge.asked


def test_other_sources_and_places_are_refused(server: Starlette, bridge: ScriptedBridge) -> None:
    remote = {"type": "image", "source": {"type": "url", "url": "https://example.com/hill.png"}}
    assert "None is fetched" in refusal(server, "/v1/messages", {"messages": asked(remote)})
    stored = [{"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]
    assert "None is fetched" in refusal(server, "/v1/responses", {"input": stored})
    own = asked(part(url(PNG)), role="assistant")
    assert "Only messages of the user" in refusal(server, "/v1/chat/completions", {"messages": own})
    heard = asked({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}})
    assert "Only text and images" in refusal(server, "/v1/chat/completions", {"messages": heard})
    system = [{"role": "system", "content": "", "images": [encoded(PNG)]}]
    assert "Only messages of the user" in refusal(server, "/api/chat", {"messages": system})
    raw = {"prompt": "x", "raw": True, "images": [encoded(PNG)]}
    assert "no place for images" in refusal(server, "/api/generate", raw)
    assert not bridge.asked


def test_a_model_without_eyes_is_not_asked(server: Starlette, bridge: ScriptedBridge) -> None:
    why = "blind does not read images."
    chat = asked(TEXT, part(url(PNG)))
    assert refusal(server, "/v1/chat/completions", {"model": "blind", "messages": chat}) == why
    assert refusal(server, "/v1/chat/completions", {"model": "blind", "messages": chat, "stream": True}) == why
    given = [{"role": "user", "content": [{"type": "input_image", "image_url": url(PNG)}]}]
    assert refusal(server, "/v1/responses", {"model": "blind", "input": given}) == why
    assert refusal(server, "/api/generate", {"model": "blind", "prompt": "x", "images": [encoded(PNG)]}) == why
    assert not bridge.asked


def test_too_many_and_too_large_are_refused(
    server: Starlette, bridge: ScriptedBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = asked(*[part(url(PNG))] * (limits.ASKED_IMAGES + 1))
    assert "more than 40 images" in refusal(server, "/v1/chat/completions", {"messages": many})
    monkeypatch.setattr(limits, "ASKED_IMAGE_BYTES", 1000)
    large = asked(part(url(PNG + b"\0" * 1000)))
    assert "longer than 1,000 bytes" in refusal(server, "/v1/chat/completions", {"messages": large})
    assert not bridge.asked


def test_openapi_and_the_list_of_models_tell_of_images(server: Starlette) -> None:
    async def run() -> tuple[Any, Any]:
        async with http(server) as client:
            return (await client.get("/openapi.json")).json(), (await client.get("/v1/models")).json()

    told, listed = asyncio.run(run())
    schemas = told["components"]["schemas"]
    for name in ("MessageBody", "AnthropicMessage"):
        assert "data: URL or base64" in schemas[name]["properties"]["content"]["description"]
    assert "data: URL or base64" in schemas["ResponsesBody"]["properties"]["input"]["description"]
    assert "base64" in schemas["OllamaMessage"]["properties"]["images"]["description"]
    assert {card["id"]: card["reads_images"] for card in listed["data"]} == {"eyes": True, "blind": False}
