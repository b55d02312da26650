"""Reading notes again, after a change of the prompt or of the model; a person asks for it, nothing else does.

The cursor of the slice is set back and its notes wait again, in one transaction; the next runs read them
as any others. Each note's claims then take the place of its earlier ones: a belief that a claim still
matches keeps its id, one that no note supports any more is archived, and whoever dies in between goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import repeat

from dreaming.beliefs import store as beliefs_store
from dreaming.database import Database
from dreaming.notes import store as notes_store
from dreaming.notes.records import NoteState, SliceKey, Tenant
from dreaming.passes.consolidation import store
from dreaming.passes.consolidation.prompt import PROMPT_VERSION
from dreaming.passes.records import CONSOLIDATION


def reconsolidate(
    database: Database, key: SliceKey, *, source: str | None = None, since: datetime | None = None, now: datetime
) -> int:
    """Let the slice's consolidated notes wait again and return how many.

    `source` and `since` (of the notes' own time) restrict which. A run under way is replaced, and what it
    has not committed is dropped; answers that it saved are kept. Asked for again it does what is left.
    """
    with database.transaction(key.tenant) as tx:
        found = notes_store.find_slice(tx, key)
        if found is None:
            return 0
        notes_store.lock_slice(tx, found.slice_id)
        beliefs_store.lock(tx, found.slice_id)
        count, lowest = store.let_wait_again(tx, found.slice_id, source=source, since=since)
        if not count:
            return 0
        notes_store.adjust_counters(
            tx,
            found.slice_id,
            before=repeat(NoteState.CONSOLIDATED, count),
            after=repeat(NoteState.WAITING, count),
        )
        store.rewind_cursor(tx, found.slice_id, CONSOLIDATION, position=lowest - 1, now=now)
    return count


def notes_by_reader(database: Database, tenant: Tenant) -> Mapping[tuple[str, str], int]:
    """Return how many notes have claims from each (model, prompt version); one without claims has no reader."""
    with database.transaction(tenant) as tx:
        return store.count_readers(tx)


def is_current(reader: tuple[str, str], model: str) -> bool:
    """Tell whether a reader is `model` with the prompt of this version."""
    return reader == (model, PROMPT_VERSION)
