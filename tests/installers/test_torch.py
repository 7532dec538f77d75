"""Which torch is installed, and that gigabytes of CUDA never come where there is no GPU for them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.installers import fakes
from tests.installers.conftest import Checkout
from tests.waiting import PROCESS

NOT_HERE = "+cpu\nERROR: No matching distribution found for torch\n"


def torch_calls(checkout: Checkout) -> list[str]:
    """Every attempt at torch, by pip or uv."""
    return [call for call in checkout.calls if "torch==" in call]


def test_without_a_gpu_pip_is_asked_for_the_cpu_build(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    assert [call.split()[-2:] for call in torch_calls(checkout)] == [["--no-deps", "torch==2.13.0+cpu"]]


def test_where_pip_has_none_uv_finds_the_cpu_build(checkout: Checkout) -> None:
    checkout.tell("pip-fails", NOT_HERE)
    assert checkout.run("run.sh", "cli").returncode == 0
    assert torch_calls(checkout)[1].endswith("torch==2.13.0 --no-deps --torch-backend=cpu")
    assert len(torch_calls(checkout)) == 2
    assert not (checkout.root / ".venv" / "uv").exists()


def test_the_general_build_comes_last_and_its_size_is_said(checkout: Checkout) -> None:
    checkout.tell("pip-fails", NOT_HERE)
    checkout.tell("uv-fails")
    done = checkout.run("run.sh", "cli")
    assert done.returncode == 0
    assert "takes about 3 GB" in done.stderr
    assert torch_calls(checkout)[-1].endswith("install torch==2.13.0")


def test_with_a_gpu_uv_chooses_the_build_for_its_driver(checkout: Checkout) -> None:
    checkout.fake("nvidia-smi", fakes.NVIDIA_SMI)
    assert checkout.run("run.sh", "cli").returncode == 0
    assert [call.split()[-2:] for call in torch_calls(checkout)] == [["torch==2.13.0", "--torch-backend=auto"]]


def test_a_gpu_added_later_brings_its_torch(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    checkout.fake("nvidia-smi", fakes.NVIDIA_SMI)
    checkout.run("run.sh", "cli")
    assert torch_calls(checkout)[-1].endswith("--torch-backend=auto")


def test_the_user_may_overrule_the_choice(checkout: Checkout) -> None:
    checkout.fake("nvidia-smi", fakes.NVIDIA_SMI)
    checkout.run("run.sh", "cli", UNDERHILL_TORCH="cpu")
    assert torch_calls(checkout)[0].endswith("+cpu")
    wrong = checkout.run("run.sh", "cli", UNDERHILL_TORCH="tpu")
    assert wrong.returncode == 1
    assert "it can be cpu or gpu" in wrong.stderr


@pytest.mark.parametrize(
    ("kind", "package", "passes"),
    [("cpu", "nvidia_cublas", False), ("cpu", "triton", False), ("gpu", "nvidia_cublas", True), ("cpu", "numpy", True)],
)
def test_the_guard_finds_cuda_where_there_is_no_gpu(
    root: Path, tmp_path: Path, kind: str, package: str, passes: bool
) -> None:
    for name in ("torch", "numpy", "safetensors", "tokenizers"):
        (tmp_path / f"{name}.py").write_text("def ones(n): return []\n\nclass L(list): sum = None\n")
    (tmp_path / "torch.py").write_text("class Tensor:\n    def sum(self): ...\n\ndef ones(n): return Tensor()\n")
    (tmp_path / f"{package}-1.0.dist-info").mkdir()
    (tmp_path / f"{package}-1.0.dist-info" / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
    (tmp_path / "bin").mkdir()
    # -S: none of what is installed here, only what lies in tmp_path.
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/bash\nPYTHONPATH="{tmp_path}" exec python3 -S "$@"\n')
    python.chmod(0o755)
    script = f'source "{root}/installers/lib.sh"; LOG="{tmp_path}/log"; check_environment "{tmp_path}" {kind}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PROCESS)
    log = (tmp_path / "log").read_text()
    assert (f"there is no NVIDIA GPU: {package}" not in log) is passes
    assert ("No module named pip" in log) is passes  # the next check is reached only when this one passed
    assert done.returncode == 1
