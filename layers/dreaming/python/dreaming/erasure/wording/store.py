"""The SQL of erasing notes: what they reach, what is left, what goes and what is rewritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import dict_row

from dreaming.beliefs.records import Source
from dreaming.beliefs.store import source_from_row
from dreaming.database import Transaction
from dreaming.erasure.wording.records import Past

_SOURCE_COLUMNS = """s.source_id, s.source_type, s.origin, s.trust, s.occurred_at, s.sequence, s.statement,
    s.confidence, s.kind, s.importance, s.decay_class, s.subject, s.attribute, s.value, s.multi_valued, s.valid_from,
    s.valid_until, s.note_id, s.note_version, s.quote, s.quote_start, s.quote_end"""


@dataclass(frozen=True, slots=True)
class Reach:
    """What notes reach: their sources with the belief of each, and all beliefs that shared sources with those."""

    sources: dict[UUID, UUID]
    beliefs: tuple[UUID, ...]


def names_of(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> dict[UUID, tuple[str, str]]:
    """Return source and external id of each of the notes that there are."""
    rows = tx.execute(
        "select note_id, source, external_id from notes where slice_id = %s and note_id = any(%s)",
        (slice_id, list(note_ids)),
    ).fetchall()
    return {row[0]: (row[1], row[2]) for row in rows}


def conversations_of(tx: Transaction, slice_id: int, note_ids: Sequence[UUID], source: str) -> dict[int, str]:
    """Return the conversations that the notes were made of, by their external ids."""
    rows = tx.execute(
        """
        select distinct c.document_id, c.external_id from notes n
        join conversation_notes m on m.slice_id = n.slice_id and m.external_id = n.external_id
        join conversations c on c.document_id = m.document_id and c.slice_id = m.slice_id
        where n.slice_id = %s and n.note_id = any(%s) and n.source = %s
        """,
        (slice_id, list(note_ids), source),
    ).fetchall()
    return {row[0]: row[1] for row in rows}


def notes_made_of(tx: Transaction, slice_id: int, documents: Iterable[int], source: str) -> list[UUID]:
    """Return the notes that synthesis made of conversations."""
    rows = tx.execute(
        """
        select n.note_id from conversation_notes m
        join notes n on n.slice_id = m.slice_id and n.source = %s and n.external_id = m.external_id
        where m.slice_id = %s and m.document_id = any(%s)
        """,
        (source, slice_id, list(documents)),
    ).fetchall()
    return [row[0] for row in rows]


def forget_refusals(tx: Transaction, slice_id: int, documents: Iterable[int]) -> int:
    """Delete what is kept of conversations that the embedder refused."""
    return tx.execute(
        "delete from embedding_attempts where slice_id = %s and split_part(item_id, ':', 1) = any(%s)",
        (slice_id, [str(one) for one in documents]),
    ).rowcount


def given_away(tx: Transaction, slice_id: int, source_ids: Sequence[UUID]) -> list[UUID]:
    """Return the beliefs from which a merge took one of the sources."""
    rows = tx.execute(
        """
        select distinct m.merged_belief_id from merged_sources t
        join merges m on m.merge_id = t.merge_id and m.slice_id = t.slice_id
        where t.slice_id = %s and t.source_id = any(%s)
        """,
        (slice_id, list(source_ids)),
    ).fetchall()
    return [row[0] for row in rows]


def reach(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> Reach:
    """Return the notes' sources, and every belief that has them or exchanged sources with one that has.

    Sources move by merges and by splits; what a belief once said stays in the history of where it was.
    """
    sources = tx.execute(
        "select source_id, belief_id from sources where slice_id = %s and note_id = any(%s)",
        (slice_id, list(note_ids)),
    ).fetchall()
    beliefs = tx.execute(
        """
        with recursive reached (belief_id) as (
            select unnest(%(ids)s::uuid[])
            union
            select linked.belief_id from reached r
            cross join lateral (
                select m.merged_belief_id as belief_id from merges m
                where m.slice_id = %(slice)s and m.kept_belief_id = r.belief_id
                union all
                select m.kept_belief_id from merges m
                where m.slice_id = %(slice)s and m.merged_belief_id = r.belief_id
                union all
                select (h.detail ->> 'from')::uuid from belief_history h
                where h.slice_id = %(slice)s and h.belief_id = r.belief_id and h.event in ('created', 'unmerged')
                  and h.detail ? 'from'
            ) linked
        )
        select b.belief_id from reached join beliefs b using (belief_id) where b.slice_id = %(slice)s order by 1
        """,
        {"slice": slice_id, "ids": sorted({row[1] for row in sources})},
    ).fetchall()
    return Reach({row[0]: row[1] for row in sources}, tuple(row[0] for row in beliefs))


def read_past(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> list[tuple[UUID, Past]]:
    """Return beliefs' ended sources, and those that a merge took from them and taking it back would return."""
    query = f"""
        select s.belief_id as of_belief, s.ended_reason = 'merged' as is_of_merge, {_SOURCE_COLUMNS}
        from sources s
        where s.slice_id = %(slice)s and s.belief_id = any(%(ids)s) and s.ended_at is not null
        union all
        select m.merged_belief_id, true, {_SOURCE_COLUMNS}
        from merges m
        join merged_sources t on t.merge_id = m.merge_id and t.slice_id = m.slice_id
        join sources s on s.source_id = t.source_id and s.slice_id = t.slice_id
        where m.slice_id = %(slice)s and m.merged_belief_id = any(%(ids)s) and m.undone_at is null
          and s.belief_id <> m.merged_belief_id
    """
    with tx.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(query, {"slice": slice_id, "ids": list(belief_ids)}).fetchall()
    return [
        (row.pop("of_belief"), Past(is_of_merge=row.pop("is_of_merge"), source=source_from_row(row))) for row in rows
    ]


def mark_neighbours(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> int:
    """Let the contradictions pass come to all that stood in one line with these beliefs, or shared a name.

    What they replaced may be current again. To be called while their rows are there.
    """
    return tx.execute(
        """
        with gone as (
            select subject, attribute from examined_beliefs
            where slice_id = %(slice)s and belief_id = any(%(ids)s) and subject is not null
        ), names as (
            select name from aliases where slice_id = %(slice)s and belief_id = any(%(ids)s)
            union select other_name from aliases where slice_id = %(slice)s and belief_id = any(%(ids)s)
        ), partners as (
            select left_belief_id as belief_id from adjudications
            where slice_id = %(slice)s and right_belief_id = any(%(ids)s)
            union select right_belief_id from adjudications
            where slice_id = %(slice)s and left_belief_id = any(%(ids)s)
            union select left_belief_id from conflict_candidates
            where slice_id = %(slice)s and right_belief_id = any(%(ids)s)
            union select right_belief_id from conflict_candidates
            where slice_id = %(slice)s and left_belief_id = any(%(ids)s)
            union select belief_id from timelines where slice_id = %(slice)s and successor_id = any(%(ids)s)
            union select successor_id from timelines where slice_id = %(slice)s and belief_id = any(%(ids)s)
            union select e.belief_id from gone join examined_beliefs e
                on e.slice_id = %(slice)s and e.subject = gone.subject
            union select e.belief_id from names join examined_beliefs e
                on e.slice_id = %(slice)s and position(names.name in e.subject) > 0
        )
        update examined_beliefs e set row_version = ''
        from partners p
        where e.slice_id = %(slice)s and e.belief_id = p.belief_id and e.belief_id <> all(%(ids)s)
        """,
        {"slice": slice_id, "ids": list(belief_ids)},
    ).rowcount


def forget_conclusions(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID]) -> Counter[str]:
    """Delete what was concluded about beliefs from words they no longer have; it is concluded anew."""
    parameters = {"slice": slice_id, "ids": list(belief_ids), "items": [str(one) for one in belief_ids]}
    of_pairs = "slice_id = %(slice)s and (left_belief_id = any(%(ids)s) or right_belief_id = any(%(ids)s))"
    conditions = {
        "adjudications": of_pairs,
        "conflict_candidates": of_pairs,
        "timelines": "slice_id = %(slice)s and (belief_id = any(%(ids)s) or successor_id = any(%(ids)s))",
        "examined_beliefs": "slice_id = %(slice)s and belief_id = any(%(ids)s)",
        "aliases": "slice_id = %(slice)s and belief_id = any(%(ids)s)",
        "belief_vectors": "slice_id = %(slice)s and belief_id = any(%(ids)s)",
        "embedding_attempts": "slice_id = %(slice)s and item_id = any(%(items)s)",
        "outbox": "slice_id = %(slice)s and detail ->> 'belief_id' = any(%(items)s)",
    }
    return Counter(
        {
            table: tx.execute(f"delete from {table} where {condition}", parameters).rowcount
            for table, condition in conditions.items()
        }
    )


def rewrite_confirmations(tx: Transaction, slice_id: int, sources: Sequence[Source]) -> int:
    """Let confirmations repeat other words than those that were erased."""
    if not sources:
        return 0
    texts = ("statement", "kind", "importance", "decay_class", "subject", "attribute", "value")
    types = dict.fromkeys(texts, "text")
    types |= {"multi_valued": "boolean", "valid_from": "timestamptz", "valid_until": "timestamptz"}
    columns = list(types)
    names = ", ".join(f"{column} = u.{column}" for column in columns)
    arrays = ", ".join(f"%({column})s::{kind}[]" for column, kind in types.items())
    return tx.execute(
        f"""
        update sources s set {names}
        from unnest(%(ids)s::uuid[], {arrays}) as u (source_id, {", ".join(columns)})
        where s.slice_id = %(slice)s and s.source_id = u.source_id
        """,
        {column: [getattr(source, column) for source in sources] for column in columns}
        | {"ids": [source.source_id for source in sources], "slice": slice_id},
    ).rowcount


def drop_confirmations(tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], wordings: Sequence[str]) -> int:
    """Delete past confirmations that repeat words nobody says any more."""
    return tx.execute(
        """
        delete from sources
        where slice_id = %s and belief_id = any(%s) and source_type = 'confirmation' and ended_at is not null
          and statement <> all(%s)
        """,
        (slice_id, list(belief_ids), list(wordings)),
    ).rowcount


def clean_history(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], sources: Sequence[UUID], wordings: Sequence[str]
) -> tuple[int, int]:
    """Delete entries of erased sources and in words nobody says any more; return how many went and were cut."""
    parameters = {
        "slice": slice_id,
        "beliefs": list(belief_ids),
        "sources": list(sources),
        "wordings": list(wordings),
    }
    deleted = tx.execute(
        """
        delete from belief_history
        where slice_id = %(slice)s and belief_id = any(%(beliefs)s)
          and (source_id = any(%(sources)s) or statement <> all(%(wordings)s))
        """,
        parameters,
    ).rowcount
    cut = tx.execute(
        """
        update belief_history set detail = detail - 'before'
        where slice_id = %(slice)s and belief_id = any(%(beliefs)s) and detail ? 'before'
          and detail ->> 'before' <> all(%(wordings)s)
        """,
        parameters,
    ).rowcount
    return deleted, cut


def strip_merges(
    tx: Transaction, slice_id: int, lost: Sequence[UUID], held: Sequence[UUID], wordings: Sequence[str]
) -> int:
    """Leave of merges only why each side was archived, where the rows they keep hold erased words.

    Taking such a merge back then gives each belief the fold of its own sources.
    """
    return tx.execute(
        """
        update merges
        set kept_before = jsonb_build_object('archive_reason', kept_before -> 'archive_reason'),
            merged_before = jsonb_build_object('archive_reason', merged_before -> 'archive_reason'),
            kept_after = '', merged_after = ''
        where slice_id = %(slice)s and (kept_belief_id = any(%(lost)s) or merged_belief_id = any(%(lost)s)
            or (kept_belief_id = any(%(held)s) or merged_belief_id = any(%(held)s))
               and (kept_before ->> 'statement' <> all(%(wordings)s)
                    or merged_before ->> 'statement' <> all(%(wordings)s)))
        """,
        {"slice": slice_id, "lost": list(lost), "held": list(held), "wordings": list(wordings)},
    ).rowcount


def delete_relationships(
    tx: Transaction, slice_id: int, relationship_ids: Iterable[UUID], gone: Sequence[UUID]
) -> tuple[list[UUID], Counter[str]]:
    """Delete those of the relationships that end at a belief that goes, or that no source asserts any more.

    Returns them, and the differences of the slice's counters.
    """
    rows = tx.execute(
        """
        delete from relationships r
        where r.slice_id = %(slice)s and r.relationship_id = any(%(ids)s)
          and (r.from_belief_id = any(%(gone)s) or r.to_belief_id = any(%(gone)s)
               or not exists (select from relationship_sources l where l.relationship_id = r.relationship_id))
        returning r.relationship_id, r.archived_at is null, r.decay_class <> 'permanent'
        """,
        {"slice": slice_id, "ids": list(relationship_ids), "gone": list(gone)},
    ).fetchall()
    counters: Counter[str] = Counter()
    for _, is_live, ages in rows:
        counters["relationships_live" if is_live else "relationships_archived"] -= 1
        if is_live and ages:
            counters["relationships_ageing"] -= 1
    return [row[0] for row in rows], counters


def drop_positions(tx: Transaction, slice_id: int, names: Iterable[tuple[str, str]]) -> int:
    """Delete the marks of files that are one note each: they hold a hash of its text."""
    pairs = list(names)
    return tx.execute(
        """
        delete from connector_positions p
        using unnest(%s::text[], %s::text[]) as gone (source, external_id)
        where p.slice_id = %s and p.source = gone.source and p.entry = gone.external_id
        """,
        ([source for source, _ in pairs], [external_id for _, external_id in pairs], slice_id),
    ).rowcount


def forget_cursor_notes(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> None:
    """Let cursors name none of the notes any more."""
    tx.execute(
        """
        update dream_cursor
        set last_note_id = case when last_note_id = any(%(ids)s) then null else last_note_id end,
            last_timeout_note_id =
                case when last_timeout_note_id = any(%(ids)s) then null else last_timeout_note_id end
        where slice_id = %(slice)s
        """,
        {"slice": slice_id, "ids": list(note_ids)},
    )
