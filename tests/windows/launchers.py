"""underhill.exe and underhill-cli.exe, made as the setup program's are, and started with a stand-in for launch.py.

What starts them on Windows is launched.py.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.windows.machine import MINGW, TREE, Machine

INSTALLER = TREE / "installers" / "windows"
LIMIT = 300.0  # seconds
# Says what it was given, then does what the first argument of a person asks for.
STAND_IN = """
import json, os, pathlib, subprocess, sys, time
said = {"program": sys.executable, "arguments": sys.argv[1:], "pid": os.getpid(), "isolated": sys.flags.isolated}
wish = [a for a in sys.argv[1:] if a != "--cli"][:1]
if wish == ["write"]:
    file = pathlib.Path(sys.argv[-1])
    file.with_suffix(".new").write_text(json.dumps(said), encoding="utf-8")
    os.replace(file.with_suffix(".new"), file)
    sys.exit()
if wish == ["read"]:
    said["input"] = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(json.dumps(said).encode() + b"\\n")
sys.stdout.flush()
if wish == ["wait"]:
    time.sleep(600)
sys.exit(7)
"""


def launchers(machine: Machine, out: Path) -> str:
    """Make them in a folder and try them there; prints what held. Returns what was wrong; '' for nothing."""
    if not shutil.which(MINGW):
        return f"{MINGW} is needed to make them"
    folder = out / "A folder 山"
    folder.mkdir(parents=True)
    make(folder)
    (folder / "launch.py").write_text(STAND_IN, encoding="utf-8")
    (folder / "python").symlink_to("/w/python")
    done = machine.run(["-m", "tests.windows.launched", rf"W:\\out\\{folder.name}"], out, LIMIT)
    print(*(line for line in done.stdout.splitlines() if line.startswith("ok: ")), sep="\n")
    return done.stdout if done.returncode else ""


def make(folder: Path) -> None:
    """Put both, and their icon, into a folder. Raises subprocess.CalledProcessError."""
    icon = [sys.executable, str(INSTALLER / "icon.py"), str(TREE / "resources" / "icons" / "underhill.svg")]
    subprocess.run([*icon, str(folder / "underhill.ico")], check=True)
    subprocess.run(["bash", str(INSTALLER / "launchers.sh"), str(folder), "1.2.3"], check=True)
