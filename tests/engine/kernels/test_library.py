"""The library: what it computes with, and what is said where it is missing or will not build."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.kernels.native import NativeKernel
from engine.native import build
from engine.native.library import ISAS, NAMES, default_threads, isas, kernels_in_use


def test_the_best_instruction_set_is_taken_and_a_kernel_closes_twice(native_library: Path) -> None:
    kernel = NativeKernel(1, path=native_library)
    assert isas(native_library)[-1] in kernel.name
    kernel.close()
    kernel.close()


def test_a_missing_library_is_one_error_with_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(UnderhillError, match="was not built") as caught:
        NativeKernel(1, path=tmp_path / "none.so")
    assert caught.value.kind is Kind.MISSING_FILE
    assert caught.value.action == "Reinstall Underhill."
    assert "python -m engine.native.build" in caplog.text  # for who works on it


def test_a_file_that_is_no_library_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    with pytest.raises(UnderhillError, match="cannot be loaded") as caught:
        NativeKernel(1, path=broken)
    assert caught.value.kind is Kind.BROKEN_FILE


def test_threads_default_to_cores_of_this_process() -> None:
    assert 1 <= default_threads() <= (os.cpu_count() or 1)


def test_building_without_a_compiler_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "commands", lambda target: [])
    assert build.main([]) == 3
    assert "No C compiler" in capsys.readouterr().err


def test_what_computes_is_said_in_a_sentence(native_library: Path) -> None:
    best = NAMES[isas(native_library)[-1]]
    assert kernels_in_use(2, native_library) == f"Native kernels ({best}), 2 threads."
    assert kernels_in_use(1, native_library).endswith(", 1 thread.")
    assert set(NAMES) == set(ISAS)


@pytest.mark.skipif(not build.commands(), reason="needs a compiler")
def test_a_failing_compiler_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "options", lambda windows, zig: ["--no-such-option"])
    assert build.main(["--output", str(tmp_path / "kernels.so")]) == 1
    assert "no-such-option" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
