"""Memory control groups of both versions, on trees as different systems show them, and really where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.hardware.control_groups import Group, groups, pressure_files

V1 = {
    "memory.limit_in_bytes": "1000000\n",
    "memory.usage_in_bytes": "700000\n",
    "memory.stat": "cache 5\ninactive_file 1\ntotal_inactive_file 100000\ntotal_active_file 40000\n",
}
V2 = {
    "memory.max": "1000000\n",
    "memory.high": "max\n",
    "memory.current": "700000\n",
    "memory.stat": "anon 5\ninactive_file 100000\nactive_file 40000\n",
}
LIMITED = Group(1_000_000, 700_000, 120_000)


def folder(path: Path, files: dict[str, str]) -> None:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")


def process(tmp_path: Path, cgroup: str, *mounts: str) -> Path:
    proc = tmp_path / "proc" / "self"
    lines = [f"{30 + i} 20 0:{i} {mount}" for i, mount in enumerate(mounts)]
    folder(proc, {"cgroup": cgroup, "mountinfo": "\n".join(["20 1 0:1 / / rw - ext4 /dev/vda rw", *lines])})
    return proc


@pytest.mark.parametrize("version", [1, 2])
def test_a_groups_limit_and_use_are_read(tmp_path: Path, version: int) -> None:
    point = tmp_path / "sys" / "fs" / "a b"
    folder(point / "app" / "mine", V1 if version == 1 else V2)
    shown = str(point).replace(" ", "\\040")
    mount = f"/ {shown} rw - cgroup cgroup rw,memory" if version == 1 else f"/ {shown} rw shared:4 - cgroup2 none rw"
    proc = process(tmp_path, ("3:cpu,memory:" if version == 1 else "0::") + "/app/mine\n", mount)
    assert groups(proc) == [LIMITED]
    assert groups(proc)[0].free == 420_000


def test_every_group_around_counts_and_those_without_a_limit_do_not(tmp_path: Path) -> None:
    point = tmp_path / "cgroup"
    folder(point, {"memory.stat": ""})  # the root of v2 has neither limit nor use
    folder(point / "user", V2)
    folder(point / "user" / "app", {**V2, "memory.max": "max\n"})
    folder(point / "user" / "app" / "mine", {**V2, "memory.max": "900000\n", "memory.high": "800000\n"})
    proc = process(tmp_path, "0::/user/app/mine\n", f"/ {point} rw - cgroup2 cgroup2 rw")
    assert [group.limit for group in groups(proc)] == [800_000, 1_000_000]


def test_both_versions_side_by_side_and_controllers_elsewhere(tmp_path: Path) -> None:
    v1, v2, cpu = tmp_path / "memory", tmp_path / "unified", tmp_path / "cpu"
    folder(v1 / "a", V1)
    folder(v2 / "b", {"cgroup.procs": "1\n"})  # mounted without the memory controller
    folder(cpu / "a", V1)
    mounts = (
        f"/ {cpu} rw - cgroup cgroup rw,cpu",
        f"/ {v1} rw - cgroup cgroup rw,memory",
        f"/ {v2} rw - cgroup2 none rw",
    )
    proc = process(tmp_path, "5:memory:/a\n4:cpu:/a\n0::/b\n", *mounts)
    assert groups(proc) == [LIMITED]


def test_within_a_container_the_mounted_part_counts_and_outer_limits_are_told_by_v1(tmp_path: Path) -> None:
    point = tmp_path / "memory"
    folder(point, {**V1, "memory.stat": V1["memory.stat"] + "hierarchical_memory_limit 600000\n"})
    proc = process(tmp_path, "5:memory:/docker/4711\n", f"/docker/4711 {point} ro - cgroup cgroup rw,memory")
    assert [group.limit for group in groups(proc)] == [600_000]


def test_v1_without_a_limit_says_so_by_a_huge_number(tmp_path: Path) -> None:
    point = tmp_path / "memory"
    folder(point, {**V1, "memory.limit_in_bytes": "9223372036854771712\n"})
    assert groups(process(tmp_path, "5:memory:/\n", f"/ {point} rw - cgroup cgroup rw,memory")) == []


def test_where_there_are_no_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert groups(tmp_path / "nowhere") == []


def test_pressure_is_read_of_the_own_group_first_and_of_the_machine(tmp_path: Path) -> None:
    point = tmp_path / "cgroup"
    folder(point / "mine", {**V2, "memory.pressure": ""})
    proc = process(tmp_path, "0::/mine\n", f"/ {point} rw - cgroup2 cgroup2 rw")
    folder(proc.parent / "pressure", {"memory": ""})
    assert pressure_files(proc) == [point / "mine" / "memory.pressure", proc.parent / "pressure" / "memory"]
