"""The types of synthesis: what a conversation's notes are, and what is to be done about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dreaming.recall.records import StoredTurn


@dataclass(frozen=True, slots=True)
class Idle:
    """A conversation whose turns are to be in notes; `key` is its id as a hash, in hexadecimal."""

    document_id: int
    key: str
    external_id: str
    agent: str | None
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many conversations have turns that are in no note, how many of them are due, and when the first is."""

    conversations: int
    due: int
    next_due_at: datetime | None


@dataclass(frozen=True, slots=True)
class MadeNote:
    """A note made of the turns `first_turn` to before `end_turn`; `turns_sha256` covers all turns up to there."""

    first_turn: int
    part: int
    end_turn: int
    external_id: str
    turns_sha256: bytes
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Window:
    """Turns that become one note. A turn too long for one gives several windows, counted by `part`."""

    first_turn: int
    part: int
    turns: Sequence[StoredTurn]

    @property
    def end_turn(self) -> int:
        """The position behind the last turn."""
        return self.first_turn + len(self.turns)


@dataclass(frozen=True, slots=True)
class Plan:
    """The notes to be written and those to be withdrawn (by external id); the first `kept` stay as they are."""

    kept: int
    windows: Sequence[Window]
    withdrawn: Sequence[str]
