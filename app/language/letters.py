"""What the C library takes for a letter, whatever the language of the system."""

from __future__ import annotations

import locale
import os


def plain() -> None:
    """To be called once there is a QApplication, which has taken the system's letters over for the whole process.

    PySide finds the setter of a property that is given by name (`interval=30`) by making its first letter a capital
    with the C library, and in Turkish and Azeri the capital of i is not I: there no window came up at all. All text
    that Qt and Python handle is Unicode, which this does not touch.
    """
    if os.name != "posix":
        return  # the C library has English letters unless it is told otherwise
    for name in ("C.UTF-8", "en_US.UTF-8"):
        try:
            locale.setlocale(locale.LC_CTYPE, name)
        except locale.Error:
            continue
        return
