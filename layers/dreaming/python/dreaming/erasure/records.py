"""What an erasure came to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Erased:
    """Rows by table: `deleted`, and `rewritten` where a row stays without the erased wording.

    `tombstones`: names that are newly kept out. `complete` is False when the time was up before all was
    gone; the same call goes on.
    """

    deleted: Counter[str] = field(default_factory=Counter)
    rewritten: Counter[str] = field(default_factory=Counter)
    tombstones: int = 0
    complete: bool = True

    def add(self, other: Erased) -> None:
        """Add what another step came to."""
        self.deleted += other.deleted
        self.rewritten += other.rewritten
        self.tombstones += other.tombstones
        self.complete = self.complete and other.complete

    @property
    def counts(self) -> dict[str, int]:
        """Rows deleted by table, in the order of the names, without the tables of none."""
        return {table: count for table, count in sorted(self.deleted.items()) if count}

    @property
    def rewritten_counts(self) -> dict[str, int]:
        """Rows rewritten by table, likewise."""
        return {table: count for table, count in sorted(self.rewritten.items()) if count}
