"""Imports that only one thread does at a time.

A package whose modules import each other (`tokenizers` and `tokenizers.decoders`, our own rooms) can be entered by two
threads through different doors. Each then waits for the other, Python breaks the tie by handing one of them a module
that is half done, and a name is missing in it. So whoever imports late, on a thread, does it under one lock.
"""

from __future__ import annotations

import importlib
import threading

ALONE = threading.RLock()  # held around the late imports of threads


def together(names: tuple[str, ...]) -> None:
    """Import modules by name, and wait for whoever imports at the moment. Raises ImportError."""
    with ALONE:
        # Reentrant (an RLock), since a module that is imported here may import others under the same lock.
        for name in names:
            importlib.import_module(name)
