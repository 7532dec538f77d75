"""The window itself on Windows' own Python, under Wine and Xvfb: what a person does there, with the real engine.

``python -m tests.windows --out DIR window``; DIR gets a picture of every place. The half that runs there is person.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.windows.machine import Machine

DISPLAY = ["xvfb-run", "-a", "-s", "-screen 0 1440x1000x24"]
LONGEST = 1800.0  # seconds; it takes about four minutes where nothing else runs


def window(machine: Machine, out: Path) -> int:
    """0 when all holds, else 1; prints what was done, and writes the pictures into the folder `out`."""
    done = machine.run(["-m", "tests.windows.person", r"W:\out"], out, LONGEST, DISPLAY)
    sys.stdout.write(done.stdout)
    return min(done.returncode, 1)
