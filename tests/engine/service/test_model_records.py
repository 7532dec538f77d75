"""What is kept of models: how probable each is, what it costs, and that both survive a restart and damage."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from engine.service import model_records
from engine.service.model_profile import MemoryCosts, ModelProfile, RunMeter
from engine.service.model_records import FILE, ModelRecords
from engine.service.model_usage import HALF_LIFE, ModelUsage, lacks_preliminary


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own."""
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path))
    return tmp_path


def test_probabilities_are_shares_of_what_was_asked_for_lately() -> None:
    usage = ModelUsage()
    assert usage.probability("a") == 0
    for _ in range(HALF_LIFE):
        usage.note("a")
    assert usage.probability("a") == pytest.approx(1)
    for _ in range(HALF_LIFE):
        usage.note("b")
    assert usage.probability("a") == pytest.approx(1 / 3, abs=0.01)  # half as much as at first, of one and a half
    assert usage.probability("a") + usage.probability("b") == pytest.approx(1)


def test_what_was_not_used_for_long_is_forgotten() -> None:
    usage = ModelUsage()
    usage.note("old", "older")
    for _ in range(10 * HALF_LIFE):
        usage.note("new")
    assert set(usage.uses) == {"new"}
    assert usage.after == {}


def test_a_model_goes_on_from_others_where_most_of_its_requests_did() -> None:
    usage = ModelUsage()
    for first in ("a", "b"):
        usage.note(first)
        usage.note("then", first)
    assert usage.preliminaries("then") == {"a", "b"}
    assert usage.preliminaries("a") == frozenset()
    assert lacks_preliminary(usage, "then", ["then", "c"])
    assert not lacks_preliminary(usage, "then", ["then", "b"])
    assert not lacks_preliminary(usage, "a", [])
    for _ in range(3):
        usage.note("then")
    assert not lacks_preliminary(usage, "then", [])


def test_a_run_costs_what_was_seen_of_runs() -> None:
    """K and B by least squares from runs of different lengths, though each took a little more or less."""
    dice, profile = random.Random(1), ModelProfile()
    assert profile.latency == (0, 0)
    for _ in range(60):
        n = dice.randrange(1, 12)
        profile = profile.answered(n, 2.0 * n + 5.0 + dice.uniform(-0.1, 0.1))
    assert profile.latency == pytest.approx((2.0, 5.0), abs=0.1)
    loaded = profile.opened(7.0, 1)
    assert loaded.additional(3, joins=True, loaded=True) == pytest.approx(6, abs=0.1)
    assert loaded.additional(3, joins=False, loaded=True) == pytest.approx(11, abs=0.2)
    assert loaded.additional(3, joins=False, loaded=False) == pytest.approx(18, abs=0.2)


def test_the_greatest_batch_is_where_answers_come_no_sooner() -> None:
    """coserve, section 4.5: where the average latency plateaus; sizes that were not seen are passed over."""
    assert ModelProfile().greatest_batch == 0
    passes = {1: 1.0, 2: 1.4, 4: 2.0, 5: 2.45, 8: 3.9}  # 1, 0.7, 0.5, 0.49 and 0.4875 for each answer
    profile = ModelProfile().computed(1000, passes)
    assert profile.passes == (1.0, 1.4, 0.0, 2.0, 2.45, 0.0, 0.0, 3.9)
    assert profile.greatest_batch == 4
    assert profile.computed(1000, {8: 2.0}).passes[7] == pytest.approx(3.9 - 0.3 * 1.9)
    assert profile.computed(2000, {}).context == 1300


def test_a_share_of_the_experts_costs_what_lies_between_the_steps() -> None:
    costs = MemoryCosts(pace=(5.0, 3.0, 2.0))
    assert [costs.seconds(share) for share in (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0)] == [5, 5, 4, 3, 2.5, 2, 2]
    assert MemoryCosts().seconds(0.5) == 0


@pytest.mark.parametrize(
    ("runs", "latency"),
    [
        ([(1, 4.0), (1, 6.0)], (5.05, 0.0)),  # of equal runs; the later counts a little more
        ([(1, 5.0), (2, 4.0)], None),  # as if more answers took less time
        ([(1, 1.0), (4, 9.0)], None),  # as if none took negative time
    ],
)
def test_neither_is_ever_negative(runs: list[tuple[int, float]], latency: tuple[float, float] | None) -> None:
    profile = ModelProfile()
    for n, seconds in runs:
        profile = profile.answered(n, seconds)
    k, b = profile.latency
    assert min(k, b) >= 0
    assert k + b > 0
    if latency is not None:
        assert (k, b) == pytest.approx(latency, abs=0.01)


def test_the_first_opening_is_believed_and_later_ones_a_little() -> None:
    profile = ModelProfile().opened(10.0, 5)
    assert (profile.load, profile.nbytes) == (10.0, 5)
    assert profile.opened(20.0, 6).load == pytest.approx(13.0)


def test_runs_are_timed_while_answers_are_under_way() -> None:
    clock, ended = [0.0], list[tuple[str, int, float]]()
    meter = RunMeter(lambda *run: ended.append(run), lambda: clock[0])

    def answer(key: str, seconds: float) -> None:
        with meter.answering(key):
            clock[0] += seconds

    answer("a", 1.0)
    clock[0] += 100  # nobody asks
    with meter.answering("a"):
        answer("a", 2.0)  # at once
        clock[0] += 1.0
    answer("b", 3.0)
    assert ended == [("a", 3, 4.0)]
    meter.end()
    meter.end()
    assert ended[1:] == [("b", 1, 3.0)]


def test_runs_that_say_nothing_are_left_out() -> None:
    ended = list[tuple[str, int, float]]()
    meter = RunMeter(lambda *run: ended.append(run))
    with pytest.raises(OSError, match="gone"), meter.answering("a"):
        raise OSError("gone")
    with meter.answering("b"), meter.answering("c"):
        meter.end()
    meter.end()
    assert ended == []


def test_counts_and_costs_survive_a_restart(place: Path) -> None:
    records = ModelRecords()
    records.note_use("a")
    records.note_use("b", "a")
    costs = MemoryCosts(dense=4, least=1, refill=1e-9, pace=(2.0, 1.0))
    records.keep_profile("a", ModelProfile().opened(3.0, 9).needing(costs).computed(7, {2: 0.5}).answered(2, 5.0))
    records.save()
    again = ModelRecords()
    assert again.usage == records.usage
    assert again.profile("a") == records.profile("a") != ModelProfile()
    assert again.profile("b") == ModelProfile()


def test_nothing_is_written_where_nothing_was_seen(place: Path) -> None:
    ModelRecords().save()
    assert not (place / FILE).exists()


def test_on_another_computer_only_the_counts_hold(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = ModelRecords()
    records.note_use("a")
    records.keep_profile("a", ModelProfile().opened(3.0, 9))
    records.save()
    monkeypatch.setattr(model_records, "_computers", {place / "models": "another"})
    again = ModelRecords()
    assert again.usage.probability("a") == 1
    assert again.profile("a") == ModelProfile()


def test_a_model_whose_use_is_not_to_be_remembered_is_forgotten(place: Path) -> None:
    records = ModelRecords()
    records.note_use("a")
    records.note_use("b", "a")
    records.forget_use("a")
    records.save()
    assert not ModelRecords().usage.knows("a")
    assert ModelRecords().usage.knows("b")


@pytest.mark.parametrize(
    "damage",
    [
        lambda found: "",
        lambda found: "[]",
        lambda found: json.dumps({**found, "version": 99}),
        lambda found: json.dumps({**found, "usage": {"uses": {"a": float("nan")}, "after": []}}),
        lambda found: json.dumps({**found, "usage": {"uses": [], "after": []}}),
        lambda found: json.dumps({**found, "usage": {"uses": {"a": -1}, "after": []}}),
        lambda found: json.dumps({**found, "profiles": {"a": {"load": 1}}}),
        lambda found: json.dumps({**found, "splits": {"a": {"share": 2, "budget": 1, "throughput": 1, "usual": 1}}}),
        lambda found: json.dumps({name: each for name, each in found.items() if name != "splits"}),
        lambda found: json.dumps(found)[:-9],
    ],
)
def test_a_damaged_file_counts_as_none(place: Path, damage: object) -> None:
    records = ModelRecords()
    records.note_use("a")
    records.keep_profile("a", ModelProfile().opened(3.0, 9))
    records.save()
    found = json.loads((place / FILE).read_text())
    (place / FILE).write_text(damage(found))  # type: ignore[operator]
    again = ModelRecords()
    assert again.usage == ModelUsage()
    assert again.profiles == {}
    again.note_use("a")
    again.save()
    assert ModelRecords().usage.probability("a") == 1


def test_a_model_goes_by_its_store_wherever_it_lies(place: Path, mine: Path) -> None:
    records = ModelRecords()
    assert records.key("builtin") == records.key("m") == records.key(mine / "m") != ""
    assert records.key("none of this name") == records.key("..") == ""


def test_a_model_has_a_profile_for_each_device(place: Path) -> None:
    records = ModelRecords()
    on_card, on_processor = ModelProfile().opened(1.0, 9), ModelProfile().opened(3.0, 9)
    records.computes_on("a", "cpu-assisted")
    records.keep_profile("a", on_card)
    records.computes_on("a", "cpu")
    assert records.profile("a") == ModelProfile()
    records.keep_profile("a", on_processor)
    records.keep_profile("ab", ModelProfile().opened(5.0, 9))
    records.save()
    again = ModelRecords()
    assert again.profile("a") == on_processor  # where it was open last
    again.computes_on("a", "cpu-assisted")
    assert again.profile("a") == on_card
