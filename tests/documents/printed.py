"""What a page shows as printed, beside what is printed.

Pages are as of the day WRITTEN. A test moves all dates of a page's commands, and of what they print, by the days that
have passed since, so that everything is as old as it was. What still differs from run to run is compared loosely:

- `…` stands for any text within a line, and on a line of its own for any lines;
- an id (of 8 hexadecimal digits, or a whole UUID) stands for another one, always for the same;
- a moment of the day WRITTEN stands for any moment, and a port of this machine for any port;
- a decimal fraction may be 0.02 more or less, for confidence ages by the hour; in a line that says `today` figures
  may be any.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

WRITTEN = date(2026, 11, 30)
TOLERANCE = 0.02

_DAY = re.compile(r"\b20\d\d-\d\d-\d\d(?!\d)")
_TIME = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?"
_ID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8}\b"
_ANY_ID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b"
_FREE = re.compile(
    rf"(?P<gap>…)|(?P<id>{_ID})|(?P<port>127\.0\.0\.1:\d+)|(?P<space>[ ]{{2,}})"
    rf"|(?P<moment>\b20\d\d-\d\d-\d\d{_TIME})|(?P<fraction>\b\d+\.\d+\b)|(?P<number>\b\d+\b)"
)


def moved(text: str, today: date | None = None) -> str:
    """Return a page's text with its dates moved by the days since it was written."""
    passed = (today or datetime.now(UTC).date()) - WRITTEN
    return _DAY.sub(lambda match: _later(match.group(), passed), text)


def _later(day: str, passed: timedelta) -> str:
    try:
        return str(date.fromisoformat(day) + passed)
    except ValueError:  # no date, such as 2026-99-01
        return day


@dataclass
class Names:
    """Which id of this run stands where a page has one of its own."""

    known: dict[str, str] = field(default_factory=dict)

    def put_in(self, command: str) -> str:
        """Return a command with this run's ids."""
        for shown, found in self.known.items():
            command = command.replace(shown, found)
        return command


def differs(shown: str, printed: str, names: Names, *, today: date) -> str | None:
    """Return where `printed` is not what a page shows, or None; ids met on the way are put into `names`."""
    lines = [line.rstrip() for line in printed.rstrip("\n").split("\n")]
    place = 0
    gap = False
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() == "…":
            gap = True
            continue
        last = len(lines) if gap else min(place + 1, len(lines))
        found = next((one for one in range(place, last) if _fits(line, lines[one], names, today)), None)
        if found is None:
            seen = lines[place] if place < len(lines) else "(nothing more)"
            return f"the page shows\n  {line}\nand printed was\n  {seen}"
        place, gap = found + 1, False
    if place < len(lines) and not gap:
        return f"the page shows nothing more, and printed was\n  {lines[place]}"
    return None


def _fits(line: str, printed: str, names: Names, today: date) -> bool:
    any_figure = "today" in line
    ids: list[str] = []
    fractions: list[float] = []
    pattern, position = "", 0
    for match in _FREE.finditer(line):
        pattern += re.escape(line[position : match.start()])
        position = match.end()
        kind, text = str(match.lastgroup), match.group()
        if kind == "id" and text not in names.known:
            ids.append(text)
        if kind == "fraction" and not any_figure:
            fractions.append(float(text))
        pattern += _pattern(kind, text, names, today, any_figure=any_figure)
    pattern += re.escape(line[position:])
    found = re.fullmatch(pattern.rstrip(), printed)
    if found is None:
        return False
    groups = found.groups()
    of_ids = [one for one in groups if not re.fullmatch(r"\d+\.\d+", one)]
    seen = [float(one) for one in groups if re.fullmatch(r"\d+\.\d+", one)]
    if any(abs(left - right) > TOLERANCE + 1e-9 for left, right in zip(fractions, seen, strict=True)):
        return False
    names.known.update(zip(ids, of_ids, strict=True))
    return True


def _pattern(kind: str, text: str, names: Names, today: date, *, any_figure: bool) -> str:
    if kind == "id":
        return re.escape(names.known[text]) if text in names.known else f"({_ANY_ID})"
    if kind == "fraction":
        return r"\d+\.\d+" if any_figure else r"(\d+\.\d+)"
    if kind == "number":
        return r"\d+" if any_figure else re.escape(text)
    if kind == "moment":
        return rf"20\d\d-\d\d-\d\d{_TIME}" if text.startswith(str(today)) else re.escape(text)
    return {"gap": ".*", "port": r"127\.0\.0\.1:\d+", "space": "[ ]{2,}"}[kind]
