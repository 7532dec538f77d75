"""Keeps Python's collector from stopping the engine, or the window, while an answer streams."""

from __future__ import annotations

import gc


def settle_garbage(_: object = None) -> None:
    """Collect now, and set aside what is left: call when a model was opened; each time in the process that holds it.

    With torch and a model loaded, a full collection looks at about a million objects that will not go: 80 to 250 ms
    during which no thread of that process runs. Set aside (gc.freeze) they are not looked at again. What an earlier
    call set aside is taken back first, so that a model that was closed since is freed.
    """
    # The order matters: freezing before a collection would keep the garbage of the moment for good.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
