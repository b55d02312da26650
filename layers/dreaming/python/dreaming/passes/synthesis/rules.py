"""How turns become notes: which belong together, and how a note says who said what. Pure.

Each turn begins a line with its speaker and a colon. What an assistant said carries the label
`Assistant`, whatever it is called, and its further lines are quoted, so that nothing in it can pass for
somebody's own words. Further lines of a person are indented.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from dreaming.notes.chunking import split
from dreaming.passes.synthesis.records import MadeNote, Plan, Window
from dreaming.recall.records import StoredTurn

NOTE_CHARACTERS = 12_000
"""About 3,000 tokens: most sittings are one note, so that "it" and "that" find what they mean."""

ASSISTANT, SYSTEM = "Assistant", "System"
"""The labels of turns that are nobody's own words."""

_LEAST_PAUSE = timedelta(seconds=1)
"""What no pause is, even where conversations become notes at once: turns without times of their own share one."""

_SYSTEM_ROLES = frozenset({"system", "developer", "tool", "function"})
_UNNAMED = "User"
_ROLES = frozenset({"user", "human", "customer", "client", "me"})
_LABEL_CHARACTERS = 60
_QUOTED, _INDENTED = "> ", "  "
_NOT_IN_LABEL = re.compile(r"[\s:<>{}*]+")
_BREAK = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_LABELLED = re.compile(r"\s*([^:\n]{1,60}):(?:\s|$)")
_TURN = re.compile(r"^(?![ >])([^:\n]{1,60}):(?: |$)", re.MULTILINE)


def plan(
    turns: Sequence[StoredTurn], made: Sequence[MadeNote], *, agent: str | None, idle: timedelta, characters: int
) -> Plan:
    """Return what is to be done so that each turn is in exactly one note.

    `made` are the conversation's notes in order. They stay up to the first whose turns have changed; from
    there on turns are cut anew, also where notes ended before, so that a note whose own turns are the same
    gets the same text. A pause of `idle` or more begins a new note: a conversation gives the same notes
    whether it was captured while it went on or all at once.
    """
    kept = 0
    for note in made:
        if note.end_turn > len(turns) or turns[note.end_turn - 1].sha256 != note.turns_sha256:
            break
        kept += 1
    start = made[kept - 1].end_turn if kept else 0
    cuts = {note.first_turn for note in made[kept:]} | {note.end_turn for note in made[-1:]}
    windows = list(_windows(turns[start:], start, cuts, agent=agent, idle=idle, characters=characters))
    places = {(window.first_turn, window.part) for window in windows}
    gone = [note.external_id for note in made[kept:] if (note.first_turn, note.part) not in places]
    return Plan(kept, windows, gone)


def _windows(
    turns: Sequence[StoredTurn],
    first: int,
    cuts: Collection[int],
    *,
    agent: str | None,
    idle: timedelta,
    characters: int,
) -> Iterator[Window]:
    held: list[StoredTurn] = []
    length = 0
    for position, turn in enumerate(turns, start=first):
        size = _size(turn, agent)
        if held and (
            position in cuts or length + size > characters or _pause(held[-1], turn) >= max(idle, _LEAST_PAUSE)
        ):
            yield Window(position - len(held), 0, tuple(held))
            held, length = [], 0
        if size > characters:
            for part, piece in enumerate(_pieces(turn, agent, characters)):
                yield Window(position, part, (piece,))
            continue
        held.append(turn)
        length += size
    if held:
        yield Window(first + len(turns) - len(held), 0, tuple(held))


def _size(turn: StoredTurn, agent: str | None) -> int:
    """The most that a turn takes in a note, its line break included."""
    breaks = len(_BREAK.findall(turn.text))
    return len(label(turn, agent)) + len(": \n") + len(turn.text) + breaks * len(_QUOTED)


def _pieces(turn: StoredTurn, agent: str | None, characters: int) -> Iterator[StoredTurn]:
    """Cut a turn at its sentences so that each piece fits into a note of its own."""
    room = characters - len(label(turn, agent)) - len(": \n")
    # A line break may come out longer by its quotation mark; half as long a piece is safe whatever it holds.
    room = room if not _BREAK.search(turn.text) else room // (1 + len(_QUOTED))
    for piece in split(turn.text, max(1, room)):
        if piece.text.strip():
            yield replace(turn, text=piece.text)


def _pause(before: StoredTurn, after: StoredTurn) -> timedelta:
    if before.said_at is None or after.said_at is None:
        return timedelta.min
    return after.said_at - before.said_at


def label(turn: StoredTurn, agent: str | None) -> str:
    """Return who speaks, as a note has it: a role for what is no person, else the name."""
    name = _NOT_IN_LABEL.sub(" ", turn.speaker or "").strip()[:_LABEL_CHARACTERS].strip()
    if turn.is_response(agent) or name.casefold() == ASSISTANT.casefold():
        return ASSISTANT
    if name.casefold() in _SYSTEM_ROLES:
        return SYSTEM
    return name or _UNNAMED


def people(turns: Iterable[StoredTurn], agent: str | None) -> list[str]:
    """Return the names of the people who speak, in the order of their first turns; roles are no names."""
    labels = dict.fromkeys(label(turn, agent) for turn in turns)
    return [one for one in labels if one not in (ASSISTANT, SYSTEM) and one.casefold() not in _ROLES]


def written(turns: Sequence[StoredTurn], agent: str | None) -> str:
    """Return turns as the text of a note."""
    labels = {label(turn, agent).casefold() for turn in turns} | {ASSISTANT.casefold(), SYSTEM.casefold()} | _ROLES
    return "\n".join(_written(turn, label(turn, agent), labels) for turn in turns)


def _written(turn: StoredTurn, name: str, labels: Collection[str]) -> str:
    first, *others = (line for line in _BREAK.split(turn.text) if line.strip())
    lines = [f"{name}: {first.strip()}"]
    for line in others:
        forged = (found := _LABELLED.match(line)) is not None and found[1].strip().casefold() in labels
        quoted = forged or name in (ASSISTANT, SYSTEM)
        lines.append((_QUOTED if quoted else _INDENTED) + line.strip())
    return "\n".join(lines)


def occurred_at(window: Window, otherwise: datetime, *, latest: datetime) -> datetime:
    """Return when a window's first dated turn was said, never after `latest`; `otherwise` when none is dated."""
    said = [turn.said_at for turn in window.turns if turn.said_at is not None]
    return min(said[0], latest) if said else otherwise


def spoken_by_nobody(text: str) -> list[tuple[int, int]]:
    """Return the spans of a note of a conversation that are an assistant's or a system's words."""
    starts = list(_TURN.finditer(text))
    ends = [turn.start() for turn in starts[1:]] + [len(text)]
    return [(turn.start(), end) for turn, end in zip(starts, ends, strict=True) if turn[1] in (ASSISTANT, SYSTEM)]
