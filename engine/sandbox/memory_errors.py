"""What an error says of memory, whatever it is called."""

from __future__ import annotations

import errno

_NOT_LOADED = ("failed to map segment", "cannot allocate memory")  # what glibc says of a library without room


def out_of_memory(error: BaseException) -> bool:
    """Whether it came of having no more memory: libraries tell of that in errors of their own, and so does `open`."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or (isinstance(seen, OSError) and seen.errno == errno.ENOMEM):
            return True
        if isinstance(seen, ImportError) and any(words in str(seen) for words in _NOT_LOADED):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
