"""A server of files on the loopback interface that can be told to misbehave, and a release whose uv is a stand-in."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from app.install import release as releases
from app.install.release import Release


class Publisher:
    """files: what is served, by name. requests: (name, Range) of each request.

    cuts: how many bytes the next answers send before they break off. ranges: whether it knows of Range.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.cuts: list[int] = []
        self.ranges = True
        self.on_request = threading.Event()
        publisher = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, asked: http.server.BaseHTTPRequestHandler) -> None:
        name, wanted = asked.path.lstrip("/"), asked.headers.get("Range", "")
        self.requests.append((name, wanted))
        self.on_request.set()
        whole = self.files.get(name)
        if whole is None:
            asked.send_error(404)
            return
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        if begin and begin >= len(whole):
            asked.send_error(416)
            return
        asked.send_response(206 if begin else 200)
        asked.send_header("Content-Length", str(len(whole) - begin))
        asked.end_headers()
        body = whole[begin:]
        if self.cuts:
            body = body[: self.cuts.pop(0)]
        asked.wfile.write(body)


FAKE_UV = """
import json, os, pathlib, shutil, sys
words = sys.argv[1:]
if words[:2] == ["pip", "compile"]:
    out, lock = words[words.index("--output-file") + 1], words[-1]
    told = pathlib.Path(os.environ["UV_DEFAULT_INDEX"]).read_text()
    none = 'lock-version = "1.0"\\ncreated-by = "x"\\npackages = []\\n'
    pathlib.Path(out).write_text(told if lock.endswith("engine.txt") else none)
elif words[0] == "venv":
    python = pathlib.Path(words[-1], "Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir(parents=True)
    python.write_text(f"#!{sys.executable}\\n")
    python.chmod(0o755)
elif words[:2] == ["pip", "install"]:
    if "--find-links" in words:
        wheels = pathlib.Path(words[words.index("--find-links") + 1])
        site = pathlib.Path(words[words.index("--python") + 1]).parent.parent / "site"
        site.mkdir()
        for wheel in wheels.glob("*.whl"):
            shutil.copy(wheel, site)
"""


def make_wheel(path: Path, size: int = 200_000) -> bytes:
    """A zip with some bytes, as a wheel is one."""
    with zipfile.ZipFile(path, "w") as inside:
        inside.writestr("module.py", os.urandom(size))
    return path.read_bytes()


def write_script(path: Path, code: str) -> None:
    """A program in Python; `scripts_are_programs` sees to it where the system starts no scripts."""
    path.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
    path.chmod(0o755)


class ScriptPopen(subprocess.Popen):  # type: ignore[type-arg]
    """Starts scripts of `write_script`, too."""

    def __init__(self, args: Any, *others: Any, **options: Any) -> None:
        if not isinstance(args, (str, bytes)):
            program = Path(args[0])
            script = program.is_file() and program.read_bytes()[:2] == b"#!"
            args = [sys.executable, *args] if script else args
        super().__init__(args, *others, **options)


@pytest.fixture(autouse=True)
def scripts_are_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows, where the name alone makes no program of a text."""
    if sys.platform == "win32":
        monkeypatch.setattr(subprocess, "Popen", ScriptPopen)


def make_release(folder: Path, version: str = "1.0") -> Release:
    """A release with a stand-in for uv and two empty locks."""
    for name in ("app", "qt", "bin", "packages"):
        (folder / name).mkdir(parents=True)
    write_script(Release(folder).uv, FAKE_UV)
    for name in ("engine.txt", "torch.txt"):
        (folder / "packages" / name).write_text("")
    (folder / releases.NOTE).write_text(json.dumps({"version": version, "parts": {"app": "", "qt": ""}}))
    return Release(folder)


def publish(publisher: Publisher, release: Release, folder: Path, count: int = 3) -> Path:
    """Serve packages that the lock names. Returns the list that its stand-in for uv answers with, a file."""
    folder.mkdir()
    pylock, lock = ['lock-version = "1.0"', 'created-by = "test"'], ""
    for number in range(count):
        name = f"package{number}-1.0-py3-none-any.whl"
        data = publisher.files[name] = make_wheel(folder / name)
        digest = hashlib.sha256(data).hexdigest()
        lock += f"package{number}==1.0 \\\n    --hash=sha256:{digest}\n"
        pylock += [
            "[[packages]]", f'name = "package{number}"', 'version = "1.0"',
            f'wheels = [{{url = "{publisher.address}{name}", size = {len(data)}, hashes = {{sha256 = "{digest}"}}}}]',
        ]  # fmt: skip
    release.locks[0].write_text(lock)
    told = folder / "pylock.toml"
    told.write_text("\n".join(pylock))
    return told


@pytest.fixture
def publisher():
    """One that is ended with the test."""
    made = Publisher()
    yield made
    made.close()
