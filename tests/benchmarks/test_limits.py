"""What puts a process under a memory limit, watches it and cleans up after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.blockdevice import DiskRoof, read_ahead, read_ahead_file
from tests.benchmarks.cgroup import Group, limited, memory_controller
from tests.benchmarks.common import orderly
from tests.benchmarks.other_disks import RAM, THROTTLE, THROTTLES, on_disk
from tests.benchmarks.pipe import ROOT, Child

pytestmark = pytest.mark.long

ECHO = """
from tests.benchmarks.pipe import serve

class Echo:
    def speak(self, word, *, twice):
        return word * (2 if twice else 1)

    def fail(self):
        raise ValueError("on purpose")

serve(Echo(), "ready")
"""


def allowed() -> bool:
    try:
        with limited("test", 1 << 28):
            return True
    except SystemExit:
        return False


with_groups = pytest.mark.skipif(not allowed(), reason="no control group with a memory limit can be made")


def mounts(folder: Path, *lines: str) -> Path:
    file = folder / "mounts"
    file.write_text("".join(f"{line}\n" for line in ("proc /proc proc rw 0 0", *lines)))
    return file


def test_version_2_is_taken_where_it_limits_memory(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids")
    old, new = "cgroup /old cgroup rw,memory 0 0", f"cgroup2 {tmp_path} cgroup2 rw 0 0"
    assert memory_controller(mounts(tmp_path, old, new)) == (tmp_path, 2)
    (tmp_path / "cgroup.subtree_control").write_text("")
    assert memory_controller(mounts(tmp_path, old, new)) == (Path("/old"), 1)


def test_a_system_without_either_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no control group that limits memory"):
        memory_controller(mounts(tmp_path, "cgroup /cpu cgroup rw,cpu 0 0"))
    with pytest.raises(SystemExit, match="Linux"):
        memory_controller(tmp_path / "absent")


@pytest.mark.parametrize(("version", "expected"), [(1, {"memory.limit_in_bytes": "4096"}), (2, {"memory.max": "4096"})])
def test_a_limit_is_one_of_memory_and_swap(tmp_path: Path, version: int, expected: dict[str, str]) -> None:
    swap = {1: "memory.memsw.limit_in_bytes", 2: "memory.swap.max"}[version]
    (tmp_path / swap).write_text("max")
    Group(tmp_path, version).limit(4096)
    written = {p.name: p.read_text() for p in tmp_path.iterdir()}
    assert written == {**expected, swap: {1: "4096", 2: "0"}[version]}


def test_what_a_group_says_of_itself(tmp_path: Path) -> None:
    group = Group(tmp_path, 2)
    (tmp_path / "memory.events").write_text("low 0\noom 1\noom_kill 3\n")
    (tmp_path / "memory.stat").write_text("anon 700\nfile 20\n")
    assert (group.kills(), group.anonymous(), group.most()) == (3, 700, None)


@with_groups
def test_a_process_within_its_limit_runs_and_one_beyond_it_is_killed() -> None:
    program = "b = bytearray(int(__import__('sys').argv[1])); b[::4096] = b'x' * len(b[::4096]); print('done')"
    with limited("test", 64 << 20) as group:
        small = subprocess.run(group.command(sys.executable, "-c", program, str(16 << 20)), capture_output=True)
        assert (small.returncode, small.stdout) == (0, b"done\n")
        assert group.kills() == 0
        large = subprocess.run(group.command(sys.executable, "-c", program, str(256 << 20)), capture_output=True)
        assert large.returncode == -signal.SIGKILL
        assert group.kills() == 1
        assert (group.most() or 0) <= 64 << 20
        folder = group.folder
    assert not folder.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_read_ahead_comes_back_whatever_happens(tmp_path: Path) -> None:
    file = tmp_path / "read_ahead_kb"
    file.write_text("8192\n")
    with read_ahead(file, 128):
        assert file.read_text() == "128"
    assert int(file.read_text()) == 8192
    with pytest.raises(ZeroDivisionError), read_ahead(file, 128):
        raise ZeroDivisionError
    assert int(file.read_text()) == 8192
    with pytest.raises(SystemExit), orderly(), read_ahead(file, 128):
        os.kill(os.getpid(), signal.SIGTERM)
    assert int(file.read_text()) == 8192
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.skipif(sys.platform == "win32", reason="/sys is Linux'")
def test_the_read_ahead_of_a_partition_is_its_disks(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    (tmp_path / "disk" / "part").mkdir(parents=True)
    (tmp_path / "disk" / "queue").mkdir()
    (tmp_path / "disk" / "queue" / "read_ahead_kb").write_text("128")
    (tmp_path / f"{os.major(device)}:{os.minor(device)}").symlink_to(tmp_path / "disk" / "part")
    assert read_ahead_file(tmp_path, tmp_path) == tmp_path / "disk" / "queue" / "read_ahead_kb"
    with pytest.raises(SystemExit, match="no block device"):
        read_ahead_file(tmp_path, tmp_path / "network")


def test_the_disks_roof_reads_whole_records(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(1 << 20))
    try:
        roof = DiskRoof([file], 10_000)
    except OSError:
        pytest.skip("this disk does not do direct I/O")
    assert roof.way[0] == 12_288  # direct reads are of whole blocks
    assert roof.measure(0.01) > 0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_child_answers_stands_still_and_says_why_it_ended() -> None:
    with Child("The echo", [sys.executable, "-c", ECHO], stops=True) as child:
        assert child.ready == "ready"
        assert child.speak("x", twice=True) == "xx"
        assert child.bytes_read >= 0
        with pytest.raises(RuntimeError, match=r"The echo ended \(1\)[\s\S]*on purpose"):
            child.fail()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_child_that_does_not_start_says_why() -> None:
    with pytest.raises(RuntimeError, match="no such place"):
        Child("It", [sys.executable, "-c", "raise SystemExit('no such place')"])
    assert (ROOT / "pyproject.toml").exists()


def test_a_store_on_a_ram_disk_is_a_copy_that_goes_again(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"weights")
    with on_disk("ram", tmp_path, 0) as copy:
        assert copy.is_relative_to(RAM)
        assert (copy / "part").read_bytes() == b"weights"
    assert not copy.exists()
    with pytest.raises(SystemExit, match="are free"), on_disk("ram", tmp_path, 1 << 50):
        pass


def throttled(folder: Path) -> bool:
    try:
        with on_disk("sata", folder, 0):
            return True
    except SystemExit:
        return False


@pytest.mark.skipif(not throttled(Path(__file__).parent), reason="no control group of version 1 that limits reading")
def test_a_throttled_disk_holds_this_process_and_then_no_more() -> None:
    def group() -> str:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        return next(line for line in lines if "blkio" in line).rpartition(":")[2]

    before = group()
    with on_disk("sata", Path(__file__).parent, 0):
        held = THROTTLES / group().lstrip("/")
        assert (held / THROTTLE).read_text().split()[1] == "500000000"
    assert group() == before
