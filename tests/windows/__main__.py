"""Underhill on Windows' own Python, under Wine: ``python -m tests.windows run -- ARGUMENTS``, see --help."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import platformdirs

from tests.windows.machine import Machine, NoSystem
from tests.windows.setup_program import installer
from tests.windows.smoke import smoke
from tests.windows.suite import suite
from tests.windows.window import window

NO_SYSTEM = 75  # EX_TEMPFAIL of sysexits.h


def main(arguments: list[str] | None = None) -> int:
    """The exit code of what was run; NO_SYSTEM where Debian cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tests.windows", description=__doc__)
    parser.add_argument("--cache", type=Path, default=platformdirs.user_cache_path("underhill-tests") / "windows")
    parser.add_argument("--mirror", help="of Debian; default: debootstrap's own")
    parser.add_argument("--out", type=Path, help="folder that programs see as W:\\out; suite: for its logs")
    parser.add_argument("--timeout", type=float, help="seconds after which it is ended")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup", help="make what is missing, and no more")
    commands.add_parser("smoke", help="what must hold at the least, in a few minutes")
    whole = commands.add_parser("suite", help="the suite, held against expected.txt; suite.py says how lines are added")
    whole.add_argument("--workers", type=int, default=2, help="processes that run tests")
    whole.add_argument("--resume", action="store_true", help="count what ran to its end on the same sources as it is")
    whole.add_argument("pieces", nargs="*", metavar="PIECE", help="words in the names of those to run; default: all")
    commands.add_parser("window", help="the window with the real engine, used as a person does; pictures into --out")
    commands.add_parser("installer", help="the setup program: installed, started, used, removed; --out keeps its parts")
    run = commands.add_parser("run", help="run python.exe with ARGUMENTS in the checkout, W:\\tree")
    run.add_argument("arguments", nargs="*", metavar="-- ARGUMENTS")
    options = parser.parse_args(arguments)
    try:
        machine = Machine(options.cache.absolute(), options.mirror)
    except NoSystem as error:
        print(error, file=sys.stderr)
        return NO_SYSTEM
    if options.command == "setup":
        return 0
    if options.command == "smoke":
        return smoke(machine)
    if options.command == "suite":
        logs = (options.out or machine.nothing.with_name("suite")).absolute()
        return suite(machine, options.pieces, logs, options.workers, options.resume)
    out = (options.out or machine.nothing).absolute()
    out.mkdir(parents=True, exist_ok=True)
    if options.command == "window":
        return window(machine, out)
    if options.command == "installer":
        return installer(machine, out)
    done = machine.run(options.arguments, out, options.timeout)
    sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
