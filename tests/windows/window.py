"""The window itself on Windows' own Python, under Wine and Xvfb: what a person does there, with the real engine.

``python -m tests.windows --out DIR window``; DIR gets a picture of every place. The half that runs there is person.py.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from tests.windows.machine import Machine

DISPLAY = ["xvfb-run", "-a", "-s", "-screen 0 1440x1000x24"]
LONGEST = 1800.0  # seconds; it takes about four minutes where nothing else runs
# Wine draws no title bars, but says once what it was asked for: 14 is DWMWA_USE_IMMERSIVE_DARK_MODE, in hexadecimal.
_ASKED = "fixme:dwmapi:"
_DARK_TITLE = re.compile(rf"{_ASKED}DwmSetWindowAttribute \(\w+, 14,")


def window(machine: Machine, out: Path) -> int:
    """0 when all holds, else 1; prints what was done, and writes the pictures into the folder `out`."""
    os.environ["WINEDEBUG"] = "-all,fixme+dwmapi"
    done = machine.run(["-m", "tests.windows.person", r"W:\out"], out, LONGEST, DISPLAY)
    sys.stdout.writelines(line for line in done.stdout.splitlines(keepends=True) if _ASKED not in line)
    dark = _DARK_TITLE.search(done.stdout) is not None
    print("ok: the title bar is asked to be dark" if dark else "FAILED: nothing asked for a dark title bar")
    return 0 if done.returncode == 0 and dark else 1
