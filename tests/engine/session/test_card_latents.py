"""A session of a model with latent attention, whole on a card that is not there: the words of the processor alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.experts import lookahead
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.native.op_graph import GraphStep
from engine.native.op_slots import OpKind
from engine.session import Session
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, SimulatedDriver
from tests.engine.models.families.tiny import tiny
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import tiny_store
from tests.engine.session.test_card import a_card, opened, stand_in_for, take_attention, take_linears
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

ASKED = [(Message("user", " ".join(f"w{3 + 7 * n % 90}" for n in range(start, start + 12))),) for start in (0, 5)]
GREEDY = Sampling(temperature=0, max_tokens=16)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GLM-4.7-Flash's family, with one group of experts."""
    folder = tmp_path_factory.mktemp("latents")
    return tiny_store(hf_model(tiny("glm4_moe_lite", hidden_size=512, v_head_dim=16)), folder, top=8)


@pytest.fixture
def card(store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedDriver]:
    take_linears(monkeypatch)
    take_attention(monkeypatch)
    with closing(stand_in_for(store)) as compiler, a_card(compiler, monkeypatch) as simulated:
        yield simulated


def answer(session: Session, asked: int) -> str:
    return session.generate(ASKED[asked], GREEDY, (), Listener()).text


@pytest.fixture(scope="module")
def alone(store: Path) -> list[str]:
    """What the processor alone says."""
    with opened(str(store), mode="cpu", dense="int8") as session:
        return [answer(session, asked) for asked in range(2)]


@pytest.mark.parametrize(("mode", "lost"), [("cpu-assisted", 10), ("gpu", None)])
def test_a_whole_model_of_latent_attention_runs_on_the_card(
    mode: str, lost: int | None, alone: list[str], card: SimulatedDriver, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookahead, "LIKELY", 0.0)  # it goes as far as there are layers
    with opened(str(store), mode=mode, dense="int8") as session:
        assert sum("of attention in GPU memory" in sentence for sentence in session.sentences) == 1
        there = session.card_mode.mode
        assert there is not None
        assert there.layers is not None
        assert there.layers.whole
        assert sum(op.kind is OpKind.LATENT_ATTEND for run in there.layers.runs for op in run.ops) == 3
        assert there.ahead is not None
        keys, stops = list(session.runtime.cache.keys), list[int]()
        half = keys[::2]
        while there.fill(keys if lost else half):
            pass
        ahead, executor = there.ahead, session.decoder.executor
        assert executor is not None

        def watched(first: int, step: GraphStep) -> int:
            stops.append(asked := ahead(first, step))
            return asked

        executor.run_ahead = watched
        found = [answer(session, 0)]
        assert ahead.ran > 10
        if lost is None:  # it stops at what is lacking
            assert len({*stops}) > 1
        else:
            assert card.calls["cuGraphLaunch"] > 2
            card.fail["cuEventSynchronize"] = [0] * lost + [LAUNCH_FAILED]
        found.append(answer(session, 1))
        assert found == alone
        assert session.card_mode.alive == (lost is None)
    assert card.leaks == []
