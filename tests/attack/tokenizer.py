"""Tokenizers and chat templates that count for ever, take all memory or are none.

Reading a tokenizer is waited for 5 seconds instead of 60, and a template 3 instead of 10.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from engine import resources
from engine.generation import model_files
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message
from tests.attack.case import Case
from tests.attack.given import JSON, changed

TEMPLATES = {
    "counts for ever": "{% for i in range(10**12) %}{% endfor %}",
    "counts in counts": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "writes for ever": "{% for i in range(99999) %}{{ 'x' * 99999 }}{% endfor %}",
    "multiplies": "{{ 'x' * 10**10 }}",
    "raises to a power": "{{ 10**10**8 }}",
    "calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "looks inside": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "opens a file": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "includes a file": "{% include '/etc/passwd' %}",
    "imports": "{% import 'os' as os %}{{ os }}",
    "is cut off": "{% for m in messages %}{{ m.content",
    "complains": "{{ raise_exception('no') }}",
    "pads": "{{ '%1000000000d' % 5 }}",
    "joins": "{{ range(10**9) | join }}",
    "sorts": "{{ range(10**9) | list | length }}",
    "formats": "{{ '{0.__class__}'.format(messages) }}",
    "is deep": "{% if true %}" * 5000,
    "has long expressions": "{{ " + "1 + " * 20_000 + "1 }}",
}  # fmt: skip


def cases() -> list[Case]:
    whole = json.loads(resources.path("builtin", "model", "tokenizer.json").read_text(encoding="utf-8"))
    about = json.loads(resources.path("builtin", "model", "tokenizer_config.json").read_text(encoding="utf-8"))
    short = {key: value for key, value in whole.items() if key != "model"} | {"model": {**whole["model"], "merges": []}}
    found = [Case(f"a template that {what}", partial(_template, text), True) for what, text in TEMPLATES.items()]
    found += [Case(f"json: {what}", partial(_file, "tokenizer.json", text), True) for what, text in JSON.items()]
    found += [
        Case(f"about: {what}", partial(_file, "tokenizer_config.json", text), True) for what, text in JSON.items()
    ]
    found += [
        Case(f"ends: {what}", partial(_file, "generation_config.json", text), True) for what, text in JSON.items()
    ]
    found += [
        Case(f"changed: {what}", partial(_value, "tokenizer.json", one), True) for what, one in changed(short, 17, 40)
    ]
    found += [Case(f"about changed: {what}", partial(_value, "tokenizer_config.json", one), True)
              for what, one in changed(about, 18, 20)]  # fmt: skip
    return found


def _folder(folder: Path) -> Path:
    return shutil.copytree(resources.path("builtin", "model"), folder / "model", copy_function=_copied)


def _copied(source: str, target: str) -> None:
    """Neither the weights nor who may read it."""
    if not source.endswith(".safetensors"):
        shutil.copyfile(source, target)


def _asked(folder: Path) -> None:
    model_files.LOAD_SECONDS, model_files.WRITE_SECONDS = 5.0, 3.0
    ChatFormat(folder).prompt([Message("user", "Hello")])


def _template(text: str, folder: Path) -> None:
    path = _folder(folder)
    (path / "chat_template.jinja").write_text(text, encoding="utf-8")
    _asked(path)


def _file(name: str, data: bytes, folder: Path) -> None:
    path = _folder(folder)
    (path / name).write_bytes(data)
    _asked(path)


def _value(name: str, value: Any, folder: Path) -> None:
    _file(name, json.dumps(value).encode(), folder)
