"""Plots of a result as inline SVG: bars of one figure over its rows, and lines. Pure.

Colours come from the page's classes, so a plot follows the page into the dark. Sizes are in a drawing of
fixed width that the page scales, wide enough for a phone's letters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 340
_ROW, _BAR, _TOP = 34, 9, 6
_LABEL_CHARACTERS = 46
_LEFT, _RIGHT, _BOTTOM, _HEIGHT = 24, 52, 30, 232
_LEAST_APART = 11  # between the names at the ends of two lines


@dataclass(frozen=True, slots=True)
class Bar:
    """A row's value, as a number and as it is written; `before` is an earlier one, `ok` whether `goal` is met."""

    label: str
    value: float
    shown: str
    ok: bool | None = None
    before: float | None = None
    goal: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one line, left to right; `group` from 0 chooses its colour, an empty name leaves it unnamed."""

    name: str
    points: Sequence[tuple[float, float]]
    group: int = 0


@dataclass(frozen=True, slots=True)
class Lines:
    """Several lines in one plot; `levels` are named heights that are drawn through."""

    title: str
    note: str
    across: str
    up: str
    lines: Sequence[Line]
    low: float
    high: float
    levels: Sequence[tuple[str, float]] = ()


def bars(title: str, rows: Sequence[Bar], *, largest: float) -> str:
    """Draw one bar a row, from 0 to `largest`; a goal is a dashed line across it, an earlier value a notch."""
    height = _TOP + _ROW * len(rows)
    parts = [_open(title, "; ".join(f"{row.label} {row.shown}" for row in rows), height)]
    for place, row in enumerate(rows):
        top = _TOP + place * _ROW
        kind = " missed" if row.ok is False else ""
        width = f"{_along(row.value, largest):.1f}"
        parts += [
            f'<text x="0" y="{top + 12}">{escape(_cut(row.label))}</text>',
            f'<text class="value{kind}" x="{WIDTH}" y="{top + 12}" text-anchor="end">{escape(row.shown)}</text>',
            f'<rect class="track" x="0" y="{top + 17}" width="{WIDTH}" height="{_BAR}" rx="3"/>',
            f'<rect class="bar{kind}" x="0" y="{top + 17}" width="{width}" height="{_BAR}" rx="3"/>',
        ]
        if row.before is not None:
            at = _along(row.before, largest)
            parts.append(f'<path class="before" d="M{at:.1f} {top + 14}v{_BAR + 6}"/>')
        if row.goal is not None and 0 < row.goal < largest:
            parts.append(f'<path class="goal" d="M{_along(row.goal, largest):.1f} {top + 14}v{_BAR + 6}"/>')
    return "".join([*parts, "</svg>"])


def lines(plot: Lines) -> str:
    """Draw the lines with their names at their ends, and the levels across."""
    right, bottom = WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    last = max((x for line in plot.lines for x, _ in line.points), default=1.0) or 1.0

    def across(x: float) -> float:
        return _LEFT + (right - _LEFT) * x / last

    def up(y: float) -> float:
        return bottom - (bottom - _TOP) * (min(max(y, plot.low), plot.high) - plot.low) / (plot.high - plot.low)

    parts = [_open(plot.title, plot.note, _HEIGHT)]
    for name, level in plot.levels:
        parts += [
            f'<path class="level" d="M{_LEFT} {up(level):.1f}H{right}"/>',
            f'<text class="axis" x="{_LEFT - 4}" y="{up(level) + 4:.1f}" text-anchor="end">{escape(name)}</text>',
        ]
    for number in _ticks(last):
        parts.append(
            f'<text class="axis" x="{across(number):.1f}" y="{bottom + 13}" text-anchor="middle">{number:g}</text>'
        )
    parts.append(
        f'<text class="axis" x="{right}" y="{_HEIGHT - 3}" text-anchor="end">{escape(plot.across)}</text>'
        f'<text class="axis" x="{_LEFT}" y="{_HEIGHT - 3}">{escape(plot.up)}</text>'
    )
    ends: list[tuple[float, Line]] = []
    for line in plot.lines:
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in line.points)
        parts.append(f'<polyline class="line g{line.group}" points="{path}"/>')
        if line.points and line.name:
            ends.append((up(line.points[-1][1]), line))
    for height, line in _spread(ends, bottom):
        parts.append(f'<text class="end g{line.group}" x="{right + 4}" y="{height + 4:.1f}">{escape(line.name)}</text>')
    return "".join([*parts, "</svg>"])


def _open(title: str, description: str, height: int) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">'
        f"<desc>{escape(description)}</desc>"
    )


def _along(value: float, largest: float) -> float:
    return WIDTH * min(max(value, 0.0), largest) / largest if largest else 0.0


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL_CHARACTERS else label[: _LABEL_CHARACTERS - 1].rstrip() + "…"


def _ticks(last: float) -> list[float]:
    step = 10 ** math.floor(math.log10(last)) if last > 0 else 1
    step = step if last / step >= 2.5 else step / 2
    return [step * place for place in range(int(last / step) + 1)]


def _spread(ends: Sequence[tuple[float, Line]], bottom: float) -> list[tuple[float, Line]]:
    """Move names apart that would cover each other, from the top down, and up again where the end is reached."""
    placed: list[tuple[float, Line]] = []
    for height, line in sorted(ends, key=lambda end: end[0]):
        placed.append((max(height, placed[-1][0] + _LEAST_APART) if placed else height, line))
    lowest = bottom
    for place in range(len(placed) - 1, -1, -1):
        height, line = placed[place]
        placed[place] = (min(height, lowest), line)
        lowest = placed[place][0] - _LEAST_APART
    return placed
