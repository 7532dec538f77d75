"""A plain line chart as SVG, for replays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 720, 440  # as wide as a page of text
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 52  # margins; the names stand at the right
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888")  # Okabe and Ito's
DASHED = "6 4"

Line = Sequence[tuple[float, float]]


def chart(title: str, across: str, up: str, lines: Mapping[str, Line], dashed: Sequence[str] = ()) -> str:
    """An SVG document. lines: points (x, y) by name, x and y from 0 to 1 and printed as percent.

    dashed: names of lines that are no measurements but limits.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 26, title, size=16),
        *_axes(across, up),
    ]
    ends: list[tuple[float, str, str]] = []
    for index, (name, points) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        dash = f' stroke-dasharray="{DASHED}"' if name in dashed else ""
        path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{_x(x):.1f}" cy="{_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        if points:
            ends.append((_y(points[-1][1]), name, colour))
    at = 0.0
    for y, name, colour in sorted(ends):
        at = max(y + 4, at + 16)  # names keep out of each other's way
        parts.append(_text(WIDTH - RIGHT + 8, at, name, colour=colour))
    return "\n".join([*parts, "</svg>", ""])


def _axes(across: str, up: str) -> list[str]:
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _x(tick), _y(tick)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eeeeee"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{100 * tick:.0f} %", anchor="end"))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{100 * tick:.0f} %", anchor="middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_text(middle, HEIGHT - 14, across, anchor="middle"))
    centre = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 16 {centre:.1f})">{_text(16, centre, up, anchor="middle")}</g>')
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222222", size: int = 13) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{escape(text)}</text>'
    )


def _x(value: float) -> float:
    return LEFT + value * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)
