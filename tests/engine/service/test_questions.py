"""What is recommended for memory and context, and measuring the qualities again, with the real engine."""

from __future__ import annotations

from engine.protocol import Calibrate, Done, Failed, Kind, LoadModel, ModelChanged, RecommendSettings
from tests.engine.service.test_service import SETTINGS, Desk, desk

__all__ = ["desk"]


def test_what_is_recommended_is_what_is_taken_where_nothing_is_chosen(desk: Desk) -> None:
    alone = desk.result(RecommendSettings)
    assert 0 < alone.memory < alone.memory_most
    assert (alone.context, alone.cache_fraction) == (None, None)
    desk.result(LoadModel, "builtin", {**SETTINGS, "cache_fraction": 0.25, "context_length": 512})
    found = desk.result(RecommendSettings)
    assert 0 < found.memory <= found.memory_most
    assert found.cache_fraction == 1.0  # not the quarter that was chosen
    assert found.context > 512
    card = desk.result(LoadModel, "builtin", SETTINGS)
    assert {dial for dial, *_ in card.fit.dials} == {"exact", "balanced", "fast", "hobbit"}
    assert desk.result(RecommendSettings).context == found.context


def test_the_qualities_are_measured_again_when_somebody_asks(desk: Desk) -> None:
    refused = desk.wait(desk.send(Calibrate))
    assert isinstance(refused, Failed)
    assert refused.kind is Kind.BAD_REQUEST
    card = desk.result(LoadModel, "builtin", SETTINGS)
    assert card.calibration is not None  # T1 and T2 were found when it was opened
    assert isinstance(desk.wait(desk.send(Calibrate)), Done)
    first = desk.first(lambda e: isinstance(e, ModelChanged) and bool(e.card.doing))
    assert isinstance(first, ModelChanged)
    assert first.card.doing == "Measuring quality (0%)"  # from its beginning
