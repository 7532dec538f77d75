"""Dictionaries of Enchant 2, the library through which desktops spell; by its C interface, where it is installed.

Linux has it with the system. For Windows the package pyenchant brings it, with English dictionaries; none of that
package's own code is run.
"""

from __future__ import annotations

import ctypes
import importlib.util
import platform
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_ssize_t, c_void_p
from pathlib import Path
from typing import Any

_LINUX = "libenchant-2.so.2"
_PACKAGE, _INSIDE = "enchant", "data/mingw64"  # of pyenchant
_EACH = ctypes.CFUNCTYPE(None, c_char_p, c_char_p, c_char_p, c_char_p, c_void_p)


class Enchant:
    """What is installed. Raises OSError where there is no Enchant."""

    def __init__(self) -> None:
        self._library = library = _load()
        shapes: dict[str, tuple[Any, list[Any]]] = {
            "enchant_broker_init": (c_void_p, []),
            "enchant_broker_list_dicts": (None, [c_void_p, _EACH, c_void_p]),
            "enchant_broker_request_dict": (c_void_p, [c_void_p, c_char_p]),
            "enchant_dict_check": (c_int, [c_void_p, c_char_p, c_ssize_t]),
            "enchant_dict_suggest": (POINTER(c_char_p), [c_void_p, c_char_p, c_ssize_t, POINTER(c_size_t)]),
            "enchant_dict_free_string_list": (None, [c_void_p, POINTER(c_char_p)]),
            "enchant_dict_add": (None, [c_void_p, c_char_p, c_ssize_t]),
        }
        for name, (result, arguments) in shapes.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self._broker = library.enchant_broker_init()

    def languages(self) -> list[str]:
        """Codes of the languages there are dictionaries of, such as 'en_US', sorted."""
        found: set[str] = set()

        def each(code: bytes, *_: object) -> None:
            found.add(code.decode())

        self._library.enchant_broker_list_dicts(self._broker, _EACH(each), None)
        return sorted(found)

    def open(self, language: str) -> Dictionary | None:
        """The dictionary of a language; None where it cannot be read."""
        handle = self._library.enchant_broker_request_dict(self._broker, language.encode())
        return Dictionary(self._library, handle) if handle else None


class Dictionary:
    """Words of one language, and those that the user has added. For one thread at a time."""

    def __init__(self, library: ctypes.CDLL, handle: int) -> None:
        self._library, self._handle = library, handle

    def knows(self, word: str) -> bool:
        """Whether the word is spelled right."""
        text = word.encode()
        return bool(self._library.enchant_dict_check(self._handle, text, len(text)) == 0)

    def suggest(self, word: str) -> list[str]:
        """Words that may be meant, the likeliest first."""
        text, count = word.encode(), c_size_t()
        found = self._library.enchant_dict_suggest(self._handle, text, len(text), ctypes.byref(count))
        if not found:
            return []
        words = [found[number].decode() for number in range(count.value)]
        self._library.enchant_dict_free_string_list(self._handle, found)
        return words

    def add(self, word: str) -> None:
        """Add a word to the user's own, which other programs with Enchant know as well."""
        text = word.encode()
        self._library.enchant_dict_add(self._handle, text, len(text))


def _load() -> ctypes.CDLL:
    system = platform.system()
    if system == "Linux":
        return ctypes.CDLL(_LINUX)
    if system == "Windows":
        return _load_from_package()
    raise OSError(f"Enchant is not looked for on {system}")


def _load_from_package() -> ctypes.CDLL:
    """Enchant as pyenchant has it for Windows. Raises OSError."""
    found = importlib.util.find_spec(_PACKAGE)  # which runs none of it
    if found is None or not found.submodule_search_locations:
        raise OSError("the package pyenchant is not installed")
    prefix = Path(_ansi_path(Path(next(iter(found.submodule_search_locations)), _INSIDE)))
    # What reads dictionaries is loaded by Enchant, and needs this library, which Windows would look for elsewhere.
    ctypes.CDLL(str(prefix / "bin" / "libhunspell-1.7-0.dll"))
    library = ctypes.CDLL(str(prefix / "bin" / "libenchant-2.dll"))
    library.enchant_set_prefix_dir.restype, library.enchant_set_prefix_dir.argtypes = None, [c_char_p]
    library.enchant_set_prefix_dir(str(prefix).encode("ascii"))
    return library


def _ansi_path(folder: Path) -> str:
    """The folder by its short name, where the long one has letters that Hunspell opens no file by.

    Raises OSError: it has no short name, as on drives that give none. Hunspell would find every word misspelled.
    """
    path = str(folder)
    if not path.isascii():
        short = ctypes.create_unicode_buffer(32_768)
        kernel32 = ctypes.CDLL("kernel32")
        kernel32.GetShortPathNameW(ctypes.c_wchar_p(path), short, len(short))
        path = short.value
    if not path or not path.isascii():
        raise OSError(f"Hunspell cannot open files in {folder}")
    return path
