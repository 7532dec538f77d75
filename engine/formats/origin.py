"""What accompanies the weights of a checkpoint: where it was downloaded from, and the small files to take along."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from engine.limits import COMPANION_BYTES
from engine.regular_file import is_regular, read_json, read_text

# Tokenizer, chat template, generation defaults, licence. The rest of a repository is not needed to chat.
_SMALL = re.compile(
    r"(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|chat_template)\.json"
    r"|(merges|vocab)\.txt|\w[\w.-]*\.(model|jinja|tiktoken)|(LICENSE|NOTICE|USE_POLICY)[\w.-]*|README\.md"
)
NOTE = "download.json"  # what our own downloads leave in the directory
_REVISION = re.compile(r"[0-9a-f]{40}")


def is_small(name: str) -> bool:
    """Whether a file of this name belongs to what is taken along."""
    return _SMALL.fullmatch(name) is not None


def small_files(path: Path) -> tuple[Path, ...]:
    """The files to copy into the store, sorted by name."""
    return tuple(
        sorted(p for p in path.iterdir() if is_small(p.name) and is_regular(p) and p.stat().st_size <= COMPANION_BYTES)
    )


def origin(path: Path) -> tuple[str, str]:
    """(repository, revision) as we or Hugging Face's own tools leave them in the directory; '' where unknown.

    path: of the directory, or of a file in it.
    """
    path = path.absolute() if path.is_dir() else path.absolute().parent
    if (path / NOTE).is_file():
        return _ours(path / NOTE)
    if path.parent.name == "snapshots" and path.parent.parent.name.startswith("models--"):
        return path.parent.parent.name.removeprefix("models--").replace("--", "/", 1), path.name
    note = path / ".cache" / "huggingface" / "download" / "config.json.metadata"
    if note.is_file():
        with suppress(OSError, ValueError):
            revision = read_text(note).split("\n", 1)[0].strip()
            return "", revision if _REVISION.fullmatch(revision) else ""
    return "", ""


def verified(file: Path) -> str | None:
    """The SHA-256 of a file, where our own download found it right and nobody has touched it since; else None."""
    try:
        found = read_json(file.parent / NOTE)["verified"][file.name]
        stat = file.stat()
        same = (found["size"], found["mtime_ns"]) == (stat.st_size, stat.st_mtime_ns)
        return str(found["sha256"]) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ours(note: Path) -> tuple[str, str]:
    try:
        match read_json(note):
            case {"repo": str(repo), "commit": str(commit)}:
                return repo, commit
    except (OSError, ValueError):
        pass  # a note more or less does not stop an import
    return "", ""
