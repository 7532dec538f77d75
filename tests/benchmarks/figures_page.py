"""docs/figures.md and its plots, made of nothing but the kept results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from textwrap import fill
from typing import Any

from tests.benchmarks.pipe import ROOT
from tests.benchmarks.plot import exponent, svg
from tests.benchmarks.questions import QUESTIONS, Column, Plot, Question, Run
from tests.benchmarks.results import FOLDER, ROW, Result, load

PAGE = ROOT / "docs" / "figures.md"
PICTURES = ROOT / "docs" / "pictures"
BUSY = 0.15  # of all cores: what other programs may take before a figure is called disturbed
HEAD = """# Figures

One section per question: command, machine, date, table. This page is written by

    python -m tests.benchmarks.report

from the results in `docs/figures/`; `--run` measures first ([how](benchmarks.md)). Nothing here is changed by hand.
Earlier figures, other machines and what follows from them: [benchmarks.md](benchmarks.md) and
[benchmarks-offloading.md](benchmarks-offloading.md). *Others*: what other programs took of all cores meanwhile.
"""
SLACK = 0.1  # by which a fitted exponent may be above what is wanted


def number(found: Any, scale: float = 1.0) -> str:
    """A cell: three digits, whole where there are more; a dash for what is not known."""
    if found is None:
        return "–"
    if isinstance(found, bool):
        return "yes" if found else "no"
    if not isinstance(found, (int, float)):
        return str(found)
    scaled = found * scale
    return f"{scaled:,.0f}" if abs(scaled) >= 1000 else f"{scaled:.3g}"


def page(folder: Path = FOLDER) -> str:
    """The whole page."""
    return "\n".join([HEAD, *(part for question in QUESTIONS for part in section(question, folder))])


def plots(folder: Path = FOLDER) -> dict[str, str]:
    """SVG by file name, of the questions that have one and a result."""
    found = {}
    for question in QUESTIONS:
        kept = load(question.runs[0], folder)
        if question.plot is not None and kept is not None:
            lines = {c.heading: points(question.plot.x, c, kept) for c in question.plot.lines}
            found[picture(question.runs[0])] = svg(lines, question.plot.x.heading, question.plot.y)
    return found


def picture(run: Run) -> str:
    """The file name of its plot."""
    return f"{run.name}.svg"


def points(x: Column, y: Column, kept: Result) -> list[tuple[float, float]]:
    """Of one line."""
    return [(row[x.path] * x.scale, row[y.path] * y.scale) for row in kept.rows]


def section(question: Question, folder: Path = FOLDER) -> Iterator[str]:
    """Of one question, line by line."""
    kept = {run: found for run in question.runs if (found := load(run, folder)) is not None}
    about = fill(question.about, 120, break_long_words=False, break_on_hyphens=False)
    yield f"## {question.title}\n\n{about}\n"
    for run in question.runs:
        yield f"    {kept[run].command if run in kept else run.command}"
    yield ""
    for run in question.runs:
        name = f"{run.label}: " if len(question.runs) > 1 and run.label else ""
        yield f"- {name}{_conditions(run, kept.get(run), question)}"
    yield ""
    if kept:
        yield from table(question, kept)
        yield ""
    if question.plot is not None and kept:
        yield from _growth(question.plot, question.runs[0], kept[question.runs[0]])


def _conditions(run: Run, kept: Result | None, question: Question) -> str:
    if kept is None:
        return f"`{run.name}` is not yet measured."
    day = date.fromisoformat(kept.date)
    told = [
        f"{day.day} {day:%B %Y}",
        f"{kept.processor}, {kept.cores} cores, {kept.memory_gb:g} GB",
        f"revision {kept.revision or 'unknown'}",
    ]
    if kept.others is not None:
        busy = f"others {100 * kept.others:.0f} %"
        told.append(f"**disturbed: {busy}**" if kept.others > BUSY else busy)
    changed = "" if kept.answers(question, run) else " The command or the table has changed since; measure it again."
    return "; ".join(told) + "." + changed


def table(question: Question, kept: dict[Run, Result]) -> Iterator[str]:
    """All rows of all runs; the first column is there where they have names."""
    several = len(question.runs) > 1
    rows = [
        [" · ".join(filter(None, (run.label if several else "", row[ROW]))),
         *(number(row.get(c.path), c.scale) for c in question.columns)]
        for run, result in kept.items() for row in result.rows
    ]  # fmt: skip
    if not any(row[0] for row in rows):
        yield from markdown([c.heading for c in question.columns], [row[1:] for row in rows])
    else:
        yield from markdown([question.first, *(c.heading for c in question.columns)], rows)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table's lines."""
    for cells in (heads, ["---"] * len(heads), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _growth(plot: Plot, run: Run, kept: Result) -> Iterator[str]:
    for column, wanted in zip(plot.lines, plot.wanted, strict=True):
        line = points(plot.x, column, kept)
        found, last = exponent(line), exponent(line[-2:])
        verdict = "as wanted" if max(found, last) <= wanted + SLACK else "**more than wanted**"
        name = column.heading.rpartition(",")[0]
        yield f"Exponent of {name}: {found:.2f} over all, {last:.2f} at the end; at most {wanted:g}: {verdict}.\n"
    yield f"![{', '.join(c.heading for c in plot.lines)} by {plot.x.heading}](pictures/{picture(run)})\n"


def write(folder: Path = FOLDER, target: Path = PAGE, pictures: Path = PICTURES) -> None:
    """Write page and plots."""
    target.write_text(page(folder), encoding="utf-8")
    for name, text in plots(folder).items():
        (pictures / name).write_text(text, encoding="utf-8")
