"""Extracts the text of a PDF. Runs in a sandboxed process, since hostile files can keep the library busy for ever."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from engine.sandbox import out_of_memory

LOCKED, DAMAGED = "locked", "damaged"  # instead of pages


def pages(path: str) -> Iterator[list[str]]:
    """Yield ['page', its text] for each page; or [LOCKED] or [DAMAGED, why], and nothing after."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it complains of is of no use to the reader of a chat
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            yield [LOCKED]
            return
        for page in reader.pages:
            yield ["page", page.extract_text().strip()]
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, NotImplementedError, OSError, RecursionError,
            TypeError, ValueError) as e:  # what the library raises on files that keep to no rule  # fmt: skip
        if out_of_memory(e):
            raise
        yield [DAMAGED, f"{type(e).__name__}: {e}"[:1000]]
