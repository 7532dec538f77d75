"""Which kernel is taken, and what is said when native code is missing or will not build."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import UnderhillError
from engine.kernels import build
from engine.kernels.choice import NAMES, available, choose, in_use
from engine.kernels.native import ISAS, NativeKernel, default_threads
from engine.kernels.reference import TorchKernel


def test_native_is_taken_where_it_is_there(native_library: Path) -> None:
    said = available(native_library)
    assert said.native
    assert said.isa in ISAS
    for setting in ("auto", "native"):
        kernel = choose(setting, 1, native_library)
        assert isinstance(kernel, NativeKernel)
        assert said.isa in kernel.name
        kernel.close()
        kernel.close()
    assert isinstance(choose("torch", path=native_library), TorchKernel)


def test_a_missing_library_is_told_and_never_hidden(tmp_path: Path) -> None:
    nowhere = tmp_path / "none.so"
    said = available(nowhere)
    assert (said.native, said.isa) == (False, "torch")
    assert "was not built" in said.reason
    assert isinstance(choose("auto", path=nowhere), TorchKernel)
    with pytest.raises(UnderhillError, match="was not built"):
        choose("native", path=nowhere)


def test_a_file_that_is_no_library_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    assert "cannot be loaded" in available(broken).reason


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(UnderhillError, match="There are no 'cuda' kernels"):
        choose("cuda")


def test_threads_default_to_cores_of_this_process() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)


def test_building_without_a_compiler_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "commands", list)
    assert build.main([]) == 3
    assert "No C compiler" in capsys.readouterr().err


def test_what_computes_is_said_in_a_sentence(native_library: Path, tmp_path: Path) -> None:
    best = NAMES[available(native_library).isa]
    assert in_use("auto", 2, native_library) == f"Native kernels ({best}) compute on 2 threads."
    assert in_use("native", 1, native_library).endswith("on 1 thread.")
    assert set(NAMES) == set(ISAS)
    assert "as the settings ask" in in_use("torch", 2, native_library)
    missing = in_use("auto", 2, tmp_path / "none.so")
    assert "was not built" in missing
    assert "python -m engine.kernels.build" in missing  # what to do
    assert available(tmp_path / "none.so").reason == missing


def test_a_failing_compiler_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "options", lambda windows: ["--no-such-option"])
    assert build.main(["--output", str(tmp_path / "kernels.so")]) == 1
    assert "no-such-option" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
