"""What /openapi.json says is true: its addresses are the server's, and all it allows, or not, is answered so."""

from __future__ import annotations

from typing import Any

import httpx2 as httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from engine.server.embeddings import MODEL as EMBEDDER
from tests.engine.server.serving import Serving
from tests.waiting import LONGEST

schemathesis = pytest.importorskip("schemathesis", reason="a tool for development: requirements/dev.txt")
from schemathesis import checks  # noqa: E402

pytestmark = pytest.mark.long

HELLO = [{"role": "user", "content": "Hello."}]
SHORT = {"max_tokens": 3, "max_output_tokens": 16, "options": {"num_predict": 3}}
CHECKS = (
    checks.not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
    checks.response_schema_conformance,
)  # fmt: skip


@pytest.fixture(scope="module")
def described(serving: Serving) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{serving.url}/openapi.json", timeout=LONGEST).json()
    return found


def test_it_names_every_address(described: dict[str, Any]) -> None:
    named = {(method, path) for path, found in described["paths"].items() for method in found}
    assert len(named) == 14
    assert ("post", "/v1/chat/completions") in named
    assert ("get", "/v1/models/{name}") in named
    for found in described["paths"].values():
        for operation in found.values():
            assert operation["summary"]
            if (body := operation.get("requestBody")) is not None:
                name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                assert "properties" in described["components"]["schemas"][name]


def asked(case: Any) -> Any:
    """A case that a model answers, and soon: random names and lengths would tell of little else than of 404."""
    if isinstance(case.body, dict):
        if isinstance(case.body.get("model"), str):
            case.body["model"] = EMBEDDER if case.path in EMBEDDING else "builtin"
        case.body.update(SHORT)
    return case


EMBEDDING = ("/v1/embeddings", "/api/embed", "/api/embeddings")
ASKED = [
    *(("POST", path) for path in ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages")),
    *(("POST", path) for path in ("/api/chat", "/api/generate", "/api/show")),
    *(("POST", path) for path in EMBEDDING),
]
READ = [("GET", path) for path in ("/v1/models", "/v1/models/{name}", "/api/tags", "/api/version")]


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [*((*at, "POSITIVE") for at in ASKED + READ), *((*at, "NEGATIVE") for at in ASKED)],
)
def test_requests_of_all_kinds_are_answered_as_it_says(
    serving: Serving, described: dict[str, Any], method: str, path: str, mode: str
) -> None:
    operation = schemathesis.openapi.from_dict(described)[path][method]
    kinds: list[int] = []

    @settings(
        max_examples=15, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode]))
    def every(case: Any) -> None:
        answered = asked(case).call(base_url=serving.url, timeout=LONGEST)
        kinds.append(answered.status_code)
        case.validate_response(answered, checks=CHECKS)

    every()
    assert len(kinds) >= 10 or method == "GET"


@pytest.mark.parametrize(
    ("method", "path", "stream"),
    [*((*at, False) for at in ASKED + READ), *((*at, True) for at in ASKED)],
)
def test_what_is_as_it_should_be_is_answered(
    serving: Serving, described: dict[str, Any], method: str, path: str, stream: bool
) -> None:
    operation = schemathesis.openapi.from_dict(described)[path][method]
    if method == "GET":
        case = operation.Case(path_parameters={"name": "builtin"} if "{" in path else {})
    else:
        hello = "Hello." if path in ("/v1/completions", "/v1/responses", "/api/generate", *EMBEDDING) else HELLO
        inputs = ("/v1/responses", "/v1/embeddings", "/api/embed")
        name = "input" if path in inputs else "messages" if hello is HELLO else "prompt"
        body = {"model": EMBEDDER if path in EMBEDDING else "builtin", name: hello, "stream": stream, **SHORT}
        case = operation.Case(body=body, media_type="application/json")
    answered = case.call(base_url=serving.url, timeout=LONGEST)
    assert answered.status_code == 200, answered.text
    case.validate_response(answered, checks=CHECKS)
