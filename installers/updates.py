"""For the owner: makes the key that signs updates, and signs a release. The private key stays off the network.

    python installers/updates.py key FILE                        a new private key; prints the public one
    python installers/updates.py publish RELEASE --output DIR    archives of a release's parts, and their unsigned list
    python installers/updates.py sign LIST --key FILE            signs the list; DIR is then what the address serves

RELEASE is what installers/bundle.py has laid down. `sign` needs the library cryptography, and no network; run it
once a month, too, or users are told that updates may be held back.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bundle

FORMAT = 1  # as in app/install/updates.py


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    key = actions.add_parser("key")
    key.add_argument("file", type=Path)
    publish = actions.add_parser("publish")
    publish.add_argument("release", type=Path)
    publish.add_argument("--output", type=Path, required=True)
    publish.add_argument("--platform", default="linux-x86_64")
    sign = actions.add_parser("sign")
    sign.add_argument("list", type=Path)
    sign.add_argument("--key", type=Path, required=True)
    options = parser.parse_args(arguments)
    if options.action == "key":
        make_key(options.file)
    elif options.action == "publish":
        publish_release(options.release, options.output, options.platform)
    else:
        sign_list(options.list, options.key)
    return 0


def make_key(file: Path) -> None:
    """Write a private key that only this user can read, and print the public one. Raises FileExistsError."""
    private = Ed25519PrivateKey.generate()
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(private.private_bytes_raw().hex() + "\n")
    print(private.public_key().public_bytes_raw().hex())


def publish_release(release: Path, output: Path, platform: str) -> Path:
    """Pack the parts, and write the list that is to be signed. Returns its path."""
    output.mkdir(parents=True, exist_ok=True)
    note = json.loads((release / "release.json").read_text())
    parts = {}
    for name, folders in bundle.PARTS.items():
        packed = output / f"{name}-{note['parts'][name][:16]}-{platform}.tar.xz"
        if not packed.exists():  # by its name it has the same files
            bundle.archive([release / folder for folder in folders], packed.with_suffix(".new"))
            packed.with_suffix(".new").replace(packed)
        data = packed.read_bytes()
        parts[name] = {
            "file": packed.name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(),
            "digest": note["parts"][name],
        }  # fmt: skip
    said = {
        "format": FORMAT, "platform": platform, "version": note["version"], "parts": parts, "updates": note["updates"],
    }  # fmt: skip
    made = output / f"{platform}.unsigned.json"
    made.write_text(json.dumps(said, indent=1) + "\n")
    return made


def sign_list(unsigned: Path, key: Path) -> Path:
    """Write the signed list beside the unsigned one, with the moment in it. Returns its path.

    Signed anew every month, with a new release or without, it tells users that nothing is held back.
    """
    said = json.loads(unsigned.read_text())
    signed = json.dumps(said | {"date": datetime.now(UTC).isoformat(timespec="seconds")}, indent=1)
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(key.read_text().strip()))
    envelope = {"signed": signed, "signature": private.sign(signed.encode()).hex()}
    made = unsigned.with_name(unsigned.name.replace(".unsigned", ""))
    fresh = made.with_suffix(".new")
    fresh.write_text(json.dumps(envelope, indent=1) + "\n")
    fresh.replace(made)
    return made


if __name__ == "__main__":
    sys.exit(main())
