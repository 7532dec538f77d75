"""OpenAI's /v1/embeddings and Ollama's /api/embed: vectors of texts, by the encoder that searches documents."""

from __future__ import annotations

import base64
import contextlib
import struct
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from engine import limits, protocol
from engine.server import http
from engine.server.asking import Asker, client_of
from engine.server.http import TOO_LARGE, RequestRefused, body_of
from engine.server.openai_common import OpenRequest

MODEL = "all-minilm-l6-v2"
NAMES = (MODEL, "all-minilm", "all-minilm:latest", f"sentence-transformers/{MODEL}")  # what programs call it, too
WIDTH = 384  # numbers of a vector


class EmbedBody(OpenRequest):
    """What both APIs have in common. input: a text, or several."""

    model: str
    input: str | list[str] = Field(description=f"A text, or at most {limits.EMBEDDED_TEXTS} of them.")
    dimensions: int | None = None

    def texts(self) -> tuple[str, ...]:
        """Those that are to be embedded. Raises RequestRefused."""
        check_model(self.model)
        if self.dimensions not in (None, WIDTH):
            raise RequestRefused(400, f"The vectors of {MODEL} have {WIDTH} dimensions.", "dimensions")
        return checked([self.input] if isinstance(self.input, str) else self.input, "input")


class EmbeddingsBody(EmbedBody):
    """The body of /v1/embeddings."""

    encoding_format: Literal["float", "base64"] = "float"


class OllamaEmbeddingsBody(OpenRequest):
    """The body of /api/embeddings, which older clients ask."""

    model: str
    prompt: str


class EmbeddingsApi:
    """The endpoints."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def openai(self, request: Request) -> Response:
        """/v1/embeddings."""
        body = await body_of(request, EmbeddingsBody)
        return await http.whole(request, self._openai(body, request))

    async def ollama(self, request: Request) -> Response:
        """/api/embed."""
        body = await body_of(request, EmbedBody)
        return await http.whole(request, self._ollama(body, request))

    async def ollama_one(self, request: Request) -> Response:
        """/api/embeddings: of one text."""
        body = await body_of(request, OllamaEmbeddingsBody)
        return await http.whole(request, self._ollama_one(body, request))

    async def _openai(self, body: EmbeddingsBody, request: Request) -> dict[str, Any]:
        found = await self._embedded(body.texts(), request)
        packed = body.encoding_format == "base64"
        data = [
            {"object": "embedding", "index": n, "embedding": base64.b64encode(v).decode() if packed else _numbers(v)}
            for n, v in enumerate(found.vectors)
        ]
        usage = {"prompt_tokens": found.tokens, "total_tokens": found.tokens}
        return {"object": "list", "data": data, "model": body.model, "usage": usage}

    async def _ollama(self, body: EmbedBody, request: Request) -> dict[str, Any]:
        found = await self._embedded(body.texts(), request)
        vectors = [_numbers(vector) for vector in found.vectors]
        return {"model": body.model, "embeddings": vectors, "prompt_eval_count": found.tokens}

    async def _ollama_one(self, body: OllamaEmbeddingsBody, request: Request) -> dict[str, Any]:
        check_model(body.model)
        found = await self._embedded(checked([body.prompt], "prompt"), request)
        return {"embedding": _numbers(found.vectors[0])}

    async def _embedded(self, texts: tuple[str, ...], request: Request) -> protocol.Embeddings:
        events = self._asker.bridge.answer(
            lambda ident: protocol.EmbedTexts(ident, texts), MODEL, client_of(request), request.url.path
        )
        async with contextlib.aclosing(events) as coming:  # type: ignore[type-var]
            async for event in coming:
                if isinstance(event, protocol.Done):
                    found: protocol.Embeddings = event.result
                    return found
        raise AssertionError("the bridge ends with Done, or raises")


def check_model(name: str) -> None:
    """Raises RequestRefused for any model but the one that embeds."""
    if name.lower() not in NAMES:
        asked = limits.shown(name)
        raise RequestRefused(404, f"{asked} makes no embeddings. Those of {MODEL} can be asked for here.", "model")


def checked(texts: Sequence[str], param: str) -> tuple[str, ...]:
    """Refuse none, and more than anybody asks for. Raises RequestRefused."""
    if not texts:
        raise RequestRefused(400, "There are no texts.", param)
    if len(texts) > limits.EMBEDDED_TEXTS:
        raise RequestRefused(400, f"There are more than {limits.EMBEDDED_TEXTS} texts.", param)
    if sum(map(len, texts)) > limits.TEXT_CHARACTERS:
        raise RequestRefused(TOO_LARGE, f"The text is longer than {limits.TEXT_CHARACTERS} characters.", param)
    return tuple(texts)


def _numbers(vector: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))
