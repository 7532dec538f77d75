"""Index of one attached file or folder: a SQLite file of passages, their terms (FTS5) and their vectors.

All of it can be made again from the documents, so a file that is damaged, or of another version, is begun anew.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine import filesystem
from engine.documents import terms
from engine.documents.passages import Excerpt, Passage
from engine.translatable import NO_TEXT, Translatable, as_json, from_json

VERSION = 1  # of the tables and of how documents are cut; another one is made anew
_TABLES = (
    "CREATE TABLE root (path TEXT NOT NULL)",
    """
    CREATE TABLE files (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, modified INTEGER NOT NULL, size INTEGER NOT NULL,
        hash BLOB NOT NULL, problem TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE, heading TEXT NOT NULL,
        page INTEGER NOT NULL, line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL, vector BLOB
    )
    """,
    "CREATE INDEX passages_by_file ON passages(file_id)",
    "CREATE INDEX passages_to_encode ON passages(id) WHERE vector IS NULL",
    "CREATE VIRTUAL TABLE terms USING fts5(title, text, content='', tokenize='porter unicode61 remove_diacritics 2')",
)
_TITLE_WEIGHT = 1.5  # of a term in the heading or the file's name, against one in the text
_DELETE = "INSERT INTO terms(terms, rowid, title, text) VALUES ('delete', ?, ?, ?)"


@dataclass(frozen=True)
class IndexedFile:
    """State of a file when it was indexed. modified: in nanoseconds. problem: why it was left out."""

    modified: int
    size: int
    hash: bytes = b""
    problem: Translatable = NO_TEXT


def file_of(folder: Path, root: Path) -> Path:
    """Where in `folder` the index of an attached file or folder is kept."""
    return folder / f"{hashlib.sha256(str(root).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.db"


class DocumentIndex:
    """An open index; a context. Used by one thread; several may have the same file open. Raises sqlite3.Error."""

    def __init__(self, path: Path, root: Path) -> None:
        self.root = root
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.db = _opened(path, root)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise
            remove(path)
            self.db = _opened(path, root)

    def __enter__(self) -> DocumentIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise

    # ---- files ----------------------------------------------------------------------------------------------------

    def files(self) -> dict[str, IndexedFile]:
        """All files by name, relative to the root; '' is the root itself where that is a file."""
        rows = self.db.execute("SELECT name, modified, size, hash, problem FROM files")
        return {name: IndexedFile(at, size, found, from_json(json.loads(why))) for name, at, size, found, why in rows}

    def put(self, name: str, file: IndexedFile, pieces: Iterable[Excerpt] = ()) -> None:
        """Replace a file and its passages, all or nothing."""
        with self._transaction():
            self._drop(name)
            values = (name, file.modified, file.size, file.hash, json.dumps(as_json(file.problem)))
            made = self.db.execute(
                "INSERT INTO files (name, modified, size, hash, problem) VALUES (?, ?, ?, ?, ?)", values
            )
            for piece in pieces:
                text = piece.text.encode("utf-8", "replace").decode()
                row = (made.lastrowid, piece.heading, piece.page, piece.line, piece.last_line, text)
                added = self.db.execute(
                    "INSERT INTO passages (file_id, heading, page, line, last_line, text) VALUES (?, ?, ?, ?, ?, ?)",
                    row,
                ).lastrowid
                self.db.execute(
                    "INSERT INTO terms(rowid, title, text) VALUES (?, ?, ?)",
                    (added, self._title(name, piece.heading), terms.indexed(text)),
                )

    def touch(self, name: str, file: IndexedFile) -> None:
        """Note another time of a file whose content is the same."""
        self.db.execute("UPDATE files SET modified = ?, size = ? WHERE name = ?", (file.modified, file.size, name))

    def drop(self, names: Iterable[str]) -> None:
        """Remove files that are there no more."""
        with self._transaction():
            for name in names:
                self._drop(name)

    def _drop(self, name: str) -> None:
        rows = self.db.execute(
            "SELECT p.id, p.heading, p.text FROM passages p JOIN files f ON f.id = p.file_id WHERE f.name = ?", (name,)
        ).fetchall()
        for number, heading, text in rows:
            # An index without content of its own is told what to take out.
            self.db.execute(_DELETE, (number, self._title(name, heading), terms.indexed(text)))
        self.db.execute("DELETE FROM files WHERE name = ?", (name,))

    def _title(self, name: str, heading: str) -> str:
        return terms.indexed(f"{name or self.root.name} {heading}".replace("_", " "))

    def passages(self) -> int:
        """How many there are."""
        return int(self.db.execute("SELECT count(*) FROM passages").fetchone()[0])

    # ---- vectors --------------------------------------------------------------------------------------------------

    def unencoded(self, most: int) -> list[tuple[int, str]]:
        """(id, text to encode) of passages without a vector: the first ones."""
        rows = self.db.execute(
            "SELECT p.id, f.name, p.heading, p.text FROM passages p JOIN files f ON f.id = p.file_id "
            "WHERE p.vector IS NULL ORDER BY p.id LIMIT ?", (most,),
        )  # fmt: skip
        return [(i, f"{heading or Path(name or self.root.name).stem}\n{text}") for i, name, heading, text in rows]

    def count_unencoded(self) -> int:
        """How many passages have no vector yet."""
        return int(self.db.execute("SELECT count(*) FROM passages WHERE vector IS NULL").fetchone()[0])

    def keep_vectors(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Store vectors of passages, by id."""
        with self._transaction():
            self.db.executemany("UPDATE passages SET vector = ? WHERE id = ?", [(data, i) for i, data in vectors])

    def vectors(self) -> tuple[list[int], list[bytes]]:
        """Ids of the passages that have a vector, and the vectors."""
        rows = self.db.execute("SELECT id, vector FROM passages WHERE vector IS NOT NULL").fetchall()
        return [i for i, _ in rows], [data for _, data in rows]

    # ---- search ---------------------------------------------------------------------------------------------------

    def matching(self, expression: str, most: int) -> list[tuple[float, int]]:
        """(BM25, id) of passages with any of the terms, the best first; the greater the better."""
        if not expression:
            return []
        rows = self.db.execute(
            "SELECT -bm25(terms, ?, 1.0) AS score, rowid FROM terms WHERE terms MATCH ? ORDER BY score DESC LIMIT ?",
            (_TITLE_WEIGHT, expression, most),
        )
        return [(float(score), int(i)) for score, i in rows]

    def passage(self, number: int) -> Passage | None:
        """One passage; None where it has gone since."""
        row = self.db.execute(
            "SELECT f.name, p.heading, p.page, p.line, p.last_line, p.text FROM passages p "
            "JOIN files f ON f.id = p.file_id WHERE p.id = ?", (number,),
        ).fetchone()  # fmt: skip
        if row is None:
            return None
        name, heading, page, line, last, text = row
        shown = f"{self.root.name}/{name}" if name else self.root.name
        return Passage(
            file=str(self.root / name), name=shown, heading=heading, page=page, line=line, last_line=last, text=text
        )


def remove(path: Path) -> None:
    """Delete the file of an index, with its log."""
    for tail in ("", "-wal", "-shm"):
        filesystem.remove(path.with_name(path.name + tail), missing_ok=True)


def _opened(path: Path, root: Path) -> sqlite3.Connection:
    # isolation_level None: transactions begin and end where they are written here.
    db = sqlite3.connect(path, timeout=10.0, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is indexed again
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            db.execute("BEGIN IMMEDIATE")
            if db.execute("PRAGMA user_version").fetchone() == (0,):  # no other process was quicker
                for statement in _TABLES:
                    db.execute(statement)
                db.execute("INSERT INTO root (path) VALUES (?)", (str(root).encode("utf-8", "replace").decode(),))
                db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"version {version}")
        return db
    except BaseException:
        db.close()
        raise
