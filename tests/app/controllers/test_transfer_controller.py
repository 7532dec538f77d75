"""Export, import, backup and restore from the window, and how it says that they went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from tests.app.acts import Launch, ask, contents, on_disk

pytestmark = pytest.mark.long


def test_out_and_in_again(qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()
    window, desk = underhill.window, underhill.window.chats.transfer
    ask(qtbot, underhill, "keep me")
    chat = underhill.conversation.chat
    assert chat is not None
    menu = QMenu(window)
    window.sidebar.fill_menu(menu)
    assert "Restore backup…" in [a.text() for a in menu.actions()]
    menu.deleteLater()

    def choose(name: str) -> None:
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), ""))
        monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / name), ""))

    def said(sentence: str) -> None:
        qtbot.waitUntil(lambda: any(b.sentence == sentence for b in window.banners.banners))

    choose("one.md")
    window.sidebar.exported.emit(chat, "md")
    said("Chat exported to one.md")
    assert (tmp_path / "one.md").read_text(encoding="utf-8").startswith("# keep me")
    choose("all.json")
    desk.export_all()
    said("1 chat exported to all.json")
    choose("b.db")
    desk.back_up()
    said("Chats backed up to b.db")
    assert "Open folder" in [b.text() for b in window.banners.banners[-1].findChildren(QPushButton)]
    choose("all.json")
    desk.import_chats()
    said("1 chat imported from all.json.")
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 3)
    window.banners.banners[-1].act()  # Undo: what was imported goes to the trash, and what was there stays
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 2)
    assert contents(underhill)[0] == "keep me"
    desk.import_chats()
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 3)
    choose("b.db")
    desk.restore()
    said("Backup restored from b.db.")
    qtbot.waitUntil(lambda: window.sidebar.model.rowCount() == 2)
    assert contents(underhill) == []
    choose("one.md")
    desk.import_chats()
    said("No readable chats in one.md.")
    choose("all.json")
    window.banners.banners[-1].act()  # another file
    said("1 chat imported from all.json.")
    choose("gone/away.json")
    desk.export_all()
    said("away.json no longer exists.")
    assert [b.sentence for b in window.banners.banners] == ["away.json no longer exists."]


def test_a_damaged_database_offers_a_backup(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "chats.db").write_bytes(b"not a database" * 500)
    underhill = launch()
    qtbot.waitUntil(lambda: bool(underhill.window.banners.banners))
    assert "Restore backup…" in [b.text() for b in underhill.window.banners.banners[0].findChildren(QPushButton)]


@pytest.mark.parametrize("name", ["chats.db", "chats.db-wal"])
def test_nothing_is_written_over_the_chats_themselves(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What came after it would have gone into a file that nothing led to any more."""
    underhill = launch()
    window, desk = underhill.window, underhill.window.chats.transfer
    ask(qtbot, underhill, "keep me")
    chat = underhill.conversation.chat
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), ""))
    for work in (desk.back_up, desk.export_all, lambda: window.sidebar.exported.emit(chat, "md")):
        inode = (tmp_path / "chats.db").stat().st_ino
        work()
        qtbot.waitUntil(lambda: [b.sentence for b in window.banners.banners] == [f"{name} is the app's own chat file."])
        assert (tmp_path / "chats.db").stat().st_ino == inode
        window.banners.banners[0].dismiss()
        qtbot.waitUntil(lambda: not window.banners.banners)
    assert on_disk(underhill, tmp_path)[0][0][1] == "keep me"
