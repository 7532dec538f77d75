"""A server that answers as OpenAI's API does, or as badly as a test wants."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


def text(content: str) -> Body:
    """A piece of an answer."""
    return {"choices": [{"index": 0, "delta": {"content": content}}]}


def thought(content: str) -> Body:
    """A piece of a thought."""
    return {"choices": [{"index": 0, "delta": {"reasoning_content": content}}]}


def call(name: str, arguments: str, ident: str = "call_1") -> Body:
    """A call of a tool."""
    said = {"index": 0, "id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [said]}}]}


def end(reason: str = "stop", prompt: int = 12, answer: int = 5, cached: int = 4) -> list[Body]:
    """The end of an answer, and what it took."""
    used = {
        "prompt_tokens": prompt, "completion_tokens": answer, "prompt_tokens_details": {"cached_tokens": cached},
    }  # fmt: skip
    return [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": used}]


class EndpointServer:
    """In a `with` statement. url: as an endpoint has it. asked: bodies of chats. heads: headers of all requests.

    answer: makes the chunks of an answer, or does with the handler what it likes and returns None. models: listed.
    key: that must be shown. status: what everything is refused with, headers with it. held: an answer waits for it.
    """

    def __init__(self, certificate: tuple[str, str] | None = None) -> None:
        """certificate: files of it and of its key."""
        self.answer: Callable[[Body, Handler], list[Body] | None] = lambda body, handler: [text("Hello."), *end()]
        self.models = ["big"]
        self.key = ""
        self.status, self.headers, self.said = 200, dict[str, str](), "No."
        self.asked: list[Body] = []
        self.heads: list[dict[str, str]] = []
        self.held = threading.Event()
        self.gone = threading.Event()  # a client left in the middle of an answer
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.owner = self  # type: ignore[attr-defined]
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> EndpointServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.0"  # the end of an answer is the end of the connection

    @property
    def owner(self) -> EndpointServer:
        """The server that a test holds."""
        return self.server.owner  # type: ignore[attr-defined, no-any-return]

    def log_message(self, *_: object) -> None:
        """Tests print nothing."""

    def refuses(self) -> bool:
        """Refuse what is to be refused."""
        owner = self.owner
        owner.heads.append({name.lower(): value for name, value in self.headers.items()})
        status = owner.status
        if owner.key and self.headers.get("Authorization") != f"Bearer {owner.key}":
            status = 401
        if status != 200:
            self.reply(status, {"error": {"message": owner.said}}, owner.headers)
        return status != 200

    def reply(self, status: int, said: object, headers: dict[str, str] | None = None) -> None:
        """A whole answer in JSON."""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def begin(self) -> None:
        """The head of a stream."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()

    def send(self, chunk: Body) -> None:
        """One event."""
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()

    def do_GET(self) -> None:
        if not self.refuses():
            self.reply(200, {"object": "list", "data": [{"id": name} for name in self.owner.models]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.refuses():
            return
        if not body.get("stream"):
            self.reply(200, {"choices": [{"message": {"role": "assistant", "content": "Hi"}}]})
            return
        self.owner.asked.append(body)
        try:
            chunks = self.owner.answer(body, self)
            if chunks is not None:
                self.begin()
                for chunk in chunks:
                    self.send(chunk)
                self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            self.owner.gone.set()
