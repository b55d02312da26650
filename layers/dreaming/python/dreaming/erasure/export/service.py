"""Export of everything held on an owner, or in a slice, as rows in JSON, page by page.

Each page is a transaction that reads only, so an export of any length holds up nobody; what changes while
it runs is in it as it is when its page is read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from dreaming.database import Database, Role, Transaction
from dreaming.erasure.catalogue import store as catalogue_store
from dreaming.erasure.catalogue.records import Catalogue
from dreaming.erasure.export import store
from dreaming.erasure.export.records import FORMAT, ExportedRow, Page, Part, Place
from dreaming.erasure.export.rules import fits, parts_of_owner, parts_of_slice
from dreaming.errors import InvalidInput
from dreaming.notes.records import Scope, SliceKey, Tenant
from dreaming.notes.store import find_slice

ROWS = 500
"""How many rows a page has at most."""

CHARACTERS = 2_000_000
"""How long the rows of a page may be together; one row alone may be longer."""


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be exported: a slice, or everything on the user of `tenant` when `key` is None."""

    database: Database
    tenant: Tenant
    key: SliceKey | None = None

    def __post_init__(self) -> None:
        """Refuse an export of nobody."""
        if self.key is None and not self.tenant.user_id:
            raise InvalidInput("user", "is missing", "name the user whose data is meant")

    def page(self, place: Place, *, rows: int = ROWS, characters: int = CHARACTERS) -> Page:
        """Return rows from a place on.

        Raises:
            InvalidInput: there is no such place.
        """
        with self._reading() as (tx, catalogue):
            parts = self._parts(tx, catalogue)
            if place != Place(0) and not 0 <= place.part < len(parts):
                raise InvalidInput("cursor", "is not one that a page ended with", "use `next_cursor` unchanged")
            found: list[ExportedRow] = []
            while place.part < len(parts):
                part = parts[place.part]
                table = catalogue.tables[part.table]
                if place.key is not None and not fits(place.key, tuple(table.key.values())):
                    raise InvalidInput("cursor", "is not one that a page ended with", "use `next_cursor` unchanged")
                left = characters - sum(len(row.json) for row in found)
                read, last = store.read_rows(tx, part, table, place.key, rows=rows - len(found), characters=left)
                found += read
                if last is not None:
                    return Page(tuple(found), Place(place.part, last))
                place = Place(place.part + 1)
        return Page(tuple(found), None)

    def lines(self, *, now: datetime) -> Iterator[str]:
        """Yield the export as JSON lines: a head, one line for each row, and an end with the counts."""
        yield json.dumps(self.head(now), ensure_ascii=False)
        counts: Counter[str] = Counter()
        place: Place | None = Place(0)
        while place is not None:
            page = self.page(place)
            for row in page.rows:
                counts[row.table] += 1
                yield f'{{"record": {json.dumps(row.table)}, "row": {row.json}}}'
            place = page.next
        yield json.dumps({"record": "end", "counts": dict(sorted(counts.items()))})

    def head(self, now: datetime) -> dict[str, object]:
        """Return the first record: whose export it is, of what shape and moment."""
        key = self.key
        return {
            "record": "export",
            "format": FORMAT,
            "org_id": self.tenant.org_id,
            "scope": None if key is None else key.scope.value,
            "user_id": self.tenant.user_id if key is None else key.owner_user_id,
            "exported_at": now.isoformat(),
        }

    def _parts(self, tx: Transaction, catalogue: Catalogue) -> list[Part]:
        if self.key is not None:
            found = find_slice(tx, self.key)
            return [] if found is None else parts_of_slice(catalogue, found.slice_id)
        user_id = str(self.tenant.user_id)
        own = find_slice(tx, SliceKey(self.tenant.org_id, Scope.PRIVATE, user_id))
        return parts_of_owner(
            self.tenant.org_id,
            user_id,
            store.shared_slices(tx, self.tenant),
            [] if own is None else parts_of_slice(catalogue, own.slice_id),
        )

    @contextmanager
    def _reading(self) -> Iterator[tuple[Transaction, Catalogue]]:
        tenant = self.tenant if self.key is None else self.key.tenant
        with self.database.transaction(tenant, role=Role.ERASER) as tx:
            store.only_read(tx)
            yield tx, catalogue_store.read(tx)
