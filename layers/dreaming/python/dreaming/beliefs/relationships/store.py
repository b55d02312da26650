"""The SQL of relationships: finding, asserting, loading with sources, writing, reading."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.records import DecayClass, Source
from dreaming.beliefs.relationships.records import Assertion, Ending, Relationship, RelationshipReading
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.store import source_from_row
from dreaming.database import Transaction

_COLUMNS = """relationship_id, from_belief_id, type, to_belief_id, confidence, confirmed_at, first_seen_at, decay_class,
    fades_at, sources, origins, created_at, archived_at, archive_reason"""

_OF_R = ", ".join(f"r.{column.strip()}" for column in _COLUMNS.split(","))

_SOURCE_COLUMNS = """s.source_id, s.source_type, s.origin, s.trust, s.occurred_at, s.sequence, s.statement,
    s.confidence, s.kind, s.importance, s.decay_class, s.subject, s.attribute, s.value, s.multi_valued, s.valid_from,
    s.valid_until, s.note_id, s.note_version, s.quote, s.quote_start, s.quote_end"""

Loaded = tuple[Relationship, bool, list[Source]]
"""A relationship, whether both its beliefs are live, and its live sources."""


def find_entities(tx: Transaction, slice_id: int, names: Sequence[str]) -> dict[str, tuple[UUID, str]]:
    """Return the live entity belief about each name (in lower case) and its statement.

    The belief that is nothing but the name comes first, then the latest confirmed one.
    """
    if not names:
        return {}
    query = """
        select q.name, hit.belief_id, hit.statement
        from unnest(%(names)s::text[]) as q (name)
        cross join lateral (
            select b.belief_id, b.statement from beliefs b
            where b.slice_id = %(slice)s and b.archived_at is null and b.subject_key = q.name and b.kind = 'entity'
            order by lower(b.statement) = q.name desc, b.confirmed_at desc, b.belief_id
            limit 1
        ) hit
    """
    rows = tx.execute(query, {"slice": slice_id, "names": list(names)}).fetchall()
    return {row[0]: (row[1], row[2]) for row in rows}


def assert_edges(
    tx: Transaction,
    slice_id: int,
    assertions: Sequence[Assertion],
    new_ids: Sequence[UUID],
    *,
    now: datetime,
) -> set[UUID]:
    """Make the relationships that are missing and link each to the note's live source; return all of them.

    `new_ids` holds an id for each assertion. A new row stands archived without a source until it is
    folded. An assertion whose note supports its belief no longer is left out.
    """
    if not assertions:
        return set()
    rows = tx.execute(
        """
        with wanted as (
            select distinct on (q.from_id, q.type, q.to_id, s.source_id)
                   q.new_id, q.from_id, q.type, q.to_id, s.source_id, s.occurred_at
            from unnest(%(new_ids)s::uuid[], %(from_ids)s::uuid[], %(types)s::text[], %(to_ids)s::uuid[],
                        %(notes)s::uuid[]) as q (new_id, from_id, type, to_id, note_id)
            join sources s on s.belief_id = q.from_id and s.note_id = q.note_id and s.ended_at is null
                and s.slice_id = %(slice)s
        ), made as (
            insert into relationships (relationship_id, slice_id, from_belief_id, type, to_belief_id, confidence,
                confirmed_at, first_seen_at, decay_class, fades_at, sources, origins, created_at, updated_at,
                archived_at, archive_reason)
            select distinct on (from_id, type, to_id) new_id, %(slice)s, from_id, type, to_id, 0, occurred_at,
                occurred_at, 'permanent', null::timestamptz, 0, 0, %(now)s, %(now)s, %(now)s, 'sourceless'
            from wanted
            on conflict (slice_id, from_belief_id, type, to_belief_id) do nothing
            returning relationship_id, from_belief_id, type, to_belief_id
        ), known as (
            select relationship_id, from_belief_id, type, to_belief_id, true as is_new from made
            union all
            select r.relationship_id, r.from_belief_id, r.type, r.to_belief_id, false from relationships r
            join (select distinct from_id, type, to_id from wanted) w
              on r.slice_id = %(slice)s and r.from_belief_id = w.from_id and r.type = w.type
              and r.to_belief_id = w.to_id
        )
        select k.relationship_id, w.source_id, k.is_new
        from wanted w
        join known k on k.from_belief_id = w.from_id and k.type = w.type and k.to_belief_id = w.to_id
        """,
        {
            "slice": slice_id,
            "now": now,
            "new_ids": list(new_ids),
            "from_ids": [one.from_belief_id for one in assertions],
            "types": [one.type for one in assertions],
            "to_ids": [one.to_belief_id for one in assertions],
            "notes": [one.note_id for one in assertions],
        },
    ).fetchall()
    _link(tx, slice_id, [(row[0], row[1]) for row in rows])
    made = {row[0] for row in rows if row[2]}
    if made:
        add_to_counters(tx, slice_id, {"relationships_archived": len(made)})
    return {row[0] for row in rows}


def _link(tx: Transaction, slice_id: int, links: Sequence[tuple[UUID, UUID]]) -> None:
    if links:
        tx.execute(
            """
            insert into relationship_sources (slice_id, relationship_id, source_id)
            select %s, * from unnest(%s::uuid[], %s::uuid[]) on conflict do nothing
            """,
            (slice_id, [one for one, _ in links], [source for _, source in links]),
        )


def unlink_notes(
    tx: Transaction, slice_id: int, note_ids: Sequence[UUID], assertions: Sequence[Assertion]
) -> set[UUID]:
    """Take back what live sources of the notes assert, except `assertions`; return the relationships."""
    rows = tx.execute(
        """
        delete from relationship_sources l
        using sources s, relationships r
        where l.slice_id = %(slice)s and s.slice_id = %(slice)s and r.slice_id = %(slice)s
          and s.note_id = any(%(notes)s) and s.ended_at is null
          and l.source_id = s.source_id and r.relationship_id = l.relationship_id
          and not exists (
              select from unnest(%(from_ids)s::uuid[], %(types)s::text[], %(to_ids)s::uuid[], %(kept)s::uuid[])
                  as q (from_id, type, to_id, note_id)
              where q.from_id = r.from_belief_id and q.type = r.type and q.to_id = r.to_belief_id
                and q.note_id = s.note_id
          )
        returning l.relationship_id
        """,
        {
            "slice": slice_id,
            "notes": list(note_ids),
            "from_ids": [one.from_belief_id for one in assertions],
            "types": [one.type for one in assertions],
            "to_ids": [one.to_belief_id for one in assertions],
            "kept": [one.note_id for one in assertions],
        },
    ).fetchall()
    return {row[0] for row in rows}


def touched_by(tx: Transaction, slice_id: int, *, sources: Collection[UUID], beliefs: Collection[UUID]) -> set[UUID]:
    """Return the relationships that one of the sources asserts, or that one of the beliefs is an end of."""
    rows = tx.execute(
        """
        select l.relationship_id from relationship_sources l
        where l.slice_id = %(slice)s and l.source_id = any(%(sources)s)
        union select r.relationship_id from relationships r
        where r.slice_id = %(slice)s and r.from_belief_id = any(%(beliefs)s)
        union select r.relationship_id from relationships r
        where r.slice_id = %(slice)s and r.to_belief_id = any(%(beliefs)s)
        """,
        {"slice": slice_id, "sources": list(sources), "beliefs": list(beliefs)},
    ).fetchall()
    return {row[0] for row in rows}


def asserted_of(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> list[Assertion]:
    """Return what notes assert about the beliefs, also where the source ended by a merge."""
    rows = tx.execute(
        """
        select distinct r.from_belief_id, r.type, r.to_belief_id, s.note_id
        from relationships r
        join relationship_sources l on l.relationship_id = r.relationship_id and l.slice_id = %(slice)s
        join sources s on s.source_id = l.source_id and s.slice_id = %(slice)s
        where r.slice_id = %(slice)s and (r.from_belief_id = any(%(ids)s) or r.to_belief_id = any(%(ids)s))
          and s.note_id is not null and (s.ended_at is null or s.ended_reason = 'merged')
        order by 1, 2, 3, 4
        """,
        {"slice": slice_id, "ids": list(belief_ids)},
    ).fetchall()
    return [Assertion(*row) for row in rows]


def load(tx: Transaction, slice_id: int, relationship_ids: Iterable[UUID]) -> list[Loaded]:
    """Return relationships with the state of their ends and their live sources, in two statements."""
    ids = sorted(relationship_ids)
    if not ids:
        return []
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            f"""
            select {_OF_R}, f.archived_at is null and t.archived_at is null as ends_live
            from relationships r
            join beliefs f on f.belief_id = r.from_belief_id
            join beliefs t on t.belief_id = r.to_belief_id
            where r.slice_id = %s and r.relationship_id = any(%s)
            order by r.relationship_id
            """,
            (slice_id, ids),
        ).fetchall()
        sources = cursor.execute(
            f"""
            select l.relationship_id, {_SOURCE_COLUMNS}
            from relationship_sources l
            join sources s on s.source_id = l.source_id
            -- A merge may have given the source to another belief, for as long as it stands.
            join relationships r on r.relationship_id = l.relationship_id and r.from_belief_id = s.belief_id
            where l.slice_id = %s and l.relationship_id = any(%s) and s.ended_at is null
            """,
            (slice_id, ids),
        ).fetchall()
    loaded = {
        row["relationship_id"]: (relationship_from_row(row), ends_live, list[Source]())
        for row in rows
        for ends_live in [bool(row.pop("ends_live"))]
    }
    for row in sources:
        loaded[row.pop("relationship_id")][2].append(source_from_row(row))
    return list(loaded.values())


def relationship_from_row(row: Mapping[str, Any]) -> Relationship:
    """Build a relationship from a row of its columns."""
    reason = row["archive_reason"]
    return Relationship(
        **{
            **row,
            "decay_class": DecayClass(row["decay_class"]),
            "archive_reason": Ending(reason) if reason else None,
        }
    )


def update(tx: Transaction, slice_id: int, updated: Sequence[Relationship], *, now: datetime) -> None:
    """Write relationships as they are now, in one statement."""
    if not updated:
        return
    rows = [{**asdict(one), "slice_id": slice_id, "updated_at": now} for one in updated]
    tx.execute(
        """
        update relationships r
        set confidence = u.confidence, confirmed_at = u.confirmed_at, first_seen_at = u.first_seen_at,
            decay_class = u.decay_class, fades_at = u.fades_at, sources = u.sources, origins = u.origins,
            updated_at = u.updated_at, archived_at = u.archived_at, archive_reason = u.archive_reason
        from json_populate_recordset(null::relationships, %s) u
        where r.slice_id = u.slice_id and r.relationship_id = u.relationship_id
        """,
        (json.dumps(rows, default=_encode, ensure_ascii=False, allow_nan=False),),
    )


def _encode(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, UUID | Enum):
        return str(value)
    raise TypeError(f"cannot store a {type(value).__name__}")


def add_to_counters(tx: Transaction, slice_id: int, differences: Mapping[str, int]) -> None:
    """Add to the slice's counters of relationships."""
    if differences:
        assignments = ", ".join(f"{name} = {name} + %({name})s" for name in sorted(differences))
        tx.execute(
            f"update slice_counters set {assignments} where slice_id = %(slice_id)s",
            {**differences, "slice_id": slice_id},
        )


COUNTERS = ("relationships_live", "relationships_ageing", "relationships_archived", "beliefs_ageing")
"""The counters of a slice that are about ageing."""


def read_counters(tx: Transaction, slice_id: int) -> dict[str, int]:
    """Return the maintained counters about ageing."""
    row = tx.execute(f"select {', '.join(COUNTERS)} from slice_counters where slice_id = %s", (slice_id,)).fetchone()
    return dict(zip(COUNTERS, row or (0,) * len(COUNTERS), strict=True))


def count(tx: Transaction, slice_id: int) -> dict[str, int]:
    """Count anew what the counters about ageing should hold."""
    row = tx.execute(
        """
        select count(*) filter (where archived_at is null),
               count(*) filter (where archived_at is null and decay_class <> 'permanent'),
               count(*) filter (where archived_at is not null),
               (select count(*) from beliefs
                where slice_id = %(slice)s and archived_at is null and decay_class <> 'permanent')
        from relationships where slice_id = %(slice)s
        """,
        {"slice": slice_id},
    ).fetchone()
    return dict(zip(COUNTERS, row or (0,) * len(COUNTERS), strict=True))


def read_of_beliefs(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], *, ageing: Ageing, now: datetime, limit: int
) -> dict[UUID, list[RelationshipReading]]:
    """Return up to `limit` live relationships of each belief, the surest first."""
    query = f"""
        select given.belief_id as of, listed.* from unnest(%(beliefs)s::uuid[]) as given (belief_id)
        cross join lateral (
            select {_OF_R}, r.from_belief_id = given.belief_id as outgoing, o.belief_id as other_id,
                   o.statement as other_statement,
                   aged(r.confidence, r.confirmed_at, half_life_of(r.decay_class, %(slow)s, %(fast)s), %(now)s) as aged
            from relationships r
            join beliefs o on o.belief_id = case r.from_belief_id when given.belief_id then r.to_belief_id
                                                 else r.from_belief_id end
            where r.slice_id = %(slice)s and r.archived_at is null
              and (r.from_belief_id = given.belief_id or r.to_belief_id = given.belief_id)
            order by aged desc, r.type, r.relationship_id
            limit %(limit)s
        ) listed
        order by listed.aged desc, listed.type, listed.relationship_id
    """
    parameters = {
        "slice": slice_id,
        "beliefs": list(belief_ids),
        "now": now,
        "limit": limit,
        **ageing_store.parameters(ageing),
    }
    apart = ("outgoing", "other_id", "other_statement", "aged")
    found: dict[UUID, list[RelationshipReading]] = {one: [] for one in belief_ids}
    with tx.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(query, parameters):
            told = [row.pop(name) for name in apart]
            found[row.pop("of")].append(RelationshipReading(relationship_from_row(row), *told))
    return found
