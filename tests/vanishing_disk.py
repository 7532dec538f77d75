"""A disk that is pulled out: a file system in a file, shut down at once by the kernel. Linux, and root, only."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN: what is asked of it from now on ends in an I/O error
_NOTHING_FLUSHED = 2
_SIZE = 400 << 20


class VanishingDisk:
    """Mounted at `top`."""

    def __init__(self, image: Path, top: Path) -> None:
        self._image, self.top, self._times = image, top, 0
        with image.open("wb") as file:
            file.truncate(_SIZE)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        top.mkdir()
        self.come()

    def come(self) -> None:
        """Plug it in. As another device, as the kernel sees it: what is open on the one that was pulled out is dead."""
        device = self._image.with_suffix(f".{self._times}")
        self._times += 1
        subprocess.run(["cp", "--sparse=always", self._image, device], check=True)
        subprocess.run(["mount", "-o", "loop", device, self.top], check=True)
        self._image = device

    def vanish(self) -> None:
        """Pull it out: open files fail, and what was not synced is lost."""
        import fcntl  # which Windows lacks, where this is imported and not run

        top = os.open(self.top, os.O_RDONLY)
        try:
            fcntl.ioctl(top, _SHUTDOWN, struct.pack("I", _NOTHING_FLUSHED))
        finally:
            os.close(top)
        self.go()

    def go(self) -> None:
        """Unmount it; files that are open stay open."""
        subprocess.run(["umount", "--lazy", self.top], check=True)


@contextmanager
def vanishing_disk(folder: Path) -> Iterator[VanishingDisk]:
    """One in a folder of a test, which is skipped where none can be mounted."""
    try:
        disk = VanishingDisk(folder / "disk.ext4", folder / "disk")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    try:
        yield disk
    finally:
        if os.path.ismount(disk.top):
            disk.go()
