"""The one exception of the engine: what is wrong, what to do, nothing lost."""

from __future__ import annotations

from enum import StrEnum


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
    INTERNAL = "internal"  # a defect of ours


class UnderhillError(Exception):
    """An error a person can act on.

    sentence: one plain sentence, what is wrong. action: what to do next, may be empty.
    The technical cause travels as ``__cause__`` (raise ... from cause).
    """

    def __init__(self, kind: Kind, sentence: str, action: str = "") -> None:
        super().__init__(f"{sentence} {action}".strip())
        self.kind = kind
        self.sentence = sentence
        self.action = action

    def __reduce__(self) -> tuple[type[UnderhillError], tuple[Kind, str, str]]:
        return type(self), (self.kind, self.sentence, self.action)
