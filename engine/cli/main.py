"""Runs a command of `underhill-cli`, and says how it ended."""

from __future__ import annotations

import argparse
import errno
import io
import json
import logging
import os
import sys
import traceback
from collections.abc import Sequence

from engine import log, private_files, windows
from engine.cli.parser import parser
from engine.errors import Kind, UnderhillError, as_error
from engine.library.home import home

_log = logging.getLogger(__name__)

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130  # as argparse and shells have them: 130 is 128 + SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 it worked, 1 it could not be done (the sentence says why), 2 wrong usage,
    130 interrupted."""
    _speak_utf8()
    private_files.write_privately()
    windows.no_error_boxes()
    private_files.tighten(home())
    args = parser().parse_args(argv)
    lines = log.to_terminal(args.verbose)
    try:
        code = int(args.run(args) or OK)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("\nInterrupted. Nothing is lost; run the same command again to go on.", file=sys.stderr)
        return INTERRUPTED
    except Exception as e:
        if _reader_has_gone(e):  # as in `| head`; what is left goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        _log.error("%s", as_error(e).kind, exc_info=e)
        return _failed(args, as_error(e))
    finally:
        log.end(lines)


def _reader_has_gone(e: Exception) -> bool:
    """Whether nobody reads standard output any more.

    Windows' C library answers EINVAL then (bpo-35754), which much else is answered with, so the output is tried again:
    what could not be written is still in its buffer.
    """
    if isinstance(e, OSError) and e.errno == errno.EINVAL:
        try:
            sys.stdout.flush()
        except OSError as again:
            return again.errno in (errno.EINVAL, errno.EPIPE)
    return isinstance(e, BrokenPipeError)


def _speak_utf8() -> None:
    """Whoever reads our output from a pipe or a file gets UTF-8, also where Windows would write its own code page."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors="replace")


def _failed(args: argparse.Namespace, e: UnderhillError) -> int:
    if e.kind is Kind.INTERNAL and e.__cause__ is not None:  # the details that the sentence asks to report
        traceback.print_exception(e.__cause__)
    if getattr(args, "json", False):
        print(json.dumps({"error": {"kind": str(e.kind), "sentence": e.sentence, "action": e.action}}))
    print(f"underhill-cli: {e.sentence}", file=sys.stderr)
    if e.action:
        print(e.action, file=sys.stderr)
    return USAGE if e.kind is Kind.BAD_REQUEST else FAILED
