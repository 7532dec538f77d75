"""What the colours of the heatmap mean: a picture of one pixel per expert, its legend, and words for one expert."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from PySide6.QtGui import QColor, QImage

from app.i18n.translate import plural, tr, tr_noop
from app.theme.tokens import TIER_NAMES, Palette
from engine import protocol

USES, LOADED, GATES, RESIDENCY, PLACE = "uses", "loaded", "gates", "residency", "place"
MEANINGS = {
    USES: tr_noop("Uses in this answer"),
    LOADED: tr_noop("Uses since it was opened"),
    GATES: tr_noop("Gate weight in this answer"),
    RESIDENCY: tr_noop("Precision in memory"),
    PLACE: tr_noop("Where it lies"),
}
PLACES = {0: tr_noop("on disk"), 1: tr_noop("in memory"), 2: tr_noop("in graphics memory")}
_PLACE_TIERS = {0: "0", 1: "8", 2: "16"}  # colours, by those of the tiers
_STEPS = 64


def draw(data: protocol.Telemetry, meaning: str, palette: Palette) -> QImage:
    """One pixel per expert, colours from a table."""
    if meaning in (RESIDENCY, PLACE):
        names = _PLACE_TIERS if meaning == PLACE else {t: str(t) for t in (0, 2, 4, 8, 16, 32)}
        code = {value: i for i, value in enumerate(names)}
        table = data.places if meaning == PLACE else data.residency
        lines = [bytes(code[value] for value in row) for row in table]
        colours = [QColor(palette.tiers[name]).rgb() for name in names.values()]
    else:
        lines = _levels({USES: data.activations, LOADED: data.uses, GATES: data.gates}[meaning])
        colours = ramp(palette.heat, _STEPS)
    rows, columns = len(lines), max(len(line) for line in lines)
    stride = (columns + 3) // 4 * 4
    pixels = b"".join(line.ljust(stride, b"\0") for line in lines)
    image = QImage(pixels, columns, rows, stride, QImage.Format.Format_Indexed8)
    image.setColorTable(colours)
    return image.convertToFormat(QImage.Format.Format_RGB32)  # a copy: the bytes may go


def _levels(table: Sequence[Sequence[float]]) -> list[bytes]:
    """Rows of steps of the ramp, by square root, so that rare ones can be told apart; 0 stays 0 and nothing else is."""
    found = set().union(*table)
    scale = (_STEPS - 1) / math.sqrt(max(found) or 1)
    steps = {n: max(1, round(math.sqrt(n) * scale)) if n else 0 for n in found}  # few, of counts: each once
    return [bytes(map(steps.__getitem__, row)) for row in table]


@cache
def ramp(stops: tuple[str, ...], steps: int) -> list[int]:
    """`steps` colours from the first stop to the last."""
    made = []
    ends = [QColor(s) for s in stops]
    for step in range(steps):
        place = step / (steps - 1) * (len(ends) - 1)
        i = min(int(place), len(ends) - 2)
        f = place - i
        a, b = ends[i], ends[i + 1]
        mixed = [round(x + (y - x) * f) for x, y in zip(a.getRgb()[:3], b.getRgb()[:3])]  # type: ignore[index]
        made.append(QColor(*mixed).rgb())
    return made


def legend(meaning: str, palette: Palette, data: protocol.Telemetry | None) -> list[tuple[str, str]]:
    """(colour, words) for the line under the map: of tiers and places, those that occur."""
    if meaning == GATES:
        return [(palette.heat[0], tr("none")), (palette.heat[2], tr("small")), (palette.heat[-1], tr("large"))]
    if meaning in (USES, LOADED):
        return [
            (palette.heat[0], tr("never")),
            (palette.heat[2], tr("now and then")),
            (palette.heat[-1], tr("often")),
        ]
    table = () if data is None else data.places if meaning == PLACE else data.residency
    found = sorted({value for row in table for value in row} | {0})
    if meaning == PLACE:
        return [(palette.tiers[_PLACE_TIERS[value]], tr(PLACES[value])) for value in found]
    return [(palette.tiers[str(value)], tr(TIER_NAMES[str(value)])) for value in found]


def describe(data: protocol.Telemetry, row: int, expert: int) -> str:
    """What is known of one expert, a line each."""
    held, place = data.residency[row][expert], data.places[row][expert] if data.places else 0
    where = tr(PLACES[0])
    if held:
        where = tr("{place} at {bits} bits", place=tr(PLACES[place or 1]), bits=held)
    lines = [
        tr("Layer {layer}, expert {expert}", layer=data.layer_names[row], expert=expert),
        tr("{times} in this answer", times=times(data.activations[row][expert])),
        where,
    ]
    if data.uses:
        lines.insert(2, tr("{times} since the model was opened", times=times(data.uses[row][expert])))
    if data.gates and data.gates[row][expert]:
        lines.insert(3, tr("mean gate weight {weight:.2f}", weight=data.gates[row][expert]))
    return "\n".join(lines)


def times(uses: int) -> str:
    """'not used', 'used once', 'used 12 times'."""
    return tr("not used") if not uses else plural("used once", "used {count} times", uses, count=f"{uses:,}")
