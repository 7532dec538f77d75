"""What is logged, and how: lines for an engineer who reads a user's report, and never a word of a chat.

Modules log to `logging.getLogger(__name__)`. Where the lines go is decided once, where a process begins:

- the window writes them to one rotating file (app/platform/logs.py);
- the engine's process sends each as one line through its standard error, which the window reads in any case: so the
  file has a single writer, needs no lock between processes, and its lines are in the order in which things happened;
- `underhill-cli --verbose` shows them on standard error; otherwise the terminal has none.

Never logged: texts of chats, prompts and files, tokens of either kind, what is searched for. Messages name models,
figures and states. Of an exception its kind and its stack are logged, its own words only where no text of a person can
be among them.
"""

from __future__ import annotations

import json
import logging
import os
import time
import traceback
from contextlib import suppress

from engine.errors import UnderhillError
from engine.translatable import readable

ROOTS = ("engine", "app")  # ours; libraries log addresses and more, and are left out
VARIABLE = "UNDERHILL_LOG"  # debug, info, warning or error; of all of Underhill's processes
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
MARK = "\x01log "  # begins a line of the log among all that the engine's process prints; no text begins so
STDERR = 2  # its number
DEEPEST = 8  # exceptions of a chain of causes
_QUOTABLE = (ImportError, AttributeError, NameError)  # their words name parts of programs, never what is worked on


def level() -> int:
    """The least level that is logged, by the variable UNDERHILL_LOG; INFO without."""
    return LEVELS.get(os.environ.get(VARIABLE, "").strip().lower(), logging.INFO)


def begin(handler: logging.Handler, least: int | None = None) -> None:
    """Send what `engine` and `app` log from `least` on (None: see `level`) to `handler`."""
    for name in ROOTS:
        logger = logging.getLogger(name)
        logger.setLevel(level() if least is None else least)
        logger.addHandler(handler)


def end(handler: logging.Handler) -> None:
    """No longer."""
    for name in ROOTS:
        logging.getLogger(name).removeHandler(handler)


def to_terminal(verbose: bool) -> logging.Handler:
    """Show lines of every level on standard error, or none at all. Returns what `end` takes."""
    handler = logging.StreamHandler() if verbose else logging.NullHandler()  # without, Python prints warnings by itself
    handler.setFormatter(Lines())
    begin(handler, logging.DEBUG if verbose else None)
    return handler


def to_parent() -> None:
    """Send lines to the program that reads this process's standard error; it takes them apart with `relay`."""
    begin(_ToParent())


def relay(line: str) -> bool:
    """Log a line that `to_parent` wrote in another process; False where it is none, but something printed."""
    if not line.startswith(MARK):
        return False
    try:
        number, name, created, thread, text = json.loads(line.removeprefix(MARK))
        record = logging.LogRecord(str(name), int(number), "", 0, str(text), (), None)
        record.created, record.threadName = float(created), str(thread)
    except (ValueError, TypeError):
        return False
    record.body = str(text)
    logger = logging.getLogger(record.name)
    if record.name.split(".")[0] in ROOTS and logger.isEnabledFor(record.levelno):
        logger.handle(record)
    return True


def body(record: logging.LogRecord) -> str:
    """What a record says, its exception included, made so that it can be kept."""
    made = getattr(record, "body", None)
    if made is None:
        text = readable(record.getMessage())
        error = record.exc_info[1] if record.exc_info else None
        made = _without_home(text if error is None else f"{text}\n{described(error)}")
    return str(made)


def _without_home(text: str) -> str:
    """The user's name often is that of the home folder, which paths begin with."""
    home = os.path.expanduser("~")
    return text.replace(home + os.sep, "~" + os.sep) if len(home) > len(os.sep) else text


def described(error: BaseException) -> str:
    """An exception and its causes: where each was raised and what it is, without words that may be a person's."""
    parts: list[str] = []
    each: BaseException | None = error
    # Bounded, since chains of causes can be circular where code raises an exception that it keeps.
    while each is not None and len(parts) < DEEPEST:
        stack = "".join(traceback.format_tb(each.__traceback__))
        parts.append(f"{stack}{_named(each)}")
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return "\nbecause of\n".join(parts)


def _named(error: BaseException) -> str:
    name = type(error).__qualname__
    if isinstance(error, UnderhillError):
        return f"{name} ({error.kind})"
    if isinstance(error, OSError):
        return readable(f"{name}: {error.strerror} (errno {error.errno}) {error.filename or ''}".rstrip())
    if code := getattr(error, "sqlite_errorname", ""):
        return f"{name} ({code})"
    return readable(f"{name}: {error}") if isinstance(error, _QUOTABLE) else name


class Lines(logging.Formatter):
    """2026-11-23 14:05:09.123 INFO engine.process.host [MainThread] Text; further lines are set in."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
        head = f"{at}.{int(record.created % 1 * 1000):03d} {record.levelname} {record.name} [{record.threadName}]"
        return f"{head} {body(record)}".replace("\n", "\n    ")


class _ToParent(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        line = [record.levelno, record.name, record.created, record.threadName, body(record)]
        with suppress(OSError, ValueError):  # the window has gone, and this process goes as well
            os.write(STDERR, f"{MARK}{json.dumps(line)}\n".encode())  # whole, among others' lines
