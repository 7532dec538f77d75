"""What is shipped is what the sources give, old drivers take it, and it needs no memory for registers."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

from engine import resources
from engine.cuda import build
from engine.cuda.build import ABI, FLAVOURS, CompileError, Flavour, compile_ptx, find_nvrtc, kernel_names
from engine.cuda.ptx_files import LEAST_CAPABILITY, ptx_for, ptx_name, read_ptx

KERNELS = {
    "uh_activate", "uh_add", "uh_attend_16", "uh_attend_32", "uh_attend_latent_16", "uh_attend_latent_32",
    "uh_attend_many_16", "uh_attend_many_32", "uh_combine",
    "uh_down_1", "uh_down_4", "uh_down_exact", "uh_find", "uh_gate", "uh_gate_up_1", "uh_gate_up_4", "uh_gate_up_exact",
    "uh_gemm", "uh_heads_finish", "uh_keep", "uh_latent", "uh_merge", "uh_norm", "uh_pad", "uh_quantize", "uh_raw",
    "uh_route",
}  # fmt: skip
needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="the package nvidia-cuda-nvrtc-cu12 is not installed")


def assemblers() -> list[str]:
    """Every ptxas: that of the path, and that of the package, which are of different years."""
    found = [shutil.which("ptxas")]
    with suppress(PackageNotFoundError):
        found += [str(file.locate()) for file in files("nvidia-cuda-nvcc-cu12") or () if file.name == "ptxas"]
    return [own for own in found if own]


def shipped(flavour: Flavour) -> str:
    return read_ptx(flavour.name).decode("ascii")


def test_the_manifest_says_what_is_there() -> None:
    manifest = json.loads(resources.path("cuda", "manifest.json").read_text(encoding="ascii"))
    assert manifest["abi"] == ABI
    assert set(manifest["flavours"]) == {flavour.name for flavour in FLAVOURS}
    for flavour in FLAVOURS:
        entry, text = manifest["flavours"][flavour.name], shipped(flavour)
        assert entry["sha256"] == hashlib.sha256(text.encode()).hexdigest()
        assert set(entry["kernels"]) == set(kernel_names(text)) == KERNELS


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_it_asks_for_the_oldest_drivers_that_have_its_instructions(flavour: Flavour) -> None:
    text = shipped(flavour)
    assert text.startswith(f".version {flavour.version}\n.target {flavour.name}\n.address_size 64\n")
    # of sizes known beforehand, in registers: nothing that has to be set up for a launch
    assert not re.search(r"\.local|\.extern|\.const\b|vprintf|\bcall\b", text)


def test_both_together_are_small() -> None:
    assert sum(resources.path("cuda", ptx_name(flavour.name)).stat().st_size for flavour in FLAVOURS) < 600_000


@pytest.mark.parametrize(
    ("capability", "target"),
    [((7, 5), "sm_75"), ((8, 0), "sm_80"), ((8, 6), "sm_80"), ((8, 9), "sm_80"), ((9, 0), "sm_80"), ((12, 0), "sm_80")],
)
def test_a_card_gets_the_best_that_it_can_run(capability: tuple[int, int], target: str) -> None:
    ptx = ptx_for(capability)
    assert ptx.endswith(b"}\n\0")
    assert f".target {target}\n".encode() in ptx


def test_an_older_card_gets_none() -> None:
    assert LEAST_CAPABILITY == (7, 5)
    with pytest.raises(ValueError, match=r"\(7, 0\)"):
        ptx_for((7, 0))


@needs_nvrtc
@pytest.mark.long
@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda flavour: flavour.name)
def test_compiling_again_gives_what_is_shipped(flavour: Flavour) -> None:
    nvrtc = find_nvrtc()
    assert nvrtc is not None
    manifest = json.loads(resources.path("cuda", "manifest.json").read_text(encoding="ascii"))
    if build.nvrtc_version(nvrtc) != manifest["nvrtc"]:
        pytest.skip(f"NVRTC {build.nvrtc_version(nvrtc)} is here; the kernels were compiled with {manifest['nvrtc']}")
    assert compile_ptx(flavour, nvrtc) == shipped(flavour)


@needs_nvrtc
def test_a_mistake_in_a_kernel_is_told_with_its_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kernels.cu").write_text('extern "C" __global__ void broken() { nowhere(); }\n')
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    nvrtc = find_nvrtc()
    assert nvrtc is not None
    with pytest.raises(CompileError, match=r"kernels\.cu\(1\): error.*nowhere"):
        compile_ptx(FLAVOURS[0], nvrtc)


@pytest.mark.skipif(not assemblers(), reason="there is no ptxas")
@pytest.mark.long
@pytest.mark.parametrize("ptxas", assemblers(), ids=[f"assembler {n}" for n in range(len(assemblers()))])
@pytest.mark.parametrize(
    ("flavour", "card"), [("sm_75", "sm_75"), ("sm_80", "sm_80"), ("sm_80", "sm_86"), ("sm_80", "sm_89")]
)
def test_an_assembler_takes_it_and_spills_nothing(ptxas: str, flavour: str, card: str, tmp_path: Path) -> None:
    source = tmp_path / "kernels.ptx"
    source.write_bytes(read_ptx(flavour))
    command = [ptxas, f"-arch={card}", "-v", str(source), "-o", str(tmp_path / "out")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.findall(r"entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores", told, re.DOTALL)
    assert {name for name, _, _ in found} == KERNELS
    assert {(stack, spills) for _, stack, spills in found} == {("0", "0")}
    # 128 threads a block, at least four blocks on a multiprocessor of 65,536 registers
    assert max(map(int, re.findall(r"Used (\d+) registers", told))) <= 128
