"""What a brief tells and in which order. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from dreaming.beliefs.briefs.records import Brief, BriefLine
from dreaming.beliefs.records import Importance
from dreaming.notes.records import Scope, Trust

SHORTEST_LINE = 50
"""Fewer characters no line has: its belief's id alone is 36 of them."""

_RANK = {importance: rank for rank, importance in enumerate(Importance)}


def in_order(lines: Iterable[BriefLine]) -> list[BriefLine]:
    """Sort by importance, then aged confidence, then the latest confirmation; equal ones by id."""
    return sorted(
        lines,
        key=lambda one: (-_RANK[one.importance], -one.aged, -one.confirmed_at.timestamp(), one.belief_id),
    )


def compose(lines: Iterable[BriefLine], *, characters: int, at: datetime) -> Brief:
    """Return the brief of at most so many characters: the first lines in order that fit, each one whole.

    What comes first decides: a line that no longer fits ends the brief, whatever shorter one follows.
    """
    ordered = in_order(lines)
    head = f"What is believed on {at.date().isoformat()}, the most important and the surest first:"
    told: list[BriefLine] = []
    written = [head]
    length = len(head)
    importance: Importance | None = None
    for line in ordered:
        added = [written_line(line)]
        if line.importance is not importance:
            added.insert(0, f"{line.importance.value.capitalize()} importance")
        length += sum(len(one) + 1 for one in added)
        if length > characters:
            break
        importance = line.importance
        written += added
        told.append(line)
    return Brief("\n".join(written) if told else "", tuple(told), len(told) == len(ordered), at, characters)


def written_line(line: BriefLine) -> str:
    """Return a belief as one line: how sure, what is to be known of it, its statement, its id."""
    marks = [f"{line.aged:.2f}", line.kind.value]
    marks += ["untrusted"] if line.trust is Trust.UNTRUSTED else []
    marks += ["disputed"] if line.in_review else []
    marks += ["private"] if line.scope is Scope.PRIVATE else []
    return f"- {' '.join(line.statement.split())} ({', '.join(marks)}) [{line.belief_id}]"
