"""Plots as SVG: lines over two axes, and bars. Plain text, the same for the same figures, at home in light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 190, 58, 52
_STYLE = """
  <style>
    svg { --ink: #1f2933; --faint: #6b7785; --rule: #d5dae0; --ground: #ffffff;
      --c0: #0b6bcb; --c1: #c2410c; --c2: #15803d; --c3: #7c3aed; --c4: #a16207; --c5: #be185d; }
    @media (prefers-color-scheme: dark) {
      svg { --ink: #e6e9ed; --faint: #9aa5b1; --rule: #3a4450; --ground: #14181d;
        --c0: #6cb2f7; --c1: #fb923c; --c2: #4ade80; --c3: #c4a5fd; --c4: #eab308; --c5: #f472b6; }
    }
    .ground { fill: var(--ground); }
    text { font: 13px system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; fill: var(--ink); }
    .title { font-size: 15px; font-weight: 600; }
    .faint { fill: var(--faint); }
    .rule { stroke: var(--rule); stroke-width: 1; }
    .bound { stroke: var(--faint); stroke-width: 1.5; stroke-dasharray: 5 4; }
    .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
  </style>
"""


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points; its name stands at its end. `labelled_at` moves that by so many pixels."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    labelled_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Bound:
    """A dashed line across the plot: at a height, or, `upright`, at a place; with its name."""

    at: float
    name: str
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over two axes; `across` and `up` are the axes' names and marks, the first and the last being their ends."""

    title: str
    across: tuple[str, Sequence[float]]
    up: tuple[str, Sequence[float]]
    lines: Sequence[Line]
    bounds: Sequence[Bound] = field(default=())
    written: Callable[[float], str] = "{:g}".format

    def svg(self) -> str:
        """Return the plot as a document."""
        return _document(self.title, [*self._axes(), *self._bounds(), *self._lines()], HEIGHT)

    def _x(self, value: float) -> float:
        first, last = self.across[1][0], self.across[1][-1]
        return _LEFT + (value - first) / (last - first) * (WIDTH - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        first, last = self.up[1][0], self.up[1][-1]
        return HEIGHT - _BOTTOM - (value - first) / (last - first) * (HEIGHT - _TOP - _BOTTOM)

    def _axes(self) -> Iterator[str]:
        for mark in self.up[1]:
            y = self._y(mark)
            yield f'<line class="rule" x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>'
            yield _text(_LEFT - 8, y + 4, self.written(mark), anchor="end", style="faint")
        for mark in self.across[1]:
            yield _text(self._x(mark), HEIGHT - _BOTTOM + 20, f"{mark:g}", anchor="middle", style="faint")
        yield _text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 12, self.across[0], anchor="middle", style="faint")
        yield _text(_LEFT - 44, _TOP - 13, self.up[0], style="faint")

    def _bounds(self) -> Iterator[str]:
        for bound in self.bounds:
            if bound.upright:
                x = self._x(bound.at)
                yield f'<line class="bound" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{HEIGHT - _BOTTOM}"/>'
                yield _text(x + 5, _TOP + 12, bound.name, style="faint")
            else:
                y = self._y(bound.at)
                yield f'<line class="bound" x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>'
                yield _text(WIDTH - _RIGHT + 8, y + 4, bound.name, style="faint")

    def _lines(self) -> Iterator[str]:
        for number, line in enumerate(self.lines):
            path = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in line.points)
            dash = ' stroke-dasharray="7 5"' if line.dashed else ""
            colour = f"var(--c{number % 6})"
            yield f'<polyline class="line" style="stroke: {colour}" points="{path}"{dash}/>'
            x, y = line.points[-1]
            place = self._y(y) + 4 + line.labelled_at
            yield f'<text x="{self._x(x) + 8:.1f}" y="{place:.1f}" style="fill: {colour}">{escape(line.name)}</text>'


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars, one below the other, each with its name and a count."""

    title: str
    bars: Sequence[tuple[str, int, int]]
    """Name, count, and which colour."""

    def svg(self) -> str:
        """Return the bars as a document."""
        left, step = 190, 26
        widest = max(count for _, count, _ in self.bars)
        pieces = []
        for number, (name, count, colour) in enumerate(self.bars):
            y = _TOP + number * step
            width = count / widest * (WIDTH - left - 80)
            pieces += [
                _text(left - 10, y + 15, name, anchor="end"),
                (
                    f'<rect x="{left}" y="{y + 2}" width="{max(width, 1):.1f}" height="{step - 8}" rx="2" '
                    f'style="fill: var(--c{colour})"/>'
                ),
                _text(left + max(width, 1) + 8, y + 15, str(count), style="faint"),
            ]
        return _document(self.title, pieces, _TOP + len(self.bars) * step + 16)


def _text(x: float, y: float, text: str, *, anchor: str = "start", style: str = "") -> str:
    of_class = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of_class}>{escape(text)}</text>'


def _document(title: str, pieces: Sequence[str], height: int) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">'
    )
    ground = f'  <rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>\n'
    body = "".join(f"  {piece}\n" for piece in [_text(16, 24, title, style="title"), *pieces])
    return f"{head}{_STYLE}{ground}{body}</svg>\n"
