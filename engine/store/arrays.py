"""Files of NumPy arrays that are kept beside a store: regular files, unpacked to so much at most."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from engine.limits import ARRAYS_BYTES
from engine.regular_file import open_regular


@contextmanager
def arrays(path: Path, max_bytes: int = ARRAYS_BYTES) -> Iterator[Mapping[str, Any]]:
    """Of a .npz file, by name; read when asked for.

    Raises OSError as `open_regular`, ValueError where its arrays take more than max_bytes, and what numpy and zipfile
    raise of a damaged file, which has no end.
    """
    with open_regular(path, max_bytes) as file:
        with zipfile.ZipFile(file) as archive:
            # Before anything is unpacked: some kB of zeros, deflated, unpack to gigabytes. What the archive states is
            # what zipfile keeps to when it reads.
            if sum(member.file_size for member in archive.infolist()) > max_bytes:
                raise ValueError("its arrays are too large")
        file.seek(0)
        # A pickle runs code when it is read, and these files lie where anyone's model may bring them along.
        with np.load(file, allow_pickle=False) as found:
            yield found
