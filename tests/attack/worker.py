"""One area's attacks, one after the other, in a process that whoever started it watches and may end.

    python -m tests.attack.worker AREA FIRST FOLDER

Prints a line as an attack begins and one as it ends: what came of it, and how much memory this process took at most.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

from engine import private_files
from engine.errors import Kind, as_error
from tests.attack.case import Case

MARK = "attack: "


def cases(area: str) -> list[Case]:
    """Of an area, in an order that is always the same."""
    found: list[Case] = importlib.import_module(f"tests.attack.{area}").cases()
    names = [case.name for case in found]
    assert len(set(names)) == len(names), f"{area} has two attacks of one name"
    return found


def main() -> None:
    area, first, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    private_files.write_privately()
    for number, case in enumerate(cases(area)):
        if number >= first:
            own = Path(tempfile.mkdtemp(dir=folder))
            _forget_peak()
            _say(number, name=case.name, before=_status("VmRSS"))
            what, said = outcome(case, own)
            _say(number, outcome=what, said=said, peak=_status("VmHWM"), readable=_readable(own))


def outcome(case: Case, own: Path) -> tuple[str, str]:
    """('refused', the sentence), ('taken', ''), or what should not be: 'believed', 'internal'."""
    try:
        case.attack(own)
    except Exception as raised:
        error = as_error(raised)
        if error.kind is not Kind.INTERNAL:
            return "refused", error.sentence
        return "internal", "".join(traceback.format_exception(raised)[-3:])
    return ("taken" if case.harmless else "believed"), ""


def _readable(folder: Path) -> list[str]:
    """Files below a folder that other users of the computer may read; the attack's own are named `given`."""
    found = []
    for top, _, names in os.walk(folder):
        for name in names:
            path = Path(top, name)
            if not path.is_symlink() and path.is_file() and path.stat().st_mode & 0o077:
                found.append(str(path.relative_to(folder)))
    return found


def _say(number: int, **what: object) -> None:
    print(MARK + json.dumps({"number": number, **what}), flush=True)


def _status(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    line = next(x for x in Path("/proc/self/status").read_text(encoding="ascii").splitlines() if x.startswith(field))
    return int(line.split()[1]) << 10


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


if __name__ == "__main__":
    main()
