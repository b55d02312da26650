"""The comparison as one drawing: what each system asked of a model, and what it held wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 720, 210, 130
ROW, BAR, HEAD = 22, 14, 46
COLOURS = ("#1b6ca8", "#c8553d", "#9a7b1f")
"""Told apart by people who see few colours, and by their order."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars of one figure, each of as many parts as there are names; `rows` are systems with their parts."""

    title: str
    parts: Sequence[str]
    rows: Mapping[str, Sequence[int]]

    @property
    def height(self) -> int:
        """Pixels that the panel takes."""
        return HEAD + ROW * len(self.rows) + 14


def panels(results: Record) -> list[Panel]:
    """Return what is drawn of the results; a system that was skipped on the way is left out."""
    whole = [one for one in results["systems"] if "skipped" not in one]
    notes = ("the notes", "the same again", "edited")
    return [
        Panel("Model calls", notes, {one["name"]: _asked(one, "chat_calls") for one in whole}),
        Panel("Prompt tokens, thousands", notes, {one["name"]: _thousands(one) for one in whole}),
        Panel(
            "Statements held wrongly after the edits",
            ("twice", "missing", "stale"),
            {one["name"]: _wrong(one["phases"]["edited"]) for one in whole},
        ),
        Panel(
            "Statements missing although the model is well again",
            ("every second call had failed", "every second answer was prose"),
            {one["name"]: [_missing(one, fault) for fault in ("unavailable", "malformed")] for one in whole},
        ),
    ]


def drawn(drawing: Sequence[Panel]) -> str:
    """Return the panels below each other as SVG."""
    height = sum(panel.height for panel in drawing)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"',
        ' aria-label="Systems compared" font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    top = 0
    for panel in drawing:
        lines += _panel(panel, top)
        top += panel.height
    return "\n".join([*lines, "</svg>", ""])


def _panel(panel: Panel, top: int) -> Iterator[str]:
    yield f'<text x="8" y="{top + 20}" font-size="14" font-weight="bold">{escape(panel.title)}</text>'
    across = 8
    for part, colour in zip(panel.parts, COLOURS, strict=False):
        yield f'<rect x="{across}" y="{top + 29}" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{across + 14}" y="{top + 38}">{escape(part)}</text>'
        across += 30 + 7 * len(part)
    largest = max((sum(parts) for parts in panel.rows.values()), default=0) or 1
    for place, (name, parts) in enumerate(panel.rows.items()):
        y = top + HEAD + ROW * place
        yield f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
        end = float(LEFT)
        for count, colour in zip(parts, COLOURS, strict=False):
            width = count / largest * (WIDTH - LEFT - RIGHT)
            if width:
                yield f'<rect x="{end:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>'
            end += width
        yield f'<text x="{end + 6:.1f}" y="{y + 11}">{" + ".join(f"{count:,}" for count in parts)}</text>'


def _asked(system: Record, figure: str) -> list[int]:
    return [system["phases"][name][figure] for name in ("first", "again", "edited")]


def _thousands(system: Record) -> list[int]:
    return [round(tokens / 1000) for tokens in _asked(system, "prompt_tokens")]


def _wrong(phase: Record) -> list[int]:
    """Of the layer that holds most of it; a statement in two layers counts once."""
    return [max(counts[what] for counts in phase["layers"].values()) for what in ("twice", "missing", "stale")]


def _missing(system: Record, fault: str) -> int:
    layers: Mapping[str, Mapping[str, int]] = system["phases"][f"{fault}, then well"]["layers"]
    return max(counts["missing"] for counts in layers.values())
