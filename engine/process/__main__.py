"""`python -m engine.process PID` is an engine for the program of that number, which started it, and ends with it."""

from __future__ import annotations

import sys

from engine.process.host import main

main(int(sys.argv[1]))
