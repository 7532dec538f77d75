"""The docks: right figures, no painting and no close look while they are hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QLabel, QMainWindow, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.telemetry.charts import MemoryBar, parts_of
from app.telemetry.docks import TelemetryDocks
from app.telemetry.frame_throttle import FrameIntervals
from app.telemetry.history import STEPS
from app.theme.theme import Theme
from engine import protocol
from tests.app.telemetry.samples import BASE, MEMORY


class Counted(QObject):
    """Counts events of one kind."""

    def __init__(self, kind: QEvent.Type) -> None:
        super().__init__()
        self.count = 0
        self._kind = kind

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == self._kind
        return False


@pytest.fixture
def looks() -> list[protocol.Look]:
    """What the engine was asked to tell."""
    return []


@pytest.fixture
def docks(qtbot: QtBot, theme: Theme, looks: list[protocol.Look]) -> Iterator[TelemetryDocks]:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(900, 700)
    made = TelemetryDocks(window, theme)
    made.watch_changed.connect(looks.append)
    window.show()
    yield made
    window.close()


def show(docks: TelemetryDocks, telemetry: protocol.Telemetry) -> None:
    """Take a snapshot, and paint it without waiting for its turn."""
    docks.take(telemetry)
    docks.repaint()


def test_figures(docks: TelemetryDocks) -> None:
    show(docks, replace(BASE, waiting=0.4, prompt_tokens_per_second=95.0))
    figures = docks.figures
    assert figures.why.text() == "Waiting for disk."
    assert figures.speed.text() == "12.0 tok/s"
    assert figures.prompt.text() == "95.0 tok/s"
    assert figures.disk.text() == "2.0 MB/s"
    assert figures.waiting.text() == "40%"
    assert "75" in figures.mix_legend.text()
    assert "50" in figures.fates_legend.text()
    show(docks, replace(BASE, generating=False, prompt_tokens_per_second=95.0))
    assert (figures.speed.text(), figures.prompt.text()) == ("–", "–")
    done = replace(BASE, generating=False, tokens_per_second=0.0, answer_tokens_per_second=640.0)
    show(docks, replace(done, prompt_tokens_per_second=95.0))
    assert (figures.speed.text(), figures.prompt.text()) == ("640 tok/s", "95.0 tok/s")  # of the last answer


def test_the_legend_says_what_the_chart_shows(docks: TelemetryDocks) -> None:
    """A long prompt asks for a thousand times more experts than a token, and is no wider in the chart."""
    show(docks, replace(BASE, hits=10, misses=10_000))
    for number in range(1, 10):
        show(docks, replace(BASE, hits=10 + 20 * number, misses=10_000))
    mean = docks.figures.fates.mean()
    assert mean is not None
    assert mean["kept"] == pytest.approx(0.9, abs=0.01)
    assert "in&nbsp;memory&nbsp;90%" in docks.figures.fates_legend.text()


def test_what_reads_ahead_is_named_where_anything_does(qtbot: QtBot, docks: TelemetryDocks) -> None:
    show(docks, replace(BASE, ahead="Prefetch experts by token table: 60% of the experts were chosen."))
    assert docks.figures.ahead.text().startswith("Prefetch experts by token table")
    assert docks.figures.ahead.isVisibleTo(docks.figures)
    show(docks, BASE)
    qtbot.waitUntil(lambda: not docks.figures.ahead.isVisibleTo(docks.figures))


def test_the_parts_of_memory_add_up_to_what_is_taken_and_to_the_ceiling(qtbot: QtBot, theme: Theme) -> None:
    parts = parts_of(MEMORY)
    assert sum(parts.values()) == MEMORY.ceiling
    assert sum(parts[key] for key in ("program", "dense", "context", "buffers", "cached")) == MEMORY.taken
    bar = MemoryBar(theme)
    qtbot.addWidget(bar)
    bar.show_use(MEMORY)
    assert "free&nbsp;for&nbsp;experts&nbsp;300&nbsp;B" in bar.legend.text()
    bar.show_use(replace(MEMORY, device=1_000_000, device_cached=400_000))
    assert bar.device_text.text() == "GPU memory: 400 kB of 1.0 MB for experts"


def test_hidden_they_gather_but_neither_paint_nor_look(
    qtbot: QtBot, docks: TelemetryDocks, looks: list[protocol.Look]
) -> None:
    qtbot.waitUntil(lambda: looks == [protocol.Look(maps=True)])
    docks.take(BASE)
    docks.show_all(False)
    qtbot.waitUntil(lambda: looks == [protocol.Look(maps=True), protocol.Look()])
    painted = docks.painted
    for number in range(10):
        docks.take(replace(BASE, hits=11 + number, activations=(), residency=()))
    qtbot.wait(100)  # longer than each waits for its turn
    assert docks.painted == painted
    assert len(docks.history.samples) == 11
    docks.show_all(True)
    qtbot.waitUntil(lambda: docks.painted > painted and len(looks) == 3)


def test_one_is_painted_at_a_time_and_none_with_the_text(qtbot: QtBot, docks: TelemetryDocks) -> None:
    show(docks, BASE)
    shown: list[str] = []
    docks.figures.show_history = lambda history: shown.append("figures")  # type: ignore[method-assign]
    docks.experts.show_data = lambda data: shown.append("experts")  # type: ignore[method-assign]

    def take(telemetry: protocol.Telemetry) -> None:
        before = len(shown)
        docks.take(telemetry)
        assert len(shown) == before  # now the text is painted
        qtbot.waitUntil(lambda: len(shown) == before + 1)

    for number in range(4):
        take(replace(BASE, hits=11 + number))
    assert shown == ["figures", "experts", "figures", "experts"]
    for number in range(4):  # every other one tells of experts
        take(replace(BASE, hits=20 + number, activations=() if number % 2 else BASE.activations))
    assert shown[4:] == ["figures", "experts", "figures", "experts"]
    shown.clear()
    take(replace(BASE, hits=100, generating=False))  # nothing more will come: all is shown
    assert not docks.turn.isActive()
    qtbot.waitUntil(lambda: shown == ["figures", "experts"])


def test_snapshots_without_matrices_leave_the_heatmap_as_it_was(docks: TelemetryDocks) -> None:
    docks.take(BASE)
    docks.take(replace(BASE, hits=12, activations=(), residency=()))
    show(docks, replace(BASE, hits=13, activations=(), residency=(), generating=False))
    heatmap = docks.experts.heatmap
    assert heatmap.describe(heatmap.cell(0, 0).center())
    docks.forget()
    assert docks.experts.heatmap.data is None


def test_figures_that_change_are_painted_without_a_new_layout(qtbot: QtBot, docks: TelemetryDocks) -> None:
    show(docks, BASE)
    QCoreApplication.sendPostedEvents()
    counted = Counted(QEvent.Type.LayoutRequest)
    docks.figures.installEventFilter(counted)
    for number in range(20):
        show(
            docks, replace(BASE, tokens_per_second=50.0 + number, disk_bytes_per_second=1e6 * number, hits=12 + number)
        )
        QCoreApplication.sendPostedEvents()
    docks.repaint()
    assert docks.figures.speed.text() == "69.0 tok/s"
    assert counted.count == 0
    show(
        docks,
        replace(BASE, ahead="Prefetch experts by token table: 60% of the experts were chosen.", generating=False),
    )
    QCoreApplication.sendPostedEvents()
    assert counted.count > 0  # there is more to show


def test_what_is_as_before_is_not_painted_again(qtbot: QtBot, docks: TelemetryDocks) -> None:
    for _ in range(STEPS + 1):
        docks.take(BASE)
    qtbot.waitUntil(lambda: not docks.turn.isActive())
    QCoreApplication.processEvents()  # what the last turn wants painted is painted
    counted = Counted(QEvent.Type.Paint)
    for widget in docks.figures.findChildren(QWidget):
        widget.installEventFilter(counted)
    docks.take(BASE)
    docks.repaint()
    qtbot.wait(30)
    assert counted.count == 0


def test_the_last_snapshot_is_shown_though_no_other_follows(qtbot: QtBot, docks: TelemetryDocks) -> None:
    docks.take(BASE)
    docks.take(replace(BASE, tokens_per_second=77.0))
    qtbot.waitUntil(lambda: docks.figures.speed.text() == "77.0 tok/s")
    qtbot.waitUntil(lambda: not docks.turn.isActive())


def test_the_engine_is_told_of_another_pace(qtbot: QtBot, docks: TelemetryDocks, looks: list[protocol.Look]) -> None:
    qtbot.waitUntil(lambda: looks == [protocol.Look(maps=True)])
    docks.set_intervals(FrameIntervals(0.25, 0.6))
    assert looks[1:] == [protocol.Look(maps=True, pause=0.25, pulse=0.6)]
    before = len(docks.history.samples)
    docks.take(BASE)
    assert len(docks.history.samples) - before == 3  # half a minute stays half a minute


def test_only_who_sees_the_experts_asks_for_them(
    qtbot: QtBot, docks: TelemetryDocks, looks: list[protocol.Look]
) -> None:
    qtbot.waitUntil(lambda: looks == [protocol.Look(maps=True)])
    show(docks, BASE)
    docks.experts.heatmap.chosen.emit(1, 0)
    assert looks[-1] == protocol.Look(maps=True, expert=(3, 0))
    docks.docks[1].close()
    qtbot.waitUntil(lambda: looks[-1] == protocol.Look())
    assert docks.shown  # the figures are still there
    with qtbot.waitSignal(docks.closed):
        docks.docks[0].close()


def test_charts_say_what_is_under_the_mouse(docks: TelemetryDocks) -> None:
    show(docks, BASE)
    figures = docks.figures
    assert figures.speed_line.describe(figures.speed_line.width()) == "12.0 tok/s"
    assert "8-bit 75%" in figures.mix.describe(figures.mix.width())
    assert figures.speed_line.describe(0) == ""


@pytest.mark.qt_log_ignore("This plugin does not support")  # to raise a window
def test_a_panel_of_its_own_is_shown_after_the_window(qtbot: QtBot, theme: Theme) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    docks = TelemetryDocks(window, theme)
    apart, beside = docks.docks
    apart.setFloating(True)
    apart.show()  # as a restored one is, before the window
    shown: list[QWidget] = []

    class Shown(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
                shown.append(watched)
            return False

    watcher = Shown()
    for widget in (window, apart, beside):
        widget.installEventFilter(watcher)
    window.show()
    docks.raise_floating()
    assert shown[-1] is apart
    assert shown.count(beside) <= 1  # only those apart
    window.close()


@pytest.mark.parametrize("front", [0, 1])
def test_the_tab_that_was_in_front_is_so_again(qtbot: QtBot, docks: TelemetryDocks, front: int) -> None:
    docks.window.tabifyDockWidget(*docks.docks)
    one, other = docks.docks[front], docks.docks[1 - front]
    one.raise_()
    qtbot.waitUntil(lambda: not one.visibleRegion().isEmpty() and other.visibleRegion().isEmpty())
    docks.show_all(False)
    docks.show_all(False)  # as when the window is resized meanwhile
    docks.show_docked()
    qtbot.waitUntil(lambda: not one.visibleRegion().isEmpty() and other.visibleRegion().isEmpty())


@pytest.mark.qt_log_ignore("This plugin does not support")  # a window of its own, on a platform without windows
def test_what_lies_behind_a_tab_is_neither_gone_to_nor_painted(
    qtbot: QtBot, docks: TelemetryDocks, looks: list[protocol.Look]
) -> None:
    live, experts = docks.docks
    docks.window.tabifyDockWidget(live, experts)
    for front, behind in ((live, experts), (experts, live), (live, experts)):
        front.raise_()
        qtbot.waitUntil(lambda front=front, behind=behind: front.isEnabled() and not behind.isEnabled())
        qtbot.waitUntil(lambda front=front: looks[-1].maps is (front is experts))
    live.setFloating(True)
    qtbot.waitUntil(lambda: live.isEnabled() and experts.isEnabled() and looks[-1].maps)


def test_who_computed_what_is_told_where_there_is_a_card(docks: TelemetryDocks) -> None:
    assert not docks.figures.card.isVisibleTo(docks.figures)
    memory = replace(MEMORY, device=2_000, device_cached=1_500)
    show(docks, replace(BASE, memory=memory, card=0.45, link_bytes_per_second=3e6))
    assert docks.figures.card.isVisibleTo(docks.figures)
    assert "GPU: 45% of them" in docks.figures.card.text()
    assert "3.0 MB/s to the GPU" in docks.figures.card.text()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_dock_that_floats_is_a_window_of_its_own(qtbot: QtBot, docks: TelemetryDocks) -> None:
    dock = docks.docks[0]
    before = dock.mapToGlobal(QPoint())
    bar = dock.titleBarWidget()
    label = bar.findChild(QLabel)
    apart = bar.findChildren(QToolButton)[0]
    assert isinstance(label, QLabel)
    apart.click()
    qtbot.waitUntil(lambda: not dock.windowFlags() & Qt.WindowType.FramelessWindowHint)
    assert dock.isVisible()
    assert dock.isFloating()
    assert (dock.geometry().topLeft() - before).manhattanLength() > 40
    assert dock.windowTitle() == "Performance"
    assert label.isHidden()  # the frame has the title
    apart.click()
    assert not dock.isFloating()
    assert dock.isVisible()
    assert not label.isHidden()
