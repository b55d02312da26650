"""The SQL of beliefs as people read them; nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.api.records import ConflictReading, Evidence, NoteReading, RunReading, SourceReading
from dreaming.api.rules import context_after, context_before
from dreaming.api.store import IN_VISIBLE, of_tenant, runs_by_id
from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.records import Belief, Kind, SourceEnd
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.store import belief_from_row, source_from_row
from dreaming.database import Transaction
from dreaming.notes.records import NoteState, Tenant
from dreaming.notes.secrets import is_span, mask

CONTEXT_CHARACTERS = 160
"""How much of the note is shown on either side of a quote, in code points."""

_READ_CHARACTERS = CONTEXT_CHARACTERS + 512
"""How much of it is read: a secret that is cut where the context ends must still be known as one."""


_BELIEF_COLUMNS = """belief_id, kind, statement, confidence, confirmed_at, first_seen_at, importance, decay_class,
    fades_at, subject, attribute, value, multi_valued, valid_from, valid_until, trust, sources, origins, created_at,
    archived_at, archive_reason, provenance, warned_at"""


_SOURCE_COLUMNS = """s.source_id, s.source_type, s.origin, s.trust, s.occurred_at, s.sequence, s.statement,
    s.confidence, s.kind, s.importance, s.decay_class, s.subject, s.attribute, s.value, s.multi_valued, s.valid_from,
    s.valid_until, s.note_id, s.note_version, s.quote, s.quote_start, s.quote_end"""


AGED = "aged(confidence, confirmed_at, half_life_of(decay_class, %(slow)s, %(fast)s), %(now)s)"


_IMPORTANCE = "array_position(array['low', 'normal', 'high', 'critical'], importance)"


# The evidence of a page's beliefs: the earliest live source with the belief's own wording.
_WITH_EVIDENCE = f"""
    select {", ".join(f"page.{column.strip()}" for column in _BELIEF_COLUMNS.split(","))}, page.slice_id,
           page.aged_confidence, page.importance_rank, e.quote, e.source, e.external_id, e.author, e.occurred_at,
           e.occurred_offset
    from page
    left join lateral (
        select s.quote, n.source, n.external_id, n.author, s.occurred_at, n.occurred_offset
        from sources s join notes n on n.note_id = s.note_id
        where s.belief_id = page.belief_id and s.slice_id = page.slice_id and s.ended_at is null
        order by s.statement = page.statement desc, s.occurred_at, s.sequence
        limit 1
    ) e on true
"""


@dataclass(frozen=True, slots=True)
class BeliefFilter:
    """Which beliefs of a slice are listed; `words` must all occur in the statement, in any case.

    `as_of`: what held at that time, by all that is known today. `believed_at`: what was in sight then, by
    what was known at that time.
    """

    words: tuple[str, ...] = ()
    kind: Kind | None = None
    min_confidence: float = 0.0
    archived: bool = False
    as_of: datetime | None = None
    believed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BeliefPlace:
    """A belief's place in the list: aged confidence, importance from 1, time of confirmation, id."""

    aged: float
    importance: int
    confirmed_at: datetime
    belief_id: UUID


@dataclass(frozen=True, slots=True)
class BeliefRow:
    """A listed belief with its place and the quote behind its wording."""

    belief: Belief
    slice_id: int
    place: BeliefPlace
    evidence: Evidence | None


def list_beliefs(
    tx: Transaction,
    slice_id: int,
    wanted: BeliefFilter,
    *,
    ageing: Ageing,
    now: datetime,
    limit: int,
    after: BeliefPlace | None = None,
) -> list[BeliefRow]:
    """Return beliefs by aged confidence, then importance, then the latest confirmation.

    It is exact: words and kinds are looked for in every belief of the slice. Without them only those are
    aged that can be among the first.
    """
    floor = None
    if not (wanted.words or wanted.kind or wanted.archived or wanted.as_of or wanted.believed_at):
        floor = ageing_store.page_floor(tx, slice_id, ageing, now=now, limit=limit, below=after.aged if after else None)
    query = f"""
        with aged as (
            select *, {AGED} as aged_confidence, {_IMPORTANCE} as importance_rank
            from beliefs
            where slice_id = %(slice)s and {in_sight(wanted)} and {_REACHES if floor else "true"}
              and (%(kind)s::text is null or kind = %(kind)s)
              and not exists (
                  select from unnest(%(words)s::text[]) as word where strpos(lower(statement), lower(word)) = 0
              )
        ), page as (
            select * from aged
            where {"aged_confidence >= %(min_confidence)s" if wanted.min_confidence else "true"}
              and (%(after_id)s::uuid is null
                   or (aged_confidence, importance_rank, confirmed_at, belief_id)
                      < (%(after_aged)s::float8, %(after_rank)s::int, %(after_at)s::timestamptz, %(after_id)s::uuid))
            order by aged_confidence desc, importance_rank desc, confirmed_at desc, belief_id desc
            limit %(limit)s
        )
        {_WITH_EVIDENCE}
        order by aged_confidence desc, importance_rank desc, confirmed_at desc, belief_id desc
    """
    parameters = {
        "slice": slice_id,
        "archived": wanted.archived,
        "as_of": wanted.as_of,
        "believed_at": wanted.believed_at,
        "kind": wanted.kind.value if wanted.kind else None,
        "words": list(wanted.words),
        "min_confidence": wanted.min_confidence,
        "after_id": after.belief_id if after else None,
        "after_aged": after.aged if after else None,
        "after_rank": after.importance if after else None,
        "after_at": after.confirmed_at if after else None,
        "limit": limit,
        "floor": floor.aged if floor else None,
        "slow_from": floor.slow_from if floor else None,
        "fast_from": floor.fast_from if floor else None,
        **ageing_parameters(ageing, now),
    }
    with tx.cursor(row_factory=dict_row) as cursor:
        return [_belief_row(row) for row in cursor.execute(query, parameters)]


_REACHES = """(
    decay_class = 'slow_decay' and fades_at >= %(slow_from)s or decay_class = 'fast_decay' and fades_at >= %(fast_from)s
    or fades_at is null and confidence >= %(floor)s)"""
"""Of a live row of `beliefs`: its aged confidence can be the floor of a page or more."""

_HELD = """
    (archive_reason is null or archive_reason in ('superseded', 'rejected', 'faded'))
    and case when exists (
            select from timelines t where t.slice_id = beliefs.slice_id and t.belief_id = beliefs.belief_id)
        then exists (
            select from timelines t where t.slice_id = beliefs.slice_id and t.belief_id = beliefs.belief_id
              and t.standing <> 'rejected' and t.holds_from <= %(as_of)s
              and (t.holds_until is null or t.holds_until > %(as_of)s))
        else coalesce(valid_from, first_seen_at) <= %(as_of)s and (valid_until is null or valid_until > %(as_of)s)
        end
"""
"""Of a row of `beliefs`: it held at the moment `as_of`."""

_BELIEVED = """
    coalesce((
        select h.event from belief_history h
        where h.slice_id = beliefs.slice_id and h.belief_id = beliefs.belief_id and h.happened_at <= %(believed_at)s
          and h.event in ('created', 'archived', 'restored')
        order by h.history_id desc limit 1), 'archived') <> 'archived'
"""
"""Of a row of `beliefs`: it was in sight at the moment `believed_at`."""


def in_sight(wanted: BeliefFilter) -> str:
    """Return the condition of being listed: live or archived now, or held or believed at a moment."""
    conditions = [
        condition
        for condition, moment in ((_HELD, wanted.as_of), (_BELIEVED, wanted.believed_at))
        if moment is not None
    ]
    return " and ".join(conditions) or "(archived_at is not null) = %(archived)s"


def find_belief(tx: Transaction, tenant: Tenant, belief_id: UUID, *, ageing: Ageing, now: datetime) -> BeliefRow | None:
    """Return one belief, live or archived, of any slice that the tenant sees."""
    query = f"""
        with page as (
            select *, {AGED} as aged_confidence, {_IMPORTANCE} as importance_rank
            from beliefs where belief_id = %(belief_id)s and slice_id {IN_VISIBLE}
        )
        {_WITH_EVIDENCE}
    """
    with tx.cursor(row_factory=dict_row) as cursor:
        given = {"belief_id": belief_id, **of_tenant(tenant), **ageing_parameters(ageing, now)}
        row = cursor.execute(query, given).fetchone()
    return None if row is None else _belief_row(row)


def read_beliefs(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, ageing: Ageing, now: datetime
) -> dict[UUID, BeliefRow]:
    """Return beliefs of a slice, live or archived, as they are listed."""
    query = f"""
        with page as (
            select *, {AGED} as aged_confidence, {_IMPORTANCE} as importance_rank
            from beliefs where slice_id = %(slice)s and belief_id = any(%(ids)s)
        )
        {_WITH_EVIDENCE}
    """
    parameters = {"slice": slice_id, "ids": list(belief_ids), **ageing_parameters(ageing, now)}
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = [_belief_row(row) for row in cursor.execute(query, parameters)]
    return {row.belief.belief_id: row for row in rows}


def find_belief_ids(tx: Transaction, tenant: Tenant, part: str, limit: int) -> list[UUID]:
    """Return beliefs whose id, written without dashes in lower case, begins or ends with `part`."""
    rows = tx.execute(
        f"""
        select belief_id from beliefs
        where slice_id {IN_VISIBLE}
          and (starts_with(replace(belief_id::text, '-', ''), %(part)s)
               or right(replace(belief_id::text, '-', ''), length(%(part)s)) = %(part)s)
        order by belief_id limit %(limit)s
        """,
        {"part": part, "limit": limit, **of_tenant(tenant)},
    ).fetchall()
    return [row[0] for row in rows]


def most_corroborated(tx: Transaction, slice_id: int, *, ageing: Ageing, now: datetime, limit: int) -> list[BeliefRow]:
    """Return the live beliefs with the most distinct origins, at least two; reads every live belief."""
    query = f"""
        with page as (
            select *, {AGED} as aged_confidence, {_IMPORTANCE} as importance_rank
            from beliefs where slice_id = %(slice)s and archived_at is null and origins > 1
            order by origins desc, aged_confidence desc, belief_id limit %(limit)s
        )
        {_WITH_EVIDENCE}
        order by page.origins desc, aged_confidence desc, belief_id
    """
    parameters = {"slice": slice_id, "limit": limit, **ageing_parameters(ageing, now)}
    with tx.cursor(row_factory=dict_row) as cursor:
        return [_belief_row(row) for row in cursor.execute(query, parameters)]


def read_sources(
    tx: Transaction, tenant: Tenant, slice_id: int, belief_ids: Sequence[UUID]
) -> dict[UUID, list[SourceReading]]:
    """Return all sources of each belief, the ended ones too, the earliest first, each with its quote in context."""
    query = f"""
        select s.belief_id, {_SOURCE_COLUMNS}, s.model, s.prompt_version, s.run_id, s.created_at, s.ended_at,
               s.ended_reason, n.source as note_source, n.external_id, n.version as current_version, n.state, v.author,
               c.external_id as conversation_id,
               v.occurred_offset,
               substr(v.text, greatest(s.quote_start - %(context)s, 0) + 1, least(s.quote_start, %(context)s))
                   as before,
               substr(v.text, s.quote_start + 1, s.quote_end - s.quote_start) as standing,
               substr(v.text, s.quote_end + 1, %(context)s) as after,
               char_length(v.text) as length
        from sources s
        left join notes n on n.note_id = s.note_id
        left join conversation_notes cn
            on cn.slice_id = n.slice_id and cn.external_id = n.external_id and n.source = 'conversation'
        left join conversations c on c.document_id = cn.document_id
        left join lateral (
            select text, author, occurred_offset from notes
            where note_id = s.note_id and version = s.note_version
            union all
            select text, author, occurred_offset from note_versions
            where note_id = s.note_id and version = s.note_version
        ) v on true
        where s.slice_id = %(slice)s and s.belief_id = any(%(beliefs)s)
        order by s.occurred_at, s.sequence, s.source_id
    """
    parameters = {"context": _READ_CHARACTERS, "slice": slice_id, "beliefs": list(belief_ids)}
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(query, parameters).fetchall()
    runs = {run.run_id: run for run in runs_by_id(tx, tenant, [row["run_id"] for row in rows if row["run_id"]])}
    found: dict[UUID, list[SourceReading]] = {one: [] for one in belief_ids}
    for row in rows:
        found[row["belief_id"]].append(_source(row, runs))
    return found


_CANDIDATES = """
    select l.belief_id, l.statement, r.belief_id, r.statement, c.reason, c.evidence, c.found_at
    from conflict_candidates c
    join beliefs l on l.belief_id = c.left_belief_id
    join beliefs r on r.belief_id = c.right_belief_id
    where c.slice_id = %(slice)s and {}
    order by c.found_at desc, c.left_belief_id, c.right_belief_id limit %(limit)s
"""


def read_conflicts(tx: Transaction, slice_id: int, *, limit: int) -> list[ConflictReading]:
    """Return the pairs of a slice that are left for adjudication, the newest first."""
    rows = tx.execute(_CANDIDATES.format("true"), {"slice": slice_id, "limit": limit}).fetchall()
    return [_conflict(row) for row in rows]


def conflicts_of(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, limit: int
) -> dict[UUID, list[ConflictReading]]:
    """Return up to `limit` pairs left for adjudication of each belief, the newest first, itself on the left."""
    of_one = _CANDIDATES.format("given.belief_id in (c.left_belief_id, c.right_belief_id)")
    query = f"""
        select given.belief_id, listed.* from unnest(%(beliefs)s::uuid[]) as given (belief_id)
        cross join lateral ({of_one}) as listed (left_id, left_statement, right_id, right_statement, reason, evidence,
                                                 found_at)
        order by listed.found_at desc, listed.left_id, listed.right_id
    """
    found: dict[UUID, list[ConflictReading]] = {one: [] for one in belief_ids}
    for row in tx.execute(query, {"slice": slice_id, "beliefs": list(belief_ids), "limit": limit}):
        found[row[0]].append(_conflict(row[1:], row[0]))
    return found


def ageing_parameters(ageing: Ageing, now: datetime) -> dict[str, Any]:
    """Return what `AGED` is given."""
    return {"now": now, **ageing_store.parameters(ageing)}


def _belief_row(row: dict[str, Any]) -> BeliefRow:
    evidence = {name: row.pop(name) for name in ("quote", "source", "external_id", "author", "occurred_at")}
    offset = row.pop("occurred_offset")
    slice_id = row.pop("slice_id")
    aged, rank = row.pop("aged_confidence"), row.pop("importance_rank")
    belief = belief_from_row(row)
    if evidence["quote"] is not None:
        evidence["occurred_at"] = _with_offset(evidence["occurred_at"], offset)
    return BeliefRow(
        belief=belief,
        slice_id=slice_id,
        place=BeliefPlace(aged, rank, belief.confirmed_at, belief.belief_id),
        evidence=None if evidence["quote"] is None else Evidence(**evidence),
    )


def _source(row: dict[str, Any], runs: Mapping[UUID, RunReading]) -> SourceReading:
    names = [column.strip().removeprefix("s.") for column in _SOURCE_COLUMNS.split(",")]
    source = source_from_row({name: row[name] for name in names})
    note = None
    if source.note_id is not None and source.note_version is not None:
        note = NoteReading(
            note_id=source.note_id,
            source=row["note_source"],
            external_id=row["external_id"],
            author=row["author"],
            occurred_at=_with_offset(source.occurred_at, row["occurred_offset"] or 0),
            version=source.note_version,
            current_version=row["current_version"],
            state=NoteState(row["state"]),
            conversation_id=row["conversation_id"],
        )
    start, end, length = source.quote_start or 0, source.quote_end or 0, row["length"] or 0
    before, standing, after = (row[name] or "" for name in ("before", "standing", "after"))
    masked = mask(before + standing + after).text
    before, after = masked[: len(before)][-CONTEXT_CHARACTERS:], masked[len(before) + len(standing) :]
    return SourceReading(
        source=source,
        note=note,
        before=context_before(before, cut=start > CONTEXT_CHARACTERS),
        after=context_after(after[:CONTEXT_CHARACTERS], cut=length - end > CONTEXT_CHARACTERS),
        exact=None if source.quote is None else is_span(source.quote, standing),
        model=row["model"],
        prompt_version=row["prompt_version"],
        run=runs.get(row["run_id"]),
        recorded_at=row["created_at"],
        ended_at=row["ended_at"],
        ended_reason=SourceEnd(row["ended_reason"]) if row["ended_reason"] else None,
    )


def _conflict(row: Sequence[Any], belief_id: UUID | None = None) -> ConflictReading:
    left, right = (row[0], row[1]), (row[2], row[3])
    if belief_id == right[0]:
        left, right = right, left
    return ConflictReading(*left, *right, *row[4:])


def _with_offset(moment: datetime, seconds: int) -> datetime:
    return moment.astimezone(timezone(timedelta(seconds=seconds)))
