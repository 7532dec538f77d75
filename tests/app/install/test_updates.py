"""Updates: only what is signed and newer, whole or not at all, and always a release that starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.install import launch, terminal, updates
from app.install.download import InstallProblem, Reason
from app.install.environment import EngineEnvironment, Options
from app.install.release import Release
from app.install.updates import PLATFORM, Update, find_update, prepare, settle
from tests.app.install.publisher import Publisher, make_release, make_wheel, write_script
from tests.waiting import PROCESS

PYTHON = Path(sys.executable)
ROOT = Path(__file__).parents[3]


class Owner:
    """Who publishes: a key, a release 1.0 that is installed, and newer ones that are served."""

    def __init__(self, folder: Path, publisher: Publisher) -> None:
        self.folder, self.publisher = folder, publisher
        self.key = folder / "key"
        done = self.tool("key", str(self.key))
        assert done.returncode == 0, done.stderr
        self.public = done.stdout.strip()
        self.installed = self.release("1.0")
        self.program = folder / "program"

    def tool(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the owner's tool."""
        return subprocess.run(
            [sys.executable, str(ROOT / "installers" / "updates.py"), *words], capture_output=True, text=True,
            timeout=PROCESS, check=False,
        )  # fmt: skip

    def release(self, version: str, qt: str = "same") -> Release:
        """One whose app says its version; qt is another part only where it is named."""
        made = make_release(self.folder / f"release-{version}", version)
        make_wheel(made.folder / "packages" / "torch-1.0-py3-none-any.whl", 1000)
        (made.folder / "app" / "app").mkdir()
        (made.folder / "app" / "app" / "__init__.py").write_text("")
        (made.folder / "app" / "app" / "main.py").write_text(f"def main():\n    print('{version}')\n    return 0\n")
        (made.folder / "qt" / "library").write_text(qt)
        (made.folder / "launch.py").write_text(Path(launch.__file__).read_text(encoding="utf-8"))
        note = {
            "version": version, "parts": {"app": f"app-of-{version}".ljust(64, "0"), "qt": qt.ljust(64, "0")},
            "updates": {"address": self.publisher.address, "keys": [self.public]},
        }  # fmt: skip
        (made.folder / "release.json").write_text(json.dumps(note))
        return made

    def publish(self, release: Release) -> None:
        """Pack, sign, and serve it."""
        out = self.folder / f"served-{release.version}"
        assert self.tool("publish", str(release.folder), "--output", str(out), "--platform", PLATFORM).returncode == 0
        unsigned = out / f"{PLATFORM}.unsigned.json"
        done = self.tool("sign", str(unsigned), "--key", str(self.key))
        assert done.returncode == 0, done.stderr
        self.publisher.files |= {path.name: path.read_bytes() for path in out.iterdir() if path != unsigned}

    def find(self) -> Update | None:
        """As the installed release does."""
        return find_update(self.installed, self.program, Options(), PYTHON)

    def prepare(self, update: Update, stop: threading.Event | None = None) -> None:
        """As the installed release does."""
        prepare(update, self.installed, self.program, Options(), stop or threading.Event(), bool)

    def starts(self) -> str:
        """Which version starts now; it says so itself."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(self.installed.folder / "launch.py")], capture_output=True, text=True,
            env={"UNDERHILL_HOME": str(self.folder)}, timeout=PROCESS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def owner(tmp_path: Path, publisher: Publisher) -> Owner:
    return Owner(tmp_path, publisher)


def refused(owner: Owner) -> Reason:
    with pytest.raises(InstallProblem) as caught:
        owner.find()
    return caught.value.reason


def test_an_update_is_found_prepared_and_starts_next_time(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    update = owner.find()
    assert update is not None
    assert [part.name for part in update.missing(owner.installed)] == ["app"]
    owner.prepare(update)
    assert not any(name.startswith("qt") for name, _ in owner.publisher.requests)  # that part was here
    assert owner.starts() == "1.1"
    new = Release(owner.program / "releases" / "1.1")
    assert EngineEnvironment(new, owner.program).is_ready
    assert (new.folder / "qt" / "library").read_text() == "same"
    settle(new, owner.program)
    assert launch.load(owner.program).proven
    assert owner.starts() == "1.1"


def test_another_qt_comes_too(owner: Owner) -> None:
    owner.publish(owner.release("1.1", qt="other"))
    update = owner.find()
    assert update is not None
    owner.prepare(update)
    assert (owner.program / "releases" / "1.1" / "qt" / "library").read_text() == "other"
    assert os.access(Release(owner.program / "releases" / "1.1").uv, os.X_OK)


def test_the_old_one_goes_once_the_new_one_has_started_well(owner: Owner) -> None:
    for version in ("1.1", "1.2"):
        owner.publish(owner.release(version))
        update = owner.find()
        assert update is not None
        owner.prepare(update)
        assert owner.starts() == version
        before = sorted(p.name for p in (owner.program / "releases").iterdir())
        assert before == (["1.1"] if version == "1.1" else ["1.1", "1.2"])
        settle(Release(owner.program / "releases" / version), owner.program)
        assert [p.name for p in (owner.program / "releases").iterdir()] == [version]


def test_who_fails_twice_is_taken_back_and_not_offered_again(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    update = owner.find()
    assert update is not None
    owner.prepare(update)
    assert [owner.starts() for _ in range(4)] == ["1.1", "1.1", "1.0", "1.0"]  # it never says that it works
    assert owner.find() is None


def test_an_older_or_equal_version_is_no_update(owner: Owner) -> None:
    for version in ("0.9", "1.0.0"):
        release = owner.release(version)
        owner.publish(release)
        assert owner.find() is None or version == "1.0.0"


def signed_days_ago(owner: Owner, days: int) -> None:
    """Have the list of today's release signed as on another day."""
    unsigned = json.loads((owner.folder / "served-1.1" / f"{PLATFORM}.unsigned.json").read_text())
    signed = json.dumps(unsigned | {"date": (datetime.now(UTC) - timedelta(days)).isoformat()})
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(owner.key.read_text()))
    envelope = {"signed": signed, "signature": private.sign(signed.encode()).hex()}
    owner.publisher.files[f"{PLATFORM}.json"] = json.dumps(envelope).encode()


def test_a_list_from_before_the_newest_seen_is_refused(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    today = owner.publisher.files[f"{PLATFORM}.json"]
    signed_days_ago(owner, 1)
    assert owner.find() is not None
    owner.publisher.files[f"{PLATFORM}.json"] = today
    assert owner.find() is not None
    assert owner.find() is not None  # the same one again
    signed_days_ago(owner, 1)
    assert refused(owner) is Reason.OLD
    owner.publisher.files[f"{PLATFORM}.json"] = today
    assert owner.find() is not None


def test_lists_that_are_held_back_are_missed_after_a_while(owner: Owner) -> None:
    today = datetime.now(UTC).date()
    late = today + timedelta(updates.HELD_BACK_DAYS + 1)
    assert updates.held_back_since(owner.program, late) is None  # it was never asked for one
    assert refused(owner) is Reason.NETWORK
    assert updates.held_back_since(owner.program, late - timedelta(1)) is None
    assert updates.held_back_since(owner.program, late) == today
    owner.publish(owner.release("1.1"))
    signed_days_ago(owner, 200)  # an old one, for ever the same
    for _ in range(2):
        assert owner.find() is not None
        assert updates.held_back_since(owner.program, late) == today
    said = json.loads((owner.program / "lists.json").read_text())
    (owner.program / "lists.json").write_text(json.dumps(said | {"began": said["newest"]}))
    assert updates.held_back_since(owner.program, today) == today - timedelta(200)
    signed_days_ago(owner, 0)  # nothing but a new signature
    assert owner.find() is not None
    assert updates.held_back_since(owner.program, today) is None


def test_what_was_seen_is_not_lost_by_an_older_launcher(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    assert owner.find() is not None
    launch.save(launch.load(owner.program), owner.program)
    signed_days_ago(owner, 1)
    assert refused(owner) is Reason.OLD


def test_another_signature_is_refused(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    name = f"{PLATFORM}.json"
    envelope = json.loads(owner.publisher.files[name])
    stranger = Ed25519PrivateKey.generate().sign(envelope["signed"].encode()).hex()
    for signature in (stranger, "", "zz", "00" * 64):
        owner.publisher.files[name] = json.dumps(envelope | {"signature": signature}).encode()
        assert refused(owner) is Reason.SIGNATURE
    changed = envelope["signed"].replace('"1.1"', '"9.9"')
    owner.publisher.files[name] = json.dumps(envelope | {"signed": changed}).encode()
    assert refused(owner) is Reason.SIGNATURE
    assert not (owner.program / "releases").exists()


def test_a_list_that_is_cut_or_none_is_refused(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    name = f"{PLATFORM}.json"
    whole = owner.publisher.files[name]
    for damaged in (whole[:-20], b"", b"[]", b"<html>", b'{"signed": 1}'):
        owner.publisher.files[name] = damaged
        assert refused(owner) is Reason.DAMAGED
    del owner.publisher.files[name]
    assert refused(owner) is Reason.NETWORK


@pytest.mark.parametrize(
    "change",
    [
        {"version": "../../1.1"},
        {"version": ""},
        {"parts": {}},
        {"format": 2},
        {"platform": "other"},
        {"date": ""},
        {"date": 3},
    ],
)
def test_a_signed_list_of_something_else_is_refused(owner: Owner, change: dict[str, object]) -> None:
    parts = {name: {"file": name, "size": 1, "sha256": "0" * 64, "digest": "1"} for name in ("app", "qt")}
    said = {"format": 1, "platform": PLATFORM, "version": "1.1", "parts": parts, "updates": {}, "date": "2026-11-24"}
    assert updates.read_update(said, "http://127.0.0.1/").version == "1.1"
    with pytest.raises(InstallProblem):
        updates.read_update(said | change, "http://127.0.0.1/")


def test_a_part_with_other_bytes_is_refused(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    update = owner.find()
    assert update is not None
    part = update.missing(owner.installed)[0]
    name = part.file.url.rsplit("/", 1)[1]
    owner.publisher.files[name] = bytes(len(owner.publisher.files[name]))
    with pytest.raises(InstallProblem) as caught:
        owner.prepare(update)
    assert caught.value.reason is Reason.DAMAGED
    assert owner.starts() == "1.0"


def test_a_full_disk_is_known_before(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    owner.publish(owner.release("1.1"))
    update = owner.find()
    assert update is not None
    monkeypatch.setattr(updates, "free_bytes", lambda folder: 10)
    with pytest.raises(InstallProblem) as caught:
        owner.prepare(update)
    assert caught.value.reason is Reason.DISK_FULL
    assert owner.starts() == "1.0"


def test_an_update_whose_engine_cannot_be_installed_does_not_start(owner: Owner) -> None:
    new = owner.release("1.1", qt="other")  # of another lock, too, whose packages cannot be had
    new.locks[0].write_text("other==1.0\n")
    write_script(new.uv, "raise SystemExit(2)")
    owner.publish(new)
    update = owner.find()
    assert update is not None
    with pytest.raises(InstallProblem):
        owner.prepare(update)
    assert owner.starts() == "1.0"


@pytest.mark.parametrize("answers", [True, False])
def test_a_command_in_a_terminal_counts_only_where_the_engine_fails(
    owner: Owner, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    owner.publish(owner.release("1.1"))
    update = owner.find()
    assert update is not None
    owner.prepare(update)
    new = Release(owner.program / "releases" / "1.1")
    python = EngineEnvironment(new, owner.program).python
    asked = owner.folder / "asked"
    note = f"print(*sys.argv[1:], file=open({str(asked)!r}, 'a'))"
    write_script(python, f"import sys; {note}; sys.exit({0 if answers else 1})")
    monkeypatch.setenv("UNDERHILL_HOME", str(owner.folder))
    monkeypatch.setattr(terminal, "running", lambda: new)
    monkeypatch.setattr(os, "execve", lambda *_: None)
    for _ in range(3):
        chosen = launch.choose(owner.installed.folder, owner.program)
        if chosen == new.folder:
            terminal.main(["list"])
    assert chosen == (new.folder if answers else owner.installed.folder)
    assert launch.load(owner.program).refused == ([] if answers else ["1.1"])
    said = [line for line in asked.read_text().splitlines() if "info" in line]  # Windows runs the command itself, too
    assert said == ["-P -m engine.cli info --json"] * (3 if answers else 2)


def test_what_is_not_current_is_never_settled(owner: Owner) -> None:
    owner.publish(owner.release("1.1"))
    update = owner.find()
    assert update is not None
    owner.prepare(update)
    assert owner.starts() == "1.1"
    settle(owner.installed, owner.program)  # as where the disk was full and 1.1 was not started
    assert not launch.load(owner.program).proven
    assert (owner.program / "releases" / "1.1").exists()


def test_a_key_is_never_overwritten(owner: Owner) -> None:
    before = owner.key.read_text()
    assert sys.platform == "win32" or owner.key.stat().st_mode & 0o777 == 0o600
    assert owner.tool("key", str(owner.key)).returncode == 1
    assert owner.key.read_text() == before


PREPARE = """
import os, signal, sys, threading
from pathlib import Path
from app.install import updates
from app.install.environment import Options
from app.install.release import Release
installed, program, last = sys.argv[1:]
events = [0]
def trace(event, arguments):
    # every file that is opened, renamed or removed below here is a place to be killed at
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.rmdir", "subprocess.Popen"):
        if program in str(arguments[:2]):
            events[0] += 1
            if events[0] == int(last):
                os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(trace)
release = Release(Path(installed))
update = updates.find_update(release, Path(program), Options(), Path(sys.executable))
updates.prepare(update, release, Path(program), Options(), threading.Event(), bool)
print(events[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
@pytest.mark.long
@pytest.mark.slow
def test_killed_at_fifty_places_there_is_always_a_release_that_starts(owner: Owner) -> None:
    owner.publish(owner.release("1.1", qt="other"))

    def run(program: Path, last: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", PREPARE, str(owner.installed.folder), str(program), str(last)], cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=PROCESS, check=False,
        )  # fmt: skip

    whole = run(owner.folder / "other" / "program", 0)
    steps = int(whole.stdout)
    assert steps > 55, whole.stderr
    places = sorted({round(1 + number * (steps - 5) / 49) for number in range(50)})
    killed, began = 0, []
    for place in places:
        killed += run(owner.program, place).returncode == -signal.SIGKILL
        began.append(owner.starts())
        if place % 3 == 0 and began[-1] == "1.0":  # what was left is gone on from
            assert run(owner.program, 0).returncode == 0
            assert owner.starts() == "1.1"
        if launch.load(owner.program).current == "1.1":  # it is whole: its engine is, too
            assert EngineEnvironment(Release(owner.program / "releases" / "1.1"), owner.program).is_ready
        if owner.program.exists():
            owner.program.rename(owner.folder / f"moved{place}")
    assert killed == len(places) == 50
    assert set(began) <= {"1.0", "1.1"}
    assert began.count("1.0") > 40  # nothing but the last steps makes the new one start
