"""What the engine really says, in a Chinese window: errors of its rooms, plans for simulated laptops, whole events."""

from __future__ import annotations

import dataclasses
import errno
import json
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import torch
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.i18n.translate import localized, tr_engine
from app.settings.editor import SettingEditor
from engine import protocol, settings
from engine.errors import UnderhillError, as_error
from engine.experts.eam import EamCollection
from engine.experts.policies import ExpertGrid, make_policy
from engine.experts.policies.hobbit import HobbitWeights
from engine.experts.precision import Thresholds
from engine.experts.telemetry import PrefetchStats
from engine.formats.checkpoint import Checkpoint
from engine.formats.gguf_header import read_gguf_header
from engine.formats.safetensors_header import read_header
from engine.hardware.computer import describe
from engine.hardware.processor import Processor
from engine.hub import errors as hub_errors
from engine.hub.client import Hub, checked
from engine.hub.listings import of_catalogue
from engine.library import catalogue, folders, home, library, relocation, trash
from engine.library.config_facts import config_facts
from engine.library.fit_estimates import FitEstimates
from engine.models.families import read_spec
from engine.planning import offload
from engine.planning.fit import PROGRAM, fit
from engine.quantization.planes import encode
from engine.record.layout import ExpertSpec
from engine.session import prefetch_choice
from engine.session.bottleneck import Pace, why
from engine.store import manifest, problems
from engine.store.lock import FileLock
from engine.store.reader import Store
from engine.tracing import trace
from engine.translatable import joined, msg, translated
from tests.app.i18n.leftover import english, is_chinese
from tests.engine.planning.laptops import MODELS, laptops, with_card

pytestmark = pytest.mark.usefixtures("chinese")
URL = "https://hub.example/a"


def written(path: Path, content: bytes | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(content).encode() if isinstance(content, dict) else content)
    return path


def answered(status: int, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, headers=headers, request=httpx2.Request("GET", URL))


def raising(error: Exception) -> Callable[[Path], object]:
    def do(_: Path) -> object:
        raise error

    return do


def locked_twice(folder: Path) -> None:
    with (
        FileLock(folder / "lock", msg("The import of the built-in model")),
        FileLock(folder / "lock", msg("This download")),
    ):
        pass


def not_finite(_: Path) -> None:
    spec = ExpertSpec(64, 64, top=8, group=32)
    encode({name: torch.full((64, 64), torch.nan) for name in ("gate", "up", "down")}, spec, 1, 2)


# What is done, and what of it has to be in the sentence.
ERRORS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "number": (lambda _: settings.validated({"temperature": 9}, settings.SAMPLING), ("9", "5")),
    "whole number": (lambda _: settings.validated({"readers": 99}, settings.ENGINE), ("99", "32")),
    "choice": (lambda _: settings.validated({"dial": "odd"}, settings.ENGINE), ("odd", "balanced")),
    "setting": (lambda _: settings.validated({"zzz": 1}, settings.ENGINE), ("zzz",)),
    "policy": (lambda _: make_policy("zzz", ExpertGrid((0, 1), 4)), ("zzz", "lru_layer")),
    "weights": (lambda _: HobbitWeights(0.5, 0.5, 0.5, 0.5), ("0.5",)),
    "thresholds": (lambda _: Thresholds(0.9, 0.25), ("0.9", "0.25")),
    "no config": (lambda p: Checkpoint.open(p), ("config.json",)),
    "no model_type": (lambda p: Checkpoint.open(written(p / "m/config.json", {"a": 1}).parent), ("model_type",)),
    "no JSON": (lambda p: Checkpoint.open(written(p / "m/config.json", b"{").parent), ("config.json",)),
    "short": (lambda p: read_header(written(p / "w.safetensors", b"\x50" + bytes(9))), ("w.safetensors",)),
    "GGUF": (lambda p: read_gguf_header(written(p / "x.gguf", b"nonsense of some length, and more")), ("x.gguf",)),
    "old GGUF": (lambda p: read_gguf_header(written(p / "x.gguf", b"GGUF\1\0\0\0" + bytes(64))), ("x.gguf", "1")),
    "no store": (lambda p: Store.open(p / "zzz"), ("zzz",)),
    "manifest": (lambda _: manifest.loads(b"nothing"), ("JSON",)),
    "old store": (
        lambda _: manifest.loads(json.dumps({"format": "underhill-store", "version": 1}).encode()),
        ("1", str(manifest.VERSION)),
    ),
    "no such model": (lambda _: library.prepare("zzz"), ("zzz", "builtin")),
    "name": (lambda _: home.checked_name("a/b"), ("a/b",)),
    "folder": (lambda p: folders.known(p / "zzz"), ("zzz",)),
    "relative": (lambda _: folders.choose("some/where"), (str(Path("some/where")),)),
    "trash": (lambda _: trash.restore("zzz"), ("zzz",)),
    "nothing to adopt": (lambda p: relocation.adopt(p, lambda *_: None), ()),
    "built-in": (lambda p: relocation.move("builtin", folders.own(), lambda *_: None), ()),
    "disk full": (raising(OSError(errno.ENOSPC, "No space left on device")), ()),
    "refused": (
        raising(PermissionError(errno.EACCES, "Permission denied", "/a/what is it.bin")), ("/a/what is it.bin",),
    ),
    "memory": (raising(MemoryError()), ()),
    "defect": (raising(KeyError("x")), ()),
    "trace": (lambda p: trace.load(p / "zzz.npz"), ("zzz.npz",)),
    "bad trace": (lambda p: trace.load(written(p / "zzz.npz", b"x")), ("zzz.npz",)),
    "activations": (lambda p: EamCollection.load(p / "zzz", 2, 4), ("zzz",)),
    "hub": (lambda _: Hub("ftp://x.example"), ("ftp://x.example", "https://")),
    "repo": (lambda _: checked("one/two/three"), ("one/two/three", "owner/model")),
    "offline": (raising(hub_errors.offline()), ("HF_HUB_OFFLINE",)),
    "time": (raising(hub_errors.unreachable(httpx2.ConnectTimeout("x"), URL, "http://p.example")), ("p.example",)),
    "silence": (raising(hub_errors.unreachable(httpx2.ReadTimeout("x"), URL)), ("hub.example",)),
    "certificate": (raising(hub_errors.unreachable(ssl.SSLError(), URL)), ("hub.example", "SSL_CERT_FILE")),
    "cut": (raising(hub_errors.cut(URL)), ("hub.example",)),
    "private": (raising(hub_errors.refused(answered(404), "a/b", "https://hub.example", "")), ("a/b", "hub.example")),
    "token": (raising(hub_errors.refused(answered(401), "", "https://hub.example", "x")), ("hub.example",)),
    "too many": (
        raising(hub_errors.refused(answered(429, **{"Retry-After": "40"}), "", "https://hub.example", "")),
        ("40", "hub.example"),
    ),
    "size": (raising(hub_errors.other_size("w.safetensors", 12345, 77)), ("w.safetensors", "12,345", "77")),
    "room": (raising(hub_errors.disk_full("/a b/c", 5 * 10**9)), ("/a b/c", "5,000 MB")),
    "family": (lambda _: read_spec({"model_type": "zzz"}), ("zzz",)),
    "no family": (lambda _: read_spec({}), ("model_type",)),
    "expert": (raising(problems.altered(3, 17, "low")), ("3", "17")),
    "cut expert": (raising(problems.shortened(3, 17)), ("3", "17")),
    "disk": (raising(problems.refused(3, 17, OSError(5, "Input/output error"))), ("3", "17")),
    "busy": (locked_twice, ()),
    "not finite": (not_finite, ("1", "2")),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_told_with_its_names_and_numbers(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(home.HOME, str(tmp_path / "home"))
    do, kept = ERRORS[name]
    with pytest.raises(Exception) as raised:  # noqa: PT011
        do(tmp_path)
    error = raised.value if isinstance(raised.value, UnderhillError) else as_error(raised.value)  # type: ignore[arg-type]
    both = [tr_engine(text) for text in (error.sentence, error.action) if text]
    assert all(map(is_chinese, both)), both
    assert [word for word in kept if word not in " ".join(both)] == []
    left = english(" ".join(both), *kept, str(tmp_path), *settings.ENGINE[0].choices)
    assert [word for word in left if word not in _TYPED] == [], both


_TYPED = frozenset(
    "SSL_CERT_FILE lru lfu lru_layer hobbit edgemoe activation auto native verify builtin model_type low gate up down "
    "what is it bin home models".split()
)


def plans() -> Iterator[str]:
    """What is said of eight models on sixty laptops, with and without a card, and with what is set by hand."""
    usual = settings.validated({}, settings.ENGINE)
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"memory_gb": 6.0, "context_length": 4096},
        {"dense": "int4", "tier": "2"},
    )
    for name, (_, config) in MODELS.items():
        model = config_facts(config, name, top=8)
        for _, machine in laptops():
            yield fit(machine, model).sentence
            for changed in changes:
                here = with_card(machine, 8)
                try:
                    plan = offload.make_plan_with_card(here, model, {**usual, **changed}, PROGRAM)
                except UnderhillError as e:
                    yield from (e.sentence, e.action)
                    continue
                yield from plan.sentences
                yield from offload.sentences(here, offload.outlooks(here, model, plan, "balanced"), plan.mode)


def test_every_plan_is_told_in_chinese_alone() -> None:
    said = set(plans())
    assert len(said) > 500
    left = {
        text: tr_engine(text) for text in said if english(tr_engine(text), *MODELS) or not is_chinese(tr_engine(text))
    }
    assert left == {}


def test_why_an_answer_is_fast_or_slow_is_told() -> None:
    said = {
        why(
            Pace(
                prompt=prompt,
                tokens=tokens,
                prompt_tokens=read,
                waiting=waiting,
                read=1e8,
                misses=misses,
                weights=weights,
                memory=4e10,
                others=native,
            )
        )
        for prompt in (False, True)
        for tokens in (0.0, 5.0)
        for read in (0.0, 1234.0)
        for waiting in (0.2, 0.8)
        for misses in (0.0, 40.0)
        for weights in (0, 6 * 10**9)
        for native in (False, True)
    }
    assert len(said) > 10
    assert {text: tr_engine(text) for text in said if english(tr_engine(text))} == {}


def test_a_computer_is_told() -> None:
    for _, machine in laptops():
        shown = describe(Processor("Some CPU 7", 8, 16, 4), with_card(machine, 8), None,
                         msg("It will be measured again."))  # fmt: skip
        new = localized(shown)
        assert all(is_chinese(text) and not english(text, "Some CPU 7") for text in (*new.sentences, new.why)), new


def test_a_list_in_a_sentence_is_told_item_by_item() -> None:
    shares = joined(
        ", ", (msg("{share}% at {tier}-bit", share=97, tier=2), msg("{share}% at {tier}-bit", share=9, tier=4))
    )
    assert "、" in tr_engine(shares)
    assert not english(tr_engine(msg("Expert computing, share of memory speed: {shares}.", shares=shares)))


def test_settings_are_told() -> None:
    every = (*settings.ENGINE, *settings.SAMPLING, *settings.SHARED)
    same = [s.name for s in every if tr_engine(s.help) == s.help or (tr_engine(s.label) == s.label)]
    assert [name for name in same if name not in ("top_p", "top_k", "min_p", "card")] == []
    assert [s.name for s in every if not is_chinese(tr_engine(s.help))] == []


def test_what_is_shipped_in_the_catalogue_is_told() -> None:
    models = tuple(
        protocol.HubModel(
            repo=m.repo,
            title=m.name,
            model_type="",
            parameters=1,
            download_bytes=1,
            licence="",
            about=translated(m.about),
        )
        for m in catalogue.load()
    )
    assert [m.repo for m in localized(models) if not is_chinese(m.about)] == []
    offered = localized(of_catalogue(FitEstimates()))
    assert [m.repo for m in offered if m.lost and (not is_chinese(m.lost) or "makers" in m.lost)] == []


def test_an_event_comes_with_its_sentences_translated_and_all_else_as_it_was() -> None:
    failed = protocol.Failed(
        "w1", protocol.Kind.DISK_FULL, msg("The disk is full."), msg("Free some space, then try again."), "Errno 28"
    )
    new = localized(failed)
    assert (new.sentence, new.action) == ("磁盘已满。", "释放一些空间，然后重试。")
    assert dataclasses.replace(new, sentence=failed.sentence, action=failed.action) == failed
    listed = protocol.Done(
        "w2",
        (
            protocol.HubModel(
                repo="a/b",
                title="Made for laptops",
                model_type="x",
                parameters=1,
                download_bytes=1,
                licence="",
                about=translated("Very small: runs anywhere, for simple tasks."),
            ),
        ),
    )
    (model,) = localized(listed).result
    assert (model.title, model.about) == ("Made for laptops", "非常小：到处都能运行，适合简单任务。")
    kept = protocol.Done("w3", {"sentence": "The disk is full."})
    assert localized(kept) is kept


def test_statistics_of_an_answer_are_kept_as_they_came() -> None:
    stats = protocol.Stats(
        text="x",
        token_ids=(1,),
        finish="stop",
        prompt_tokens=1,
        reused_tokens=0,
        dropped_turns=0,
        prompt_seconds=1.0,
        decode_seconds=1.0,
        hits=0,
        misses=0,
        bytes_read=0,
        precision={},
        peak_rss=1,
        why=msg("Processing prompt."),
    )
    assert localized(protocol.Done("w", stats)).result is stats


def test_who_reads_ahead_and_what_may_not_be_chosen_are_told_in_chinese(qtbot: QtBot) -> None:
    for foresight in (PrefetchStats(said=[0], right=[0]), PrefetchStats(said=[8], right=[4], useful=30, wasted=10)):
        said = prefetch_choice.accuracy_sentence(foresight, prefetch_choice.WORDS["blend"], resting=True)
        assert not english(tr_engine(said)), tr_engine(said)
    mode = next(s for s in settings.ENGINE if s.name == "mode")
    editor = SettingEditor(mode, None)
    qtbot.addWidget(editor)
    editor.forbid(offload.impossible(()))
    at = editor.control.findData(offload.GPU)
    assert english(editor.control.itemData(at, Qt.ItemDataRole.ToolTipRole)) == ["NVIDIA"]  # a name
