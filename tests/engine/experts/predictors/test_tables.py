"""Predictors that count: tokens, pairs, paths, and requests alike."""

from __future__ import annotations

import numpy as np
import pytest

from engine.experts.eam import EamCollection
from engine.experts.predictors import (
    Coactivation,
    Eam,
    Paths,
    Predictor,
    RoutingContext,
    RoutingShape,
    TokenTable,
    TraceView,
    walk,
)
from tests.engine.experts.predictors.runs import EXPERTS, K, by_rule

SHAPE = RoutingShape(4, EXPERTS, K)


def right(run: TraceView, predictor: Predictor, ahead: int) -> list[bool]:
    """Of every prediction made over the run, whether the top k are those that came."""
    token, found = -1, []
    for context in walk(run, [predictor]):
        token += context.row < 0
        row = context.row + ahead
        if row < run.shape.rows:
            scores = predictor.scores(context, row)
            if scores is not None:
                found.append(set(np.argsort(-scores, kind="stable")[:K].tolist()) == set(run.ids[row, token].tolist()))
    return found


def test_a_token_seen_before_brings_its_experts_back_before_the_first_layer_runs() -> None:
    table = TokenTable(SHAPE)
    run = by_rule(np.array([0, 1, 2, 0, 1, 2]), 4)
    assert right(run, table, 1) == [True] * 3 * 4
    context = RoutingContext()
    context.begin(7)
    assert table.scores(context, 0) is None


def test_pairs_say_nothing_of_experts_that_they_never_saw() -> None:
    pairs, context = Coactivation(SHAPE, 2), RoutingContext()
    context.begin(0)
    context.routed([0, 1], None)
    assert pairs.scores(context, 1) is None


def test_matrices_that_others_add_to_are_not_added_to_twice() -> None:
    past = EamCollection(4, EXPERTS)
    theirs, own = Eam(SHAPE, past, adds=False), Eam(SHAPE, past)
    run = by_rule(np.array([0, 1, 2]), 4)
    for predictor, kept in ((theirs, 0), (own, 1)):
        for _ in walk(run, [predictor]):
            pass
        predictor.begin_sequence()
        assert len(past) == kept


def test_the_table_prefers_what_came_more_often() -> None:
    table = TokenTable(RoutingShape(1, 40, 1))
    for expert in [3, 5, 5, 5, 3, 7]:
        table.add(9, np.array([[expert]]))
    context = RoutingContext()
    context.begin(9)
    scores = table.scores(context, 0)
    assert scores is not None
    assert np.argsort(-scores, kind="stable")[:3].tolist() == [5, 3, 7]


def test_a_row_with_more_experts_than_it_is_wide_keeps_those_that_come_back() -> None:
    table = TokenTable(RoutingShape(1, 200, 1))
    for round_ in range(60):
        for expert in (7, 8):
            table.add(1, np.array([[expert]]))
        table.add(1, np.array([[100 + round_]]))
    context = RoutingContext()
    context.begin(1)
    scores = table.scores(context, 0)
    assert scores is not None
    assert set(np.argsort(-scores)[:2].tolist()) == {7, 8}


def test_a_full_table_forgets_tokens_seldom_seen_and_counts_do_not_run_over() -> None:
    table = TokenTable(RoutingShape(2, 20, 1), most=64)
    for _ in range(600):
        table.add(5, np.array([[2], [3]]))
    for token in range(1000, 1500):
        table.add(token, np.array([[0], [1]]))
    assert len(table.ids) == len(table.rows_of) == 64
    assert all(table.ids[at] == token for token, at in table.rows_of.items())
    context = RoutingContext()
    context.begin(5)
    scores = table.scores(context, 1)
    assert scores is not None
    assert int(scores.argmax()) == 3
    assert scores[3] > np.log(0.9)


def test_pairs_are_found_again_at_every_distance() -> None:
    run = by_rule(np.array([0, 2, 0, 2, 0, 2]), 4)
    for ahead in (1, 2, 3):
        predictor = Coactivation(SHAPE, 3)
        found = right(run, predictor, ahead)
        assert all(found[-(4 - ahead) :])
    assert right(run, Coactivation(SHAPE, 2), 3) == []


def test_a_path_walked_before_is_known_and_a_new_one_is_not() -> None:
    paths = Paths(SHAPE)
    run = by_rule(np.array([0, 4, 0, 4]), 4)
    assert right(run, paths, 1) == [True] * 4  # two rows of the third and of the fourth token
    assert right(by_rule(np.array([1]), 4), paths, 1) == []
    assert right(run, paths, 2)[-1]
    assert len(Paths(SHAPE, most=1).counts) == 0
    few = Paths(SHAPE, most=1)
    right(run, few, 1)
    assert len(few.counts) == 1


def test_a_request_like_an_earlier_one_uses_what_that_used() -> None:
    collection = EamCollection(4, EXPERTS)
    eam = Eam(SHAPE, collection)
    kinds = [by_rule(np.full(30, token), 4) for token in (0, 3)]
    for kind in (0, 1, 0, 1):
        for _ in walk(kinds[kind], [eam]):
            pass
    eam.end_request()
    assert len(collection) == 4
    assert all(right(kinds[0], Eam(SHAPE, collection), 1)[1:])


def test_similarities_kept_up_step_by_step_are_those_of_one_product() -> None:
    random = np.random.default_rng(0)
    collection = EamCollection(4, EXPERTS)
    for _ in range(20):
        collection.add(random.poisson(2.0, (4, EXPERTS)).astype(np.float32))
    eam = Eam(SHAPE, collection)
    run = by_rule(np.array([3]), 4)
    for context in walk(run, [eam], learn=False):
        if 0 <= context.row < 3:
            eam.scores(context, 3)
            plan = eam.plan(context)
            assert plan is not None
            expected = eam._matching.expected(eam._closest)
            for row in range(context.row + 1, 4):  # section 4.5: 1 - (i - l) / L
                np.testing.assert_allclose(plan[row], expected[row] * (1 - (row - context.row) / 4), rtol=1e-5)
            now = np.zeros((4, EXPERTS), np.float32)
            for row in range(context.row + 1):
                now[row, run.ids[row, 0]] = 1
            np.testing.assert_allclose(eam._similar, collection.unit @ now.ravel(), rtol=1e-5)


def test_before_an_answer_has_begun_its_prompt_says_which_answers_it_is_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.experts.eam.MATCHES", 1)
    collection = EamCollection(4, EXPERTS)
    kinds = [np.zeros((4, EXPERTS), np.float32) for _ in range(2)]
    for kind, expert in zip(kinds, (2, 5)):
        kind[:, expert] = 7
    for answer, prompt in (kinds, kinds[::-1]):
        collection.add(answer, prompt)
    eam, context = Eam(SHAPE, collection, adds=False), RoutingContext()
    for prompt, expected in ((kinds[0], 5), (kinds[1], 2)):
        eam.begin_sequence()
        eam.prompted(prompt)
        records = eam.put_aside()
        eam.prompted(kinds[0] + kinds[1])
        eam.bring_back(records)
        context.begin(0)
        scores, plan = eam.scores(context, 1), eam.plan(context)
        assert scores is not None
        assert plan is not None
        assert scores.argmax() == plan[1].argmax() == expected
    collection.clear()
    assert eam.plan(context) is None
