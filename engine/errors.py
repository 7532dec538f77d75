"""The one exception of the engine: what is wrong, what to do, nothing lost; and every other exception as one."""

from __future__ import annotations

import errno
from enum import StrEnum

from engine.translatable import NO_TEXT, Translatable, joined, msg, system_reason


class Kind(StrEnum):
    """What sort of thing went wrong; scripts and the window branch on this, never on the sentence."""

    NOT_A_MODEL = "not_a_model"  # the path holds no model
    UNSUPPORTED_MODEL = "unsupported_model"  # a model, but not one that can be opened (dense, unknown family)
    BROKEN_FILE = "broken_file"  # truncated, corrupt, malicious or inconsistent file
    MISSING_FILE = "missing_file"  # a file that should be there is not
    DISK_FULL = "disk_full"
    DISK_ERROR = "disk_error"  # the device or the permissions said no
    OUT_OF_MEMORY = "out_of_memory"  # the plan cannot hold, or an allocation failed
    CONTEXT_FULL = "context_full"  # prompt or chat longer than the context
    BAD_REQUEST = "bad_request"  # a setting or an argument out of range
    BUSY = "busy"  # someone else holds it: another import, another process
    CANCELLED = "cancelled"  # the user said stop
    OFFLINE = "offline"  # the network would be needed, and the offline switch is on
    NO_NETWORK = "no_network"  # the other side is not reached: no network, no such name, a proxy, silence, a cut
    NO_ACCESS = "no_access"  # a token, or the acceptance of a licence, is missing
    NOT_FOUND = "not_found"  # the other side has no such thing
    SERVER_ERROR = "server_error"  # the other side is busy, broken, or answers nonsense
    CHANGED = "changed"  # what is fetched has become something else meanwhile
    STOPPED = "stopped"  # a thread of the engine has ended by a defect: the engine has to be started anew
    HELD = "held"  # something in the engine never came back, so it was ended: it has to be started anew
    CARD = "card"  # a graphics card or its driver said no; the processor computes
    INTERNAL = "internal"  # a defect of ours


class UnderhillError(Exception):
    """An error a person can act on.

    sentence: one plain sentence, what is wrong. action: what to do next, may be empty.
    The technical cause travels as ``__cause__`` (raise ... from cause).
    """

    def __init__(self, kind: Kind, sentence: Translatable, action: Translatable = NO_TEXT) -> None:
        sentence, action = sentence.bounded(), action.bounded()
        super().__init__(joined(" ", (sentence, action)))
        self.kind = kind
        self.sentence = sentence
        self.action = action

    @property
    def message(self) -> Translatable:
        """Both, one after the other."""
        return joined(" ", (self.sentence, self.action))

    # An Exception is pickled by its `args`, here one joined text, with which __init__ could not be called.
    def __reduce__(self) -> tuple[type[UnderhillError], tuple[Kind, Translatable, Translatable]]:
        return type(self), (self.kind, self.sentence, self.action)


def damaged_checkpoint(sentence: Translatable) -> UnderhillError:
    """BROKEN_FILE for weights that no undamaged checkpoint holds."""
    return UnderhillError(Kind.BROKEN_FILE, sentence, msg("Download the model again."))


def as_error(e: BaseException) -> UnderhillError:
    """Whatever was raised as an error to show, with `e` as its cause; an UnderhillError is given back as it is."""
    if isinstance(e, UnderhillError):
        return e
    error = _from_system(e) or UnderhillError(
        Kind.INTERNAL,
        msg("Something went wrong."),
        msg("Try again. If it happens again, report the details."),
    )
    error.__cause__ = e
    return error


def _from_system(e: BaseException) -> UnderhillError | None:
    """What the system refused: memory or disk. torch tells of memory by a RuntimeError, on a device by its own kind."""
    number = e.errno if isinstance(e, OSError) else None
    refused = isinstance(e, RuntimeError) and any(
        words in str(e) for words in ("can't allocate memory", "not enough memory", "out of memory")
    )
    if isinstance(e, MemoryError) or refused or number == errno.ENOMEM:
        return UnderhillError(
            Kind.OUT_OF_MEMORY,
            msg("Not enough memory."),
            msg("Close other apps or lower the memory limit."),
        )
    # Windows has no EDQUOT. A full quota is a full disk to the person who meets it.
    if number in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return UnderhillError(Kind.DISK_FULL, msg("The disk is full."), msg("Free some space, then try again."))
    if isinstance(e, OSError):
        return UnderhillError(
            Kind.DISK_ERROR,
            msg("Disk error: {strerror} ({filename}).", strerror=system_reason(e), filename=e.filename)
            if e.filename
            else msg("Disk error: {strerror}.", strerror=system_reason(e)),
            msg("Check that the disk is connected and writable."),
        )
    return None
