"""The page of figures is what the kept results say, and its commands can still be given."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.benchmarks import figures_page, report
from tests.benchmarks.figures_page import PAGE, PICTURES, number, page, plots, section
from tests.benchmarks.plot import exponent, svg, ticks
from tests.benchmarks.questions import QUESTIONS, RUNS, Column, Plot, Question, Run
from tests.benchmarks.results import FOLDER, keep, kept_rows, load, missing


class Parsed(Exception):
    """The command line was understood."""


def test_the_page_is_what_the_kept_results_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.benchmarks.report"
    for name, text in plots().items():
        assert (PICTURES / name).read_text("utf-8") == text, "run python -m tests.benchmarks.report"


def test_every_kept_result_belongs_to_a_run() -> None:
    assert {path.stem for path in FOLDER.glob("*")} <= set(RUNS)
    assert len(RUNS) == sum(len(question.runs) for question in QUESTIONS)


@pytest.mark.parametrize("name", RUNS)
def test_every_command_is_understood_by_its_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = argparse.ArgumentParser.parse_args

    def parsed(self: argparse.ArgumentParser, *given: Any) -> NoReturn:
        assert real(self, *given).json
        raise Parsed

    kept = load(RUNS[name][1])
    for command in {RUNS[name][1].command, *([kept.command] if kept else [])}:
        _, _, module, *options = shlex.split(command)
        monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)
        monkeypatch.setattr(sys, "argv", [module, *options])
        with pytest.raises(Parsed):
            importlib.import_module(module).main()


RUN = Run("one", "kernel --json")
ROWS = Question(
    "Q?", "A.", (RUN,), (Column("speed, GB/s", "of.it"), Column("peer", "peer", 100, True)), "rows", (), "n"
)


def test_a_result_keeps_what_its_table_shows_and_the_table_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.results.RUNS", {"one": (ROWS, RUN)})
    assert missing(tmp_path) == ["one"]
    found = {"rows": {"a|b": {"of": {"it": 1234.5, "more": 1}}, "c": {"of": {"it": 0.0123}, "peer": 0.5}}}
    path = keep(RUN, ROWS, found, 0.2, tmp_path)
    assert "more" not in path.read_text("utf-8")
    assert missing(tmp_path) == []
    text = "\n".join(section(ROWS, tmp_path))
    assert "| n | speed, GB/s | peer |\n| --- | --- | --- |\n| a\\|b | 1,234 | – |\n| c | 0.0123 | 50 |" in text
    assert "**disturbed: others 20 %**" in text
    assert RUN.command in text
    path.write_text(path.read_text("utf-8").replace("kernel", "layer"), "utf-8")
    assert missing(tmp_path) == ["one"]
    assert "has changed since" in "\n".join(section(ROWS, tmp_path))


def test_what_is_not_measured_is_said(tmp_path: Path) -> None:
    text = "\n".join(section(ROWS, tmp_path))
    assert "`one` is not yet measured." in text
    assert "|" not in text


def test_a_value_that_a_benchmark_no_longer_gives_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"of\.it"):
        kept_rows(ROWS, {"rows": {"a": {"of": {}}}})
    listed = replace(ROWS, labels=("name",))
    assert kept_rows(listed, {"rows": [{"name": "x", "of": {"it": 1}}]})[0] == {"row": "x", "of.it": 1, "peer": None}
    picked = replace(ROWS, rows="a|b")
    assert [r["row"] for r in kept_rows(picked, {"a": {"of": {"it": 1}}, "b": {"of": {"it": 2}}, "c": 3})] == ["a", "b"]


def test_runs_without_models_or_with_an_error_are_left_out_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(report.OPTIONS["folder"], "default", tmp_path)
    with pytest.raises(report.NotMeasured, match=r"--shape qwen3 --large$"):
        report.measure(ROWS, replace(RUN, needs=("qwen3-24x128/store-4",)), 0.0)
    with pytest.raises(report.NotMeasured, match="invalid choice"):
        report.answer(replace(RUN, arguments="kernel --isa none"))


def test_a_fitted_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([(x, 3 * x**1.5) for x in (1, 2, 8)]) == pytest.approx(1.5)
    assert exponent([(x, 5 + 0.01 * x) for x in (1, 2, 8)]) == pytest.approx(0, abs=0.01)
    for wrong in ([(1.0, 1.0)], [(1, 1), (2, 0)], [(1, 1), (1, 2)]):
        with pytest.raises(ValueError, match="an exponent needs"):
            exponent(wrong)


def test_growth_above_what_is_wanted_is_said(tmp_path: Path) -> None:
    x, y = Column("n", "n"), Column("time, ms", "t")
    question = Question("Q?", "A.", (RUN,), (y,), "rows", ("n",), "n", Plot(x, (y,), (1.0,), "ms"))
    for power, verdict in ((1.0, "as wanted"), (1.5, "**more than wanted**")):
        keep(RUN, question, {"rows": [{"n": n, "t": n**power} for n in (1, 2, 4)]}, None, tmp_path)
        text = "\n".join(section(question, tmp_path))
        assert f"Exponent of time: {power:.2f} over all, {power:.2f} at the end; at most 1: {verdict}." in text
        assert "pictures/one.svg" in text


def test_the_picture_has_every_point_within_its_edges() -> None:
    text = svg({"a & b": [(1, 10), (100, 1000)], "c": [(10, 5)]}, "x", "y")
    assert "a &amp; b" in text
    assert text.count("<circle") == 3
    assert all(math.log10(tick) % 1 < 1e-9 for tick in ticks(1, 1e9))
    assert ticks(0.9, 6) == [1, 2, 5]


@pytest.mark.parametrize(
    ("found", "text"), [(None, "–"), (True, "yes"), ("x", "x"), (0.12345, "0.123"), (12345.6, "12,346"), (0, "0")]
)
def test_how_numbers_are_written(found: Any, text: str) -> None:
    assert number(found) == text


def test_results_are_small() -> None:
    for path in FOLDER.glob("*.json"):
        assert path.stat().st_size < 20_000, path
        assert set(json.loads(path.read_text("utf-8"))) == {
            "command", "date", "revision", "processor", "cores", "memory_gb", "others", "rows",
        }  # fmt: skip
    assert figures_page.BUSY == 0.15
