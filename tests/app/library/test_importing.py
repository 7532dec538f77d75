"""Importing a model: what would be refused is said before, and what failed leads on."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.i18n.translate import tr
from app.library.dialogs import ImportDialog
from app.library.page import LibraryPage
from app.theme.theme import Theme
from app.widgets.messages import Banners
from engine import protocol
from tests.app.acts import Launch
from tests.app.conftest import engine_of
from tests.app.fake_cards import LARGE

pytestmark = pytest.mark.long


def test_a_name_that_is_free_is_offered_and_others_are_refused_at_once(qtbot: QtBot, theme: Theme) -> None:
    dialog = ImportDialog("/some/Mixtral", None, "", ("mixtral", "Mixtral 2"))
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.name() == "Mixtral 3"
    assert dialog.start.isEnabled()
    line = dialog.findChild(QLineEdit)
    assert isinstance(line, QLineEdit)
    for name, words in (("MIXTRAL", "exists"), ("a/b", "letters, digits"), ("", ""), ("Mixtral 4", "")):
        line.setText(name)
        assert words in dialog.note.text()
        assert dialog.note.isHidden() is not bool(words)
        assert dialog.start.isEnabled() is (name == "Mixtral 4")
    dialog.reject()


def test_a_name_is_made_of_any_file(qtbot: QtBot, theme: Theme) -> None:
    dialog = ImportDialog("/x", None, "hub:some/model?.")
    qtbot.addWidget(dialog)
    assert dialog.name() == "hub-some-model-"
    assert dialog.start.isEnabled()


def test_what_cannot_be_imported_leads_to_another(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = protocol.Failed(
        "", protocol.Kind.BROKEN_FILE, "model.safetensors is cut short.", "Download the file again."
    )
    underhill = launch(fail={protocol.ImportModel: broken})
    asked: list[QWidget] = []
    begun: list[str] = []  # the folders that it was chosen in

    def choose(parent: QWidget, title: str, folder: str) -> str:
        asked.append(parent)
        begun.append(folder)
        return str(tmp_path)

    monkeypatch.setattr(QFileDialog, "getExistingDirectory", staticmethod(choose))
    monkeypatch.setattr(ImportDialog, "exec", lambda self: 1)
    listed = len([c for c in engine_of(underhill).received if isinstance(c, protocol.ListModels)])
    underhill.window.library.choose_folder()
    banners = underhill.window.banners
    qtbot.waitUntil(lambda: bool(banners.banners))
    received = engine_of(underhill).received
    assert len([c for c in received if isinstance(c, protocol.ListModels)]) > listed  # what is done of it is shown
    next(b for b in banners.banners[0].findChildren(QPushButton) if b.text() == tr("Choose another…")).click()
    assert len(asked) == 2
    assert begun[1] == str(tmp_path.parent)  # where one was
    underhill.window.library.choose_folder()  # another, which can be
    qtbot.waitUntil(lambda: [b.sentence for b in banners.banners] != [broken.sentence])
    assert broken.sentence not in [b.sentence for b in banners.banners]


def test_one_at_a_time(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: pytest.fail("it was asked for a file"))
    underhill.models.importing = protocol.Progress(id="", text="Reading")
    underhill.window.library.choose_file()
    assert "being imported" in underhill.window.toast.accessibleName()
    underhill.models.importing = None


def test_a_button_to_where_one_is_already_is_not_offered(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    full = protocol.Failed("", protocol.Kind.DISK_FULL, "There is no space left.", "Free some.")
    underhill.library.failed.emit(full)
    texts = [b.text() for b in underhill.window.banners.banners[-1].findChildren(QPushButton)]
    assert texts == ["Manage models"]
    underhill.window.library.show()
    underhill.library.failed.emit(full)
    assert underhill.window.banners.banners[-1].findChildren(QPushButton) == []


def test_the_focus_stays_with_an_entry_that_is_made_anew(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page: LibraryPage = underhill.window.library.show()
    qtbot.waitUntil(lambda: len(page.yours.entries) == 2 and bool(underhill.library.folders))
    more = page.yours.entries[1].buttons["More"]
    more.setFocus()
    underhill.library.verify(LARGE)  # while it is checked some of what one can do with it is grey
    qtbot.waitUntil(lambda: not underhill.library.jobs)
    now = underhill.window.focusWidget()
    assert now is not None
    assert page.yours.entries[1].isAncestorOf(now)

    def adding() -> list[QPushButton]:
        return [b for b in page.yours.findChildren(QPushButton) if b.text() == "Add folder…" and b.isVisible()]

    qtbot.waitUntil(lambda: len(adding()) == 1)  # it may just be made anew
    add: QWidget | None = adding()[0]
    assert add is not None
    add.setFocus()
    underhill.library.folders_changed.emit()

    def again() -> bool:
        now = underhill.window.focusWidget()
        return isinstance(now, QPushButton) and now is not add and now.text() == "Add folder…"

    qtbot.waitUntil(again)
    add = underhill.window.focusWidget()
    for _ in range(2):  # once more, before the first has come to its end
        underhill.library.folders_changed.emit()
    qtbot.waitUntil(again)
    for _ in range(10):
        QApplication.processEvents()
    assert again()


def test_a_banner_in_a_narrow_window_has_its_buttons_below_its_text(qtbot: QtBot, theme: Theme) -> None:
    banners = Banners(theme)
    qtbot.addWidget(banners)
    banners.resize(1000, 200)
    banners.show_banner("error", "It is damaged.", "Import it again.", "cause", ("Try again", lambda: None),
                        ("Manage models", lambda: None))  # fmt: skip
    banners.show()
    banner = banners.banners[0]
    text, actions = banner.text.geometry(), banner.buttons.geometry()
    assert actions.left() > text.right()
    banners.resize(380, 300)
    QApplication.processEvents()
    text, actions = banner.text.geometry(), banner.buttons.geometry()
    assert actions.top() > text.bottom()
    assert text.width() > 250
