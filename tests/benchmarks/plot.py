"""Lines over two logarithmic axes as SVG, and the exponent that fits each: the slope of the logarithms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 20 + 24, 50  # margins; above the lines stand their names
COLOURS = ("#2a6fb0", "#c2571a", "#3c8a4e", "#8456a8")
TEXT = 'font-family="sans-serif" font-size="13" fill="#333"'
Points = Sequence[tuple[float, float]]


def exponent(points: Points) -> float:
    """Least-squares slope of log y over log x: 1 where y is proportional to x, less where a part of it stays.

    Raises ValueError with fewer than two points, or where a value is not above 0.
    """
    if len(points) < 2 or any(x <= 0 or y <= 0 for x, y in points):
        raise ValueError("an exponent needs two points or more, all above 0")
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in points), strict=True)
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    across = sum((x - middle_x) ** 2 for x in xs)
    if not across:
        raise ValueError("an exponent needs two different x")
    return sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / across


def ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten within the range; powers alone where that would be more than eight."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    within = [tick for tick in fine if low <= tick <= high]
    return within if len(within) <= 8 else [tick for tick in within if math.log10(tick) % 1 < 1e-9]


class Axis:
    """Where values of a range lie between two positions of the picture."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low, self.high = min(values) / 1.15, max(values) * 1.15
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        """Position."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self._start + share * (self._end - self._start), 1)


def svg(lines: Mapping[str, Points], x_title: str, y_title: str) -> str:
    """The picture. lines: points by name, all above 0."""
    across = Axis([x for points in lines.values() for x, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis([y for points in lines.values() for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for tick in ticks(across.low, across.high):
        at = across.at(tick)
        parts.append(_line(at, TOP, at, HEIGHT - BOTTOM))
        parts.append(_text(at, HEIGHT - BOTTOM + 18, f"{tick:,.10g}", "middle"))
    for tick in ticks(up.low, up.high):
        at = up.at(tick)
        parts.append(_line(LEFT, at, WIDTH - RIGHT, at))
        parts.append(_text(LEFT - 6, at + 4, f"{tick:,.10g}", "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_title, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 16 {middle})">{_text(16, middle, y_title, "middle")}</g>')
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{across.at(x)},{up.at(y)}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += (f'<circle cx="{across.at(x)}" cy="{up.at(y)}" r="3.5" fill="{colour}"/>' for x, y in points)
        start = LEFT + number * (WIDTH - LEFT - RIGHT) / len(lines)
        parts.append(f'<rect x="{start:.0f}" y="16" width="14" height="4" fill="{colour}"/>')
        parts.append(_text(start + 20, 23, name, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#ddd"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {TEXT}>{escape(text)}</text>'
