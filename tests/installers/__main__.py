"""A door tried in a bare system, as a new user would: ``python -m tests.installers --suite bookworm --door deb``.

Needs root, debootstrap, Xvfb, openbox and xdotool, and a network the first time. Prints what was seen as JSON, with
seconds as a person would count them: cold, with the system's file cache emptied of everything that a start reads; warm,
with what the last start has read. Pictures of every page go to --out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs

from tests.installers.machine import PACKAGES, System, call, make_system

ROOT = Path(__file__).parents[2]
DOORS = ("deb", "run", "fat", "pip", "pipx", "uv")


def main(arguments: list[str] | None = None) -> int:
    """0 where everything was seen, and no file is left."""
    parser = argparse.ArgumentParser(prog="python -m tests.installers", description=__doc__)
    parser.add_argument("--suite", default="bookworm", help="of Debian, or of Ubuntu: jammy, noble")
    parser.add_argument("--door", choices=DOORS, default="deb")
    parser.add_argument("--installers", type=Path, help="folder with what installers/linux/build.sh has made")
    parser.add_argument("--home", default="/home/王 小明")
    parser.add_argument("--tmpfs", action="store_true", help="home folders on a disk of their own")
    parser.add_argument("--screen", default="1280x800", metavar="WxH")
    parser.add_argument("--chinese", action="store_true")
    parser.add_argument("--wheels", type=Path, help="folder with torch's build, where its index cannot be reached")
    parser.add_argument("--python", type=Path, help="one to have in there as /opt/python, instead of the suite's")
    parser.add_argument("--gguf", type=Path, help="a model's file, opened as the file manager would")
    parser.add_argument("--cache", type=Path, default=platformdirs.user_cache_path("underhill-tests") / "systems")
    parser.add_argument("--mirror", default="", help="of Debian or Ubuntu; default: debootstrap's own")
    parser.add_argument("--out", type=Path, default=Path("trial"))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)  # the system's folder, in namespaces of its own
    options = parser.parse_args(arguments)
    if options.inside is not None:
        return _inside(options)
    packages = list(PACKAGES["pip" if options.door in ("pip", "pipx", "uv") else options.door.replace("fat", "run")])
    if options.python:
        packages = [name for name in packages if not name.startswith("python3")]
    system = make_system(options.cache.absolute(), options.suite, packages, options.mirror)
    again = [sys.executable, "-m", "tests.installers", *(sys.argv[1:] if arguments is None else arguments)]
    apart = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child"]
    return subprocess.run([*apart, *again, "--inside", str(system)], check=False).returncode


def _inside(options: argparse.Namespace) -> int:
    # Qt is loaded only here: what makes the systems runs without it
    from tests.installers.screen import Screen
    from tests.installers.trial import Door, Trial

    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    width, height = map(int, options.screen.split("x"))
    with tempfile.TemporaryDirectory(dir=options.cache, ignore_cleanup_errors=True) as scratch:
        system = System(options.inside, Path(scratch), options.home, options.tmpfs, options.wheels)
        if options.python:
            system.bind(options.python, "/opt/python")
            for name in ("python3.11", "python3"):
                (system.folder / "usr/local/bin" / name).symlink_to("/opt/python/bin/python3.11")
        door = Door(options.door, _source(options, Path(scratch)), offline=options.door == "fat")
        screen = Screen(width, height)
        trial = Trial(system, screen, door, out, options.chinese, options.gguf)
        problem = ""
        try:
            trial.run()
        except (TimeoutError, subprocess.CalledProcessError) as error:
            problem = str(error)
            screen.save(out / "failed.png")
        screen.close()
        call(["umount", "-lR", str(system.folder)], check=False)
    found = {name: round(value, 2) if isinstance(value, float) else value for name, value in trial.found.items()}
    found |= {"suite": options.suite, "door": options.door, "load": os.getloadavg()[0], "problem": problem}
    (out / "found.json").write_text(json.dumps(found, indent=1, ensure_ascii=False))
    print(json.dumps(found, indent=1, ensure_ascii=False))
    return 0 if not problem and not found["left"] else 1


def _source(options: argparse.Namespace, scratch: Path) -> Path:
    """The installer, or a clean clone."""
    if options.door in ("pip", "pipx", "uv"):
        clone = scratch / "clone"
        call(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)])
        return clone
    pattern = {"deb": "underhill_*.deb", "run": "underhill-[0-9]*.run", "fat": "underhill-fat-*.run"}[options.door]
    return max(options.installers.absolute().glob(pattern), key=lambda path: path.stat().st_mtime)


if __name__ == "__main__":
    sys.exit(main())
