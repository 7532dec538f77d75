"""What a person does on the library page."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QMenu, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.library.dialogs import ImportDialog
from app.library.entries import LibraryEntry, LibrarySection
from app.library.model_text import open_page
from app.library.page import LibraryPage
from app.library.view_model import Job
from app.platform import files
from app.settings.dialog import SettingsDialog
from engine import protocol
from engine.translatable import msg, translated
from tests.app.conftest import engine_of
from tests.app.fake_cards import BUILTIN, LARGE
from tests.app.fake_hub import CATALOGUE, FITS, FOLDER, IN_MEMORY, QWEN
from tests.app.places import settle

pytestmark = pytest.mark.long

Launch = Callable[..., Application]


def opened(qtbot: QtBot, underhill: Application, section: int = 0) -> LibraryPage:
    page = underhill.window.library.show()
    page.show_section(section)
    qtbot.waitUntil(lambda: underhill.library.catalogue is not None and bool(underhill.library.folders))
    return page


def entry(section: LibrarySection, title: str) -> LibraryEntry:
    return next(e for e in section.entries if e.title == title)


def plain(of: LibraryEntry) -> str:
    """Its line of facts, which is broken nowhere but between them."""
    return str(of.facts.text()).replace("\u00a0", " ").replace("\u2060", "").replace("\u2011", "-")


def titles(section: LibrarySection) -> list[str]:
    return [e.title for e in section.entries]


def choose(box: QComboBox, text: str) -> None:
    assert box.findText(text) >= 0
    box.setCurrentIndex(box.findText(text))


def pill(of: LibraryEntry) -> str:
    return next((str(mark.text()) for mark in of.findChildren(QLabel, "badge")), "")


@pytest.mark.parametrize("size", [(1280, 820), (900, 420)])
def test_no_section_stands_beside_its_head(qtbot: QtBot, launch: Launch, size: tuple[int, int]) -> None:
    underhill = launch()
    underhill.window.resize(*size)
    page = opened(qtbot, underhill)
    tab = next(t for t in page.findChildren(QToolButton) if t.text() == "My models")
    for number in range(6):
        page.show_section(number)
        settle(qtbot, page)
        section = page.pages.currentWidget()
        assert isinstance(section, LibrarySection)
        inner = section.head.geometry().left() + section.head.parentWidget().mapTo(page, QPoint()).x()
        assert inner == tab.mapTo(page, QPoint()).x(), number


def test_a_line_of_facts_is_broken_within_no_unit(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch())
    made = entry(page.yours, str(BUILTIN.title))
    made.show_facts("unsloth/Qwen3-4B-GGUF  ·  8-bit experts  ·  21.0 MB/s")
    assert made.facts.text() == (
        "unsloth/Qwen3-4B-GGUF\u00a0\u00a0·  8\u2011bit\u00a0experts\u00a0\u00a0·  21.0\u00a0MB/\u2060s"
    )


def test_one_tab_alone_looks_chosen(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch())
    page.begin()
    page.show_section(1)  # as a link from elsewhere does
    assert [t.text() for t in page.findChildren(QToolButton) if t.hasFocus()] == ["Discover"]


def test_models_that_read_images_say_so(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(cards=(BUILTIN, dataclasses.replace(LARGE, reads_images=True))))
    assert entry(page.yours, str(LARGE.title)).facts.text().endswith("reads\xa0images")
    assert "images" not in entry(page.yours, str(BUILTIN.title)).facts.text()


def test_a_speed_that_was_measured_is_said_beside_the_expected_one(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(cards=(BUILTIN, dataclasses.replace(LARGE, fit=FITS, measured=11.34))))
    large = entry(page.yours, str(LARGE.title))
    assert plain(large).endswith("11.3 tok/s measured here")
    assert large.sentence.text().startswith("≈ 9–14 tok/s")
    assert "measured" not in entry(page.yours, str(BUILTIN.title)).facts.text()


def test_one_writes_to_a_chat_only(qtbot: QtBot, launch: Launch) -> None:
    window = launch().window
    page = window.library.show()
    assert window.pages.currentWidget() is page
    assert not window.composer.isVisible()
    page.closed.emit()
    assert window.pages.currentWidget() is window.welcome
    assert window.composer.isVisible()


def test_your_models_are_opened_from_there(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill)
    qtbot.waitUntil(lambda: titles(page.yours) == [BUILTIN.title, LARGE.title])
    here = entry(page.yours, BUILTIN.title)
    assert not here.buttons["In use"].isEnabled()
    entry(page.yours, LARGE.title).buttons["Use"].click()
    assert underhill.window.pages.currentWidget() is underhill.window.welcome
    qtbot.waitUntil(lambda: underhill.models.card is not None and underhill.models.card.name == LARGE.name)


def reasons(of: LibraryEntry) -> dict[str, str]:
    """Of the actions that are grey, why."""
    menu = of.buttons["More"].menu()
    assert menu is not None
    assert menu.toolTipsVisible()
    grey = {words: b.accessibleDescription() for words, b in of.buttons.items() if not b.isEnabled()}
    return grey | {a.text(): re.sub("<.*?>", "", a.toolTip()) for a in menu.actions() if not a.isEnabled()}


def test_what_cannot_be_done_with_a_model_says_why(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill)
    qtbot.waitUntil(lambda: titles(page.yours) == [BUILTIN.title, LARGE.title])
    qtbot.waitUntil(lambda: underhill.models.state == "ready")
    assert reasons(entry(page.yours, BUILTIN.title)) == {
        "In use": "In use", "Rename\tF2": "Built-in model", "Move to folder": "In use", "Delete": "Built-in model",
    }  # fmt: skip
    assert reasons(entry(page.yours, LARGE.title)) == {"Move to folder": "Add another folder first"}
    job = Job("1", LARGE.title, "Verifying…", protocol.Progress(id="1", text=translated("")))
    underhill.library.jobs["1"] = job
    underhill.library.jobs_changed.emit()
    assert set(reasons(entry(page.yours, LARGE.title)).values()) == {"Another job is running"}


def test_a_model_is_moved_to_a_folder_of_the_menu(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    hub = engine_of(underhill).hub
    near = dataclasses.replace(FOLDER, path="/mod", first=False, own=False)  # the beginning of its folder's name
    here, full = dataclasses.replace(near, path="/models"), dataclasses.replace(near, path="/R&D", writable=False)
    hub.folders = (FOLDER, near, here, full)
    page = opened(qtbot, underhill)
    qtbot.waitUntil(lambda: len(underhill.library.folders) == 4 and titles(page.yours) == [BUILTIN.title, LARGE.title])
    more = entry(page.yours, LARGE.title).buttons["More"].menu()
    assert more is not None
    inner = next(action for action in more.actions() if action.text() == "Move to folder").menu()
    assert isinstance(inner, QMenu)
    assert [a.text() for a in inner.actions()] == [f"{f.path}  ·  120 GB of 500 GB free" for f in (FOLDER, near)]
    inner.actions()[1].trigger()
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.MoveModel) for c in engine_of(underhill).received))
    (sent,) = (c for c in engine_of(underhill).received if isinstance(c, protocol.MoveModel))
    assert (sent.name, sent.folder) == (LARGE.name, "/mod")


def test_what_cannot_be_opened_says_why(qtbot: QtBot, launch: Launch) -> None:
    cut = dataclasses.replace(LARGE, state="unfinished", problem="Its import was cut off.", action="Go on with it.")
    underhill = launch(cards=(BUILTIN, cut))
    page = opened(qtbot, underhill)
    qtbot.waitUntil(lambda: len(page.yours.entries) == 2)
    made = entry(page.yours, LARGE.title)
    assert made.sentence.text() == "Its import was cut off. Go on with it."
    assert "Use" not in made.buttons
    made.buttons["Resume"].click()
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.ContinueImport) for c in engine_of(underhill).received))


def test_of_a_model_whose_disk_is_away_nothing_is_offered_but_to_look_again(qtbot: QtBot, launch: Launch) -> None:
    away = dataclasses.replace(LARGE, state="missing_disk", problem="The folder is not there now.", action="Connect.")
    underhill = launch(cards=(BUILTIN, away))
    page = opened(qtbot, underhill)
    qtbot.waitUntil(lambda: len(page.yours.entries) == 2)
    made = entry(page.yours, LARGE.title)
    assert list(made.buttons) == ["Find again", "More"]
    menu = made.buttons["More"].menu()
    assert menu is not None
    assert not any(action.isEnabled() for action in menu.actions())
    assert set(reasons(made).values()) == {"Folder not connected"}
    listed = len([c for c in engine_of(underhill).received if isinstance(c, protocol.ListModels)])
    made.buttons["Find again"].click()
    assert len([c for c in engine_of(underhill).received if isinstance(c, protocol.ListModels)]) > listed


def test_models_come_and_go_with_their_folder(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    opened(qtbot, underhill)
    qtbot.waitUntil(lambda: bool(underhill.library.folders))

    def listed() -> int:
        return len([c for c in engine_of(underhill).received if isinstance(c, protocol.ListModels)])

    for change in (
        lambda: underhill.library.add_folder("/more", False),
        lambda: underhill.library.forget_folder("/more"),
    ):
        before = listed()
        change()
        qtbot.waitUntil(lambda before=before: listed() > before)


def test_a_library_without_models_says_so(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    yours = opened(qtbot, underhill).yours
    engine_of(underhill).cards = ()
    underhill.models.refresh()
    qtbot.waitUntil(lambda: yours.nothing.text() == "No models yet")


def test_a_page_is_called_hugging_face_s_only_where_it_is() -> None:
    assert open_page("https://huggingface.co/Qwen/Qwen3-30B-A3B") == "Open on Hugging Face"
    assert open_page("https://mirror.example/Qwen/Qwen3-30B-A3B") == "Open web page"


def test_a_deleted_model_comes_back(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    opened(qtbot, underhill)
    underhill.library.delete(LARGE.name)
    qtbot.waitUntil(lambda: underhill.window.toast.isVisible())
    assert underhill.window.toast.undo()
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.RestoreModel) for c in engine_of(underhill).received))


def test_a_check_shows_how_far_it_is_and_what_it_found(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill)
    seen: list[str] = []
    underhill.library.jobs_changed.connect(lambda: seen.extend(map(plain, page.yours.job_entries.values())))
    underhill.library.verify(BUILTIN)
    qtbot.waitUntil(lambda: underhill.window.toast.isVisible())
    assert any("1.0 GB of 2.0 GB" in words and "900 MB/s" in words for words in seen)
    assert page.yours.job_entries == {}
    assert "all files OK" in underhill.window.toast.accessibleName()


def test_it_says_when_a_model_was_verified_and_what_was_found(qtbot: QtBot, launch: Launch) -> None:
    at = datetime(2026, 11, 28, 12).timestamp()
    good = protocol.Verification(at)
    bad = protocol.Verification(at, 3, msg("Expert 5 is damaged."), msg("Import it again."))
    cards = (dataclasses.replace(BUILTIN, verified=good), dataclasses.replace(LARGE, verified=bad))
    page = opened(qtbot, launch(cards=cards))
    right, damaged = entry(page.yours, str(BUILTIN.title)), entry(page.yours, str(LARGE.title))
    assert plain(right).endswith("Verified on 28 Nov 2026: all files OK")
    said = "Verified on 28 Nov 2026: 3 parts are damaged. Expert 5 is damaged. Import it again."
    assert (damaged.sentence.text(), damaged.sentence.property("level")) == (said, "warning")
    assert "Verified" not in damaged.facts.text()


def test_it_says_so_once_the_files_are_verified(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill)
    engine_of(underhill).cards = (dataclasses.replace(BUILTIN, verified=protocol.Verification(1.7e9)), LARGE)
    underhill.library.verify(BUILTIN)
    qtbot.waitUntil(lambda: "Verified on" in plain(entry(page.yours, str(BUILTIN.title))))


def test_what_suits_this_computer_comes_first(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill, 1)
    assert titles(page.discover) == ["Qwen3 30B A3B", "gpt-oss 20B", "GLM 4.5 Air", "DeepSeek V3.1"]
    assert [pill(e) for e in page.discover.entries] == ["From disk", "From disk", "Slow", "Too large"]
    assert not entry(page.discover, "DeepSeek V3.1").buttons["Download"].isEnabled()
    choose(page.discover.filters.fit, "Runs on this computer")
    assert titles(page.discover) == ["Qwen3 30B A3B", "gpt-oss 20B"]
    assert not any(isinstance(c, protocol.SearchModels) for c in engine_of(underhill).received)


def test_models_that_run_from_disk_are_listed_alone(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    engine_of(underhill).hub.catalogue = (*CATALOGUE, dataclasses.replace(QWEN, title="small", fit=IN_MEMORY))
    page = opened(qtbot, underhill, 1)
    choose(page.discover.filters.fit, "Runs from disk")
    assert titles(page.discover) == ["Qwen3 30B A3B", "gpt-oss 20B"]
    choose(page.discover.filters.fit, "In memory")
    assert titles(page.discover) == ["small"]


def test_models_are_filtered_by_what_they_are_good_at(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    sees = dataclasses.replace(QWEN, repo="a/sees", title="sees", good_at=("thinking", "vision", "code"))
    engine_of(underhill).hub.catalogue = (*CATALOGUE, sees)
    page = opened(qtbot, underhill, 1)
    found, use = page.discover, page.discover.filters.use
    choose(use, "Thinking")
    assert set(titles(found)) == {"sees", "gpt-oss 20B", "GLM 4.5 Air", "DeepSeek V3.1"}
    choose(use, "Images")
    assert titles(found) == ["sees"]
    choose(use, "Code")
    assert titles(found) == ["sees", "GLM 4.5 Air"]
    found.filters.clear.click()
    assert len(titles(found)) == 5


def test_of_what_fits_the_largest_that_answers_as_fast_as_one_reads_comes_first(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()

    def made(title: str, parameters: int, speed: tuple[float, float] | None) -> protocol.HubModel:
        fit = dataclasses.replace(FITS, speed=speed)
        return dataclasses.replace(QWEN, repo=f"a/{title}", title=title, parameters=parameters, fit=fit)

    engine_of(underhill).hub.catalogue = (
        made("huge", 90, (1.0, 2.5)), made("large", 80, (3.0, 4.0)), made("middle", 30, (6.0, 9.0)),
        made("small", 7, (40.0, 60.0)), made("unknown", 1, None),
    )  # fmt: skip
    page = opened(qtbot, underhill, 1)
    assert titles(page.discover) == ["middle", "small", "large", "huge", "unknown"]


def test_models_are_filtered_by_size_maker_and_license_and_sorted(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    quantized = dataclasses.replace(
        QWEN, repo="someone/Qwen-GGUF", original="Qwen/Qwen-Original", title="A small Qwen", parameters=7_000_000_000,
        download_bytes=4_000_000_000, fit=IN_MEMORY,
    )  # fmt: skip
    engine_of(underhill).hub.catalogue = (*CATALOGUE, quantized)
    page = opened(qtbot, underhill, 1)
    filters, found = page.discover.filters, page.discover
    assert titles(found)[0] == "A small Qwen"  # in memory
    assert [filters.maker.itemText(n) for n in range(1, filters.maker.count())] == [
        "deepseek-ai", "openai", "Qwen", "zai-org"
    ]  # fmt: skip
    assert not filters.clear.isVisible()
    choose(filters.maker, "Qwen")  # also what others have quantized
    assert titles(found) == ["A small Qwen", "Qwen3 30B A3B"]
    choose(filters.parameters, "30B–100B")
    assert titles(found) == ["Qwen3 30B A3B"]
    choose(filters.license, "mit")
    assert found.nothing.text() == "No models with these filters"
    filters.clear.setFocus()
    filters.clear.click()
    assert len(titles(found)) == 5
    assert page.window().focusWidget() is filters.fit
    assert not filters.clear.isVisible()
    choose(found.order, "Name")
    assert titles(found) == ["A small Qwen", "gpt-oss 20B", "Qwen3 30B A3B", "GLM 4.5 Air", "DeepSeek V3.1"]
    choose(found.order, "Smallest download")
    assert titles(found)[1:3] == ["gpt-oss 20B", "Qwen3 30B A3B"]
    choose(found.order, "Most parameters")
    assert titles(found)[1:3] == ["Qwen3 30B A3B", "gpt-oss 20B"]


def test_a_search_finds_bundled_models_first_and_each_once(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    hub = engine_of(underhill).hub
    hub.matches = (dataclasses.replace(QWEN, repo="Qwen/Qwen3-30B-A3B", title="again"),
                   dataclasses.replace(QWEN, repo="x/Qwen3-30B-A3B-tuned", title="tuned"))  # fmt: skip
    page = opened(qtbot, underhill, 1)
    page.discover.search.setText("Qwen3-30B")
    page.discover.look()
    qtbot.waitUntil(lambda: not underhill.library.searching)
    assert titles(page.discover) == [QWEN.title, "tuned"]
    assert page.discover.entries[1].facts.text().startswith("x/")
    assert page.discover.about.text() == "2 results"


def test_bundled_models_are_found_without_a_network(qtbot: QtBot, launch: Launch) -> None:
    offline = protocol.Failed("", protocol.Kind.OFFLINE, "Offline mode is on.", "Switch that off in the settings.")
    underhill = launch(fail={protocol.SearchModels: offline})
    page = opened(qtbot, underhill, 1)
    page.discover.search.setText("code long")  # in a description, in any order
    page.discover.look()
    assert titles(page.discover) == ["GLM 4.5 Air"]
    qtbot.waitUntil(lambda: underhill.library.search_problem is not None)
    assert titles(page.discover) == ["GLM 4.5 Air"]
    assert page.discover.about.text().startswith("Offline mode is on.")
    assert page.discover.to_setting.isVisible()


def test_search_pages_and_back_to_the_catalogue(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill, 1)
    qtbot.keyClicks(page.discover.search, "someone")
    qtbot.keyClick(page.discover.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(page.discover.entries) == 20 and not underhill.library.searching)
    assert page.discover.about.text() == "45 results"
    assert pill(page.discover.entries[0]) == "From disk"
    assert page.discover.entries[0].facts.text().startswith("someone/qwen-0")
    page.discover.more.click()
    qtbot.waitUntil(lambda: len(page.discover.entries) == 40 and not underhill.library.searching)
    page.discover.more.click()
    qtbot.waitUntil(lambda: len(page.discover.entries) == 45 and not underhill.library.searching)
    assert not page.discover.more.isVisible()
    page.discover.search.clear()
    qtbot.waitUntil(lambda: len(page.discover.entries) == 4)


def test_a_search_that_fails_says_so_in_its_place(qtbot: QtBot, launch: Launch) -> None:
    offline = protocol.Failed("", protocol.Kind.OFFLINE, "Offline mode is on.", "Switch that off in the settings.")
    underhill = launch(fail={protocol.SearchModels: offline})
    page = opened(qtbot, underhill, 1)
    page.discover.search.setText("someone")
    page.discover.look()
    qtbot.waitUntil(lambda: underhill.library.search_problem is not None)
    assert page.discover.nothing.text() == f"{offline.sentence} {offline.action}"
    assert page.discover.nothing.isVisible()
    page.discover.to_setting.click()
    qtbot.waitUntil(lambda: bool(underhill.window.findChildren(SettingsDialog)))


def test_a_search_that_failed_is_made_again_by_the_same_words(qtbot: QtBot, launch: Launch) -> None:
    busy = protocol.Failed("", protocol.Kind.SERVER_ERROR, "The hub has a problem of its own.", "Try again later.")
    underhill = launch(fail={protocol.SearchModels: busy})
    page = opened(qtbot, underhill, 1)
    discover, view_model = page.discover, underhill.library
    discover.search.setText("someone")
    discover.look()
    qtbot.waitUntil(lambda: view_model.search_problem is not None)
    assert discover.again.isVisible()
    assert not discover.to_setting.isVisible()  # no setting is in the way
    qtbot.keyClick(discover.search, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(discover.entries) == 20 and not view_model.searching)
    assert not discover.again.isVisible()
    engine_of(underhill).fail[protocol.SearchModels] = busy
    discover.more.click()
    qtbot.waitUntil(lambda: view_model.search_problem is not None)
    assert (len(discover.entries), discover.about.text()) == (20, f"{busy.sentence} {busy.action}")
    discover.again.click()
    qtbot.waitUntil(lambda: len(discover.entries) == 40 and not view_model.searching)
    assert not discover.again.isVisible()


def test_details_offer_every_precision(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill, 1)
    entry(page.discover, QWEN.title).buttons["Details"].click()
    from app.library.dialogs import ModelDetailsDialog

    qtbot.waitUntil(lambda: bool(page.findChildren(ModelDetailsDialog)))
    details = page.findChildren(ModelDetailsDialog)[0]
    assert [pill(e) for e in details.entries] == ["Slow", "From disk"]
    assert [e.buttons["Download"].objectName() for e in details.entries] == ["", "primary"]
    assert details.status.isHidden()
    monkeypatch.setattr(files, "QDesktopServices", SimpleNamespace(openUrl=lambda url: False))
    next(button for button in details.findChildren(QPushButton) if button.text() == "Open web page").click()
    assert details.status.text().startswith("No app can open http")
    assert details.status.isVisible()
    details.entries[1].buttons["Download"].click()
    qtbot.waitUntil(lambda: bool(page.downloads.entries))
    pulled = next(c for c in engine_of(underhill).received if isinstance(c, protocol.PullModel))
    assert (pulled.repo, pulled.top) == (QWEN.repo, 4)
    assert page.pages.currentWidget() is page.downloads


def test_a_download_from_beginning_to_end(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    hub = engine_of(underhill).hub
    page = opened(qtbot, underhill, 1)
    entry(page.discover, QWEN.title).buttons["Download"].click()
    qtbot.waitUntil(lambda: titles(page.downloads) == [QWEN.title])
    assert not entry(page.discover, QWEN.title).buttons["Queued"].isEnabled()
    made = page.downloads.entries[0]
    page.show_section(3)
    hub.tell(
        "t1",
        state=protocol.RUNNING,
        text="Downloading",
        done=3_000_000_000,
        total=12_000_000_000,
        rate=42e6,
        left=214.0,
    )
    qtbot.waitUntil(lambda: "3.0 GB of 12.0 GB" in plain(made))
    assert plain(made) == "Downloading  ·  3.0 GB of 12.0 GB  ·  42.0 MB/s  ·  4 min left"
    assert made.bar.value() == 250
    assert not entry(page.discover, QWEN.title).buttons["Downloading"].isEnabled()
    made.buttons["Pause"].click()
    qtbot.waitUntil(lambda: "Resume" in made.buttons)
    entry(page.discover, QWEN.title).buttons["Resume"].click()  # as well there
    qtbot.waitUntil(lambda: "Pause" in made.buttons)
    hub.tell("t1", state=protocol.FAILED, problem="The connection was lost.", action="Try again.", kind="no_network")
    qtbot.waitUntil(lambda: "Try again" in made.buttons)
    assert made.sentence.text() == "The connection was lost. Try again."
    assert made.sentence.isVisible()
    entry(page.discover, QWEN.title).buttons["Try again"].click()
    qtbot.waitUntil(lambda: "Downloading" in entry(page.discover, QWEN.title).buttons)
    hub.tell("t1", state=protocol.FAILED, problem="It needs a token.", action="Give it.", kind="no_access")
    qtbot.waitUntil(lambda: "Open settings" in made.buttons)
    with qtbot.waitSignal(page.downloads.setting_requested) as wanted:
        made.buttons["Open settings"].click()
    assert wanted.args == ["proxy"]
    made.buttons["Try again"].click()
    qtbot.waitUntil(lambda: not made.sentence.isVisible())
    assert "Open settings" not in made.buttons
    made.buttons["Pause"].setFocus()
    hub.tell("t1", state=protocol.FINISHED, done=196, total=265_000)
    qtbot.waitUntil(lambda: "Use" in made.buttons)
    assert plain(made) == f"Downloaded  ·  {QWEN.repo}"
    made.buttons["Remove"].click()
    qtbot.waitUntil(lambda: page.downloads.entries == [])


def test_what_another_app_keeps_is_imported(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill, 2)
    assert page.elsewhere.entries == []
    page.elsewhere.look.click()
    qtbot.waitUntil(lambda: len(page.elsewhere.entries) == 2)
    assert entry(page.elsewhere, "llama3.2").buttons == {}
    monkeypatch.setattr(ImportDialog, "exec", lambda self: 1)
    entry(page.elsewhere, "Qwen3 30B A3B Instruct").buttons["Import…"].click()
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.ImportModel) for c in engine_of(underhill).received))
    sent = next(c for c in engine_of(underhill).received if isinstance(c, protocol.ImportModel))
    assert (sent.path, sent.name) == ("/models/q.gguf", "qwen3-30b-a3b")


def test_a_gguf_file_is_imported(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    underhill = launch()
    page = opened(qtbot, underhill)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", staticmethod(lambda *_: ("/some/Model.gguf", "")))
    monkeypatch.setattr(ImportDialog, "exec", lambda self: 1)
    page.yours.import_file.emit()
    qtbot.waitUntil(lambda: any(isinstance(c, protocol.ImportModel) for c in engine_of(underhill).received))
    sent = next(c for c in engine_of(underhill).received if isinstance(c, protocol.ImportModel))
    assert (sent.path, sent.name) == ("/some/Model.gguf", "Model")


def test_every_button_has_a_name_of_its_own(qtbot: QtBot, launch: Launch) -> None:
    page = opened(qtbot, launch(), 1)
    names = [b.accessibleName() for e in page.discover.entries for b in e.buttons.values()]
    assert len(set(names)) == len(names)
    assert f"Download: {QWEN.title}" in names
    assert any(FITS.sentence in label.accessibleName() for label in page.discover.entries[0].findChildren(QLabel))


def test_escape_goes_back_to_the_chat_and_stops_no_answer(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(rate=50.0, script=lambda messages: "word " * 2000)
    window = underhill.window
    underhill.conversation.send("Hello")
    qtbot.waitUntil(lambda: underhill.conversation.busy)
    page = window.library.show()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert window.pages.currentWidget() is window.transcript
    assert window.composer.edit.hasFocus()
    assert underhill.conversation.busy
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not underhill.conversation.busy)
