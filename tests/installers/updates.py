"""Updates of real releases, killed, cut and filled up: ``python -m tests.installers.updates --kills 50``.

Builds two releases with installers/bundle.py (a third one is broken), serves them and the engine's packages on the
loopback interface, and after every kill starts what is there: the version, the engine's `info`, and every fifth time
the built-in model's answer to "Hello", whose ids must be those of this checkout. The disk is a tmpfs that is filled up
at random moments, where root can mount one. Takes about half an hour, and 4 GB in --work; a second run there builds
nothing. Needs a network, or pip told where packages are. Prints what was seen as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.install import launch
from tests.installers.release_site import Site

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "installers"))
import bundle  # noqa: E402  (a script beside scripts)

OLD, NEW, BROKEN = "0.2.0", "99.1.0", "99.2.0"
BASE = os.path.realpath(sys.executable)  # the interpreter under this environment, without its packages
LONGEST = 900  # seconds of one step, on a busy computer
ASK = ("chat", "builtin", "--greedy", "--prompt", "Hello", "--json")
UPDATE = """
import json, sys, threading
from pathlib import Path
release, program = map(Path, sys.argv[1:])
sys.path[:0] = [str(release / "app"), str(release / "qt")]
from app.install import updates
from app.install.download import InstallProblem
from app.install.environment import EngineEnvironment, load_options
from app.install.release import Release
running, options = Release(release), load_options(program / "options.json")
said = {"found": "", "problem": ""}
try:
    update = updates.find_update(running, program, options, EngineEnvironment(running, program).python)
    if update is not None:
        said["found"] = update.version
        updates.prepare(update, running, program, options, threading.Event(), bool)
except InstallProblem as problem:
    said["problem"], said["details"] = problem.reason.name, problem.details[-300:]
print(json.dumps(said))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 where every start was of a working app."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--work", type=Path, help="folder to build and run in; default: a temporary one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=sorted(STEPS), default=list(STEPS))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial((options.work or Path(scratch)).absolute(), random.Random(options.seed))
        try:
            for step in options.only:
                print(f"{step} …", file=sys.stderr)
                STEPS[step](trial, options.kills)
                print(json.dumps(trial.seen, sort_keys=True), file=sys.stderr)
        finally:
            trial.site.close()
    print(json.dumps({"seen": trial.seen, "failed": trial.failed}, indent=1, sort_keys=True))
    return 1 if trial.failed else 0


class Trial:
    """The owner, the server, and one user's computer. seen: what happened, how often. failed: a line for each fault."""

    def __init__(self, work: Path, chance: random.Random) -> None:
        self.work, self.chance = work, chance
        self.seen: Counter[str] = Counter()
        self.failed: list[str] = []
        work.mkdir(parents=True, exist_ok=True)
        self.key = work / "key"
        port = work / "port"
        self.site = Site(work / "served", work / "wheels", int(port.read_text()) if port.exists() else 0)
        port.write_text(str(self.site.port))
        public = work / "public"
        if not public.exists():
            public.write_text(self.owner("key", str(self.key)).strip())
        self.public = public.read_text()
        self.old, self.new = self.release(OLD), self.release(NEW)
        self.site.prepare(self.old / "packages")
        self.ids = json.loads(self._run([sys.executable, "-m", "engine.cli", *ASK], dict(os.environ)).stdout)[
            "token_ids"
        ]
        self.home = work / "home 用户"

    # ---- the owner --------------------------------------------------------------------------------------------------

    def owner(self, *words: str) -> str:
        """Run the owner's tool."""
        command = [sys.executable, str(ROOT / "installers" / "updates.py"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONGEST).stdout

    def release(self, version: str) -> Path:
        """A release of this checkout's files under another number; the new one has another qt part and another lock."""
        made = self.work / f"release-{version}"
        if made.exists():
            return made
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            source = Path(scratch, "source")
            for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")[:-1]:
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, source / name)
            project = source / "pyproject.toml"
            project.write_text(
                re.sub(r'(?m)^version = "[^"]*"', f'version = "{version}"', project.read_text(), count=1)
            )
            if version == NEW:
                lock = source / "requirements" / "runtime.txt"
                lock.write_text(
                    re.sub(r"(    --hash=\S+ \\\n)(    --hash=\S+ \\\n)", r"\2\1", lock.read_text(), count=1)
                )
            command = [sys.executable, "installers/bundle.py", "--output", f"{scratch}/release"]
            command += ["--updates", self.site.address, "--key", self.public]
            subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            fresh = Path(scratch, "release")
            if version == NEW:
                (fresh / "qt" / "number.txt").write_text(version)
                renumber(fresh, version)
            fresh.rename(made)
        return made

    def broken(self) -> Path:
        """The new release with a C library that is cut off, and without the core of Qt."""
        made = self.work / f"release-{BROKEN}"
        if not made.exists():
            shutil.copytree(self.new, made, symlinks=True)
            kernels = next((made / "app").rglob("underhill_kernels.so"))
            kernels.write_bytes(kernels.read_bytes()[:5000])
            (made / "qt" / "PySide6" / "QtCore.abi3.so").unlink()
            renumber(made, BROKEN)
        return made

    def publish(self, release: Path, key: Path | None = None, **changed: str) -> None:
        """Pack, sign and serve it."""
        self.owner("publish", str(release), "--output", str(self.site.folder))
        unsigned = self.site.folder / "linux-x86_64.unsigned.json"
        unsigned.write_text(json.dumps(json.loads(unsigned.read_text()) | changed))
        self.owner("sign", str(unsigned), "--key", str(key or self.key))

    # ---- the user's computer ----------------------------------------------------------------------------------------

    @property
    def program(self) -> Path:
        """Where engines and updates are."""
        return self.home / "program"

    def begin(self) -> None:
        """A computer on which the old release was laid down, and nothing else is."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.program.mkdir(parents=True)
        said = {"mirror": f"{self.site.address}simple/", "torch": f"{self.site.address}torch/"}
        (self.program / "options.json").write_text(json.dumps(said))

    def forget_update(self) -> None:
        """Back to the old release with its engine, and nothing left of an update."""
        for name in ("state.json", "lists.json"):
            (self.program / name).unlink(missing_ok=True)
        for name in ("releases", "parts", "downloads"):
            shutil.rmtree(self.program / name, ignore_errors=True)
        for folder in (self.program / "environments").iterdir():
            if folder != self.engine_of_old:
                shutil.rmtree(folder)

    def environment(self) -> dict[str, str]:
        """As a user's: nothing of this checkout."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return kept | {"UNDERHILL_HOME": str(self.home), "HOME": str(self.home), "QT_QPA_PLATFORM": "offscreen"}

    def command(self, *words: str) -> list[str]:
        """Of a start by the installed launcher."""
        return [BASE, "-I", "-S", str(self.old / "launch.py"), *words]

    def update_command(self) -> list[str]:
        """Of an update, by the release that would run now."""
        state = launch.load(self.program)
        running = self.program / "releases" / state.current if state.current else self.old
        return [BASE, "-I", "-S", "-c", UPDATE, str(running), str(self.program)]

    def update(self) -> dict[str, Any]:
        """Look, and prepare what is found, to the end. Returns what it says."""
        done = self._run(self.update_command(), self.environment())
        said: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {"problem": done.stderr[-500:]}
        return said

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Start a command of the terminal's program."""
        return self._run(self.command("--cli", *words), self.environment())

    def _run(self, command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LONGEST, check=False)

    def works(self, among: tuple[str, ...], where: str, answer: bool) -> str:
        """Start, and note a fault unless it is a whole app of one of the versions. Returns its version."""
        done = self.start("--version")
        version = done.stdout.strip().removeprefix("Underhill ")
        self.check(done.returncode == 0 and version in among, f"{where}: {done.stdout} {done.stderr[-600:]}")
        done = self.start("info", "--json")
        whole = done.returncode == 0 and bool(json.loads(done.stdout)["computer"]["kernels"]["isa"])
        self.check(whole, f"{where}: info: {done.stderr[-600:]}")
        if answer:
            done = self.start(*ASK)
            right = done.returncode == 0 and json.loads(done.stdout)["token_ids"] == self.ids
            self.check(right, f"{where}: chat: {done.stdout[-200:]} {done.stderr[-600:]}")
            self.seen["answers with the right ids"] += right
        return version

    def check(self, right: bool, fault: str) -> None:
        """Note a fault, and go on."""
        if not right:
            self.failed.append(fault)
            print(f"FAULT {fault}", file=sys.stderr)

    def is_killed(self, command: list[str], after: float) -> bool:
        """Kill it and all that it has started after some seconds. False where it had ended."""
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, env=self.environment(), stdout=quiet, stderr=quiet, start_new_session=True)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        return False

    def open_window(self, seconds: float) -> bool:
        """Start the window, off screen. True once it has settled its release; False where it ends before."""
        process = subprocess.Popen(self.command(), env=self.environment(), stderr=subprocess.DEVNULL)
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            state = launch.load(self.program)
            if state.proven and state.current and not state.previous:
                time.sleep(1)  # it removes what was before
                break
            time.sleep(0.2)
        settled = process.poll() is None
        process.terminate()
        process.wait()
        return settled

    def engine(self) -> None:
        """The old release with its engine, installed without a fault."""
        if not self.program.exists():
            self.begin()
        began = time.monotonic()
        done = self.start("--install-engine")
        self.check(done.returncode == 0, f"install: {done.stderr[-600:]}")
        self.seconds = time.monotonic() - began
        self.engine_of_old = next(p for p in (self.program / "environments").iterdir() if not p.name.startswith("."))
        self.forget_update()


def renumber(release: Path, version: str) -> None:
    """Let a changed release say what is in it."""
    note = json.loads((release / "release.json").read_text())
    parts = {part: bundle.digest(release / folder for folder in folders) for part, folders in bundle.PARTS.items()}
    (release / "release.json").write_text(json.dumps(note | {"version": version, "parts": parts}))


def install(trial: Trial, kills: int) -> None:
    """Three tenths of the kills, in the engine's first installation."""
    trial.begin()
    trial.engine()
    number = 0
    while number < kills * 3 // 10:
        if number % 2 == 0:  # every other one goes on from what the one before has left
            trial.begin()
        else:
            shutil.rmtree(trial.program / "environments", ignore_errors=True)
        if trial.is_killed(trial.command("--cli", "--install-engine"), trial.chance.uniform(0, trial.seconds)):
            trial.works((OLD,), f"install, kill {number}", answer=number % 5 == 0)
            number += 1
            trial.seen["kills in the first installation"] += 1


def update(trial: Trial, kills: int) -> None:
    """Six tenths of the kills, from looking for an update to the line that names it."""
    trial.engine()
    trial.publish(trial.new)
    began = time.monotonic()
    said = trial.update()
    seconds = time.monotonic() - began
    trial.check(said == {"found": NEW, "problem": ""}, f"update: {said}")
    trial.check(trial.works((NEW,), "update", answer=True) == NEW, "update: it does not start")
    trial.forget_update()
    number = 0
    while number < kills * 6 // 10:
        if not trial.is_killed(trial.update_command(), trial.chance.uniform(0, seconds)):
            trial.forget_update()
            continue
        version = trial.works((OLD, NEW), f"update, kill {number}", answer=number % 5 == 0)
        trial.seen[f"kills in an update; then {version} started"] += 1
        number += 1
        if version == NEW or trial.chance.random() < 0.5:  # else the next one goes on from what is left
            trial.forget_update()
    said = trial.update()
    trial.check(said == {"found": NEW, "problem": ""}, f"update after kills: {said}")
    trial.check(trial.works((NEW,), "update after kills", answer=True) == NEW, "update after kills: not started")


def begin_of_new(trial: Trial, kills: int) -> None:
    """A tenth of the kills, in the first starts of the new release; then its window settles it."""
    trial.engine()
    trial.publish(trial.new)
    trial.update()
    for number in range(kills // 10):
        state = (trial.program / "state.json").read_bytes()
        command = trial.command() if number % 2 else trial.command("--cli", "info")
        if trial.is_killed(command, trial.chance.uniform(0, 4)):
            trial.seen["kills in a new release's first start"] += 1
        trial.works((OLD, NEW), f"first start, kill {number}", answer=number % 5 == 0)
        (trial.program / "state.json").write_bytes(state)
    trial.check(trial.open_window(300), "the new release's window was not settled")
    left = sorted(path.name for kind in ("releases", "environments") for path in (trial.program / kind).iterdir())
    trial.check(len(left) == 2 and NEW in left, f"left after the window has settled: {left}")
    trial.seen["windows that settled their release"] += 1
    trial.check(trial.works((NEW,), "settled", answer=True) == NEW, "settled: the old one started")


def rollback(trial: Trial, kills: int) -> None:
    """A release that is really broken, started from the terminal and as a window."""
    trial.engine()
    trial.publish(trial.new)
    trial.update()
    trial.check(trial.open_window(300), "rollback: the new release's window was not settled")
    trial.publish(trial.broken())
    for door in ("terminal", "window"):
        (trial.program / "state.json").write_text(json.dumps({"current": NEW}))
        said = trial.update()
        trial.check(said == {"found": BROKEN, "problem": ""}, f"broken: {said}")
        for number in range(2):
            if door == "terminal":
                failed = trial.start("info").returncode != 0
            else:
                failed = not trial.open_window(300)
            trial.check(failed, f"rollback, {door}: start {number} of a broken release worked")
        version = trial.works((NEW,), f"rollback, {door}", answer=True)
        trial.seen[f"two failed starts, {door}; then {version} started"] += 1
        trial.check(trial.update()["found"] == "", "what was taken back is offered again")
        trial.check(door != "window" or trial.open_window(300), "rollback: no window of the one before")


def refusals(trial: Trial, kills: int) -> None:
    """Wrong signature, an older version, an older list, changed and cut parts."""
    trial.engine()
    trial.publish(trial.new)
    signed = trial.site.folder / "linux-x86_64.json"
    newest, stranger = signed.read_bytes(), trial.work / "stranger"
    if not stranger.exists():
        trial.owner("key", str(stranger))

    def refuse(what: str, found: str, problem: str) -> None:
        said = trial.update()
        trial.check((said["found"], said["problem"]) == (found, problem), f"{what}: {said}")
        trial.check(trial.works((OLD,), what, answer=False) == OLD, f"{what}: another version started")
        trial.seen[f"{what}: {problem or 'nothing is offered'}"] += 1

    trial.publish(trial.new, key=stranger)
    refuse("signed by another key", "", "SIGNATURE")
    signed.write_bytes(newest.replace(NEW.encode(), b"99.9.0"))
    refuse("version changed behind the signature", "", "SIGNATURE")
    signed.write_bytes(newest[:-100])
    refuse("list cut off", "", "DAMAGED")
    trial.publish(trial.new, version="0.1.0")
    refuse("older version", "", "")
    signed.write_bytes(newest)
    refuse("list of before", "", "OLD")
    trial.publish(trial.new)
    trial.site.flip = True
    refuse("a byte of a part changed", NEW, "DAMAGED")
    trial.site.flip, trial.site.cuts = False, 10**6
    refuse("every download cut before its first byte", NEW, "NETWORK")
    trial.site.cuts = 3
    said = trial.update()
    trial.check(said == {"found": NEW, "problem": ""} and not trial.site.cuts, f"cut thrice: {said}")
    trial.check(trial.works((NEW,), "cut thrice", answer=True) == NEW, "cut thrice: it does not start")
    trial.seen["cut three times, went on, started"] += 1


def full_disk(trial: Trial, kills: int) -> None:
    """A small disk that is too full from the start, or filled up by another program at random moments."""
    trial.engine()
    trial.publish(trial.new)
    disk, usual = trial.work / "small", trial.home
    disk.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6g", "tmpfs", str(disk)], check=False).returncode:
        print("The full disk is not tried: mounting a tmpfs needs root.", file=sys.stderr)
        return
    try:
        trial.home = disk / "home"
        shutil.copytree(usual, trial.home, symlinks=True)
        trial.engine_of_old = trial.program / "environments" / trial.engine_of_old.name
        began = time.monotonic()
        trial.update()
        seconds = time.monotonic() - began
        for number in range(6):
            trial.forget_update()
            ballast, stop = disk / "ballast", threading.Event()
            moment = 0.0 if number == 0 else trial.chance.uniform(0, seconds)
            other = threading.Thread(target=_fill, args=(ballast, moment, stop))
            other.start()
            time.sleep(2.0 if number == 0 else 0)
            said = trial.update()
            trial.seen[f"disk filled up: {said['problem'] or 'done before'}"] += 1
            trial.check(said["problem"] in ("", "DISK_FULL"), f"full disk {number}: {said}")
            trial.works((OLD, NEW), f"full disk {number}", answer=True)
            stop.set()
            other.join()
            ballast.unlink()
            said = trial.update()
            trial.check(said["problem"] == "", f"with space again: {said}")
            version = trial.works((NEW,), f"with space again {number}", answer=False)
            trial.seen[f"with space again: {version}"] += 1
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)
        trial.home = usual


def _fill(ballast: Path, after: float, stop: threading.Event) -> None:
    """As another program would: all that is free and becomes free, until told to stop."""
    stop.wait(after)
    block = bytes(1 << 22)
    with ballast.open("wb", buffering=0) as out:
        while not stop.is_set():
            try:
                out.write(block)
            except OSError:
                stop.wait(0.02)


STEPS = {
    "install": install, "update": update, "start": begin_of_new, "rollback": rollback, "refusals": refusals,
    "disk": full_disk,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
