"""/openapi.json: what can be asked for at which address, in the form that other programs' tools read."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import metadata
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from engine.server.http import Endpoint

_JSON = "application/json"
_SCHEMAS = "#/components/schemas/{model}"
# What a request can be told instead of an answer: engine.server.http has the kinds of errors that these stand for.
_REFUSALS = {
    400: "The request is not what is wanted here, or longer than the model's context.",
    404: "There is no such model.",
    408: "The request did not come to its end in time.",
    413: "The request is too long.",
    429: "Too many requests wait: try again after the seconds of Retry-After.",
    499: "The listener has left.",
    500: "The model failed.",
    503: "The model cannot answer now.",
}
_GUARDED = {401: "The server wants its key.", 403: "The server does not answer to that name, or to that web page."}


@dataclass(frozen=True)
class Operation:
    """What is at an address. body: of the request; None where it has none. stream: media type of the answer where it
    comes in pieces.
    """

    method: str
    path: str
    endpoint: Endpoint
    summary: str
    _: KW_ONLY
    body: type[BaseModel] | None = None
    stream: str = ""


@dataclass(frozen=True)
class Api:
    """Operations whose errors have the same form: error is its JSON schema."""

    name: str
    operations: Sequence[Operation]
    error: dict[str, Any]


def document(apis: Sequence[Api]) -> dict[str, Any]:
    """OpenAPI 3.1 of all of them, JSON."""
    bodies = {op.body for api in apis for op in api.operations if op.body is not None}
    ordered = sorted(bodies, key=lambda kind: kind.__name__)
    _, schemas = models_json_schema([(kind, "validation") for kind in ordered], ref_template=_SCHEMAS)
    paths: dict[str, dict[str, Any]] = {}
    for api in apis:
        for operation in api.operations:
            path = operation.path.replace(":path}", "}")  # Starlette's own way to say that it may hold slashes
            paths.setdefault(path, {})[operation.method.lower()] = _described(api, operation, apis[0].error)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Underhill's local server", "version": own_version()},
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"key": []}],
    }


def _described(api: Api, operation: Operation, guarded: dict[str, Any]) -> dict[str, Any]:
    """guarded: how whoever may not ask is told so, whichever API it meant."""
    answer: dict[str, Any] = {_JSON: {"schema": {"type": "object"}}}
    if operation.stream:
        answer[operation.stream] = {}  # events or lines, each an object of its own: 3.1 has no words for that
    responses: dict[str, Any] = {"200": {"description": "The answer.", "content": answer}}
    for found, form in ((_REFUSALS, api.error), (_GUARDED, guarded)):
        for status, text in found.items():
            responses[str(status)] = {"description": text, "content": {_JSON: {"schema": form}}}
    described: dict[str, Any] = {"summary": operation.summary, "tags": [api.name], "responses": responses}
    if operation.body is not None:
        schema = {"$ref": _SCHEMAS.format(model=operation.body.__name__)}
        described["requestBody"] = {"required": True, "content": {_JSON: {"schema": schema}}}
    names = [part.strip("{}").partition(":")[0] for part in operation.path.split("/") if part.startswith("{")]
    if names:
        described["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
            for name in names
        ]
    return described


def own_version() -> str:
    """Underhill's; 0.0.0 where it runs from a folder."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version("underhill")
    return "0.0.0"


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with all of these."""
    return {"type": "object", "properties": properties, "required": list(properties)}
