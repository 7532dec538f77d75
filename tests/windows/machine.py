"""Makes what the tests on Windows' own Python run on: a Debian system with Wine, Python and its packages, our DLL.

Each of them lies in the cache folder under the hash of all that it is made from, and is made once. Mirrors, proxies and
certificates are those that this system's debootstrap, apt and pip are set up with.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.native.build import options

HERE = Path(__file__).parent
TREE = HERE.parents[1]
REQUIREMENTS = TREE / "requirements"
SUITE = "trixie"  # its Wine is 10.0; with 8.0, which bookworm has, PyTorch is not loaded
PACKAGES = ["wine", "wine64", "fonts-wine", "fonts-dejavu-core", "xvfb", "xauth", "xdotool", "imagemagick"]
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
INSIDE = "test_pool.c"  # uses what a finished library does not show
PTX = TREE / "tests" / "engine" / "cuda" / "ptx"  # a card that plays PTX, in C
MINGW = "x86_64-w64-mingw32-gcc-posix"
TARGET = "x86_64-windows-gnu"  # as zig names it
UNNEEDED = {
    "mypy",
    "ruff",
    "ziglang",
    "import-linter",
    "grimp",
    "ast-serialize",
    "librt",
}  # of dev.txt: no test runs them
# Loaded once while Python is made, so that what they are compiled to lies there afterwards.
WARM_UP = (
    "import torch, app.main, engine.cli.main, engine.process.host, transformers.models.qwen3_moe, hqq, pytest, xdist"
)
SELF_TEST = [path for path in sorted((TREE / "tests" / "native").glob("*.[ch]")) if path.name != INSIDE]
ENVIRONMENT = ["KMP_AFFINITY=disabled", "OMP_NUM_THREADS=2", "HF_HUB_OFFLINE=1"]


class NoSystem(Exception):
    """Debian cannot be had, or not be entered: no network, no root, or no mounts."""


class Machine:
    """``Machine(cache).run(["-m", "engine.cli"])``: makes what is missing first. Needs root, for mounts and chroot."""

    def __init__(self, cache: Path, mirror: str | None = None) -> None:
        """mirror: of Debian; None: debootstrap's own. Raises NoSystem and subprocess.CalledProcessError."""
        self._cache = cache
        self._mirror = mirror
        self._system = self.python = self._library = self.nothing = cache / "none"
        cache.mkdir(parents=True, exist_ok=True)
        self.nothing.mkdir(exist_ok=True)
        try:
            self._system = self._made("system", [], [SUITE, *PACKAGES], self._make_system)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NoSystem(str(error)) from error
        entered = self._enter(["true"], self.nothing)
        if entered.returncode:
            raise NoSystem(f"{self._system} cannot be entered: {entered.stdout}")
        locks = [REQUIREMENTS / f"{name}.txt" for name in ("uv", "compiler")]
        self._tools = self._made("tools", [HERE / "tools.txt", *locks], [sys.version], self._make_tools)
        native = TREE / "engine" / "native"
        sources = [
            native / "build.py",
            *sorted((native / "src").glob("*.[cht]*")),
            *SELF_TEST,
            *sorted(PTX.glob("*.[ch]")),
        ]
        self._library = self._made("library", sources, [TARGET, "-mfma", *self._compiler], self._make_library)
        locks = [REQUIREMENTS / f"{name}.txt" for name in ("runtime", "torch-general", "dev")]
        own = [HERE / "requirements.txt", HERE / "build_shims.py", *sorted((HERE / "shims").iterdir())]
        self.python = self._made("python", [*locks, *own], [WARM_UP, *sorted(UNNEEDED)], self._make_python)

    def run(
        self, arguments: Sequence[str], out: Path, timeout: float | None = None, script: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run python.exe in the checkout, W:\\tree there; `out` is W:\\out. What it prints is returned as text.

        timeout: seconds, after which subprocess.TimeoutExpired is raised. script: a command that gets the command line
        as its arguments, for programs with a window; without it Qt is offscreen.
        """
        return self.run_program("/w/python/python.exe", out, timeout, arguments, script)

    def run_program(
        self,
        program: str,
        out: Path,
        timeout: float | None = None,
        arguments: Sequence[str] = (),
        script: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """Run any program of Windows, as `run` does python.exe."""
        # Wine keeps QT_X of the environment from programs, and hands on WINEQT_X as QT_X
        settings = [*ENVIRONMENT, *([] if script else ["WINEQT_QPA_PLATFORM=offscreen"])]
        command = ["env", "-C", "/w/tree", *settings, *script, "wine", program, *arguments]
        return self._enter(command, out, timeout)

    def _enter(
        self, command: Sequence[str], out: Path, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory(dir=self._cache, prefix="scratch-", ignore_cleanup_errors=True) as scratch:
            folders = [self._system, self.python, TREE, self._library, scratch, out]
            whole = ["sh", str(HERE / "enter.sh"), *map(str, folders), *command]
            return subprocess.run(
                whole,
                timeout=timeout,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                encoding="utf-8",
            )

    def _made(self, name: str, files: Sequence[Path], words: Sequence[str], make: Callable[[Path], None]) -> Path:
        """The folder `name`-HASH of the cache, made by `make` if it is not there; older ones are removed."""
        sha = hashlib.sha256("\n".join(words).encode())
        for file in files:
            sha.update(file.name.encode() + file.read_bytes())
        place = self._cache / f"{name}-{sha.hexdigest()[:16]}"
        with (self._cache / f"{name}.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                begun = time.monotonic()
                for old in self._cache.glob(f"{name}-*"):
                    shutil.rmtree(old)
                unfinished = self._cache / f"{name}-unfinished"
                unfinished.mkdir()
                make(unfinished)
                unfinished.rename(place)
                print(f"made {name} in {time.monotonic() - begun:.0f} s", flush=True)
        return place

    def _make_system(self, folder: Path) -> None:
        keyring = ["--keyring", str(KEYRING)] if KEYRING.exists() else []
        mirror = [self._mirror] if self._mirror else []
        # In a namespace of its own: what it mounts is gone with it, even when it is killed.
        _call(["unshare", "--mount", "debootstrap", "--variant=minbase", *keyring, SUITE, str(folder), *mirror])
        for name in ("resolv.conf", "hosts", "apt/apt.conf.d"):
            _copy_settings(Path("/etc") / name, folder / "etc" / name)
        install = (
            f"apt-get -qq update && apt-get -qq install --no-install-recommends {' '.join(PACKAGES)} && apt-get clean"
        )
        _call(["chroot", str(folder), "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", install])
        (folder / "w").mkdir()
        prefix = ["env", "WINEPREFIX=/prefix", "HOME=/root", "WINEDEBUG=-all", "sh", "-c"]
        first = "mount -t proc proc /proc && wineboot --init && wineserver -w && ln -s /w /prefix/dosdevices/w:"
        _call(["unshare", "--mount", "--pid", "--fork", "--kill-child", "chroot", str(folder), *prefix, first])

    def _make_tools(self, folder: Path) -> None:
        _call([sys.executable, "-m", "venv", str(folder)])
        for lock in (REQUIREMENTS / "uv.txt", REQUIREMENTS / "compiler.txt", HERE / "tools.txt"):
            _call(
                [
                    str(folder / "bin" / "pip"),
                    "install",
                    "--quiet",
                    "--require-hashes",
                    "--no-deps",
                    "-r",
                    str(lock),
                ]
            )

    @property
    def _compiler(self) -> list[str]:
        """mingw, which makes what the setup program ships, and in seconds; else zig, which makes what wheels have."""
        if shutil.which(MINGW):
            return [MINGW]
        return [str(self._tools / "bin" / "python"), "-m", "ziglang", "cc", "-target", TARGET, "-mcpu=baseline"]

    def _make_library(self, folder: Path) -> None:
        library, include = folder / "underhill_kernels.dll", TREE / "engine" / "native" / "src"
        chosen = ["--compiler", MINGW] if self._compiler == [MINGW] else ["--target", TARGET]
        self._tool("-m", "engine.native.build", *chosen, "--output", str(library))
        test = [*(str(path) for path in SELF_TEST if path.suffix == ".c"), str(library)]
        more = options(True, self._compiler != [MINGW])
        _call([*self._compiler, *more, "-O2", "-I", str(include), *test, "-o", str(folder / "selftest.exe")])
        # By the processor's own fused products: those of mingw's C library are rounded twice.
        fused = ["-mfma", *(option for option in more if option.startswith("-Wa,"))]
        card = [*fused, "-O2", "-shared", "-std=c11", "-ffp-contract=off", "-I", str(include), str(PTX / "machine.c")]
        _call([*self._compiler, *card, "-o", str(folder / "machine.dll")])

    def _make_python(self, folder: Path) -> None:
        packages = folder / "Lib" / "site-packages"
        needed = self._cache / "needed.txt"
        needed.write_text(_without((REQUIREMENTS / "dev.txt").read_text(encoding="utf-8"), UNNEEDED), encoding="utf-8")
        self._install(folder, HERE / "requirements.txt")
        shutil.rmtree(packages)  # the author's own tools
        for lock in (REQUIREMENTS / "runtime.txt", REQUIREMENTS / "torch-general.txt", needed):
            self._install(packages, lock)
        shutil.copy(HERE / "shims" / "sitecustomize.py", packages)
        (packages / "tree.pth").write_text("W:\\tree\n", encoding="ascii")
        self._tool("-m", "tests.windows.build_shims", str(packages))
        done = self._enter(["env", *ENVIRONMENT, "wine", "/w/out/python.exe", "-c", WARM_UP], folder)
        print(done.stdout[-4000:], file=sys.stderr)
        done.check_returncode()

    def _install(self, folder: Path, lock: Path) -> None:
        # pyproject.toml leaves torch out. Copies, since uv's cache would be changed with what is linked to it.
        settings = ["--no-config", "--link-mode=copy", "--require-hashes", "--no-deps"]
        target = ["--target", str(folder), "--python-platform", "x86_64-pc-windows-msvc", "--python-version", "3.11"]
        self._tool("-m", "uv", "pip", "install", "--quiet", *settings, *target, "-r", str(lock))

    def _tool(self, *arguments: str) -> None:
        """Python of the tools, in the checkout."""
        environment = {**os.environ, "PYTHONPATH": str(TREE), "ZIG_GLOBAL_CACHE_DIR": str(self._cache / "zig")}
        subprocess.run([str(self._tools / "bin" / "python"), *arguments], check=True, cwd=TREE, env=environment)


def _call(command: Sequence[str]) -> None:
    """Raises subprocess.CalledProcessError, after printing what the command said."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", encoding="utf-8"
    )
    if done.returncode:
        print(done.stdout[-4000:], file=sys.stderr)
    done.check_returncode()


def _without(lock: str, names: set[str]) -> str:
    """The lock without these packages, and what only those need."""
    entries = re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)
    return "".join(entry for entry in entries if re.split(r"[= ]", entry)[0] not in names)


def _copy_settings(source: Path, target: Path) -> None:
    """How this system reaches the network, so that the one inside does too."""
    if source.is_dir():
        for file in source.iterdir():
            if re.search(r"(?i)acquire", file.read_text(encoding="utf-8", errors="replace")):
                shutil.copy(file, target)
    elif source.exists():
        shutil.copy(source, target)
