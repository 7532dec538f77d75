"""Making a model smaller: measured before, stopped, done, undone, and at import."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.application import Application
from app.library.dialogs import ImportDialog, SmallerDialog
from app.library.entries import LibraryEntry
from engine import protocol
from tests.app.acts import Launch
from tests.app.conftest import engine_of
from tests.app.fake_cards import LARGE

pytestmark = pytest.mark.long


@pytest.fixture
def underhill(qtbot: QtBot, launch: Launch) -> Application:
    made = launch()
    page = made.window.library.show()
    qtbot.waitUntil(lambda: len(page.yours.entries) == 2)
    return made


def entry(underhill: Application) -> LibraryEntry:
    page = underhill.window.library.page
    assert page is not None
    return next(e for e in page.yours.entries if e.title == LARGE.title)


def actions(underhill: Application) -> list[str]:
    menu = entry(underhill).buttons["More"].menu()
    return [action.text() for action in menu.actions()]  # type: ignore[attr-defined]


def asked(qtbot: QtBot, underhill: Application) -> SmallerDialog:
    menu = entry(underhill).buttons["More"].menu()
    next(a for a in menu.actions() if a.text() == "Shrink…").trigger()  # type: ignore[attr-defined]
    dialog = underhill.window.findChild(SmallerDialog)
    assert dialog is not None
    return dialog


def test_it_shows_what_it_saves_before_and_does_it_then(qtbot: QtBot, underhill: Application) -> None:
    dialog = asked(qtbot, underhill)
    dialog.tolerance.setCurrentIndex(1)
    assert dialog.go.text() == "Measure"
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.offer is not None)
    loss = "Quality loss: 0.5% (limit 1%)"
    for words in ("68% 2-bit", "32% 4-bit", loss, "2,048 tokens", "90.0 GB free", "→ 500 MB in memory"):
        assert words in dialog.found.text()
    assert dialog.found.toolTip() == "KL 0.0050 vs. full precision"
    assert dialog.go.text() == "Shrink"
    dialog.tolerance.setCurrentIndex(2)  # of which nothing is known
    assert (dialog.go.text(), dialog.found.text()) == ("Measure", "")
    dialog.tolerance.setCurrentIndex(1)
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.offer is not None)
    dialog.go.click()
    qtbot.waitUntil(lambda: "experts: 68%" in entry(underhill).facts.text().replace("\u00a0", " "))
    assert "quality loss: 0.5%" in entry(underhill).facts.text().replace("\u00a0", " ")
    assert [c.tolerance for c in engine_of(underhill).received if isinstance(c, protocol.LowerModel)] == [0.01]
    assert "smaller" in underhill.window.toast.accessibleName()
    assert "Shrink…" not in actions(underhill)
    underhill.window.toast.undo()
    qtbot.waitUntil(lambda: "Shrink…" in actions(underhill))


def test_it_can_be_stopped_by_its_button_and_by_closing(qtbot: QtBot, underhill: Application) -> None:
    engine_of(underhill).goes_on.clear()
    dialog = asked(qtbot, underhill)
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.go.text() == "Stop" and not dialog.bar.isHidden() and dialog.bar.value() > 0)
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.found.text() == "Stopped")
    assert dialog.go.text() == "Measure"
    dialog.go.click()
    sent = [c.id for c in engine_of(underhill).received if isinstance(c, protocol.MeasureLowering)]
    dialog.reject()
    qtbot.waitUntil(
        lambda: sent[-1] in [c.target for c in engine_of(underhill).received if isinstance(c, protocol.Stop)]
    )
    engine_of(underhill).goes_on.set()


def test_a_failure_is_said_in_the_dialog(qtbot: QtBot, underhill: Application) -> None:
    full = protocol.Failed("", protocol.Kind.OUT_OF_MEMORY, "There is too little memory.", "Close other apps.")
    engine_of(underhill).fail[protocol.MeasureLowering] = full
    dialog = asked(qtbot, underhill)
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.found.text() == "There is too little memory. Close other apps.")
    assert dialog.go.isEnabled()


def offer_of(after: int, bits: tuple[tuple[int, int], ...], kl: float, free: int) -> protocol.LoweringOffer:
    """For a model whose experts take 100 bytes."""
    return protocol.LoweringOffer(
        tolerance=0.02, loss=kl, before=100, after=after, bits=bits, kl=kl, tokens=2048, needed=60, free=free,
        dense_before=9, dense_after=9, dense_bits=0,
    )  # fmt: skip


def test_what_the_disk_cannot_hold_cannot_be_begun(qtbot: QtBot, underhill: Application) -> None:
    dialog = asked(qtbot, underhill)
    dialog.running = "x"
    dialog._on_event(protocol.Done("x", offer_of(after=50, bits=((2, 3),), kl=0.01, free=40)))
    assert not dialog.go.isEnabled()
    dialog.running = "y"
    dialog._on_event(protocol.Done("y", offer_of(after=100, bits=((8, 3),), kl=0.0, free=400)))
    assert not dialog.go.isEnabled()
    assert "Allow more" in dialog.found.text()
    dialog.reject()


def test_the_built_in_model_and_unfinished_ones_do_not_offer_it(underhill: Application) -> None:
    page = underhill.window.library.page
    assert page is not None
    menu = page.yours.entries[0].buttons["More"].menu()
    assert "Shrink…" not in [action.text() for action in menu.actions()]  # type: ignore[attr-defined]


def test_at_import_it_follows_once_the_model_is_there(
    qtbot: QtBot, underhill: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    def accept(dialog: ImportDialog) -> int:
        dialog.top_box.setCurrentIndex(dialog.top_box.findData(16))
        assert dialog.tolerance() == 0.0  # 16 bits are kept as they are
        dialog.top_box.setCurrentIndex(0)
        dialog.tolerance_box.setCurrentIndex(dialog.tolerance_box.findData(0.01))
        dialog.name_field.setText(LARGE.name)
        return 1

    monkeypatch.setattr(ImportDialog, "exec", accept)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", staticmethod(lambda *_: "/models/other"))
    underhill.window.library.choose_folder()
    received = engine_of(underhill).received
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.LowerModel) for c in received))
    (lower,) = (c for c in received if isinstance(c, protocol.LowerModel))
    assert (lower.model, lower.tolerance) == (LARGE.name, 0.01)
    kinds = [type(c) for c in received]
    assert kinds.index(protocol.ImportModel) < kinds.index(protocol.LowerModel)
