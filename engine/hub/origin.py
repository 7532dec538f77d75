"""What accompanies the weights of a checkpoint: where it was downloaded from, and the small files to take along."""

from __future__ import annotations

import re
from pathlib import Path

# Tokenizer, chat template, generation defaults, licence. The rest of a repository is not needed to chat.
_SMALL = re.compile(
    r"(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|chat_template)\.json"
    r"|(merges|vocab)\.txt|[\w.-]+\.(model|jinja|tiktoken)|(LICENSE|NOTICE|USE_POLICY)[\w.-]*|README\.md"
)
_REVISION = re.compile(r"[0-9a-f]{40}")
LARGEST = 256 << 20  # bytes


def small_files(path: Path) -> tuple[Path, ...]:
    """The files to copy into the store, sorted by name."""
    return tuple(
        sorted(p for p in path.iterdir() if _SMALL.fullmatch(p.name) and p.is_file() and p.stat().st_size <= LARGEST)
    )


def origin(path: Path) -> tuple[str, str]:
    """(repository, revision) as Hugging Face's own download tools leave them in the directory; '' where unknown."""
    path = path.absolute()
    if path.parent.name == "snapshots" and path.parent.parent.name.startswith("models--"):
        return path.parent.parent.name.removeprefix("models--").replace("--", "/", 1), path.name
    note = path / ".cache" / "huggingface" / "download" / "config.json.metadata"
    if note.is_file():
        revision = note.read_text(errors="replace").split("\n", 1)[0].strip()
        return "", revision if _REVISION.fullmatch(revision) else ""
    return "", ""
