"""The manifest survives the trip to JSON and back, and lies in it are refused."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec
from engine.store.manifest import OLDEST, VERSION, dumps, loads
from tests.engine.store.tiny_store import make


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    copied = tmp_path_factory.mktemp("copies") / "tokenizer.json"
    copied.write_text("{}", encoding="utf-8")
    return (make(tmp_path_factory.mktemp("store") / "m", (copied,)) / "manifest.json").read_bytes()


def signed(body: dict[str, Any]) -> bytes:
    """JSON with a correct checksum: whoever lies on purpose can compute one."""
    body = {k: v for k, v in body.items() if k != "checksum"}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return json.dumps({**body, "checksum": digest}).encode()


def test_round_trip(text: bytes) -> None:
    assert dumps(loads(text)) == text


def test_codings_survive_and_those_that_cannot_be_are_refused(text: bytes) -> None:
    manifest = loads(text)
    coding = Coding(4, 32, "half", "iq4_nl")
    spec = ExpertSpec(64, 32, 2, 32, codings=(coding, coding, Coding(6, 16, "half", "middle32")))
    kept = dataclasses.replace(manifest, specs=(*manifest.specs, spec))
    assert loads(dumps(kept)) == kept
    for name, value in (
        ("form", "signed"),
        ("form", "byte"),
        ("bits", 5),
        ("group", 8),
        ("levels", "none"),
        ("group", 64),
    ):
        body = json.loads(dumps(kept))
        body["specs"][-1]["codings"][0][name] = value
        with pytest.raises(UnderhillError, match=r"codings|coding|codes|group"):
            loads(signed(body))


def test_a_store_from_before_codings_is_read(text: bytes) -> None:
    body = json.loads(text)
    body["version"] = 2
    for spec in body["specs"]:
        del spec["codings"]
    assert loads(signed(body)) == loads(text)


@pytest.mark.parametrize("odd", ["\ud800", "Größe", "模型", "\0"])
def test_whatever_a_config_holds_survives(odd: str, text: bytes) -> None:
    manifest = dataclasses.replace(loads(text), config={odd: odd})
    assert loads(dumps(manifest)) == manifest


def test_any_flipped_bit_is_found(text: bytes) -> None:
    for at in range(0, len(text), 7):
        damaged = bytearray(text)
        damaged[at] ^= 1
        with pytest.raises(UnderhillError) as caught:
            loads(bytes(damaged))
        assert caught.value.kind in (Kind.BROKEN_FILE, Kind.UNSUPPORTED_MODEL)


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_cut_short(cut: int, text: bytes) -> None:
    with pytest.raises(UnderhillError) as caught:
        loads(text[:cut])
    assert caught.value.kind is Kind.BROKEN_FILE


@pytest.mark.parametrize(
    ("version", "made", "action"), [(VERSION + 1, "a newer", "Update"), (OLDEST - 1, "an older", "Import it again")]
)
def test_another_version_says_what_to_do(version: int, made: str, action: str, text: bytes) -> None:
    with pytest.raises(UnderhillError, match=f"made by {made} version of the app .format {version}") as caught:
        loads(signed({**json.loads(text), "version": version}))
    assert caught.value.kind is Kind.UNSUPPORTED_MODEL
    assert caught.value.action.startswith(action)


LIES: list[tuple[tuple[Any, ...], Any]] = [
    (("format",), "something-else"),
    (("specs", 0, "hidden"), 2**40),
    (("specs", 0, "hidden"), 0),
    (("specs", 0, "hidden"), 64.0),
    (("specs", 0, "hidden"), True),
    (("specs", 0, "hidden"), "64"),
    (("specs", 0, "top"), 5),
    (("specs", 0, "group"), 17),
    (("specs", 0, "has_gate"), 1),
    (("specs",), {}),
    (("layers", 0, "index"), -1),
    (("layers", 0, "index"), 3),  # twice
    (("layers", 0, "file"), "../../etc/passwd"),
    (("layers", 0, "file"), "/etc/passwd"),
    (("layers", 0, "file"), "..\\x"),
    (("layers", 0, "file"), ".hidden"),
    (("layers", 0, "file"), ""),
    (("layers", 0, "file"), "dense.safetensors"),  # twice
    (("layers", 0, "records", 0, 0), 1),  # no such spec
    (("layers", 0, "records", 0, 0), -1),
    (("layers", 0, "records", 0, 1), -4096),
    (("layers", 0, "records", 0, 1), 4097),
    (("layers", 0, "records", 0, 1), 2**70),
    (("layers", 0, "records", 0, 1), 12288),  # overlaps its neighbour
    (("layers", 0, "records", 0, 2), 2**32),
    (("layers", 0, "records", 0), [0, 4096, 1, 2]),  # a checksum is missing
    (("layers", 0, "records", 0), 5),
    (("layers",), [3]),
    (("layers",), []),
    (("layers", 0, "records"), []),
    (("dense", 0, "shape"), [2**40, 2**40]),
    (("dense", 0, "shape"), [-8]),
    (("dense", 0, "nbytes"), 33),
    (("dense", 0, "dtype"), "F33"),
    (("dense", 0, "offset"), -1),
    (("dense", 0, "name"), "norm"),  # twice
    (("dense",), None),
    (("files", 0, "name"), "a/b"),
    (("source",), []),
    (("source", "files"), 3),
    (("config",), "x"),
    (("quality", 0, "relative_error"), -1.0),
    (("quality", 0, "relative_error"), float("nan")),
]


@pytest.mark.parametrize(("place", "value"), LIES, ids=[f"{'.'.join(map(str, p))}={v}" for p, v in LIES])
def test_lies_with_a_correct_checksum_are_refused(place: tuple[Any, ...], value: Any, text: bytes) -> None:
    body = copy.deepcopy(json.loads(text))
    at = body
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(UnderhillError) as caught:
        loads(signed(body))
    assert caught.value.kind is Kind.BROKEN_FILE


@pytest.mark.parametrize("name", ["specs", "layers", "dense", "files", "source", "config", "checksum", "version"])
def test_nothing_may_be_left_out(name: str, text: bytes) -> None:
    body = json.loads(text)
    del body[name]
    with pytest.raises(UnderhillError):
        loads(json.dumps(body).encode() if name == "checksum" else signed(body))
