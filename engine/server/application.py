"""The server's addresses, and what answers at each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from engine.server.guard import Guard
from engine.server.http import Endpoint, answered
from engine.server.openai_chat import ChatCompletions
from engine.server.openai_common import error_body
from engine.server.openai_completions import Completions
from engine.server.openai_models import OpenAiModels, embeddings
from engine.server.openai_responses import Responses


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

    routes = [
        Route("/health", health),
        Route("/metrics", measured),
        *_routes(error_body, openai_endpoints(asker)),
        *_routes(ollama.error_body, ollama_endpoints(asker)),
        *_routes(anthropic.error_body, [("POST", "/v1/messages", anthropic.AnthropicMessages(asker))]),
    ]
    guard = Middleware(Guard, host=access.host, key=access.key, origins=access.origins, refused=access.count)
    return Starlette(routes=routes, middleware=[guard], exception_handlers={404: _nowhere, 405: _nowhere})


def openai_endpoints(asker: Asker) -> Iterable[tuple[str, str, Endpoint]]:
    """Method, path and endpoint of OpenAI's API."""
    models = OpenAiModels(asker)
    return (
        ("POST", "/v1/chat/completions", ChatCompletions(asker)),
        ("POST", "/v1/completions", Completions(asker)),
        ("POST", "/v1/responses", Responses(asker)),
        ("POST", "/v1/embeddings", embeddings),
        ("GET", "/v1/models", models.all),
        ("GET", "/v1/models/{name:path}", models.one),
    )


def ollama_endpoints(asker: Asker) -> Iterable[tuple[str, str, Endpoint]]:
    """Method, path and endpoint of Ollama's API."""
    api = ollama.Ollama(asker)
    return (
        ("POST", "/api/chat", api.chat),
        ("POST", "/api/generate", api.generate),
        ("GET", "/api/tags", api.tags),
        ("POST", "/api/show", api.show),
        ("GET", "/api/version", api.version),
    )


def _routes(
    told: Callable[[UnderhillError, int], dict[str, Any]], endpoints: Iterable[tuple[str, str, Endpoint]]
) -> list[Route]:
    return [Route(path, answered(told, endpoint), methods=[method]) for method, path, endpoint in endpoints]


async def _nowhere(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    sentence = f"There is no {request.method} {request.url.path[:200]} here."
    body = {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}}
    return JSONResponse(body, status)
