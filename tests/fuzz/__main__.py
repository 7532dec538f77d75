"""Coverage-guided fuzzing of everything that reads files of others.

    python -m tests.fuzz                           every reader, ten minutes together
    python -m tests.fuzz --seconds 3600 --only gguf
    python -m tests.fuzz --keep                    and add what reached new code to tests/fuzz/corpus

It needs atheris (Python 3.11 or 3.12; `pip install atheris`), and begins with the files of tests/fuzz/corpus. What a
reader did not foresee, what takes longer than ten seconds or a gigabyte, is kept there, and the exit code is 1; the
tests read the corpus in every run. How to read a finding: `python -m tests.fuzz --only gguf --replay FILE`.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SLOW_SECONDS, LARGE_MB = 10, 1024  # a single input
LONGEST = 1 << 16  # bytes of an input: more finds less
KEPT = 60  # files of one reader in the repository


def main() -> None:
    """Exit codes: 0 nothing found, 1 something, 2 it cannot be run here."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="for all readers together")
    parser.add_argument("--only", metavar="READER", help="one of those in tests/fuzz/targets.py")
    parser.add_argument("--keep", action="store_true", help="add what reached new code to the corpus")
    parser.add_argument("--replay", metavar="FILE", type=Path, help="read one file, and say how that ends")
    parser.add_argument("--within", metavar="FOLDER", help=argparse.SUPPRESS)  # the process that fuzzes
    args = parser.parse_args()
    if args.within:
        _fuzz(args.only, args.within, args.seconds)
    from tests.fuzz.targets import TARGETS

    if args.only not in {None, *TARGETS}:
        parser.error(f"--only: one of {', '.join(TARGETS)}")
    if args.replay:
        TARGETS[args.only](args.replay.read_bytes())
        return
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        raise SystemExit(2)
    names = [args.only] if args.only else list(TARGETS)
    found = sum(_one(name, max(1, args.seconds // len(names)), args.keep) for name in names)
    raise SystemExit(1 if found else 0)


def _one(name: str, seconds: int, keep: bool) -> int:
    """Findings of one reader."""
    kept = CORPUS / name
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        begun, findings = Path(made) / "corpus", Path(made) / "findings"
        shutil.copytree(kept, begun)
        findings.mkdir()
        command = [sys.executable, "-m", "tests.fuzz", "--only", name, "--seconds", str(seconds), "--within", made]
        done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
        told = re.findall(r"(?m)^#\d.*", done.stderr)
        print(f"{name}: {told[-1] if told else done.stderr[-500:]}", flush=True)
        for file in findings.iterdir():
            shutil.copy(file, kept / file.name)
            print(f"  FOUND {kept / file.name}\n{done.stderr[-2000:]}")
        if keep:
            _merge(name, begun, kept)
        return len(list(findings.iterdir())) or int(done.returncode not in (0,))


def _merge(name: str, begun: Path, kept: Path) -> None:
    """Into the repository what covers something that nothing there does: the smallest files first."""
    room = KEPT - len(list(kept.iterdir()))
    with tempfile.TemporaryDirectory() as made:
        command = [sys.executable, "-m", "tests.fuzz", "--only", name, "--seconds", "60", "--within"]
        merged = Path(made) / "corpus"
        shutil.copytree(kept, merged)
        (Path(made) / "findings").mkdir()
        (Path(made) / "from").symlink_to(begun)
        subprocess.run([*command, made], capture_output=True, check=False)
        new = sorted((f for f in merged.iterdir() if not (kept / f.name).exists()), key=lambda f: f.stat().st_size)
        for file in new[: max(0, room)]:
            shutil.copy(file, kept / file.name)


def _fuzz(name: str, folder: str, seconds: int) -> None:
    """Never returns. With a folder `from`, it merges that into the corpus and finds nothing new."""
    import atheris

    with atheris.instrument_imports(include=["engine", "app"]):
        from tests.fuzz.targets import TARGETS
    source = Path(folder) / "from"
    more = ["-merge=1", f"{folder}/corpus", str(source)] if source.exists() else [f"{folder}/corpus"]
    options = [
        f"-max_total_time={seconds}", f"-timeout={SLOW_SECONDS}", f"-rss_limit_mb={LARGE_MB}", f"-max_len={LONGEST}",
        f"-artifact_prefix={folder}/findings/", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, *more], TARGETS[name])
    atheris.Fuzz()
    raise SystemExit


if __name__ == "__main__":
    main()
