"""The SQL of what people read; nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.api.records import (
    BeliefCounters,
    CursorReading,
    RetiredNote,
    RunReading,
    SliceStatus,
)
from dreaming.beliefs.records import Kind
from dreaming.database import Transaction
from dreaming.notes.records import Note, NoteCounters, NoteState, Scope, Slice, SliceKey, Tenant, Trust
from dreaming.notes.secrets import mask
from dreaming.passes.records import RunStatus

VISIBLE = "s.org_id = %(org)s and (s.scope <> 'private' or s.owner_user_id = %(user)s)"
"""The condition on `slices s` that a tenant sees one, beside the rows' own security; see `of_tenant`."""

IN_VISIBLE = f"in (select s.slice_id from slices s where {VISIBLE})"

_KIND_COUNTERS = ", ".join(f"n.beliefs_{kind.value}" for kind in Kind)

_RUN_COLUMNS = """r.run_id, r.slice_id, r.pass as pass_name, r.status, r.started_at, r.progressed_at, r.finished_at,
    r.held_reason, r.batches, r.notes_consolidated, r.notes_empty, r.notes_retired, r.claims_extracted,
    r.claims_rejected, r.claims_suppressed, r.claims_rejected_by_rule, r.beliefs_created, r.beliefs_corroborated,
    r.beliefs_restored, r.beliefs_archived, r.conflict_candidates, r.partial_chunks, r.model_calls, r.input_tokens,
    r.output_tokens, r.pass_counts"""

_NOTE_COLUMNS = """n.note_id, n.slice_id, n.external_id, n.source, n.origin, n.version, n.sequence, n.state, n.text,
    n.occurred_at, n.occurred_offset, n.author, n.participants, n.trust"""


def of_tenant(tenant: Tenant) -> dict[str, str | None]:
    """Return the parameters of `VISIBLE`."""
    return {"org": tenant.org_id, "user": tenant.user_id}


def read_slices(tx: Transaction, tenant: Tenant, pass_name: str) -> list[SliceStatus]:
    """Return every slice that the tenant sees, without its runs; the cost does not grow with the notes."""
    query = f"""
        select s.slice_id, s.org_id, s.scope, s.owner_user_id, s.last_seq,
               n.notes_total as total, n.notes_waiting as waiting, n.notes_consolidated as consolidated,
               n.notes_empty as empty, n.notes_retired as retired, n.notes_withdrawn as withdrawn,
               {_KIND_COUNTERS}, n.beliefs_archived,
               c.position, c.last_occurred_at, c.last_note_id, c.generation, c.run_id is not null as running,
               c.progressed_at, c.held_reason, c.held_detail, c.held_since, c.rewound_at, c.rewound_from
        from slices s
        left join slice_counters n using (slice_id)
        left join dream_cursor c on c.slice_id = s.slice_id and c.pass = %(pass)s
        where {VISIBLE} order by s.slice_id
    """
    with tx.cursor(row_factory=dict_row) as cursor:
        return [_slice_status(row) for row in cursor.execute(query, {"pass": pass_name, **of_tenant(tenant)})]


def recent_runs(tx: Transaction, slice_id: int, pass_name: str, limit: int) -> list[RunReading]:
    """Return a slice's latest runs, the newest first."""
    query = f"""
        select {_RUN_COLUMNS} from dream_runs r where r.slice_id = %s and r.pass = %s
        order by r.started_at desc limit %s
    """
    with tx.cursor(row_factory=dict_row) as cursor:
        return [_run(row) for row in cursor.execute(query, (slice_id, pass_name, limit))]


def runs_by_id(tx: Transaction, tenant: Tenant, run_ids: Sequence[UUID]) -> list[RunReading]:
    """Return the runs that the tenant sees among `run_ids`, in the order of their starts."""
    query = f"""
        select {_RUN_COLUMNS} from dream_runs r where r.run_id = any(%(runs)s) and r.slice_id {IN_VISIBLE}
        order by r.started_at, r.run_id
    """
    with tx.cursor(row_factory=dict_row) as cursor:
        return [_run(row) for row in cursor.execute(query, {"runs": list(run_ids), **of_tenant(tenant)})]


def latest_runs(
    tx: Transaction, tenant: Tenant, limit: int, *, after: tuple[datetime, UUID] | None = None
) -> list[RunReading]:
    """Return runs of every pass that the tenant sees, the latest start first, those `after` a place."""
    started_at, run_id = after or (None, None)
    query = f"""
        select {_RUN_COLUMNS} from dream_runs r
        where r.slice_id {IN_VISIBLE}
          and (%(started)s::timestamptz is null or (r.started_at, r.run_id) < (%(started)s, %(run)s::uuid))
        order by r.started_at desc, r.run_id desc limit %(limit)s
    """
    with tx.cursor(row_factory=dict_row) as cursor:
        given = {"started": started_at, "run": run_id, "limit": limit, **of_tenant(tenant)}
        found = cursor.execute(query, given)
        return [_run(row) for row in found]


def list_notes(
    tx: Transaction,
    slice_id: int,
    *,
    state: NoteState | None,
    source: str | None,
    limit: int,
    before: int | None,
) -> list[Note]:
    """Return notes of a slice with empty texts, from the latest sequence below `before`."""
    columns = _NOTE_COLUMNS.replace("n.text", "'' as text")
    query = f"""
        select {columns} from notes n
        where n.slice_id = %(slice)s and (%(before)s::bigint is null or n.sequence < %(before)s)
          and (%(state)s::text is null or n.state = %(state)s) and (%(source)s::text is null or n.source = %(source)s)
        order by n.sequence desc limit %(limit)s
    """
    parameters = {"slice": slice_id, "before": before, "state": state, "source": source, "limit": limit}
    with tx.cursor(row_factory=dict_row) as cursor:
        return [_note(row) for row in cursor.execute(query, parameters)]


def find_note(tx: Transaction, tenant: Tenant, note_id: UUID) -> Note | None:
    """Return a note that the tenant sees, at its current version."""
    query = f"select {_NOTE_COLUMNS} from notes n where n.note_id = %(note)s and n.slice_id {IN_VISIBLE}"
    with tx.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(query, {"note": note_id, **of_tenant(tenant)}).fetchone()
    return None if row is None else _note(row)


def times_of_notes(tx: Transaction, key: SliceKey, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], datetime]:
    """Return when the notes of these (source, external id) occurred, in their own offsets; unknown ones are absent."""
    rows = tx.execute(
        """
        select n.source, n.external_id, n.occurred_at, n.occurred_offset
        from unnest(%s::text[], %s::text[]) as q (source, external_id)
        join slices s on s.org_id = %s and s.scope = %s and s.owner_user_id is not distinct from %s
        join notes n on n.slice_id = s.slice_id and n.source = q.source and n.external_id = q.external_id
        """,
        ([source for source, _ in names], [one for _, one in names], key.org_id, key.scope, key.owner_user_id),
    ).fetchall()
    return {
        (source, external_id): at.astimezone(timezone(timedelta(seconds=offset)))
        for source, external_id, at, offset in rows
    }


def _note(row: Mapping[str, Any]) -> Note:
    zone = timezone(timedelta(seconds=row["occurred_offset"]))
    values = {name: row[name] for name in Note.__dataclass_fields__}
    changed = {
        "state": NoteState(row["state"]),
        "occurred_at": row["occurred_at"].astimezone(zone),
        "participants": tuple(row["participants"]),
        "trust": Trust(row["trust"]),
    }
    return Note(**values | changed)


def running_runs(tx: Transaction, tenant: Tenant, pass_name: str) -> list[UUID]:
    """Return the ids of the runs under way in the slices that the tenant sees."""
    query = f"select run_id from dream_cursor where pass = %(pass)s and run_id is not null and slice_id {IN_VISIBLE}"
    return [row[0] for row in tx.execute(query, {"pass": pass_name, **of_tenant(tenant)}).fetchall()]


def list_retired(
    tx: Transaction, slice_id: int, limit: int, *, after: tuple[datetime, UUID] | None = None
) -> list[RetiredNote]:
    """Return the retired notes of a slice, the latest first, those `after` a place."""
    retired_at, note_id = after or (None, None)
    rows = tx.execute(
        """
        select n.note_id, n.source, n.external_id, n.occurred_at, r.version, r.reason, r.attempts, r.run_id,
               r.retired_at
        from retired_notes r join notes n using (note_id)
        where r.slice_id = %(slice)s
          and (%(at)s::timestamptz is null or (r.retired_at, r.note_id) < (%(at)s, %(note)s::uuid))
        order by r.retired_at desc, r.note_id desc limit %(limit)s
        """,
        {"slice": slice_id, "at": retired_at, "note": note_id, "limit": limit},
    ).fetchall()
    return [RetiredNote(*row) for row in rows]


def notes_by_source(tx: Transaction, slice_id: int) -> dict[str, dict[NoteState, int]]:
    """Count a slice's notes by source and state; the cost grows with the notes."""
    rows = tx.execute(
        "select source, state, count(*) from notes where slice_id = %s group by 1, 2 order by 1", (slice_id,)
    ).fetchall()
    found: dict[str, dict[NoteState, int]] = {}
    for source, state, count in rows:
        found.setdefault(source, {})[NoteState(state)] = count
    return found


def count_miscounted(tx: Transaction, slice_id: int) -> int:
    """Return how many beliefs of a slice say another number of sources than they have live."""
    row = tx.execute(
        """
        select count(*) from beliefs b
        left join (
            select belief_id, count(*) as live from sources where slice_id = %s and ended_at is null group by belief_id
        ) s on s.belief_id = b.belief_id
        where b.slice_id = %s and b.sources <> coalesce(s.live, 0)
        """,
        (slice_id, slice_id),
    ).fetchone()
    return 0 if row is None else int(row[0])


def count_quotes(tx: Transaction, slice_id: int) -> tuple[int, int]:
    """Return how many quotes a slice's sources keep, and how many are not what stands at their place.

    What stands there counts with its secrets masked, as the quote was taken.
    """
    row = tx.execute("select count(*) from sources where slice_id = %s and quote is not null", (slice_id,)).fetchone()
    differing = tx.execute(
        """
        select s.quote, s.quote_start, s.quote_end, v.text
        from sources s
        left join lateral (
            select text from notes where note_id = s.note_id and version = s.note_version
            union all
            select text from note_versions where note_id = s.note_id and version = s.note_version
        ) v on true
        where s.slice_id = %s and s.quote is not null
          and substr(v.text, s.quote_start + 1, s.quote_end - s.quote_start) is distinct from s.quote
        order by s.note_id, s.note_version
        """,
        (slice_id,),
    )
    wrong = sum(text is None or _masked_text(text)[start:end] != quote for quote, start, end, text in differing)
    return (0 if row is None else row[0]), wrong


@lru_cache(maxsize=1)  # the quotes of one note come in a row
def _masked_text(text: str) -> str:
    return mask(text).text


def visible_slice(tx: Transaction, tenant: Tenant, slice_id: int) -> Slice:
    """Return a slice that the tenant is known to see."""
    query = f"select s.org_id, s.scope, s.owner_user_id from slices s where s.slice_id = %(slice)s and {VISIBLE}"
    row = tx.execute(query, {"slice": slice_id, **of_tenant(tenant)}).fetchone()
    if row is None:
        raise RuntimeError(f"slice {slice_id} is not visible")
    return Slice(slice_id, SliceKey(row[0], Scope(row[1]), row[2]))


def all_slices(planner: Transaction) -> list[Slice]:
    """Return the slices of every tenant; planner role."""
    rows = planner.execute("select slice_id, org_id, scope, owner_user_id from slices order by slice_id").fetchall()
    return [Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])) for row in rows]


def read_belief_counters(tx: Transaction, slice_id: int) -> BeliefCounters:
    """Return the maintained counters of a slice's beliefs."""
    columns = _KIND_COUNTERS.replace("n.", "")
    row = tx.execute(
        f"select {columns}, beliefs_archived from slice_counters where slice_id = %s", (slice_id,)
    ).fetchone()
    values = row or (0,) * (len(Kind) + 1)
    return BeliefCounters(dict(zip(Kind, values, strict=False)), values[-1])


def count_beliefs(tx: Transaction, slice_id: int) -> BeliefCounters:
    """Count the beliefs of a slice; exact beside writers when the slice's counters are locked."""
    rows = tx.execute(
        "select kind, archived_at is not null, count(*) from beliefs where slice_id = %s group by 1, 2", (slice_id,)
    ).fetchall()
    live = {Kind(kind): count for kind, archived, count in rows if not archived}
    archived = sum(count for _, is_archived, count in rows if is_archived)
    return BeliefCounters({kind: live.get(kind, 0) for kind in Kind}, archived)


def _slice_status(row: Mapping[str, Any]) -> SliceStatus:
    notes = {name: row[name] or 0 for name in NoteCounters.__dataclass_fields__}
    cursor = {name: row[name] for name in CursorReading.__dataclass_fields__ if row[name] is not None}
    return SliceStatus(
        slice=Slice(row["slice_id"], SliceKey(row["org_id"], Scope(row["scope"]), row["owner_user_id"])),
        last_sequence=row["last_seq"],
        notes=NoteCounters(**notes),
        beliefs=BeliefCounters(
            {kind: row[f"beliefs_{kind.value}"] or 0 for kind in Kind}, row["beliefs_archived"] or 0
        ),
        cursor=CursorReading(**cursor),
    )


def _run(row: Mapping[str, Any]) -> RunReading:
    return RunReading(**{**row, "status": RunStatus(row["status"])})
