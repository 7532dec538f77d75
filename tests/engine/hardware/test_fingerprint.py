"""Measured rates are kept for this computer, disk and power, and for nothing else."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from engine.hardware.fingerprint import FILE, MOST, Fingerprint, disk_of, fingerprint, keep, look
from engine.hardware.machine import DiskPoint
from engine.hardware.rates import Rates

LAPTOP = Fingerprint(
    processor="Some CPU",
    physical=8,
    logical=16,
    ram=16 << 30,
    system="Linux x86_64",
    underhill="0.1",
    torch="2.13",
    disk="ext4 1234",
)
CARDS = {"card": (2e10, 2e11)}
RATES = Rates(4e10, 8, (DiskPoint(1 << 20, 4, True, 3e9),), {2: 0.8, 4: 0.9}, {64: 1e12}, CARDS, seconds=9, when=7)


def test_rates_come_back_as_they_were(tmp_path: Path) -> None:
    keep(tmp_path / "new", LAPTOP, False, RATES)
    assert look(tmp_path / "new", LAPTOP, None).rates == RATES  # without a battery it is always on mains


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"disk": "ext4 other"}, "disk has changed"),
        ({"ram": 32 << 30}, "the memory size has changed"),
        ({"processor": "Another"}, "the processor has changed"),
        ({"underhill": "0.2"}, "the app version has changed"),
        ({"physical": 4}, "usable cores"),
    ],
)
def test_what_has_changed_since_is_noticed_and_named(tmp_path: Path, change: dict[str, object], said: str) -> None:
    keep(tmp_path, LAPTOP, False, RATES)
    found = look(tmp_path, dataclasses.replace(LAPTOP, **change), False)  # type: ignore[arg-type]
    assert found.rates is None
    assert said in found.why


def test_on_battery_and_on_mains_a_computer_is_measured_apart(tmp_path: Path) -> None:
    keep(tmp_path, LAPTOP, False, RATES)
    assert look(tmp_path, LAPTOP, True).rates is None
    assert "on battery" in look(tmp_path, LAPTOP, True).why
    slow = dataclasses.replace(RATES, memory_rate=1e10)
    keep(tmp_path, LAPTOP, True, slow)
    assert look(tmp_path, LAPTOP, True).rates == slow
    assert look(tmp_path, LAPTOP, False).rates == RATES


def test_a_new_measurement_takes_the_place_of_the_old_and_old_disks_are_forgotten(tmp_path: Path) -> None:
    for n in range(MOST + 3):
        keep(tmp_path, dataclasses.replace(LAPTOP, disk=f"disk {n}"), False, RATES)
    newer = dataclasses.replace(RATES, memory_rate=5e10)
    keep(tmp_path, dataclasses.replace(LAPTOP, disk=f"disk {MOST}"), False, newer)
    assert look(tmp_path, dataclasses.replace(LAPTOP, disk=f"disk {MOST}"), False).rates == newer
    assert look(tmp_path, dataclasses.replace(LAPTOP, disk="disk 5"), False).rates == RATES
    assert look(tmp_path, dataclasses.replace(LAPTOP, disk="disk 0"), False).rates is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}', '{"version": 9, "measured": []}'])
def test_a_damaged_file_is_one_that_is_not_there(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert look(tmp_path, LAPTOP, False).rates is None
    keep(tmp_path, LAPTOP, False, RATES)
    assert look(tmp_path, LAPTOP, False).rates == RATES


@pytest.mark.parametrize(
    "change", [('"rate": 3000000000.0', '"rate": 0'), ("40000000000.0", "NaN"), ('"4": 0.9', '"x": 1')]
)
def test_rates_that_make_no_sense_are_not_used(tmp_path: Path, change: tuple[str, str]) -> None:
    keep(tmp_path, LAPTOP, False, RATES)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / FILE).write_text(text.replace(*change), encoding="utf-8")
    assert look(tmp_path, LAPTOP, False).rates is None


@pytest.mark.skipif(sys.platform == "win32", reason="mountinfo is Linux'")
def test_a_file_system_is_known_by_its_own_name_not_by_where_it_came_up(tmp_path: Path) -> None:
    device = os.stat(tmp_path).st_dev
    mounts, by_uuid, disk = tmp_path / "mountinfo", tmp_path / "by-uuid", tmp_path / "sda1"
    disk.write_text("", encoding="utf-8")
    by_uuid.mkdir()
    numbers = f"{os.major(device)}:{os.minor(device)}"
    mounts.write_text(
        f"22 27 0:0 / /proc rw - proc proc rw\n27 1 {numbers} / /data rw - ext4 {disk} rw\n", encoding="utf-8"
    )
    assert disk_of(tmp_path, mounts, by_uuid) == f"ext4 {disk} at /data"
    (by_uuid / "0815").symlink_to(disk)
    assert disk_of(tmp_path, mounts, by_uuid) == "ext4 0815"
    assert disk_of(tmp_path / "not" / "there", mounts, by_uuid) == "ext4 0815"
    assert disk_of(tmp_path, tmp_path / "none", by_uuid) == f"volume {device:x}"


def test_the_same_computer_has_the_same_fingerprint_twice(tmp_path: Path) -> None:
    assert fingerprint(tmp_path) == fingerprint(tmp_path / "models")
    assert not fingerprint(tmp_path).differs(fingerprint(tmp_path))
