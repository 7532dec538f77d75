"""Run tests as they run on other people's computers: other fonts, locales, time zones, users, umasks and home folders.

    python -m tests.environments                                    every condition, all of tests/app
    python -m tests.environments --only turkish chinese arabic locale-C
    python -m tests.environments --only user -- tests/app -k date
    python -m tests.environments --list

`turkish`, `chinese` and `arabic` are several at once, so that four runs meet every condition; what fails there is
looked for under each alone. Locales are made by localedef in a folder of their own (Debian: package `locales`). `user`
is for those who are root otherwise: some tests are skipped for root, who may write everywhere; it needs util-linux 2.38
and user namespaces.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
LOCALES = ("zh_CN", "tr_TR", "ar_EG")
ZONES = ("Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu")
ORDINARY = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")  # Linux: nobody's privileges, own files
FONTS = '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>{}</fontconfig>'


@dataclass
class Condition:
    """What is different: variables, umask, and whether an ordinary user runs it."""

    environment: dict[str, str] = field(default_factory=dict)
    umask: int = 0o022
    ordinary: bool = False


def _locale(name: str, folder: Path) -> Condition:
    """LANGUAGE stays English, as tests read the window's texts; what else a locale changes is as there."""
    code = f"{name}.UTF-8"
    made = folder / code
    if not made.exists():
        subprocess.run(["localedef", "-i", name, "-f", "UTF-8", str(made)], check=True, capture_output=True)
    return Condition({"UNDERHILL_TESTS_LOCALE": code, "LANGUAGE": "en", "LOCPATH": str(folder)})


def _fonts(folder: Path, body: str) -> Condition:
    settings = folder / "fonts.conf"
    settings.write_text(FONTS.format(f"{body}<cachedir>{escape(str(folder / 'fonts'))}</cachedir>"))
    return Condition({"FONTCONFIG_FILE": str(settings)})


def _lacking(folder: Path) -> Condition:
    """A face that claims Chinese and Japanese and lacks Korean, as Debian's fonts-droid-fallback does."""
    from tests.app.test_fonts import without_korean  # imports Qt's part of the project

    faces = folder / "faces"  # nothing else lies there: every file is looked into, and one that is a pipe waited for
    faces.mkdir(exist_ok=True)
    (faces / "fallback.ttf").write_bytes(
        without_korean((ROOT / "resources" / "fonts" / "DroidSansFallback.ttf").read_bytes())
    )
    return _fonts(folder, f"<dir>/usr/share/fonts</dir><dir>{escape(str(faces))}</dir>")


def _home(folder: Path) -> Condition:
    home = folder / "a höme & 'more'"
    temporary = home / "t m"  # short: the address of a socket takes 107 bytes
    temporary.mkdir(parents=True, exist_ok=True)
    for made in (home, temporary):
        made.chmod(0o777)
    return Condition({"HOME": str(home), "TMPDIR": str(temporary)})


def _turkish(folder: Path) -> Condition:
    """Somebody on an island 14 hours ahead, who is not root and lets nobody read anything."""
    parts = [_locale("tr_TR", folder), _home(folder), _lacking(folder), Condition({"TZ": ZONES[0]})]
    return Condition(_environment(parts), 0o077, ordinary=True)


def _chinese(folder: Path) -> Condition:
    """Half an hour from the next zone, and no font installed."""
    return Condition(_environment([_locale("zh_CN", folder), _fonts(folder, ""), Condition({"TZ": ZONES[1]})]))


def _arabic(folder: Path) -> Condition:
    """From right to left, and a quarter of an hour from the next zone."""
    return Condition(_environment([_locale("ar_EG", folder), Condition({"TZ": ZONES[2]})]))


def _environment(parts: list[Condition]) -> dict[str, str]:
    return {name: value for part in parts for name, value in part.environment.items()}


def conditions() -> dict[str, Callable[[Path], Condition]]:
    """By name; each is given a folder of its own."""
    found: dict[str, Callable[[Path], Condition]] = {"turkish": _turkish, "chinese": _chinese, "arabic": _arabic}
    found["locale-C"] = lambda folder: Condition({"UNDERHILL_TESTS_LOCALE": "C"})
    for name in LOCALES:
        found[f"locale-{name}"] = lambda folder, name=name: _locale(name, folder)  # type: ignore[misc]
    for zone in ZONES:
        found[f"zone-{zone.split('/')[1]}"] = lambda folder, zone=zone: Condition({"TZ": zone})  # type: ignore[misc]
    found["umask-077"] = lambda folder: Condition(umask=0o077)
    found["home-with-spaces"] = _home
    found["fonts-none"] = lambda folder: _fonts(folder, "")
    found["fonts-without-korean"] = _lacking
    found["user"] = lambda folder: Condition(ordinary=True)
    return found


def run(name: str, arguments: list[str]) -> int:
    """Exit code of pytest under one condition."""
    with tempfile.TemporaryDirectory(prefix="uh-") as made:
        folder = Path(made)
        condition = conditions()[name](folder)
        environment = {**os.environ, **condition.environment, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        if condition.ordinary:
            command = [*ORDINARY, *command]
        done = subprocess.run(command, cwd=ROOT, env=environment, umask=condition.umask, check=False)
        return int(done.returncode)


def main() -> None:
    """Exit code 1: something failed under some condition."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(conditions()), default=list(conditions()), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the names of the conditions")
    parser.add_argument("tests", nargs="*", default=["tests/app"], help="what pytest is given (default: tests/app)")
    args = parser.parse_args()
    if args.list:
        print(*conditions(), sep="\n")
        return
    codes = {}
    for name in args.only:
        print(f"---- {name}", flush=True)
        codes[name] = run(name, args.tests)
    for name, code in codes.items():
        print(f"{'ok    ' if not code else 'FAILED'} {name}")
    raise SystemExit(any(codes.values()))


if __name__ == "__main__":
    main()
