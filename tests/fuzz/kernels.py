"""Any bytes as codes and scales of a matrix, under the address and undefined-behaviour sanitizers of the C compiler.

    python -m tests.fuzz.kernels                   ten minutes
    python -m tests.fuzz.kernels --seconds 3600 --seed 7

The compiler's random inputs need no coverage to guide them: a matrix has eight numbers of shape, and all are drawn.
Exit codes: 0 nothing found, 1 something (printed), 2 there is no compiler with sanitizers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.native.build import find_compiler
from tests.native.builds import selftest_with_sources


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32, help="default: another one each time")
    options = parser.parse_args()
    if not (compiler := find_compiler()):
        print("there is no C compiler", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "selftest"
        try:
            selftest_with_sources([compiler], program, "address", "undefined")
        except AssertionError as cannot:
            print(cannot, file=sys.stderr)
            return 2
        print(f"seed {options.seed}, {options.seconds} seconds", flush=True)
        return 1 if subprocess.run([program, "bytes", str(options.seconds), str(options.seed)]).returncode else 0


if __name__ == "__main__":
    sys.exit(main())
