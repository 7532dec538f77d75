"""What a memory for experts passes on to its policy, under its lock."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from engine.experts.keys import ExpertKey
from engine.experts.policies import Hobbit, Policy, Visit, Weights


class Policed:
    """See Level. lock: while it is held no expert comes or goes."""

    def __init__(self, policy: Policy) -> None:
        self.lock = threading.RLock()
        self._policy = policy

    def routed(self, visit: Visit) -> None:
        """The layer that runs now, and what it uses: see Policy.routed."""
        with self.lock:
            self._policy.routed(visit)

    def begin_sequence(self) -> None:
        """A new sequence begins."""
        with self.lock:
            self._policy.begin_sequence()

    def put_aside(self) -> object:
        """See Policy.put_aside."""
        with self.lock:
            return self._policy.put_aside()

    def bring_back(self, records: object) -> None:
        """See Policy.bring_back."""
        with self.lock:
            self._policy.bring_back(records)

    def protect(self, keys: Iterable[ExpertKey]) -> None:
        """These are expected to be used soon and leave last, until the next call: see Policy.protect."""
        with self.lock:
            self._policy.protect(keys)

    def reweigh(self, weights: Weights) -> None:
        """Other weights for the policy, where it is the one that has some; the same again change nothing."""
        with self.lock:
            if isinstance(self._policy, Hobbit) and self._policy.weights != weights:
                self._policy.reweigh(weights)
