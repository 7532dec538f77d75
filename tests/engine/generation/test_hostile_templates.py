"""Templates that never end, or take all there is: one sentence, in time, and the next model works."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import psutil
import pytest

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.generation import model_files
from engine.generation.chat import ChatFormat
from engine.generation.messages import Message
from engine.sandbox import stoppable

pytestmark = pytest.mark.long

MODEL = resources.path("builtin", "model")
PLAIN = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
DOUBLED = "{% set ns = namespace(x='xxxxxxxx') %}{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"
LONG = "{% for i in range(99999) %}{{ 'x' * 999 }}{% endfor %}"
DEEP = "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}"
NESTED = "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}"
CHAT = [Message("user", "Hi"), Message("assistant", "Hello."), Message("user", "More")]


def having(folder: Path, template: str) -> Path:
    """A model with that template."""
    shutil.copytree(MODEL, folder)
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    config.pop("chat_template", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return folder


def late(evil: str) -> str:
    """A template that does evil once a chat has begun."""
    return "{% if messages|length > 1 %}" + evil + "{% endif %}" + PLAIN


@pytest.fixture(scope="module")
def builtin() -> ChatFormat:
    return ChatFormat(MODEL)


@pytest.mark.parametrize(
    ("evil", "says"),
    [
        (LOOPS, "took too long"),
        (DOUBLED, "too long"),
        (LONG, "too long"),
        (DEEP, "refuses the chat"),
    ],
)
def test_a_template_without_end_is_ended(
    evil: str, says: str, builtin: ChatFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if evil == LOOPS:
        monkeypatch.setattr(model_files, "WRITE_SECONDS", 1.0)
    before = builtin.prompt(CHAT)
    chat = ChatFormat(having(tmp_path / "evil", late(evil)))
    short = chat.prompt(CHAT[:1])
    assert chat.decode(short.ids) == "user: Hi\n"
    held = psutil.Process().memory_info().rss
    with pytest.raises(UnderhillError, match=says) as error:
        chat.prompt(CHAT)
    assert error.value.action
    assert psutil.Process().memory_info().rss - held < 300_000_000
    monkeypatch.undo()
    assert chat.prompt(CHAT[:1]) == short  # a chat that it does write goes on
    assert builtin.prompt(CHAT) == before


@pytest.mark.parametrize("evil", [LOOPS, DOUBLED])
def test_a_template_that_does_it_at_once_cannot_be_opened(
    evil: str, builtin: ChatFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "WRITE_SECONDS", 1.0 if evil == LOOPS else 10.0)
    template = evil + "{{ enable_thinking }}"  # so that its levels are tried
    with pytest.raises(UnderhillError, match="chat template") as error:
        ChatFormat(having(tmp_path / "evil", template)).prompt(CHAT)
    assert error.value.kind is Kind.BROKEN_FILE


def test_a_template_too_deep_to_be_read_is_refused_when_it_is_used(tmp_path: Path) -> None:
    chat = ChatFormat(having(tmp_path / "evil", NESTED))
    with pytest.raises(UnderhillError, match="chat template"):
        chat.prompt(CHAT)


def test_who_waits_for_a_template_can_stop(builtin: ChatFormat, tmp_path: Path) -> None:
    chat = ChatFormat(having(tmp_path / "evil", late(LOOPS)))
    stop = threading.Event()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with stoppable(stop.is_set), pytest.raises(UnderhillError) as error:
        chat.prompt(CHAT)
    assert error.value.kind is Kind.CANCELLED
    assert builtin.prompt(CHAT).ids


def test_nothing_of_a_template_runs_in_this_process(tmp_path: Path) -> None:
    """What a template asks of the process it runs in is answered by another one."""
    chat = ChatFormat(having(tmp_path / "any", PLAIN))
    assert chat.prompt(CHAT).ids
    assert model_files.PROCESS.pid not in (None, os.getpid())
    child = psutil.Process(model_files.PROCESS.pid)
    child.kill()
    child.wait(60)
    assert chat.prompt(CHAT).ids  # by the next one
