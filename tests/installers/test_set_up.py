"""A set-up: what it does, that it does nothing the second time, and that no accident leaves anything broken."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.installers import fakes
from tests.installers.conftest import Checkout
from tests.waiting import LONGEST, PROCESS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform == "win32", reason="an installer for Linux"),
]


def installed(checkout: Checkout) -> list[str]:
    """What was installed, in order, in one word each."""
    words = {
        "torch.txt": "torch",
        "runtime.txt": "libraries",
        "dev.txt": "tools",
        "compiler.txt": "compiler",
        " -e ": "underhill",
        "kernels": "kernels",
    }
    return [word for call in checkout.calls for mark, word in words.items() if mark in call]


def wait_for(condition: str, checkout: Checkout) -> None:
    """Wait until one of the calls holds the text."""
    end = time.monotonic() + LONGEST
    while not any(condition in call for call in checkout.calls):
        assert time.monotonic() < end, f"{condition!r} was never called: {checkout.calls}"
        time.sleep(0.02)


def test_the_first_run_sets_everything_up_torch_first_and_runs_the_command(checkout: Checkout) -> None:
    done = checkout.run("run.sh", "cli", "chat", "--prompt", "two words", "")
    assert done.returncode == 0, done.stderr
    assert installed(checkout) == ["torch", "libraries", "underhill", "kernels"]
    assert done.stdout.splitlines() == [
        f"underhill-cli of {checkout.root}/.venv/bin",  # not of the folder it was built in
        "<chat>",
        "<--prompt>",
        "<two words>",
        "<>",
    ]


def test_the_second_run_installs_nothing_and_says_nothing(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    before = checkout.calls
    again = checkout.run("run.sh", "cli")
    assert again.returncode == 0
    assert again.stderr == ""
    assert checkout.calls == before


def test_everything_is_installed_by_hash_and_without_asking_for_more(checkout: Checkout) -> None:
    checkout.run("test.sh", "tests/nothing")
    locked = [call for call in checkout.calls if "requirements/" in call]
    assert len(locked) == 3
    assert all("--require-hashes" in call and "--no-deps" in call for call in locked)


def test_tests_add_their_tools_to_what_is_there(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    checkout.run("test.sh", "tests/nothing")
    assert installed(checkout) == ["torch", "libraries", "underhill", "kernels", "tools"]
    before = checkout.calls
    assert checkout.run("run.sh", "cli").returncode == 0
    assert checkout.calls == before


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("requirements/runtime.txt", ["libraries"]),
        ("pyproject.toml", ["underhill"]),
        ("engine/native/src/moe.c", ["kernels"]),
    ],
)
def test_what_changed_is_brought_up_to_date_and_nothing_else(
    checkout: Checkout, changed: str, again: list[str]
) -> None:
    checkout.run("run.sh", "cli")
    before = len(installed(checkout))
    with (checkout.root / changed).open("a") as file:
        file.write("\n")
    assert checkout.run("run.sh", "cli").returncode == 0
    assert installed(checkout)[before:] == again


def test_a_moved_checkout_is_set_up_anew(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    moved = checkout.root.rename(checkout.root.with_name("moved"))
    done = Checkout(moved, checkout.bin, checkout.fakes).run("run.sh", "cli")
    assert f"underhill-cli of {moved}/.venv/bin" in done.stdout


def test_somebody_elses_environment_stays_as_it_is(checkout: Checkout) -> None:
    theirs = checkout.root / ".venv" / "bin" / "python"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    done = checkout.run("run.sh", "cli")
    assert f"underhill-cli of {checkout.root}/.venv-underhill/bin" in done.stdout
    assert theirs.read_text() == "theirs"
    assert checkout.run("run.sh", "cli").stderr == ""


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("Max retries exceeded ... Temporary failure in name resolution", "the network cannot be reached"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("PermissionError: [Errno 13] Permission denied: 'x'", "a file may not be written"),
        ("hash mismatch", "the lines above"),
    ],
)
def test_a_failing_step_says_why_and_the_next_run_repairs_it(checkout: Checkout, output: str, reason: str) -> None:
    checkout.tell("pip-fails", f"runtime.txt\n{output}\n")
    failed = checkout.run("run.sh", "cli")
    assert failed.returncode == 1
    assert reason in failed.stderr.splitlines()[-1]
    assert not list(checkout.root.glob(".venv*/bin"))
    checkout.untell("pip-fails")
    assert checkout.run("run.sh", "cli").returncode == 0


def test_a_failing_update_leaves_what_worked(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    lock = checkout.root / "requirements" / "runtime.txt"
    old = lock.read_text()
    lock.write_text(old + "\n")
    checkout.tell("pip-fails", "runtime.txt\nconnection refused")
    assert checkout.run("run.sh", "cli").returncode == 1
    lock.write_text(old)
    before = checkout.calls
    assert checkout.run("run.sh", "cli").returncode == 0
    assert checkout.calls == before


@pytest.mark.parametrize("kill", ["SIGKILL", "SIGTERM"])
def test_a_killed_set_up_repairs_itself(checkout: Checkout, kill: str) -> None:
    checkout.tell("pip-hangs")
    process = checkout.start("run.sh", "cli")
    wait_for("/torch.txt", checkout)
    os.killpg(process.pid, getattr(signal, kill))
    process.communicate(timeout=PROCESS)
    assert not (checkout.root / ".venv").exists()
    checkout.untell("pip-hangs")
    assert checkout.run("run.sh", "cli").returncode == 0


def test_of_two_at_once_one_waits_and_finds_it_done(checkout: Checkout) -> None:
    checkout.tell("pip-hangs")
    first = checkout.start("run.sh", "cli")
    wait_for("/torch.txt", checkout)
    second = checkout.start("run.sh", "cli")
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()
    checkout.untell("pip-hangs")
    for process in (first, second):
        process.communicate(timeout=PROCESS)
        assert process.returncode == 0
    assert installed(checkout) == ["torch", "libraries", "underhill", "kernels"]


def test_a_disk_too_full_is_told_before_anything_is_fetched(checkout: Checkout) -> None:
    checkout.fake("df", fakes.disk(100))
    done = checkout.run("run.sh", "cli")
    assert done.returncode == 1
    assert "the disk is too full: the set-up needs 3000 MB" in done.stderr
    assert "100 MB are free" in done.stderr
    assert checkout.calls == []


def test_an_unsupported_python_is_named(checkout: Checkout) -> None:
    (checkout.bin / "python3.11").rename(checkout.bin / "python3")
    checkout.tell("python-version", "3.9")
    done = checkout.run("run.sh", "cli")
    assert done.returncode == 1
    assert "Python 3.11, 3.12 or 3.13 (64 bit) is needed and none was found; there is Python 3.9." in done.stderr


def test_python_is_found_under_any_of_its_names(checkout: Checkout) -> None:
    (checkout.bin / "python3.11").rename(checkout.bin / "python3")
    checkout.tell("python-version", "3.13")
    assert checkout.run("run.sh", "cli").returncode == 0


def test_debian_without_venv_gets_pip_from_outside(checkout: Checkout) -> None:
    checkout.tell("no-ensurepip")
    assert checkout.run("run.sh", "cli").returncode == 0
    assert any(call.startswith("venv --without-pip ") for call in checkout.calls)
    assert any(call.startswith("pip --python ") and call.endswith(" install pip") for call in checkout.calls)


def test_without_a_compiler_one_comes_as_a_package(checkout: Checkout) -> None:
    (checkout.bin / "cc").unlink()
    done = checkout.run("run.sh", "cli")
    assert done.returncode == 0
    assert installed(checkout)[-2:] == ["compiler", "kernels"]
    assert checkout.run("run.sh", "cli").stderr == ""
    checkout.fake("cc", fakes.NOTHING)  # and once there is one, it is used
    checkout.run("run.sh", "cli")
    assert installed(checkout)[-3:] == ["compiler", "kernels", "kernels"]


def test_a_compiler_that_cannot_is_replaced_by_the_package(checkout: Checkout) -> None:
    checkout.tell("kernels-fail", "1")
    assert checkout.run("run.sh", "cli").returncode == 0
    assert installed(checkout)[-3:] == ["kernels", "compiler", "kernels"]
    assert checkout.run("run.sh", "cli").stderr == ""


def test_no_library_is_the_end_and_the_next_run_builds_it(checkout: Checkout) -> None:
    checkout.tell("kernels-fail", "never")
    done = checkout.run("run.sh", "cli")
    assert done.returncode == 1
    assert "Building the native kernels failed" in done.stderr
    assert "underhill-cli" not in done.stdout
    checkout.untell("kernels-fail")
    before = len(installed(checkout))
    assert checkout.run("run.sh", "cli").returncode == 0
    assert installed(checkout)[before:] == ["kernels"]


def test_a_lost_library_is_built_again(checkout: Checkout) -> None:
    checkout.run("run.sh", "cli")
    Path(checkout.root, "engine/native/src/underhill_kernels.so").unlink()
    checkout.run("run.sh", "cli")
    assert installed(checkout).count("kernels") == 2


def test_a_folder_that_may_not_be_written_to(checkout: Checkout) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    checkout.root.chmod(0o555)
    done = checkout.run("run.sh", "cli")
    checkout.root.chmod(0o755)
    assert done.returncode == 1
    assert "may not be written to" in done.stderr
