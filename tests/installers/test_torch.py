"""Which torch is installed, that its files are those of the lock, and that gigabytes of CUDA never come unasked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installers.conftest import Checkout
from tests.waiting import PROCESS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an installer for Linux")

NOT_HERE = "/torch.txt\nERROR: No matching distribution found for torch\n"
LOCKED = ["--no-deps", "--require-hashes"]


def torch_calls(checkout: Checkout) -> list[str]:
    """Every attempt at torch, by pip or uv."""
    return [call for call in checkout.calls if re.search(r"/torch[\w-]*\.txt$", call)]


def test_pip_is_asked_for_the_build_for_the_cpu(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    (call,) = torch_calls(checkout)
    assert call.endswith("/requirements/torch.txt")
    assert set(LOCKED) < set(call.split())


def test_where_pip_has_none_uv_finds_it(checkout: Checkout) -> None:
    checkout.tell("pip-fails", NOT_HERE)
    assert checkout.run("run.sh", "cli").returncode == 0
    _, call = torch_calls(checkout)
    assert call.startswith("uv ")
    assert {*LOCKED, "--torch-backend=cpu"} < set(call.split())
    assert not (checkout.root / ".venv" / "uv").exists()


def test_the_general_build_comes_last_and_its_size_is_said(checkout: Checkout) -> None:
    checkout.tell("pip-fails", NOT_HERE)
    checkout.tell("uv-fails")
    done = checkout.run("run.sh", "cli")
    assert done.returncode == 0
    assert "takes about 3 GB" in done.stderr
    assert torch_calls(checkout)[-1].endswith("/requirements/torch-general.txt")
    assert set(LOCKED) < set(torch_calls(checkout)[-1].split())


def test_a_graphics_card_makes_no_difference(checkout: Checkout) -> None:
    checkout.fake("nvidia-smi", "#!/bin/bash\necho 'GPU 0: a graphics card'\n")
    checkout.run("run.sh", "cli")
    assert [call.endswith("/requirements/torch.txt") for call in torch_calls(checkout)] == [True]


@pytest.mark.parametrize(
    ("general", "package", "passes"),
    [
        (False, "nvidia_cublas", False),
        (False, "triton", False),
        (True, "nvidia_cublas", True),
        (False, "numpy", True),
        (False, "nvidia_cuda_nvrtc_cu12", True),
        (False, "nvidia_cuda_nvcc_cu12", True),
    ],
)
def test_the_guard_finds_cuda_that_came_unasked(
    root: Path, tmp_path: Path, general: bool, package: str, passes: bool
) -> None:
    if general:
        (tmp_path / "general-torch").touch()
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
    script = f'source "{root}/installers/lib.sh"; LOG="{tmp_path}/log"; check_environment "{tmp_path}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PROCESS)
    log = (tmp_path / "log").read_text()
    assert (f"which nothing needs: {package}" not in log) is passes
    assert ("No module named pip" in log) is passes  # the next check is reached only when this one passed
    assert done.returncode == 1
