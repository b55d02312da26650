"""The SQL of beliefs: locks, candidates, loading with sources, writing changes, reading for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.encoding import array_of, fields_of, json_of
from dreaming.beliefs.records import (
    ArchiveReason,
    Belief,
    DecayClass,
    Importance,
    Kind,
    Provenance,
    Source,
    SourceRecord,
    SourceType,
)
from dreaming.beliefs.similarity import MOST_ALIKE, SAME_ATTRIBUTE, Probe, StoredTokens
from dreaming.beliefs.terms import store as terms_store
from dreaming.beliefs.terms.words import terms
from dreaming.beliefs.words import WORDS_VERSION
from dreaming.beliefs.workspace import BeliefChanges
from dreaming.database import Transaction
from dreaming.notes.records import Trust
from dreaming.passes.records import CONTRADICTIONS, DECAY, EMBEDDING
from dreaming.passes.store import make_due

_BELIEF_COLUMNS = """belief_id, kind, statement, confidence, confirmed_at, first_seen_at, importance, decay_class,
    fades_at, subject, attribute, value, multi_valued, valid_from, valid_until, trust, sources, origins, created_at,
    archived_at, archive_reason, provenance, warned_at"""

_SOURCE_COLUMNS = """source_id, source_type, origin, trust, occurred_at, sequence, statement, confidence, kind,
    importance, decay_class, subject, attribute, value, multi_valued, valid_from, valid_until, note_id, note_version,
    quote, quote_start, quote_end"""


class CandidateRow(NamedTuple):
    """A belief found for the probe at index `claim`; `left_out` more were found for it."""

    claim: int
    belief_id: UUID
    statement: str
    left_out: int


def lock(tx: Transaction, slice_id: int) -> None:
    """Take the slice's belief lock until the end of the transaction; every belief writer does so first."""
    tx.execute("select from belief_lock where slice_id = %s for update", (slice_id,))


def find_candidates(tx: Transaction, slice_id: int, probes: Sequence[Probe]) -> list[CandidateRow]:
    """Return every belief that can match a probe, in one statement.

    Those of the same statement, compounds that it is a part of and its own parts, and the `MOST_ALIKE` that
    share most of the looked-up words. Superseded and sourceless beliefs never match. The lateral subqueries
    force a nested loop over the B-trees, whatever the planner thinks of the number of probes.
    """
    lookups = [(claim, lookup) for claim, probe in enumerate(probes) for lookup in probe.lookups]
    hashes = [(claim, one) for claim, probe in enumerate(probes) for one in (probe.statement_hash, *probe.parts)]
    query = """
        with shared as (
            select q.claim, hit.belief_id, count(*) as words
            from unnest(%(token_claims)s::int[], %(tokens)s::bigint[], %(sizes)s::smallint[],
                        %(positions)s::smallint[]) as q (claim, token, size, last_position)
            cross join lateral (
                select t.belief_id from belief_tokens t
                where t.slice_id = %(slice)s and t.token = q.token and t.size = q.size
                  and t.position <= q.last_position
                offset 0
            ) hit
            group by q.claim, hit.belief_id
        ), placed as (
            select claim, belief_id, row_number() over (partition by claim order by words desc, belief_id) as place,
                count(*) over (partition by claim) as found
            from shared
        ), found as (
            select q.claim, hit.belief_id, 0::bigint as left_out
            from unnest(%(hash_claims)s::int[], %(hashes)s::bigint[]) as q (claim, statement_hash)
            cross join lateral (
                select b.belief_id from beliefs b
                where b.slice_id = %(slice)s and b.statement_hash = q.statement_hash
                offset 0
            ) hit
            union all
            select q.claim, hit.belief_id, 0
            from unnest(%(claims)s::int[], %(own_hashes)s::bigint[]) as q (claim, part)
            cross join lateral (
                select t.belief_id from belief_tokens t
                where t.slice_id = %(slice)s and t.token = q.part and t.size = 0
                limit %(most)s -- any live one will do
            ) hit
            union all
            select claim, belief_id, greatest(found - %(most)s, 0) from placed where place <= %(most)s
        ), once as (
            select claim, belief_id, max(left_out) as left_out from found group by claim, belief_id
        )
        select once.claim, once.belief_id, belief.statement, once.left_out
        from once
        cross join lateral (
            select b.slice_id, b.statement, b.archive_reason from beliefs b where b.belief_id = once.belief_id
            offset 0
        ) belief
        -- Out here, or a planner that does not know yet how large the slice is reads it whole for each of them.
        where belief.slice_id = %(slice)s
          and (belief.archive_reason is null or belief.archive_reason in ('faded', 'person'))
        order by once.claim, once.belief_id
    """
    parameters = {
        "slice": slice_id,
        "most": MOST_ALIKE,
        "claims": array_of(range(len(probes))),
        "own_hashes": array_of(probe.statement_hash for probe in probes),
        "hash_claims": array_of(claim for claim, _ in hashes),
        "hashes": array_of(one for _, one in hashes),
        "token_claims": array_of(claim for claim, _ in lookups),
        "tokens": array_of(lookup.token for _, lookup in lookups),
        "sizes": array_of(lookup.size for _, lookup in lookups),
        "positions": array_of(lookup.last_position for _, lookup in lookups),
    }
    return list(map(CandidateRow._make, tx.execute(query, parameters).fetchall()))


def find_same_attribute(tx: Transaction, slice_id: int, pairs: Sequence[tuple[str, str]]) -> list[UUID]:
    """Return the `SAME_ATTRIBUTE` latest live beliefs about each (subject, attribute) pair, compared in lower case."""
    if not pairs:
        return []
    query = """
        select hit.belief_id
        from unnest(%(subjects)s::text[], %(attributes)s::text[]) as q (subject, attribute)
        cross join lateral (
            select b.belief_id from beliefs b
            where b.slice_id = %(slice)s and b.archived_at is null
              and b.subject_key = lower(q.subject) and b.attribute_key = lower(q.attribute)
            order by b.confirmed_at desc, b.belief_id
            limit %(most)s
        ) hit
    """
    subjects, attributes = map(list, zip(*pairs, strict=True))
    parameters = {"slice": slice_id, "most": SAME_ATTRIBUTE, "subjects": subjects, "attributes": attributes}
    return [row[0] for row in tx.execute(query, parameters).fetchall()]


def supported_by(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> list[UUID]:
    """Return the beliefs that the notes' live sources support."""
    query = "select distinct belief_id from sources where slice_id = %s and note_id = any(%s) and ended_at is null"
    return [row[0] for row in tx.execute(query, (slice_id, list(note_ids))).fetchall()]


def load(tx: Transaction, slice_id: int, belief_ids: Iterable[UUID]) -> dict[UUID, tuple[Belief, list[Source]]]:
    """Return beliefs with their live sources, in two statements."""
    ids = list(belief_ids)
    if not ids:
        return {}
    with tx.cursor(row_factory=dict_row) as cursor:
        beliefs = cursor.execute(
            f"select {_BELIEF_COLUMNS} from beliefs where slice_id = %s and belief_id = any(%s)", (slice_id, ids)
        ).fetchall()
        sources = cursor.execute(
            f"select belief_id, {_SOURCE_COLUMNS} from sources "
            "where slice_id = %s and belief_id = any(%s) and ended_at is null",
            (slice_id, ids),
        ).fetchall()
    loaded: dict[UUID, tuple[Belief, list[Source]]] = {row["belief_id"]: (belief_from_row(row), []) for row in beliefs}
    for row in sources:
        loaded[row.pop("belief_id")][1].append(source_from_row(row))
    return loaded


def belief_from_row(row: Mapping[str, Any]) -> Belief:
    """Build a belief from a row of its columns."""
    values = dict(row)
    reason = values["archive_reason"]
    return Belief(
        **{
            **values,
            "kind": Kind(values["kind"]),
            "importance": Importance(values["importance"]),
            "decay_class": DecayClass(values["decay_class"]),
            "trust": Trust(values["trust"]),
            "archive_reason": ArchiveReason(reason) if reason else None,
            "provenance": Provenance(values.get("provenance", Provenance.MODEL)),
        }
    )


def source_from_row(row: Mapping[str, Any]) -> Source:
    """Build a source from a row of its columns."""
    values = dict(row)
    return Source(
        **{
            **values,
            "source_type": SourceType(values["source_type"]),
            "trust": Trust(values["trust"]),
            "kind": Kind(values["kind"]),
            "importance": Importance(values["importance"]),
            "decay_class": DecayClass(values["decay_class"]),
        }
    )


def write(
    tx: Transaction,
    slice_id: int,
    changes: BeliefChanges,
    *,
    hashes: Mapping[UUID, int],
    tokens: Mapping[UUID, StoredTokens],
    run_id: UUID | None,
    now: datetime,
) -> None:
    """Write what a workspace changed, in at most fourteen statements however much it is.

    `hashes` and `tokens` hold an entry for each created or reworded belief. What was computed under other
    half-lives or another threshold than the slice's rows makes the decay pass due, which recomputes them.
    """
    due_at = changes.next_moment if ageing_store.keep(tx, slice_id, changes.ageing) else now
    if due_at is not None:
        make_due(tx, slice_id, DECAY, due_at)
    if changes.concern_vectors:
        make_due(tx, slice_id, EMBEDDING, now)
    if changes.created or changes.updated:
        make_due(tx, slice_id, CONTRADICTIONS, now)
    _write_beliefs(tx, slice_id, changes, hashes, now)
    _write_sources(tx, slice_id, changes, run_id, now)
    _write_tokens(tx, slice_id, changes, tokens)
    indexed = {belief.belief_id: terms(belief.statement) for belief in (*changes.created, *changes.reworded)}
    terms_store.replace(tx, slice_id, indexed, [belief.belief_id for belief in changes.reworded])
    _write_history(tx, slice_id, changes, run_id, now)
    add_to_counters(tx, slice_id, changes.counters)


def _write_beliefs(
    tx: Transaction, slice_id: int, changes: BeliefChanges, hashes: Mapping[UUID, int], now: datetime
) -> None:
    extra = {"slice_id": slice_id, "updated_at": now, "words_version": WORDS_VERSION}
    if changes.created:
        rows = [{**fields_of(b), **extra, "statement_hash": hashes[b.belief_id]} for b in changes.created]
        columns = f"{_BELIEF_COLUMNS}, slice_id, updated_at, words_version, statement_hash"
        tx.execute(
            f"insert into beliefs ({columns}) select {columns} from json_populate_recordset(null::beliefs, %s)",
            (json_of(rows),),
        )
    if changes.updated:
        rows = [{**fields_of(b), **extra, "statement_hash": hashes.get(b.belief_id)} for b in changes.updated]
        tx.execute(
            """
            update beliefs b
            set kind = u.kind, statement = u.statement, confidence = u.confidence, confirmed_at = u.confirmed_at,
                first_seen_at = u.first_seen_at, importance = u.importance, decay_class = u.decay_class,
                fades_at = u.fades_at, subject = u.subject, attribute = u.attribute, value = u.value,
                multi_valued = u.multi_valued, valid_from = u.valid_from, valid_until = u.valid_until,
                trust = u.trust, sources = u.sources, origins = u.origins, updated_at = u.updated_at,
                archived_at = u.archived_at, archive_reason = u.archive_reason, provenance = u.provenance,
                warned_at = u.warned_at,
                statement_hash = coalesce(u.statement_hash, b.statement_hash),
                words_version = case when u.statement_hash is null then b.words_version else u.words_version end
            from json_populate_recordset(null::beliefs, %s) u
            where b.slice_id = u.slice_id and b.belief_id = u.belief_id
            """,
            (json_of(rows),),
        )


def _write_sources(tx: Transaction, slice_id: int, changes: BeliefChanges, run_id: UUID | None, now: datetime) -> None:
    if changes.ended_sources:
        tx.execute(
            """
            update sources s set ended_at = %(now)s, ended_reason = u.reason
            from unnest(%(ids)s::uuid[], %(reasons)s::text[]) as u (source_id, reason)
            where s.slice_id = %(slice)s and s.source_id = u.source_id and s.ended_at is null
            """,
            {
                "now": now,
                "slice": slice_id,
                "ids": [source_id for source_id, _ in changes.ended_sources],
                "reasons": [reason.value for _, reason in changes.ended_sources],
            },
        )
    if changes.added_sources:
        rows = [_source_row(record, slice_id, run_id, now) for record in changes.added_sources]
        columns = f"belief_id, {_SOURCE_COLUMNS}, slice_id, model, prompt_version, run_id, created_at"
        tx.execute(
            f"insert into sources ({columns}) select {columns} from json_populate_recordset(null::sources, %s)",
            (json_of(rows),),
        )


def _source_row(record: SourceRecord, slice_id: int, run_id: UUID | None, now: datetime) -> dict[str, Any]:
    return {
        **fields_of(record.source),
        "belief_id": record.belief_id,
        "slice_id": slice_id,
        "model": record.model,
        "prompt_version": record.prompt_version,
        "run_id": run_id,
        "created_at": now,
    }


def _write_tokens(tx: Transaction, slice_id: int, changes: BeliefChanges, tokens: Mapping[UUID, StoredTokens]) -> None:
    if changes.reworded:
        tx.execute(
            "delete from belief_tokens where slice_id = %s and belief_id = any(%s)",
            (slice_id, [belief.belief_id for belief in changes.reworded]),
        )
    indexed = [(belief.belief_id, tokens[belief.belief_id]) for belief in (*changes.created, *changes.reworded)]
    if indexed:
        tx.execute(
            """
            with given as (
                select * from unnest(%(ids)s::uuid[], %(sizes)s::smallint[], %(tokens)s::text[], %(parts)s::text[])
                    as b (belief_id, size, tokens, parts)
            )
            insert into belief_tokens (slice_id, token, size, position, belief_id)
            select %(slice)s, t.token, g.size, t.place - 1, g.belief_id
            from given g cross join unnest(g.tokens::bigint[]) with ordinality as t (token, place)
            union all
            select %(slice)s, p.part, 0, 0, g.belief_id from given g cross join unnest(g.parts::bigint[]) as p (part)
            """,
            {
                "slice": slice_id,
                "ids": [belief_id for belief_id, _ in indexed],
                "sizes": array_of(stored.size for _, stored in indexed),
                "tokens": [array_of(stored.tokens) for _, stored in indexed],
                "parts": [array_of(stored.parts) for _, stored in indexed],
            },
        )


def _write_history(tx: Transaction, slice_id: int, changes: BeliefChanges, run_id: UUID | None, now: datetime) -> None:
    if not changes.history:
        return
    extra = {"slice_id": slice_id, "run_id": run_id, "happened_at": now}
    columns = """slice_id, belief_id, happened_at, event, confidence, confirmed_at, statement, source_id, run_id,
        detail"""
    tx.execute(
        f"insert into belief_history ({columns}) "
        f"select {columns} from json_populate_recordset(null::belief_history, %s)",
        (json_of([{**fields_of(entry), **extra} for entry in changes.history]),),
    )


def add_to_counters(tx: Transaction, slice_id: int, differences: Mapping[str, int]) -> None:
    """Add to columns of the slice's counters; the last lock that a transaction takes."""
    if not differences:
        return
    names = sorted(differences)
    assignments = ", ".join(f"{name} = {name} + %({name})s" for name in names)
    tx.execute(
        f"update slice_counters set {assignments} where slice_id = %(slice_id)s",
        {**differences, "slice_id": slice_id},
    )


def histories(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """Return each belief's events from the first, for people to read."""
    query = """
        select belief_id, happened_at, event, confidence, confirmed_at, statement, source_id, run_id, detail
        from belief_history where slice_id = %s and belief_id = any(%s) order by history_id
    """
    found: dict[UUID, list[dict[str, Any]]] = {one: [] for one in belief_ids}
    with tx.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(query, (slice_id, list(belief_ids))):
            found[row.pop("belief_id")].append(row)
    return found
