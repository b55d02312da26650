"""Line plots as SVG, for pages that are read in a browser or on a code host; written without a library.

Plot("Title", "beliefs in the slice", "times", {"a line": [(1_000, 1.0), (100_000, 1.1)]}).svg()
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 40, 48
LEGEND_LINE = 18
COLOURS = ("#1b6ca8", "#c8553d", "#3d8b5f", "#8a5aa8", "#9a7b1f", "#4a4a4a")
"""Told apart by people who see few colours, and by the shape of their points."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over a logarithmic axis; the other axis begins at zero."""

    title: str
    across: str
    up: str
    lines: Mapping[str, Points]

    def svg(self) -> str:
        """Return the drawing."""
        xs = sorted({x for points in self.lines.values() for x, _ in points})
        top = _round_up(max(y for points in self.lines.values() for _, y in points))
        height = HEIGHT + LEGEND_LINE * len(self.lines)
        frame = _Frame(math.log10(xs[0]), math.log10(xs[-1]) if xs[-1] > xs[0] else math.log10(xs[0]) + 1, top)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"',
            f' aria-label="{escape(self.title)}" font-family="sans-serif" font-size="12" fill="#333">',
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            f'<text x="{LEFT}" y="22" font-size="14" font-weight="bold">{escape(self.title)}</text>',
            *_grid(frame, self.up),
            *_ticks(frame, xs, self.across),
        ]
        for number, (name, points) in enumerate(self.lines.items()):
            parts += _line(frame, number, name, points)
        return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class _Frame:
    least: float
    most: float
    top: float

    def x(self, value: float) -> float:
        share = (math.log10(value) - self.least) / (self.most - self.least)
        return round(LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 40), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM), 1)


def _grid(frame: _Frame, unit: str) -> list[str]:
    parts = [f'<text x="{LEFT - 8}" y="{TOP - 4}" text-anchor="end">{escape(unit)}</text>']
    for step in range(5):
        value = frame.top * step / 4
        y = frame.y(value)
        parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{value:g}</text>')
    return parts


def _ticks(frame: _Frame, xs: Sequence[float], name: str) -> list[str]:
    below = HEIGHT - BOTTOM + 18
    parts = [f'<text x="{frame.x(x)}" y="{below}" text-anchor="middle">{x:,.0f}</text>' for x in xs]
    return [*parts, f'<text x="{(LEFT + WIDTH) / 2}" y="{below + 18}" text-anchor="middle">{escape(name)}</text>']


def _line(frame: _Frame, number: int, name: str, points: Points) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    places = [(frame.x(x), frame.y(y)) for x, y in points]
    path = " ".join(f"{x},{y}" for x, y in places)
    legend = HEIGHT + 4 + LEGEND_LINE * number
    return [
        f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>',
        *(_point(number, x, y, colour) for x, y in places),
        _point(number, LEFT, legend, colour),
        f'<text x="{LEFT + 12}" y="{legend + 4}">{escape(name)}</text>',
    ]


def _point(number: int, x: float, y: float, colour: str) -> str:
    if number % 3 == 0:
        return f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
    if number % 3 == 1:
        return f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8" fill="{colour}"/>'
    return f'<path d="M{x} {y - 5}L{x + 5} {y + 4}L{x - 5} {y + 4}Z" fill="{colour}"/>'


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 2.5, 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value)
