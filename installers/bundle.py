"""Lays down a release as the installers ship it: `python installers/bundle.py --output DIR`.

DIR gets launch.py, app/ and qt/ (what the window imports), bin/uv, packages/ (locks, and wheels of what is published as
source alone) and release.json. It needs pip and a network; every library is taken by its hash, at its version in
requirements/. The window's libraries are the same files for all versions of Python, which is checked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = {
    "linux": ("manylinux_2_34_x86_64", "x86_64-manylinux_2_34"),
    "windows": ("win_amd64", "x86_64-pc-windows-msvc"),
}
WINDOW = ("filelock", "jeepney", "latex2mathml", "packaging", "platformdirs", "psutil", "pygments", "pypdf",
          "typing-extensions", "ziafont", "ziamath")  # fmt: skip
WINDOW_ALONE = {"linux": (), "windows": ("pyenchant",)}  # what the window has on one system only
QT = ("pyside6-essentials", "shiboken6")
PREBUILT = ("hqq",)  # published as source alone: nothing is built on a user's computer
# Of PySide6: its development tools, and modules that Underhill imports nothing of.
LEFT_OUT = re.compile(
    r"PySide6/(assistant|designer|linguist|lrelease|lupdate|qmlformat|qmllint|qmlls|balsam|svgtoqml|include|glue|doc|"
    r"typesystems|scripts|support|Qt/(qml|metatypes|libexec|resources|plugins/(assetimporters|designer|qmltooling|qmllint|"
    r"qmlls|sqldrivers|scxmldatamodel|sceneparsers))|qml|metatypes|resources|plugins/(designer|qmltooling|qmllint|qmlls|"
    r"sqldrivers)|(Qt/lib/lib)?Qt6?(Qml|Quick|Designer|Help|UiTools|Test|Sql|Concurrent|Labs|Lottie|Shader|Sensors)|"
    r".*\.pyi$|translations/(?!qtbase_)|Qt/translations/(?!qtbase_))"
    # Of pyenchant: all but Enchant with Hunspell, and English as four countries have it.
    r"|enchant/(?!data/mingw64/(bin/lib(enchant-2|gcc_s_seh-1|glib-2\.0-0|gmodule-2\.0-0|hunspell-1\.7-0|iconv-2|intl-8|"
    r"pcre2-8-0|stdc\+\+-6|winpthread-1)\.dll|lib/enchant-2/enchant_hunspell\.dll$|"
    r"share/enchant/(enchant\.ordering|hunspell/en_(AU|CA|GB|US)\.(aff|dic))))"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the release; must not be there yet")
    parser.add_argument("--platform", choices=PLATFORMS, default="linux")
    parser.add_argument("--wheel", type=Path, help="Underhill's own, if it is not to be built here")
    parser.add_argument("--fat", action="store_true", help="with all wheels of the engine, for this Python")
    parser.add_argument("--compiler", default="x86_64-w64-mingw32-gcc-posix", help="makes the library for Windows")
    parser.add_argument("--updates", default="", help="address that updates are asked for at")
    parser.add_argument("--key", action="append", default=[], help="public key of who signs them, hexadecimal")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work:
        lay_down(options, Path(work))
    return 0


def lay_down(options: argparse.Namespace, work: Path) -> None:
    """Make the release in options.output."""
    release, locked = options.output, locks()
    wheel = options.wheel or own_wheel(work / "own")
    version = wheel.name.split("-")[1]
    alone = WINDOW_ALONE[options.platform]
    for part, names in (("app", (*WINDOW, *alone)), ("qt", QT)):
        wheels = download(work / part, [locked[name] for name in names], options.platform)
        for each in [*wheels, wheel] if part == "app" else wheels:
            unpack(each, release / part)
    if options.platform == "windows":
        compile_for_windows(release / "app" / "engine" / "native" / "src", options.compiler)
    tied = [path for path in release.rglob("*") if re.search(r"\.cpython-3\d+|\.cp3\d+-win", path.name)]
    if tied:
        raise SystemExit(f"for one version of Python alone: {tied[:5]}")
    uv = download(work / "uv", [(ROOT / "requirements" / "uv.txt").read_text()], options.platform)[0]
    (release / "bin").mkdir()
    with zipfile.ZipFile(uv) as inside:
        name = next(n for n in inside.namelist() if n.endswith(("/scripts/uv", "/scripts/uv.exe")))
        target = release / "bin" / Path(name).name
        target.write_bytes(inside.read(name))
        target.chmod(0o755)
    packages = release / "packages"
    packages.mkdir()
    kept = [text for name, text in locked.items() if name.split(";")[0] not in (*QT, *PREBUILT, *alone)]
    (packages / "engine.txt").write_text("".join(kept))
    torch = (ROOT / "requirements" / "torch.txt").read_text()
    if options.platform == "windows":  # where the general build is the one for the CPU
        torch = next(t for n, t in entries(ROOT / "requirements" / "torch-general.txt").items() if n == "torch")
    (packages / "torch.txt").write_text(torch)
    for name in PREBUILT:
        pip(
            "wheel",
            "--no-deps",
            "--require-hashes",
            "-r",
            note(work / f"{name}.txt", locked[name]),
            "-w",
            str(packages),
        )
    if options.fat:
        for lock in ("engine.txt", "torch.txt"):
            pip(
                "download",
                "--no-deps",
                "--require-hashes",
                "--only-binary=:all:",
                "-r",
                str(packages / lock),
                "-d",
                str(packages),
            )
    shutil.copy(ROOT / "app" / "install" / "launch.py", release / "launch.py")
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.md"):
        shutil.copy(ROOT / name, release / name)
    parts = {part: digest(release / part for part in folders) for part, folders in PARTS.items()}
    said = {"version": version, "parts": parts, "updates": {"address": options.updates, "keys": options.key}}
    (release / "release.json").write_text(json.dumps(said, indent=1) + "\n")


PARTS = {"app": ("app", "packages"), "qt": ("qt", "bin")}  # what an update exchanges as one


def digest(folders: Iterable[Path]) -> str:
    """SHA-256 over names and contents of all files, by which an update knows a part that is here already."""
    made = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            made.update(f"{path.relative_to(folder.parent).as_posix()}\0{path.stat().st_size}\0".encode())
            made.update(path.read_bytes())
    return made.hexdigest()


def own_wheel(folder: Path) -> Path:
    """Underhill's, with the C library, by the build that pip uses."""
    pip("wheel", "--no-deps", "-w", str(folder), str(ROOT))
    return next(folder.glob("underhill-*.whl"))


def compile_for_windows(folder: Path, compiler: str) -> None:
    """Put the C library for Windows in the place of this system's."""
    for library in folder.glob("*.so"):
        library.unlink()
    command = [sys.executable, "-m", "engine.native.build", "--compiler", compiler]
    subprocess.run([*command, "--output", str(folder / "underhill_kernels.dll")], cwd=ROOT, check=True)


def entries(lock: Path) -> dict[str, str]:
    """The lines of each package of a lock, hashes included, by its name; a second one has its marker behind it."""
    found: dict[str, str] = {}
    for text in re.findall(r"^[a-z0-9][^\n]*(?:\n    [^\n]*)*\n?", lock.read_text(), re.MULTILINE):
        name = re.split("[=; ]", text)[0]
        found[name if name not in found else f"{name};{text.splitlines()[0]}"] = text
    return found


def locks() -> dict[str, str]:
    """Of everything but torch. What only builds Underhill is not needed where it runs."""
    return entries(ROOT / "requirements" / "runtime.txt")


def download(folder: Path, lines: Sequence[str], platform: str) -> list[Path]:
    """Wheels of exactly these files, for the oldest Python and for a platform."""
    folder.mkdir()
    tags = [PLATFORMS[platform][0]] + (
        [f"manylinux_2_{n}_x86_64" for n in (17, 27, 28, 31)] + ["manylinux2014_x86_64", "manylinux2010_x86_64"]
        if platform == "linux" else []
    )  # fmt: skip
    only = ["--only-binary=:all:", "--python-version", "3.11", *(f"--platform={tag}" for tag in tags)]
    pip(
        "download",
        "--no-deps",
        "--require-hashes",
        *only,
        "-r",
        note(folder / "lock.txt", "".join(lines)),
        "-d",
        str(folder),
    )
    return sorted(folder.glob("*.whl"))


def note(path: Path, text: str) -> str:
    """Write a lock without markers, which pip would judge by the computer that builds. Returns the path."""
    path.write_text(re.sub(r" ; [^\n\\]*", " ", text))
    return str(path)


def unpack(wheel: Path, target: Path) -> None:
    """Its packages and their metadata, and nothing of LEFT_OUT."""
    with zipfile.ZipFile(wheel) as inside:
        for entry in inside.infolist():
            if not entry.is_dir() and not LEFT_OUT.match(entry.filename) and ".data/" not in entry.filename:
                inside.extract(entry, target)


def archive(folders: Sequence[Path], target: Path) -> None:
    """The same bytes for the same files, whoever packs them and when."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with tarfile.open(target, "w:xz", preset=6) as tar:
        for folder in folders:
            tar.add(folder, folder.name, filter=plain)


def pip(*arguments: str) -> None:
    """Run pip; its last lines are shown where it fails."""
    command = [sys.executable, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check", *arguments]
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode:
        raise SystemExit(f"pip {arguments[0]} failed")


if __name__ == "__main__":
    sys.exit(main())
