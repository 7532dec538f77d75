"""The peer at its best: every file of about the same bits, repacked and as stored; the fastest stays."""

from __future__ import annotations

from collections.abc import Callable

from tests.benchmarks.peer.client import Peer
from tests.benchmarks.prepare import Prepared


def best_peer(
    prepared: Prepared, threads: int, context: int, seconds: Callable[[Peer], float], trials: int = 3
) -> tuple[Peer, dict[str, float]]:
    """The variant that `seconds` says is the fastest, open, and what it says of each. One is open at a time, or two."""
    found: dict[str, float] = {}
    best: Peer | None = None
    for path in prepared.files.values():
        for repack in (True, False):
            peer = Peer(prepared.python, path, threads, context, repack=repack)
            seconds(peer)  # the first time reads the file
            found[peer.name] = min(seconds(peer) for _ in range(trials))
            if best is None or found[peer.name] < found[best.name]:
                best, peer = peer, best
            if peer is not None:
                peer.close()
    assert best is not None
    return best, found
