"""OpenAI's /v1/models."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.protocol import ModelCard
from engine.server.asking import Asker


class OpenAiModels:
    """The endpoints."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def all(self, request: Request) -> Response:
        """All that can be asked."""
        return JSONResponse({"object": "list", "data": [_body(card) for card in await self._asker.models()]})

    async def one(self, request: Request) -> Response:
        """One of them."""
        return JSONResponse(_body(await self._asker.model(request.path_params["name"])))


def _body(card: ModelCard) -> dict[str, Any]:
    return {
        "id": card.name, "object": "model", "created": 0, "owned_by": "underhill", "title": str(card.title),
        "context_length": card.context_length, "loaded": card.loaded,
        "reads_images": card.reads_images,
    }  # fmt: skip
