"""Indexes of folders: what is read again, what is left out and why, and what a kill leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import limits
from engine.documents import indexer, search
from engine.documents.index import DocumentIndex, file_of
from engine.documents.library import DocumentLibrary
from engine.documents.results import IndexedDocuments
from engine.errors import Kind, UnderhillError
from tests.app.attachments_pdf import pdf


def _never() -> bool:
    return False


class Folder:
    """A folder with its index. read: names of the files that the last `update` has read."""

    def __init__(self, path: Path) -> None:
        self.root = path / "papers"
        self.root.mkdir()
        self.file = path / "indexes" / "papers.db"
        self.read: list[str] = []

    def update(self, cancelled: Callable[[], bool] = _never) -> IndexedDocuments:
        self.read = []
        with DocumentIndex(self.file, self.root) as index:
            return indexer.update(index, lambda text, done, total: self.read.append(text.arguments["file"]), cancelled)

    def find(self, question: str) -> list[str]:
        with DocumentIndex(self.file, self.root) as index:
            keys = search.ranked([index], question, None)
            return [passage.name for passage in search.chosen([index], keys, 10_000)]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_only_what_has_changed_is_read_again(folder: Folder) -> None:
    for name in ("a.txt", "b.md", "sub/c.txt"):
        (folder.root / name).parent.mkdir(exist_ok=True)
        (folder.root / name).write_text(f"About {Path(name).stem}: whales and ships.", encoding="utf-8")
    assert folder.update().files == 3
    assert folder.read == ["a.txt", "b.md", "sub/c.txt"]
    assert folder.update().passages == 3
    assert folder.read == []
    (folder.root / "a.txt").write_text("Now it is about lighthouses.", encoding="utf-8")
    (folder.root / "b.md").unlink()
    os.utime(folder.root / "sub/c.txt", ns=(1, 1))
    now = folder.update()
    assert (now.files, now.passages, sorted(folder.read)) == (2, 2, ["a.txt", "sub/c.txt"])
    assert folder.find("lighthouse") == ["papers/a.txt"]
    assert folder.find("whales") == ["papers/sub/c.txt"]  # the old words of a.txt and b.md are forgotten


def test_scripts_without_spaces_are_found_by_words_within(folder: Folder) -> None:
    (folder.root / "中文.txt").write_text("专家缓存的大小由内存上限决定。", encoding="utf-8")
    (folder.root / "other.txt").write_text("今天天气很好，适合散步。", encoding="utf-8")
    (folder.root / "かな.txt").write_text("メモリの上限を設定します。", encoding="utf-8")
    (folder.root / "latin.txt").write_text("Die Größe des Caches; naïve caching of running experts", encoding="utf-8")
    folder.update()
    assert folder.find("缓存有多大") == ["papers/中文.txt"]
    assert folder.find("好") == ["papers/other.txt"]
    assert folder.find("上限を知りたい")[0] == "papers/かな.txt"
    assert folder.find("grosse OR größe")[0] == "papers/latin.txt"
    assert folder.find("naive run") == ["papers/latin.txt"]  # accents and endings
    assert folder.find('"; DROP TABLE files; -- * NEAR(') == []


def test_bad_files_are_named_with_the_reason_and_the_rest_is_indexed(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DOCUMENT_DEPTH", 3)
    monkeypatch.setattr(limits, "DOCUMENT_TEXT_BYTES", 100_000)
    root = folder.root
    (root / "good.txt").write_text("A good file about sailing.", encoding="utf-8")
    (root / "utf16.txt").write_bytes("Ein Schiff namens Möwe".encode("utf-16"))
    (root / "latin1.txt").write_bytes("Caf\xe9 am Hafen".encode("latin-1"))
    (root / "book.pdf").write_bytes(pdf("The harbour master's book"))
    (root / "binary.dat").write_bytes(bytes(range(256)) * 40)
    (root / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(900))
    (root / "empty.txt").write_bytes(b" \n")
    (root / "broken.pdf").write_bytes(b"%PDF-1.7\n" + b"<<" * 1000)
    (root / "large.txt").write_text("word " * 30_000, encoding="utf-8")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("not of people", encoding="utf-8")
    deep = root / "1" / "2" / "3" / "4"
    deep.mkdir(parents=True)
    (deep / "lost.txt").write_text("too deep", encoding="utf-8")
    expected = ["1/2/3/4", "binary.dat", "broken.pdf", "empty.txt", "large.txt", "photo.jpg"]
    if sys.platform != "win32":
        os.mkfifo(root / "pipe")
        secret = folder.root.parent / "secret.txt"
        secret.write_text("my password is swordfish", encoding="utf-8")
        (root / "link.txt").symlink_to(secret)
        (root / "loop").symlink_to(root)
        (root / "dangling.txt").symlink_to(root / "nowhere")
        expected += ["link.txt", "pipe"]
    now = folder.update()
    named = {left.name: left.sentence for left in now.left_out}
    assert set(expected) <= set(named)
    assert not {"good.txt", "utf16.txt", "latin1.txt", "book.pdf"} & set(named)
    assert "nested" in named["1/2/3/4"]
    assert "image" in named["photo.jpg"]
    assert now.files == 4
    assert folder.find("Möwe") == ["papers/utf16.txt"]
    assert folder.find("café") == ["papers/latin1.txt"]
    assert folder.find("harbour") == ["papers/book.pdf"]
    assert folder.find("swordfish") == []
    folder.update()
    assert folder.read == []  # what is bad is not read again and again


def test_a_stop_comes_before_the_next_file_and_a_folder_that_is_gone_is_told(folder: Folder) -> None:
    for n in range(5):
        (folder.root / f"{n}.txt").write_text(f"number {n}", encoding="utf-8")
    with pytest.raises(UnderhillError) as stopped:
        folder.update(lambda: len(folder.read) >= 2)
    assert stopped.value.kind is Kind.CANCELLED
    assert folder.update().files == 5
    assert folder.read == ["2.txt", "3.txt", "4.txt"]
    folder.root.rename(folder.root.with_name("away"))
    with pytest.raises(UnderhillError) as gone:
        folder.update()
    assert gone.value.kind is Kind.MISSING_FILE
    assert folder.find("number") != []  # the index stays until the disk is back


_KILLED = """
import os, sys
from pathlib import Path
from engine.documents import indexer
from engine.documents.index import DocumentIndex

def report(text, done, total):
    if done == 3:
        os.kill(os.getpid(), 9)

with DocumentIndex(Path(sys.argv[1]), Path(sys.argv[2])) as index:
    indexer.update(index, report, lambda: False)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_kill_in_the_middle_loses_no_file_that_was_read(folder: Folder) -> None:
    for n in range(6):
        (folder.root / f"{n}.md").write_text(f"# Number {n}\nThe ship Argo{n} sails.", encoding="utf-8")
    ended = subprocess.run([sys.executable, "-c", _KILLED, folder.file, folder.root], check=False, cwd=Path.cwd())
    assert ended.returncode == -9
    now = folder.update()
    assert (now.files, now.passages, folder.read) == (6, 6, ["3.md", "4.md", "5.md"])
    assert all(folder.find(f"Argo{n}") == [f"papers/{n}.md"] for n in range(6))


def test_a_damaged_or_older_index_is_made_anew(folder: Folder) -> None:
    (folder.root / "a.txt").write_text("The lighthouse of Alexandria", encoding="utf-8")
    folder.update()
    folder.file.write_bytes(b"no database" * 1000)
    assert folder.update().files == 1
    with DocumentIndex(folder.file, folder.root) as index:
        index.db.execute("PRAGMA user_version = 99")
    folder.update()
    assert folder.read == ["a.txt"]
    assert folder.find("lighthouse") == ["papers/a.txt"]


def test_an_index_that_nothing_refers_to_is_deleted(tmp_path: Path) -> None:
    library = DocumentLibrary(tmp_path / "indexes")
    paths = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    for path in paths:
        Path(path).write_text("some text", encoding="utf-8")
    library.update(paths, lambda text, done, total: None, _never)
    assert library.tidy(paths) == 0
    assert library.tidy(paths[:1]) == 1
    (left,) = (tmp_path / "indexes").iterdir()
    assert left == file_of(tmp_path / "indexes", Path(paths[0]))
    library.forget_unused(30)
    assert left.exists()
    os.utime(left, (0, 0))
    library.forget_unused(30)
    assert not left.exists()
