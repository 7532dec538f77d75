"""Why an installation or an update stopped."""

from __future__ import annotations

import errno
from enum import Enum

_FULL = {errno.ENOSPC, errno.EDQUOT}


class Reason(Enum):
    """The value is the English for a terminal; the window has texts of its own."""

    NETWORK = "the network cannot be reached"
    DISK_FULL = "the disk is full"
    DAMAGED = "what arrived is not what was announced"
    NOT_WRITABLE = "a file cannot be written"
    BUSY = "another Underhill is being set up"
    SIGNATURE = "the update is not signed by Underhill's publisher"
    OLD = "the list of updates is older than one seen before"
    FAILED = "a step failed"
    STOPPED = "it was stopped"


class InstallProblem(Exception):
    """reason: for people. details: for who wants to know more; a line or the end of a log."""

    def __init__(self, reason: Reason, details: str = "") -> None:
        super().__init__(f"{reason.value}{': ' if details else ''}{details}")
        self.reason, self.details = reason, details


def of_file(error: OSError) -> InstallProblem:
    """What an operation on a file failed of."""
    return InstallProblem(Reason.DISK_FULL if error.errno in _FULL else Reason.NOT_WRITABLE, str(error))
