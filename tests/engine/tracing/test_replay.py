"""Replay: every policy at every size, bounds below everybody, and a plot that shows them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from engine.experts.eam import EamCollection
from engine.experts.precision import EXACT, Thresholds
from engine.tracing.replay import BELADY, BOUND, Replayer, chart, compare, rows_of
from tests.engine.tracing.traces import chance_trace, trace_of


def test_every_policy_at_every_size_and_the_bound_below_them() -> None:
    said: list[tuple[int, int]] = []
    for thresholds in (EXACT, Thresholds(0.5, 0.9)):
        replayer = Replayer(chance_trace(200), thresholds)
        found = compare(replayer, (0.25, 0.5), lambda done, total: said.append((done, total)))
        names = rows_of(thresholds)
        assert [(r.policy, r.share) for r in found] == [(name, share) for share in (0.25, 0.5) for name in names]
        assert said[-1] == (len(found), len(found))
        for share in (0.25, 0.5):
            rows = {r.policy: r for r in found if r.share == share}
            least = rows[BELADY if thresholds.exact else BOUND]
            assert all(least.bytes_read <= r.bytes_read for r in rows.values())
            assert all(r.capacity == rows["lru"].capacity for r in rows.values())
            if thresholds.exact:
                assert len({r.uses for r in rows.values()}) == 1


def test_a_cache_for_everything_misses_each_expert_once() -> None:
    replayer = Replayer(trace_of([[0, 1], [2, 3], [0, 2]] * 5, layers=2), EXACT)
    for policy in rows_of(EXACT):
        assert replayer.play(policy, 1.0).misses == 8


def test_more_room_never_misses_more_under_lru() -> None:
    generator = np.random.default_rng(0)
    trace = trace_of([list(generator.choice(6, 2, replace=False)) for _ in range(200)], layers=2)
    rates = [replay.hit_rate for replay in compare(Replayer(trace, EXACT)) if replay.policy == "lru"]
    assert rates == sorted(rates)
    assert len(rates) == 4


def test_the_plot_is_an_svg_with_a_line_for_each() -> None:
    lines = {"lru": [(0.25, 0.8), (0.5, 0.4)], "best & <known>": [(0.25, 0.3), (0.5, 0.1)]}
    root = ET.fromstring(chart("A title", "across", "up", lines, ["best & <known>"]))
    drawn = root.findall("{*}polyline")
    assert [len(line.attrib["points"].split()) for line in drawn] == [2, 2]
    assert [("stroke-dasharray" in line.attrib) for line in drawn] == [False, True]
    (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in drawn[0].attrib["points"].split())
    assert x0 < x1
    assert y0 < y1  # less is lower, and down is more in SVG
    assert {"A title", "lru", "best & <known>"} <= {text.text for text in root.iter() if text.text}


def test_activation_begins_with_the_matrices_of_past_answers_and_leaves_them_as_they_are() -> None:
    trace = trace_of([[token % 2, 2 + token % 2] for token in range(40)], layers=2, experts=8, starts=(0, 10, 20, 30))
    past = EamCollection(2, 8)
    past.add(np.pad(np.full((2, 4), 9, np.float32), ((0, 0), (4, 0))))  # of experts that this chat never uses
    found = [Replayer(trace, collection=one).play("activation", 0.25).misses for one in (None, past, past)]
    assert found[1] != found[0]
    assert found[1] == found[2]
    assert len(past) == 1
