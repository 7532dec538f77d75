"""What Wine's C library does differently from Windows', mended for tests. Lies beside Python's packages there."""

import errno
import msvcrt
from typing import Any

_locking = msvcrt.locking  # type: ignore[attr-defined,unused-ignore]


def _locking_as_windows(fd: int, mode: int, nbytes: int) -> Any:
    """Wine's _locking fails without setting errno; Windows' says EACCES."""
    try:
        return _locking(fd, mode, nbytes)
    except OSError as cause:
        raise OSError(cause.errno or errno.EACCES, "Permission denied") from cause


msvcrt.locking = _locking_as_windows  # type: ignore[attr-defined,unused-ignore]
