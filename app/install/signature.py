"""Ed25519 signatures of updates. The window has no library for them and asks the engine's interpreter, which has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from app.install.download import InstallProblem, Reason

_PATIENCE = 60  # seconds; it takes a tenth of one


def is_signed(signed: bytes, signature: str, keys: Sequence[str]) -> bool:
    """Whether `signature` is one of `signed` by one of the public keys, all hexadecimal."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    for key in keys:
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), signed)
            return True
        except (InvalidSignature, ValueError):
            continue
    return False


def check_signature(signed: bytes, signature: str, keys: Sequence[str], python: Path) -> None:
    """Raises InstallProblem: Reason.SIGNATURE, or FAILED where the interpreter `python` cannot say."""
    asked = json.dumps({"signed": signed.decode("utf-8"), "signature": signature, "keys": list(keys)})
    try:
        done = subprocess.run(
            [str(python), "-P", "-m", "app.install.signature"], input=asked, capture_output=True, text=True,
            encoding="utf-8", timeout=_PATIENCE, check=False, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallProblem(Reason.FAILED, str(error)) from error
    if done.stdout.strip() != "signed":  # nothing but this word will do, whatever else may have gone wrong
        raise InstallProblem(Reason.SIGNATURE if done.returncode == 1 else Reason.FAILED, done.stderr[-500:])


def main() -> int:
    """Answer on standard output what is asked on standard input: "signed", or nothing and exit code 1."""
    asked = json.loads(sys.stdin.read())
    if not is_signed(asked["signed"].encode("utf-8"), asked["signature"], asked["keys"]):
        return 1
    print("signed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
