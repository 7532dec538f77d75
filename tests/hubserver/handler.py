"""One request: routed, checked for who asks, and answered, or spoiled as a fault says."""

from __future__ import annotations

import json
import re
import select
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.hubserver.faults import Fault
from tests.hubserver.repos import STORED_APART, Repo, etag

BLOCK = 1 << 14
_FILE = re.compile(r"/(?P<repo>[^/]+(?:/[^/]+)?)/resolve/(?P<revision>[^/]+)/(?P<name>.+)")
_MODEL = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)(?:/(?P<what>revision|tree)/(?P<revision>[^/]+))?")


class Handler(BaseHTTPRequestHandler):
    """server: a _Server with .hub and .storage."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._handle()

    def do_GET(self) -> None:
        self._handle()

    def _handle(self) -> None:
        from tests.hubserver.server import Request

        self.hub, self.storage = self.server.hub, self.server.storage  # type: ignore[attr-defined]
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.hub.requests.append(Request(self.command, self.path, headers, self.storage))
        parts = urlsplit(self.path)
        path, query = unquote(parts.path), parse_qs(parts.query)
        fault = self.hub.fault(path, path.endswith(STORED_APART) and not self.storage)
        if fault.status:
            return self._refuse(fault.status, "", **fault.headers)
        if fault.page:
            return self._answer(200, fault.page.encode(), {"Content-Type": fault.page_type})
        if fault.stall and fault.cut is None:
            self._be_silent(fault.stall)
        if found := _FILE.fullmatch(path):
            return self._resolve(found["repo"], found["revision"], found["name"], fault)
        if self._token() and self._token() not in self.hub.tokens:
            return self._refuse(401, "", **{"X-Error-Message": "Invalid credentials in Authorization header"})
        if path == "/api/whoami-v2":
            return self._json({"type": "user", "name": "somebody"}) if self._token() else self._refuse(401)
        if path == "/api/models":
            return self._search(query)
        if found := _MODEL.fullmatch(path):
            return self._model(found["repo"], found["what"], found["revision"] or "main", "blobs" in query)
        return self._refuse(404)

    # ---- who asks, and for what

    def _token(self) -> str:
        return str(self.headers.get("Authorization", "")).removeprefix("Bearer ")

    def _repo(self, name: str, revision: str) -> Repo | None:
        """The model, or None after the refusal has been sent."""
        repo = self.hub.repos.get(name)
        if repo is None or (repo.private and self._token() not in repo.people):
            # the real one tells nobody which private ones there are
            self._refuse(404 if self._token() else 401, "RepoNotFound")
        elif not repo.known(revision):
            self._refuse(404, "RevisionNotFound")
        else:
            return repo
        return None

    # ---- the API

    def _search(self, query: dict[str, list[str]]) -> None:
        words = query.get("search", [""])[0].lower()
        tags = set(query.get("filter", []))
        matching = [
            repo.found()
            for repo in sorted(self.hub.repos.values(), key=lambda r: -r.downloads)
            if words in repo.name.lower() and not repo.private and tags <= set(repo.entry()["tags"])
        ]
        start = int(query.get("cursor", ["0"])[0])
        headers = {}
        if start + self.hub.page < len(matching):
            rest = "&".join(f"{k}={quote(v)}" for k, vs in query.items() if k != "cursor" for v in vs)
            headers["Link"] = f'<{self.hub.url}/api/models?{rest}&cursor={start + self.hub.page}>; rel="next"'
        self._json(matching[start : start + self.hub.page], headers)

    def _model(self, name: str, what: str | None, revision: str, blobs: bool) -> None:
        if repo := self._repo(name, revision):
            self._json(repo.tree() if what == "tree" else repo.info(blobs))

    # ---- files

    def _resolve(self, name: str, revision: str, file: str, fault: Fault) -> None:
        if self.storage:  # the address itself is the permission, as with signed ones
            repo: Repo | None = self.hub.repos[name]
        else:
            repo = self._repo(name, revision)
            if repo is not None and repo.gated and self._token() not in repo.people:
                return self._refuse(403 if self._token() else 401, "GatedRepo")
        if repo is None:
            return None
        if file not in repo.files:
            return self._refuse(404, "EntryNotFound")
        path = repo.files[file]
        named = fault.etag or etag(path)
        headers = {"X-Repo-Commit": repo.commit, "ETag": f'"{named}"', "Accept-Ranges": "bytes"}
        if file.endswith(STORED_APART) and not self.storage:
            headers |= {"X-Linked-Etag": f'"{named}"', "X-Linked-Size": str(repo.size(file))}
            headers["Location"] = f"{self.hub.storage}{quote(self.path)}?signature=x"
            return self._answer(302, b"", headers)
        return self._file(path, headers, fault)

    def _file(self, path: Path, headers: dict[str, str], fault: Fault) -> None:
        size = path.stat().st_size + fault.extra
        start, stop, status = 0, size, 200
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked and not fault.whole:
            start, stop = int(asked[1]), min(size, int(asked[2]) + 1) if asked[2] else size
            if start >= size:
                return self._refuse(416, "", **{"Content-Range": f"bytes */{size}"})
            status, headers["Content-Range"] = 206, f"bytes {start}-{stop - 1}/{size}"
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(stop - start)}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            with self.hub.handing_out():
                self._body(path, start, stop, fault)
        return None

    def _body(self, path: Path, start: int, stop: int, fault: Fault) -> None:
        sent = 0
        with path.open("rb") as file:
            file.seek(start)
            while start + sent < stop:
                if fault.cut is not None and sent >= fault.cut:
                    self._be_silent(fault.stall)
                    self.close_connection = True
                    self.connection.close()
                    return
                most = BLOCK if fault.cut is None else min(BLOCK, fault.cut - sent)
                data = bytearray(file.read(min(most, stop - start - sent)) or b"\0" * min(most, stop - start - sent))
                if fault.corrupt:
                    data[-1] ^= 1
                self.hub.take_turn(len(data))
                self.wfile.write(data)
                self.wfile.flush()
                self.hub.count(path.name, len(data))
                sent += len(data)
                if fault.rate:
                    time.sleep(len(data) / fault.rate)

    def _be_silent(self, seconds: float) -> None:
        """So long, or until the other side hangs up or a test has had enough of it."""
        end = time.monotonic() + seconds
        while not self.hub.speaking.is_set() and time.monotonic() < end:
            if select.select([self.connection], [], [], min(seconds, 0.02))[0]:
                return

    # ---- answers

    def _json(self, value: Any, headers: dict[str, str] | None = None) -> None:
        self._answer(200, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _refuse(self, status: int, code: str = "", **headers: str) -> None:
        told = {"X-Error-Code": code} if code else {}
        self._answer(status, json.dumps({"error": code or "no"}).encode(), {**told, **headers})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
