"""The setting `predictor` with a real model: each by name, live, and what is said where something is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.experts.predictors import Blend, Eam, StackedGates
from engine.generation.messages import Look, Message, Stats
from engine.generation.sampling import Sampling
from engine.models.decoder import Decoder
from engine.session import Session, predictor_store, prefetch_choice
from engine.settings import ALL
from tests.engine.models.families.tiny import tiny
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import tiny_store
from tests.engine.session.test_session import Listener

HELLO = (Message("user", "Hello! What can you do?"),)
SMALL = {"dial": "exact", "threads": 1, "cache_fraction": 0.4}


def answered(session: Session) -> Stats:
    return session.generate(HELLO, Sampling(temperature=0, max_tokens=24), (), Listener())


def test_every_predictor_by_name_gives_the_same_words_and_says_what_it_is(home: Path) -> None:
    names = [name for name in ALL["predictor"].choices if name != "auto"]
    with open_calibrated("builtin", {**SMALL, "prefetch": "off"}) as opened:
        first = answered(opened)
        assert opened.ahead.sentence() == ""
        opened.update({"prefetch": "auto"})
        assert "trained gates and token table" in opened.ahead.sentence()  # opening a small model calibrates it
        for name in names:
            opened.update({"predictor": name})
            assert answered(opened).token_ids == first.token_ids
            assert opened.ahead.note == ""
            assert opened.ahead.sentence().endswith(f"({prefetch_choice.WORDS[name]})")
        seen = opened.snapshot(Look())
        assert seen is not None
        assert seen.ahead.startswith("Prefetch: ")
        assert "% correct" in seen.ahead
        assert seen.ahead.endswith("(all combined)")


def test_tables_keep_what_they_learnt_while_another_predictor_runs(home: Path) -> None:
    with open_calibrated("builtin", {**SMALL, "predictor": "tokens"}) as opened:
        answered(opened)
        table = opened.ahead.choose("tokens").predictor
        assert table.rows_of  # type: ignore[attr-defined]
        opened.update({"predictor": "gates"})
        assert isinstance(opened.ahead.choose("gates").predictor, StackedGates)
        assert opened.ahead.choose("tokens").predictor is table


def test_it_changes_in_the_middle_of_an_answer(home: Path) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        first = answered(opened)

        class Changing(Listener):
            def text(self, piece: str, token_ids: tuple[int, ...]) -> None:
                super().text(piece, token_ids)
                if opened.settings["predictor"] == "auto":
                    opened.update({"predictor": "paths"})

        heard = Changing()
        assert opened.generate(HELLO, Sampling(temperature=0, max_tokens=24), (), heard).token_ids == first.token_ids
        assert opened.settings["predictor"] == "paths"
        assert "activation paths" in opened.ahead.sentence()


def test_without_calibration_plain_gates_serve_and_the_plan_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = predictor_store.read
    with open_calibrated("builtin", SMALL) as opened:
        monkeypatch.setattr(predictor_store, "read", lambda path, gates: None)
        for name, why in (("taught", "aren't trained yet"), ("blend", "isn't calibrated yet")):
            opened.update({"predictor": name})
            (said,) = (sentence for sentence in opened.card.plan if why in sentence)
            assert said.endswith("Using gates and token table.")
            assert isinstance(opened.ahead.choose(name).predictor, Blend)
        monkeypatch.setattr(predictor_store, "read", read)
        assert opened.card.calibration is not None
        opened.calibrated(opened.card.calibration)  # from then on it is what was asked for
        assert not any("isn't calibrated yet" in sentence for sentence in opened.card.plan)


def test_matrices_of_past_answers_need_to_be_remembered(home: Path) -> None:
    with open_calibrated("builtin", {**SMALL, "predictor": "eam"}) as opened:
        before = len(opened.history.collection)
        answered(opened)
        assert len(opened.history.collection) == before + 1  # by one of the two who see the answer, not by both
        assert isinstance(opened.ahead.choose("eam").predictor, Eam)
        opened.update({"remember_routing": False})
        assert any("Remember expert use" in sentence for sentence in opened.card.plan)
        opened.update({"remember_routing": True})
        assert not any("is off" in sentence for sentence in opened.card.plan)


def test_pairs_that_would_take_too_much_are_left_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(predictor_store.MOST, "pairs", 1000)
    with open_calibrated("builtin", {**SMALL, "predictor": "pairs"}) as opened:
        assert "Layer pairs would need" in opened.ahead.note
        together = opened.ahead.choose("blend").predictor
        assert isinstance(together, Blend)
        assert [part.name for part in together.parts] == ["gates", "tokens", "paths", "eam"]
        assert together.weights.shape[1] == 4


def test_a_model_whose_routers_are_not_known_has_the_tables(home: Path) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        assert isinstance(opened.decoder, Decoder)
        opened.decoder = opened.context  # type: ignore[assignment]  # no Decoder
        found = opened.ahead.choose("gates")
        assert "compatibility mode" in found.note
        assert found.note.endswith("Using token table.")
        assert opened.ahead.choose("paths").note == ""


def test_a_model_whose_routers_read_something_else_than_its_experts_has_the_tables(home: Path, tmp_path: Path) -> None:
    """Experts in a latent space (Nemotron 3 Super): what they are given is no router's input."""
    store = tiny_store(hf_model(tiny("nemotron_h", moe_latent_size=32, moe_intermediate_size=32)), tmp_path)
    words = (Message("user", "w5 w6 w7 w8"),)
    with open_calibrated(str(store), {**SMALL, "predictor": "gates"}) as opened:
        assert isinstance(opened.decoder, Decoder)
        assert opened.generate(words, Sampling(temperature=0, max_tokens=8), (), Listener()).token_ids
        found = opened.ahead.choose("gates")
        assert found.note.startswith("Gates can't predict for this model")
        assert found.note.endswith("Using token table.")
