"""An expectation is held against what came: kept where it was right, corrected and said where it was not."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.hardware.load import Load, LoadWatch
from engine.library import library, speed_record
from engine.library.fit_estimates import FitEstimates
from engine.library.speed_record import Conditions, Decoded, judge, keep, measured, read
from engine.planning.plan import make_plan, seen_again
from engine.session import Session
from engine.session.speed_check import is_full
from engine.settings import SAMPLING, validated
from tests.engine.planning.test_plan import laptop, native, thirty_b, with_settings


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs take nothing of the processor, whatever runs beside the tests."""
    monkeypatch.setattr(LoadWatch, "load", Load())


MACHINE, MODEL = laptop(16, 1e9), native(thirty_b())
CHOSEN = with_settings(tier="4", dial="exact")
PLAN = make_plan(MACHINE, MODEL, CHOSEN)
HERE = speed_record.conditions(MACHINE, MODEL, PLAN, "exact")
ACTIVE = 8 * 48 * MODEL.record_bytes[4]


def decoded(speed: float, misses: float) -> Decoded:
    """100 tokens at that speed; misses: as a part of uniform routing's."""
    return Decoded(100, 100 / speed, int(100 * misses * (1 - HERE.share) * ACTIVE))


def test_a_speed_within_the_range_is_no_news_but_narrows_it() -> None:
    speed = sum(PLAN.speed) / 2
    seen, sentence = judge(MACHINE, MODEL, PLAN, "exact", decoded(speed, 0.7))
    assert sentence == ""
    assert (seen.misses, seen.correction) == (pytest.approx(0.7, abs=0.01), 1.0)
    after = seen_again(PLAN, MACHINE, dataclasses.replace(MODEL, seen=seen), CHOSEN)
    assert PLAN.speed[0] < after.speed[0] < after.speed[1] < PLAN.speed[1]


@pytest.mark.parametrize(("factor", "word"), [(0.3, "slower"), (4.0, "faster")])
def test_a_speed_far_off_is_said_and_expected_the_next_time(factor: float, word: str) -> None:
    speed = factor * (PLAN.speed[0] if factor < 1 else PLAN.speed[1])
    seen, sentence = judge(MACHINE, MODEL, PLAN, "exact", decoded(speed, 0.7))
    assert word in sentence
    model = dataclasses.replace(MODEL, seen=seen)
    after = seen_again(PLAN, MACHINE, model, CHOSEN)
    assert after.speed[0] <= speed <= after.speed[1]
    assert sum("measured here" in s for s in after.sentences) == 1
    assert len(after.sentences) == len(PLAN.sentences)
    again, said = judge(MACHINE, model, after, "exact", decoded(speed, 0.7))
    assert said == ""
    assert again.correction == pytest.approx(seen.correction)


def test_a_speed_that_nobody_reads_along_with_is_corrected_without_a_word() -> None:
    plan = dataclasses.replace(PLAN, speed=(2000.0, 2400.0))
    seen, sentence = judge(MACHINE, MODEL, plan, "exact", decoded(600.0, 0.7))
    assert sentence == ""
    assert seen.correction > 1
    assert "slower" in judge(MACHINE, MODEL, plan, "exact", decoded(20.0, 0.7))[1]


def test_a_cache_that_no_other_expert_fits_into_is_full() -> None:
    assert is_full(10_000, 10_400, 1000)  # ten of ten and four tenths
    assert is_full(10_000, 10_600, 1000)
    assert not is_full(9_000, 10_600, 1000)
    assert is_full(95_000, 100_000, 1000)
    assert not is_full(94_000, 100_000, 1000)


def test_more_misses_than_uniform_routing_has_are_not_believed() -> None:
    seen, _ = judge(MACHINE, MODEL, PLAN, "exact", decoded(PLAN.speed[0], 5.0))
    assert seen.misses == 1.0


def test_it_is_kept_beside_the_store_for_the_same_conditions_alone(tmp_path: Path) -> None:
    seen = speed_record.Seen(0.6, 0.8)
    keep(tmp_path, HERE, seen, 11.0)
    assert read(tmp_path, HERE) == seen
    assert read(tmp_path, dataclasses.replace(HERE, share=HERE.share + 0.05)) == seen
    changes: list[dict[str, object]] = [
        {"share": HERE.share + 0.2}, {"tier": 8}, {"dial": "fast"}, {"threads": 99}, {"isa": "avx2"}, {"dense": "f32"},
    ]  # fmt: skip
    for change in changes:
        assert read(tmp_path, dataclasses.replace(HERE, **change)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("rate", "correction"), [(0.9, 0.8), (1.5, 0.8), (0.1, 1.0), (9.0, 1.0)])
def test_what_was_expected_with_quite_another_rate_corrects_nothing(
    tmp_path: Path, rate: float, correction: float
) -> None:
    """A disk that gave a tenth for a moment, just when the model was opened, says nothing of the plan."""
    keep(tmp_path, HERE, speed_record.Seen(0.6, 0.8), 11.0)
    assert read(tmp_path, dataclasses.replace(HERE, rate=rate * HERE.rate)) == speed_record.Seen(0.6, correction)


def test_the_speed_measured_is_told_under_the_same_conditions_at_about_the_same_rate(tmp_path: Path) -> None:
    def told(**changes: object) -> float:
        machine = dataclasses.replace(MACHINE, **changes)  # type: ignore[arg-type]
        return measured(tmp_path, machine, MODEL, PLAN, CHOSEN)

    assert told() == 0.0
    keep(tmp_path, HERE, speed_record.Seen(0.6, 0.8), 11.0)
    assert told() == 11.0
    assert told(isa="other") == 0.0
    assert measured(tmp_path, laptop(16, 9e9), MODEL, PLAN, CHOSEN) == 0.0  # another disk
    assert measured(tmp_path, MACHINE, MODEL, dataclasses.replace(PLAN, mode="gpu"), CHOSEN) == 0.0
    file = tmp_path / speed_record.FILE
    for damaged in ("NaN", "-1", "1e300", "[]"):
        keep(tmp_path, HERE, speed_record.Seen(0.6, 0.8), 11.0)
        file.write_text(file.read_text(encoding="utf-8").replace("11.0", damaged), encoding="utf-8")
        assert told() == 0.0
    keep(tmp_path, HERE, speed_record.Seen(0.6, 0.8), 11.0)
    file.write_text(file.read_text(encoding="utf-8").replace(', "speed": 11.0', ""), encoding="utf-8")
    assert told() == 0.0  # kept by an older version
    assert read(tmp_path, HERE) is not None


def test_the_file_is_read_once_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, HERE, speed_record.Seen(0.6, 0.8), 11.0)
    files: list[Path] = []

    def counted(file: Path) -> object:
        files.append(file)
        return json.loads(file.read_text(encoding="utf-8"))

    monkeypatch.setattr(speed_record, "read_json", counted)
    assert measured(tmp_path, MACHINE, MODEL, PLAN, CHOSEN) == 11.0
    assert files == [tmp_path / speed_record.FILE]


def test_all_in_memory_is_another_matter_than_nearly_all() -> None:
    nearly = Conditions(tier=4, dense="int8", dial="exact", isa="avx2", threads=8, share=0.95, rate=1e9)
    assert not nearly.like(dataclasses.replace(nearly, share=1.0))


@pytest.mark.parametrize("change", [("0.6", "NaN"), ("0.6", "7"), ("0.8", "-1"), ("{", ""), ('"tier"', '"other"')])
def test_a_damaged_file_was_never_kept(tmp_path: Path, change: tuple[str, str]) -> None:
    keep(tmp_path, HERE, speed_record.Seen(0.6, 0.8), 11.0)
    file = tmp_path / speed_record.FILE
    file.write_text(file.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    assert read(tmp_path, HERE) is None


def test_a_store_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    keep(tmp_path / "not there", HERE, speed_record.Seen(0.6), 11.0)


@pytest.fixture
def clean(home: Path) -> Path:
    """The built-in store as if it never had run."""
    store = home / "models" / "builtin"
    (store / speed_record.FILE).unlink(missing_ok=True)
    return store


class Quiet:
    """Listens to nothing."""

    def turns_dropped(self, count: int) -> None:
        pass

    def prompt_read(self, done: int, total: int, reused: int) -> None:
        pass

    def text(self, text: str, token_ids: object) -> None:
        pass

    def cancelled(self) -> bool:
        return False


def answer(session: Session, tokens: int) -> None:
    values = validated({"max_tokens": tokens, "temperature": 1.5, "seed": 1}, SAMPLING)
    session.generate((Message("user", "Tell me a story about a brave dog."),), Sampling(**values), (), Quiet())  # type: ignore[arg-type]


def test_an_open_model_tells_once_that_it_is_far_slower_and_the_next_start_knows(
    clean: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    told: list[str] = []
    with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as session:
        session.on_notice = told.append
        session.plan = dataclasses.replace(session.plan, speed=(1e6, 1e6))
        monkeypatch.setattr(speed_record, "TOKENS", 20)
        monkeypatch.setattr(speed_record, "READING", 1e9)
        for _ in range(5):  # the first ones fill the cache
            answer(session, 40)
        assert told == [""]  # only the figures change
        assert "slower than the" in caplog.text
        assert session.plan.speed[1] < 1e6
        assert session.plan.sentences == session.card.plan[: len(session.plan.sentences)]
        corrected = session.facts.seen
    assert (clean / speed_record.FILE).is_file()
    speed = json.loads((clean / speed_record.FILE).read_text(encoding="utf-8"))["speed"]
    assert speed > 0
    monkeypatch.setattr(
        speed_record, "changed", lambda then, now: False
    )  # a busy machine is not as fast at every start
    card = library.card(clean)
    assert FitEstimates({"dial": "exact", "threads": 1}).estimated(card).measured == pytest.approx(speed)
    assert FitEstimates({"dial": "exact", "threads": 2}).estimated(card).measured == 0.0
    with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as session:
        assert session.facts.seen == corrected
    with open_calibrated("builtin", {"dial": "exact", "threads": 1, "dense": "int8"}) as session:
        assert session.facts.seen is None


def test_what_is_corrected_without_a_word_is_expected_from_then_on(
    clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as session:
        told: list[str] = []
        session.on_notice = told.append
        before = session.plan.speed
        monkeypatch.setattr(speed_record, "TOKENS", 20)
        monkeypatch.setattr(speed_record, "judge", lambda *_: (speed_record.Seen(1.0, 0.5), ""))
        for _ in range(5):
            answer(session, 40)
        assert told == [""]
        assert session.plan.speed == pytest.approx(tuple(speed / 2 for speed in before))
        assert any("measured here" in sentence for sentence in session.card.plan)


def test_a_cache_that_is_still_filling_says_nothing(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_calibrated("builtin", {"dial": "exact", "threads": 1, "remember_routing": False}) as session:
        monkeypatch.setattr(speed_record, "TOKENS", 2)
        monkeypatch.setattr("engine.session.speed_check.is_full", lambda *_: False)  # however soon it was filled
        answer(session, 20)
    assert not (clean / speed_record.FILE).exists()
