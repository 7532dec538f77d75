"""A bare Debian or Ubuntu in a chroot, made once by debootstrap and kept under the hash of what it is made from.

Of what happens in one nothing stays: it is the lower folder of an overlay. Apt's settings, the network's and the
certificates are those of this system.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

KEYRINGS = Path("/usr/share/keyrings")
UBUNTU = ("jammy", "noble")  # which debootstrap makes by one script, under the name of the first
# What every desktop brings along that can open a window of Qt's; the .deb asks for it itself.
DESKTOP = (
    "libgl1", "libegl1", "libdbus-1-3", "libfontconfig1", "libxkbcommon-x11-0", "libxcb-cursor0", "libxcb-icccm4",
    "libxcb-keysyms1", "libxcb-shape0", "libglib2.0-0", "libgssapi-krb5-2", "ca-certificates",
)  # fmt: skip
PACKAGES: dict[str, tuple[str, ...]] = {  # by door; a .deb needs nothing
    "deb": (),
    "run": (*DESKTOP, "python3"),
    "pip": (*DESKTOP, "python3-venv", "pipx", "gcc", "libc6-dev", "git"),
}
USER = 1000


def make_system(cache: Path, suite: str, packages: Sequence[str], mirror: str = "") -> Path:
    """The folder of a minimal Debian or Ubuntu with `packages`; older ones with other packages stay. Needs root.

    mirror: '' for debootstrap's own. Raises subprocess.CalledProcessError.
    """
    made_of = hashlib.sha256(" ".join((suite, mirror, *packages)).encode()).hexdigest()[:12]
    place = cache / f"{suite}-{made_of}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{suite}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            unfinished = cache / f"{suite}-unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            _debootstrap(unfinished, suite, packages, mirror)
            unfinished.rename(place)
    return place


def _debootstrap(folder: Path, suite: str, packages: Sequence[str], mirror: str) -> None:
    ubuntu = suite in UBUNTU
    keyring = KEYRINGS / f"{'ubuntu' if ubuntu else 'debian'}-archive-keyring.gpg"
    options = ["--keyring", str(keyring)] if keyring.exists() else []
    script = ["/usr/share/debootstrap/scripts/" + UBUNTU[0]] if ubuntu and mirror else []
    options += ["--components", "main,universe"] if ubuntu else []
    call(["debootstrap", "--variant=minbase", *options, suite, str(folder), *([mirror, *script] if mirror else [])])
    for name in ("resolv.conf", "hosts", "apt/apt.conf.d"):
        _copy_settings(Path("/etc") / name, folder / "etc" / name)
    install = f"apt-get -qq update && apt-get -qq install --no-install-recommends {' '.join(packages)}; apt-get clean"
    call(["chroot", str(folder), "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-ec", install])


class System:
    """A running one: ``folder`` is its root. Only in a mount namespace of its own (`unshare --mount --pid`)."""

    def __init__(self, system: Path, scratch: Path, home: str, on_tmpfs: bool, wheels: Path | None) -> None:
        """home: of the user, as /home/NAME. on_tmpfs: whether home folders are on another disk than the system.

        wheels: a folder that uv and pip look into, for torch's build where its index cannot be reached.
        """
        self.folder, self.home, self.wheels = scratch / "root", home, wheels
        for name in ("root", "upper", "work"):
            (scratch / name).mkdir()
        layers = f"lowerdir={system},upperdir={scratch}/upper,workdir={scratch}/work"
        call(["mount", "-t", "overlay", "overlay", "-o", layers, str(self.folder)])
        self._mount("-t", "proc", "proc", to="proc")
        self._mount("--rbind", "/dev", to="dev")
        self._mount("--rbind", "/sys", to="sys")
        self._mount("-t", "tmpfs", "tmpfs", to="tmp")
        if on_tmpfs:
            self._mount("-t", "tmpfs", "tmpfs", to="home")
        self.bind(Path("/tmp/.X11-unix"))
        certificates = Path("/etc/ssl/certs/ca-certificates.crt")
        self._settings = {}
        if certificates.exists():
            self.bind(certificates, "/etc/certificates.crt")
            self._settings = dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT"), "/etc/certificates.crt")
        if wheels:
            self.bind(wheels, "/wheels")
            self._settings |= dict.fromkeys(("PIP_FIND_LINKS", "UV_FIND_LINKS"), "/wheels")
        call(["chroot", str(self.folder), "groupadd", "--gid", str(USER), "user"])
        ids = ["--uid", str(USER), "--gid", str(USER)]
        call(["chroot", str(self.folder), "useradd", "--create-home", "--home-dir", home, *ids, "user"])
        runtime = self.folder / "run" / "user" / str(USER)
        runtime.mkdir(parents=True)
        runtime.chmod(0o700)
        os.chown(runtime, USER, USER)

    def bind(self, source: Path, target: str = "") -> None:
        """Have a file or folder of this system in it, under the same path or another."""
        place = self.folder / (target or str(source)).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            place.mkdir(exist_ok=True)
        else:
            place.touch()
        call(["mount", "--bind", str(source), str(place)])

    def _mount(self, *what: str, to: str) -> None:
        call(["mount", *what, str(self.folder / to)])

    def command(self, command: Sequence[str], root: bool = False, offline: bool = False, **more: str) -> list[str]:
        """The command line that runs `command` in it, as the user or as root. more: environment."""
        environment = {
            "PATH": f"{self.home}/.local/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
            "HOME": "/root" if root else self.home, "XDG_RUNTIME_DIR": "/tmp" if root else f"/run/user/{USER}",
            "DEBIAN_FRONTEND": "noninteractive", **self._settings, **more,
        }  # fmt: skip
        who = [] if root else [f"--userspec={USER}:{USER}"]
        settings = [f"{name}={value}" for name, value in environment.items()]
        folder = ["-C", environment["HOME"]]
        network = ["unshare", "--net"] if offline else []
        return [*network, "chroot", *who, str(self.folder), "env", "-i", *folder, *settings, *command]

    def run(self, *command: str, root: bool = False, check: bool = True) -> str:
        """Run it to its end. Returns what it printed. Raises subprocess.CalledProcessError."""
        return call(self.command(command, root), check)

    @property
    def home_folder(self) -> Path:
        """The user's, as seen from outside."""
        return self.folder / self.home.lstrip("/")


def call(command: Sequence[str], check: bool = True) -> str:
    """What a command printed. Raises subprocess.CalledProcessError after printing it, where it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode and check:
        print(done.stdout[-4000:], file=sys.stderr)
        done.check_returncode()
    return done.stdout


def _copy_settings(source: Path, target: Path) -> None:
    """How this system reaches the network, so that the one inside does too."""
    if source.is_dir():
        for file in source.iterdir():
            if re.search(r"(?i)acquire", file.read_text(encoding="utf-8", errors="replace")):
                shutil.copy(file, target)
    elif source.exists():
        shutil.copy(source, target)
