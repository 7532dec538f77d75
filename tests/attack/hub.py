"""A hub that answers as none does. Silence is waited for 1 second instead of 30, so that a wait is told from a hang."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from engine import limits
from engine.hub.client import Hub, connect
from engine.hub.outline import read_outline
from engine.hub.search import search
from tests.attack.case import Case
from tests.attack.given import JSON, VALUES
from tests.hubserver.hostile import HostileHub, Script, endless, head

KIND = {"Content_Type": "application/json"}
ASKED: dict[str, Callable[[Hub], object]] = {
    "search": lambda hub: search(hub, "qwen"),
    "outline": lambda hub: read_outline(hub, "a/b"),
    "account": lambda hub: hub.account(),
    "file": lambda hub: hub.read("a/b", "0" * 40, "config.json", most=1 << 20),
}
MODEL: dict[str, Any] = {
    "id": "a/b", "modelId": "a/b", "sha": "0" * 40, "downloads": 1, "likes": 1, "tags": ["safetensors"], "gated": False,
    "config": {"model_type": "qwen3_moe"}, "lastModified": "2026-01-01T00:00:00.000Z",
    "safetensors": {"parameters": {"BF16": 10**9}, "total": 10**9},
    "siblings": [{"rfilename": "config.json", "size": 10, "blobId": "0" * 40}],
}  # fmt: skip


def cases() -> list[Case]:
    found = []
    for what, ask in ASKED.items():
        found += [
            Case(f"{what}: {kind}", partial(_asked, ask, script), what == "file" and "unpack" in kind)
            for kind, script in _scripts().items()
        ]
        found += [
            Case(f"{what}: JSON, {kind}", partial(_asked, ask, _always(text)), True) for kind, text in JSON.items()
        ]
    for key, (kind, value) in itertools.product(MODEL, VALUES.items()):
        for what in ("search", "outline"):
            one: Any = {**MODEL, key: value}
            data = json.dumps([one] if what == "search" else one).encode()
            found.append(Case(f"{what}: {key} is {kind}", partial(_asked, ASKED[what], _always(data)), True))
    sizes = (2**49, 2**63, -1, 1.5, "1", None)
    found += [Case(f"a file of {n} bytes", partial(_asked, ASKED["outline"], _always(_sized(n))), True) for n in sizes]
    return found


def _sized(size: object) -> bytes:
    files = [{"rfilename": name, "size": size, "blobId": "0" * 40} for name in ("config.json", "model.safetensors")]
    return json.dumps({**MODEL, "siblings": files}).encode()


def _always(data: bytes, status: str = "200 OK", **headers: str) -> Script:
    return lambda asked: (head(status, **{**KIND, "Content_Length": str(len(data)), **headers}), data)


def _scripts() -> dict[str, Script]:
    zipped = gzip.compress(b" " * (64 << 20))
    after = {
        f"asks to wait {x[:9]!r}": _always(b"", "429 Too Many", Retry_After=x)
        for x in ("²", "9" * 400, "-1", "1e9", "")
    }
    codes = {
        f"answers {c}": _always(b"", f"{c} What") for c in (301, 302, 400, 401, 403, 404, 416, 451, 500, 503, 511, 599)
    }
    return after | codes | {
        "answers without end": lambda asked: _after(head(**KIND), b" " * 65536),
        "redirects without end": lambda asked: _after(head("302 Found", Location="/x"), b" " * 65536),
        "redirects in circles": _always(b"", "302 Found", Location="/api/models"),
        "redirects to nonsense": _always(b"", "302 Found", Location="http://[::1"),
        "redirects to a file": _always(b"", "302 Found", Location="file:///etc/passwd"),
        "headers without end": lambda asked: _after(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1000),
        "one long header": lambda asked: _after(b"HTTP/1.1 200 OK\r\nX-A: ", b"b" * 65536),
        "no HTTP": lambda asked: (b"SSH-2.0-OpenSSH\r\n",),
        "nothing": lambda asked: (),
        "zeros": lambda asked: _after(b"", b"\0" * 65536),
        "cut": _always(b"", Content_Length="1000"),
        "a wrong length": _always(b"{}", Content_Length="²"),
        "a negative length": _always(b"{}", Content_Length="-5"),
        "unpacks without end": _always(zipped, Content_Encoding="gzip"),
        "cannot be unpacked": _always(b"none", Content_Encoding="gzip"),
        "unpacks in an unknown way": _always(b"\xff\xfe\0\0", Content_Encoding="rot13, gzip"),
        "chunks that are none": lambda asked: (head(**KIND, Transfer_Encoding="chunked"), b"zzzz\r\n"),
        "a page": _always(b"<html>sign in</html>", Content_Type="text/html"),
    }  # fmt: skip


def _after(beginning: bytes, piece: bytes) -> Iterator[bytes]:
    yield beginning
    yield from endless(piece)


def _asked(ask: Callable[[Hub], object], script: Script, folder: Path) -> None:
    patient = limits.SILENCE_SECONDS
    limits.SILENCE_SECONDS = 1.0
    try:
        with HostileHub(script) as hostile, connect({"endpoint": hostile.url}) as hub:
            ask(hub)
    finally:
        limits.SILENCE_SECONDS = patient  # the tests of this process that come after wait as the product does
