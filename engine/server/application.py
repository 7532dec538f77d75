"""The server's addresses, and what answers at each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from engine.errors import UnderhillError
from engine.server import anthropic, metrics, ollama
from engine.server.asking import Asker
from engine.server.embeddings import EmbedBody, EmbeddingsApi, EmbeddingsBody, OllamaEmbeddingsBody
from engine.server.guard import Guard
from engine.server.http import answered
from engine.server.openai_chat import ChatBody, ChatCompletions
from engine.server.openai_common import ERROR_SCHEMA, error_body
from engine.server.openai_completions import CompletionBody, Completions
from engine.server.openai_models import OpenAiModels
from engine.server.openai_responses import Responses, ResponsesBody
from engine.server.openapi import Api, Operation, document

ErrorBody = Callable[[UnderhillError, int], dict[str, Any]]
_SSE = "text/event-stream"


@dataclass
class Access:
    """Who may ask, and how often somebody was turned away. connections: how many are open."""

    host: str
    key: str
    origins: tuple[str, ...]
    connections: Callable[[], int]
    refused: int = 0

    def count(self) -> None:
        """One more was turned away."""
        self.refused += 1


def application(asker: Asker, access: Access) -> Starlette:
    """The whole of it, as ASGI."""

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def measured(request: Request) -> Response:
        text = metrics.metrics(asker.bridge, access.refused, access.connections())
        return PlainTextResponse(text, media_type=metrics.MEDIA_TYPE)

    apis = apis_of(asker)

    async def openapi(request: Request) -> Response:
        return JSONResponse(document([api for api, _ in apis]))

    routes = [
        Route("/health", health),
        Route("/metrics", measured),
        Route("/openapi.json", openapi),
        *(
            Route(operation.path, answered(told, operation.endpoint), methods=[operation.method])
            for api, told in apis
            for operation in api.operations
        ),
    ]
    guard = Middleware(Guard, host=access.host, key=access.key, origins=access.origins, refused=access.count)
    return Starlette(routes=routes, middleware=[guard], exception_handlers={404: _nowhere, 405: _nowhere})


def apis_of(asker: Asker) -> tuple[tuple[Api, ErrorBody], ...]:
    """OpenAI's, which is first, Ollama's and Anthropic's, and how each words an error."""
    return (
        (Api("OpenAI", _openai(asker), ERROR_SCHEMA), error_body),
        (Api("Ollama", _ollama(asker), ollama.ERROR_SCHEMA), ollama.error_body),
        (Api("Anthropic", _anthropic(asker), anthropic.ERROR_SCHEMA), anthropic.error_body),
    )


def _openai(asker: Asker) -> tuple[Operation, ...]:
    models = OpenAiModels(asker)
    return (
        Operation("POST", "/v1/chat/completions", ChatCompletions(asker), "Answer a chat", body=ChatBody, stream=_SSE),
        Operation("POST", "/v1/completions", Completions(asker), "Go on with a text", body=CompletionBody, stream=_SSE),
        Operation("POST", "/v1/responses", Responses(asker), "Answer a chat", body=ResponsesBody, stream=_SSE),
        Operation("POST", "/v1/embeddings", EmbeddingsApi(asker).openai, "Embed texts", body=EmbeddingsBody),
        Operation("GET", "/v1/models", models.all, "List the models"),
        Operation("GET", "/v1/models/{name:path}", models.one, "Tell of a model"),
    )


def _ollama(asker: Asker) -> tuple[Operation, ...]:
    api, lines, embeddings = ollama.Ollama(asker), ollama.LINES, EmbeddingsApi(asker)
    return (
        Operation("POST", "/api/chat", api.chat, "Answer a chat", body=ollama.OllamaChatBody, stream=lines),
        Operation("POST", "/api/generate", api.generate, "Answer", body=ollama.OllamaGenerateBody, stream=lines),
        Operation("POST", "/api/embed", embeddings.ollama, "Embed texts", body=EmbedBody),
        Operation("POST", "/api/embeddings", embeddings.ollama_one, "Embed a text", body=OllamaEmbeddingsBody),
        Operation("GET", "/api/tags", api.tags, "List the models"),
        Operation("POST", "/api/show", api.show, "Tell of a model", body=ollama.ShowBody),
        Operation("GET", "/api/version", api.version, "Tell the version"),
    )


def _anthropic(asker: Asker) -> tuple[Operation, ...]:
    messages = anthropic.AnthropicMessages(asker)
    return (Operation("POST", "/v1/messages", messages, "Answer a chat", body=anthropic.MessagesBody, stream=_SSE),)


async def _nowhere(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    sentence = f"There is no {request.method} {request.url.path[:200]} here."
    body = {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}}
    return JSONResponse(body, status)
