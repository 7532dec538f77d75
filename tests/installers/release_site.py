"""Serves signed releases, a package index and torch's page from folders, slowly, and misbehaves where it is told to."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from urllib.parse import unquote

_RATE = 25e6  # bytes a second and connection: so slow that kills meet downloads as well
_BLOCK = 1 << 18
_INDEX = "application/vnd.pypi.simple.v1+json"


class Site:
    """folder: parts and lists of releases. cuts: so many files break off before their first byte or at a half.

    flip: the first byte of every part of a release is another.
    """

    def __init__(self, folder: Path, wheels: Path, port: int) -> None:
        """port: 0 for one that is free; releases have the address in them."""
        self.folder, self.wheels = folder, wheels
        self.cuts, self.flip = 0, False
        self._lock = threading.Lock()
        self._hashes: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._answer(self)

            def do_HEAD(self) -> None:
                site._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.address = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()

    def prepare(self, packages: Path) -> None:
        """Have the wheels of a release's locks, for this Python."""
        if not self.wheels.exists():
            fresh = self.wheels.with_name("wheels.new")
            for lock in ("engine.txt", "torch.txt"):
                options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "-r", str(packages / lock)]
                subprocess.run([sys.executable, "-m", "pip", "download", "-q", *options, "-d", str(fresh)], check=True)
            fresh.rename(self.wheels)
        self._hashes = {w.name: hashlib.sha256(w.read_bytes()).hexdigest() for w in self.wheels.glob("*.whl")}

    def _answer(self, asked: http.server.BaseHTTPRequestHandler) -> None:
        path = unquote(asked.path).strip("/")
        if path.startswith("simple/"):
            wanted = path.removeprefix("simple/")
            files = [self._entry(name) for name in self._hashes if _package(name) == wanted]
            said = {"meta": {"api-version": "1.0"}, "name": wanted, "files": files}
            self._send(asked, json.dumps(said).encode(), _INDEX) if files else asked.send_error(404)
        elif path == "torch":
            names = [name for name in self._hashes if _package(name) == "torch"]
            links = [f'<a href="../files/{n.replace("+", "%2B")}#sha256={self._hashes[n]}">{n}</a>' for n in names]
            self._send(asked, "".join(links).encode(), "text/html")
        elif path.endswith(".whl.metadata"):
            with zipfile.ZipFile(self.wheels / path.removeprefix("files/").removesuffix(".metadata")) as inside:
                name = next(n for n in inside.namelist() if n.endswith(".dist-info/METADATA"))
                self._send(asked, inside.read(name), "text/plain")
        else:
            file = self.wheels / path.removeprefix("files/") if path.startswith("files/") else self.folder / path
            if file.is_file():
                self._send(asked, file.read_bytes(), "application/octet-stream")
            else:
                asked.send_error(404)

    def _entry(self, name: str) -> dict[str, object]:
        size = (self.wheels / name).stat().st_size
        return {"filename": name, "url": f"{self.address}files/{name.replace('+', '%2B')}", "size": size,
                "hashes": {"sha256": self._hashes[name]}, "core-metadata": True}  # fmt: skip

    def _send(self, asked: http.server.BaseHTTPRequestHandler, body: bytes, kind: str) -> None:
        first, last = 0, len(body) - 1
        if wanted := re.fullmatch(r"bytes=(\d*)-(\d*)", asked.headers.get("Range", "")):
            first = int(wanted[1]) if wanted[1] else len(body) - int(wanted[2])
            last = min(int(wanted[2]), last) if wanted[1] and wanted[2] else last
        if first > last:
            asked.send_error(416)
            return
        part = asked.path.endswith(".tar.xz")
        sent = bytearray(body[first : last + 1])
        if self.flip and part and not first:
            sent[0] ^= 1
        asked.send_response(206 if wanted else 200)
        asked.send_header("Content-Type", kind)
        asked.send_header("Accept-Ranges", "bytes")
        asked.send_header("Content-Length", str(len(sent)))
        if wanted:
            asked.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
        asked.end_headers()
        if asked.command == "HEAD":
            return
        with self._lock:
            cut = part and self.cuts > 0
            self.cuts -= cut
        if cut:
            sent = sent[: 0 if self.cuts > 100 else len(sent) // 2]
            asked.close_connection = True
        try:
            for at in range(0, len(sent), _BLOCK):
                asked.wfile.write(sent[at : at + _BLOCK])
                time.sleep(_BLOCK / _RATE)
        except OSError:  # who asked was killed
            asked.close_connection = True


def _package(wheel: str) -> str:
    return re.sub(r"[-_.]+", "-", wheel.split("-")[0]).lower()
