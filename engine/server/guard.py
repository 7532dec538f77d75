"""Who may ask at all: the host that a request names, the page that it comes from, the key that it shows."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Callable, Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OPEN_PATHS = frozenset({"/health"})  # without a key: says only that the server is there
_METHODS = "GET, POST, OPTIONS"
_HEADERS = "Authorization, Content-Type, X-API-Key, Anthropic-Version, Anthropic-Beta"


class Guard:
    """ASGI middleware. A refused request is answered before any of its body is read."""

    def __init__(
        self, app: ASGIApp, *, host: str, key: str, origins: Iterable[str], refused: Callable[[], None]
    ) -> None:
        """host: that the server is bound to. key: '' for none. origins: pages that may ask, as browsers name them."""
        self._app, self._key, self._refused = app, key, refused
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self._local = is_loopback(host)
        self._names = frozenset({"localhost", *(() if self._local else own_names())})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get("origin", "")
        allowed = origin.lower() in self._origins
        ahead = scope["method"] == "OPTIONS" and allowed  # a browser asks, without the key, whether it may
        refusal = self._why_not(scope["path"], headers, allowed, ahead)
        if ahead and refusal is None:
            await JSONResponse(None, headers=_cors(origin))(scope, receive, send)
            return
        if refusal is not None:
            self._refused()
            status, sentence = refusal
            headers_out = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
            body = {"error": {"message": sentence, "type": "invalid_request_error", "param": None, "code": None}}
            await JSONResponse(body, status, headers_out)(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and allowed:
                cors = [(name.lower().encode(), value.encode("latin-1")) for name, value in _cors(origin).items()]
                message = {**message, "headers": [*message.get("headers", []), *cors]}
            await send(message)

        await self._app(scope, receive, told)

    def _why_not(self, path: str, headers: dict[str, str], allowed: bool, ahead: bool) -> tuple[int, str] | None:
        if not self._named(headers.get("host", "")):
            return 403, "This server does not answer to that name. Ask it by its address, such as 127.0.0.1."
        # A page in a browser can send a request without asking first whether it may; reading the answer is what CORS
        # forbids it. So what comes from a page is refused here.
        if headers.get("origin") and not allowed:
            return 403, "Web pages may not ask this server unless their address is among those allowed."
        if self._key and path not in OPEN_PATHS and not ahead and not self._shown(headers):
            return 401, "This server wants its key, as a bearer token or in the header x-api-key."
        return None

    def _named(self, host: str) -> bool:
        """Whether a Host header names this server: a name of a stranger's may lead here, too (DNS rebinding)."""
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
        name = name.lower().rstrip(".")
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._local

    def _shown(self, headers: dict[str, str]) -> bool:
        given = headers.get("authorization", "")
        kind, _, token = given.partition(" ")
        shown = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "")
        # In time that does not depend on how much of it is right.
        return hmac.compare_digest(shown.encode("latin-1", "replace"), self._key.encode())


def is_loopback(host: str) -> bool:
    """Whether only programs of this computer reach that address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def own_names() -> tuple[str, ...]:
    """Names of this computer in its network."""
    name = socket.gethostname().lower()
    return name, f"{name.partition('.')[0]}.local"


def _cors(origin: str) -> dict[str, str]:
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": _HEADERS,
        "Vary": "Origin",
    }
