"""The library as it is made where the system has no C compiler, and which compiler is taken where there is one."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.kernels.native import NativeKernel
from engine.native import build
from engine.record.layout import ExpertSpec
from tests.engine.kernels.calls import SILU, routed, run
from tests.engine.kernels.records import random_experts
from tests.engine.kernels.reference import moe_forward

needs_zig = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without a compiler."""
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)  # where it makes what it needs is for build.py to say


def test_the_systems_compiler_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clang = tmp_path / ("clang.exe" if sys.platform == "win32" else "clang")
    clang.write_text("#!/bin/sh\n", encoding="utf-8")
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    (found,) = build.commands()[0]
    assert Path(found) == clang  # on Windows however its ending is written


def test_without_a_compiler_there_is_the_packages_or_none(bare: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert [command[1:4] for command in build.commands()] == [["-m", "ziglang", "cc"]]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert build.commands() == []


def test_another_system_is_compiled_for_by_the_package_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    called = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    monkeypatch.setattr(build, "build", lambda *arguments: called.append(arguments))
    assert build.main(["--target", "x86_64-windows-gnu"]) == 0
    ((command, library, windows),) = called
    assert (command[-2:], library, windows) == (
        ["-target", "x86_64-windows-gnu"],
        tmp_path / "underhill_kernels.dll",
        True,
    )


def test_a_compiler_that_cannot_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def compiled(command: list[str], *rest: object) -> None:
        subprocess.run([sys.executable, "-c", f"raise SystemExit({command[1] == 'one'})"], check=True)

    monkeypatch.setattr(build, "commands", lambda target: [[sys.executable, "one"], [sys.executable, "other"]])
    monkeypatch.setattr(build, "build", compiled)
    assert build.main(["--output", str(tmp_path / "library.so")]) == 0
    said = capsys.readouterr()
    assert f"{sys.executable} one could not build" in said.err
    assert "Built" in said.out


@needs_zig
@pytest.mark.slow
def test_without_a_compiler_the_package_builds_what_computes_the_same(bare: None, tmp_path: Path) -> None:
    library = tmp_path / build.library_name(windows=False)
    done = subprocess.run(
        [sys.executable, "-m", "engine.native.build", "--output", str(library)],
        env={**os.environ, "HOME": str(tmp_path / "home")},
        cwd=build.SOURCES.parents[2],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert not (tmp_path / "home").exists()  # nothing is left behind
    spec = ExpertSpec(512, 320, 8, 64)
    experts = random_experts(spec, 4, list(spec.tiers))
    x, ids, weights = torch.randn(7, 512), routed(7, 2, 4), torch.rand(7, 2)
    expected = moe_forward(x.double(), ids, weights, experts, spec, SILU)
    for isa in NativeKernel(1, path=library).isa, "portable":
        kernel = NativeKernel(1, isa, library, exact=True)
        found = kernel.combine(run(kernel, spec, experts, x, ids), weights)
        kernel.close()
        assert (found.double() - expected).norm() <= 1e-5 * expected.norm()
