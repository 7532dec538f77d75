"""SHA-256 of the files that a store was made from: read once more, unless their download has told it already."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from engine.convert.journal import ImportJournal
from engine.formats.origin import verified
from engine.formats.safetensors_header import unreadable
from engine.regular_file import open_unbuffered
from engine.store.manifest import FileHash
from engine.translatable import Translatable, msg

Report = Callable[[Translatable, int, int], None]  # phrase, bytes done, bytes in all; may raise to stop the import


def hash_files(ledger: ImportJournal, files: tuple[Path, ...], report: Report) -> tuple[FileHash, ...]:
    """Of each file. Raises UnderhillError(DISK_ERROR)."""
    sizes = [f.stat().st_size for f in files]
    done, hashes = 0, []
    for file, size in zip(files, sizes):
        key = f"sha256 {file.name}"
        digest = ledger.done(key) or verified(file)
        if digest is None:
            sha = hashlib.sha256()
            try:
                with open_unbuffered(file) as f:
                    while chunk := f.read(8 << 20):
                        sha.update(chunk)
                        done += len(chunk)
                        report(msg("Noting what the source files are"), done, sum(sizes))
            except OSError as cause:
                raise unreadable(file, cause) from cause
            digest = sha.hexdigest()
            ledger.note(key, digest)
        else:
            done += size
        hashes.append(FileHash(file.name, size, digest))
    return tuple(hashes)
