"""A short answer is compared in spare time: a card that computes something else is left alone, with a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from engine.calibration.card_check import CardCheck
from engine.calibration.idle_tasks import IdleTasks
from engine.library.card_record import CHECKED
from engine.library.library import prepare
from engine.planning import offload
from engine.session import Session
from tests.engine.cuda.ptx.memory import DeviceMemory
from tests.engine.cuda.schedule import Touched
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver
from tests.engine.cuda.stand_in import StandIn
from tests.engine.session.test_card import a_card, opened, stand_in_for, take_attention, take_linears

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def compiler(home: Path) -> Iterator[StandIn]:
    """For the experts of the built-in model."""
    with closing(stand_in_for(prepare("builtin", lambda *_: None))) as made:
        yield made


@pytest.fixture
def card(compiler: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedDriver]:
    take_linears(monkeypatch)
    take_attention(monkeypatch)
    (prepare("builtin", lambda *_: None) / CHECKED).unlink(missing_ok=True)
    with a_card(compiler, monkeypatch) as simulated:
        yield simulated


def checked(session: Session) -> list[str]:
    """What is told of it: in spare time it comes before all else that is measured."""
    task = CardCheck(session)
    if not task.complete:
        task.step()
    assert task.complete
    return [str(sentence) for sentence in session.sentences if "KL divergence" in sentence]


def test_an_answer_is_compared_once_for_a_card(card: SimulatedDriver) -> None:
    with opened(dense="int8") as session:
        mode = session.card_mode.mode
        assert mode is not None
        before = mode.assistant.ran, mode.assistant.host_ran
        (said,) = checked(session)
        assert said.startswith("Checked an answer on Simulated 0 against the CPU: KL divergence ")
        assert said.endswith(" over 12 tokens.")
        assert mode.alive
        assert mode.assistant.ran > before[0]
    with opened(dense="int8") as session:
        assert checked(session) == []
        assert session.card_mode.alive
    assert card.leaks == []


def test_it_is_done_in_spare_time(card: SimulatedDriver) -> None:
    with opened(dense="int8") as session:
        tasks = IdleTasks(session)
        for _ in range(50):
            tasks.use(lambda: False)
            if any("KL divergence" in sentence for sentence in session.sentences):
                break
        else:
            pytest.fail("it was not compared")
        assert len(tasks.queue) > 2  # which come behind it


def test_a_card_that_answers_otherwise_is_left_alone(
    card: SimulatedDriver, compiler: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(dense="int8") as session:
        right = compiler.last

        def wrong(memory: DeviceMemory, arguments: Sequence[bytes], n: int) -> Touched:
            touched = right(memory, arguments, n)
            ((to, nbytes),) = touched[1]
            memory.write(to, memory.read(to, nbytes)[::-1])
            return touched

        monkeypatch.setattr(compiler, "last", wrong)
        told: list[str] = []
        session.on_notice = told.append
        assert checked(session) == []
        assert any("answers differ by" in sentence for sentence in told)
        assert session.plan.mode == offload.CPU
        assert not session.card_mode.alive
    assert card.leaks == []


def test_a_card_that_is_lost_meanwhile_is_said_to_be_lost(card: SimulatedDriver) -> None:
    with opened(dense="int8") as session:
        card.fail["cuEventSynchronize"] = [0] * 5 + [LAUNCH_FAILED]
        assert checked(session) == []
        assert any("stopped working" in sentence for sentence in session.sentences)
    assert card.leaks == []
