"""The SQL of conversations: what a capture stores, and the vectors made of it.

Every transaction that writes a conversation locks its row first, then, where words change, the slice's
words, and due times last. Words leave the index by the terms that stand beside each turn, so whatever
rules made them, they leave it whole.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from dreaming.beliefs.vectors.rules import written
from dreaming.database import Transaction
from dreaming.recall.index import postings
from dreaming.recall.records import ChunkState, ConversationRow, ConversationVector, StoredTurn

_ROW = """document_id, slice_id, user_id, agent, turns, turns_sha256, length, changed_at, captured_at, vector_stale,
    vector_model, chunk_turns, chunk_sha256, chunk_count, chunk_total::real[]"""


@dataclass(frozen=True, slots=True)
class Description:
    """What a capture says about a conversation as a whole; `length` is in terms, `idle_at` when it is to be a note."""

    agent: str | None
    turns: int
    turns_sha256: bytes
    length: int
    summary: str
    started_at: datetime
    last_at: datetime
    changed_at: datetime
    idle_at: datetime


def open_conversation(
    tx: Transaction, slice_id: int, conversation_id: bytes, external_id: str, user_id: str | None, *, now: datetime
) -> ConversationRow | None:
    """Return the conversation's row, locked, made empty when it is missing; None when another's row is in its place.

    The caller compares slice and user.
    """
    tx.execute(
        """
        insert into conversations (conversation_id, slice_id, external_id, user_id, turns, turns_sha256, length,
                                   summary, started_at, last_at, changed_at, vector_stale)
        values (%(id)s, %(slice)s, %(external)s, %(user)s, 0, decode(repeat('00', 32), 'hex'), 0,
                '', %(now)s, %(now)s, %(now)s, true)
        on conflict (conversation_id) do nothing
        """,
        {"id": conversation_id, "slice": slice_id, "external": external_id, "user": user_id, "now": now},
    )
    # One of another owner's private slice is invisible here.
    row = tx.execute(
        f"select {_ROW} from conversations where conversation_id = %s for no key update", (conversation_id,)
    ).fetchone()
    return None if row is None else _row(row)


def lock_conversations(tx: Transaction, slice_id: int, document_ids: Sequence[int]) -> list[ConversationRow]:
    """Return rows of conversations, locked in the order of their ids."""
    rows = tx.execute(
        f"select {_ROW} from conversations where slice_id = %s and document_id = any(%s) order by document_id"
        " for no key update",
        (slice_id, list(document_ids)),
    ).fetchall()
    return [_row(row) for row in rows]


def _row(row: Sequence[Any]) -> ConversationRow:
    *values, model, turns, sha256, chunks, total = row
    state = None
    if model is not None:
        summed = None if total is None else np.array(total, dtype=np.float32)
        state = ChunkState(model, turns, bytes(sha256), chunks, summed)
    document, slice_id, user, agent, said, said_sha256, length, changed, captured, stale = values
    return ConversationRow(
        document, slice_id, user, agent, said, bytes(said_sha256), length, changed, captured, stale, state
    )


def lock_words(tx: Transaction, slice_id: int) -> None:
    """Keep others from changing which conversations of a slice hold which words, until the end of the transaction.

    Conversations of a slice share rows of the index; so no two writers of it ever wait for each other.
    """
    tx.execute("select pg_advisory_xact_lock(hashtextextended('dreaming words ' || %s, 0))", (slice_id,))


def forget_turns(tx: Transaction, row: ConversationRow) -> None:
    """Take a conversation's turns away, and their words out of the index."""
    forget_words(tx, row.slice_id, [row.document_id])
    tx.execute(
        "delete from conversation_turns where slice_id = %s and document_id = %s", (row.slice_id, row.document_id)
    )


def forget_words(tx: Transaction, slice_id: int, document_ids: Iterable[int]) -> int:
    """Take the words of conversations, whose rows are locked, out of the index; return how many there were."""
    lock_words(tx, slice_id)
    rows = tx.execute(
        """
        select distinct t.document_id, term from conversation_turns t cross join lateral unnest(t.terms) as term
        where t.slice_id = %s and t.document_id = any(%s)
        """,
        (slice_id, list(document_ids)),
    ).fetchall()
    gone: defaultdict[int, defaultdict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for document, term in rows:
        gone[postings.block_of(document)][term].add(document)
    return sum(_forget(tx, slice_id, block, documents) for block, documents in gone.items())


def _forget(tx: Transaction, slice_id: int, block: int, documents: Mapping[int, Collection[int]]) -> int:
    """Take conversations out of a block, given by term; return how many postings that were."""
    held = _read_block(tx, slice_id, block, list(documents))
    left = {term: postings.without(packed, documents[term]) for term, packed in held.items()}
    _write_block(tx, slice_id, block, {term: packed for term, packed in left.items() if packed})
    tx.execute(
        "delete from conversation_terms where slice_id = %s and term = any(%s) and document_id = %s",
        (slice_id, [term for term, packed in left.items() if not packed], block),
    )
    return sum(postings.count(packed) - postings.count(left[term]) for term, packed in held.items())


def _read_block(tx: Transaction, slice_id: int, block: int, terms: Sequence[int]) -> dict[int, bytes]:
    """Return a block's postings by term, of those terms that it has."""
    with tx.cursor(binary=True) as cursor:
        rows = cursor.execute(
            "select term, postings from conversation_terms"
            " where slice_id = %s and term = any(%s::bigint[]) and document_id = %s",
            (slice_id, list(terms), block),
        ).fetchall()
    return dict(rows)


def _write_block(tx: Transaction, slice_id: int, block: int, held: Mapping[int, bytes]) -> None:
    """Write postings of a block, none of them empty, in place of the former ones of the same terms."""
    tx.execute(
        """
        insert into conversation_terms (slice_id, term, document_id, frequency, postings)
        select %(slice)s, term, %(block)s, frequency, postings
        from unnest(%(terms)s::bigint[], %(counts)s::integer[], %(postings)s::bytea[]) as t (term, frequency, postings)
        on conflict (slice_id, term, document_id) do update
        set frequency = excluded.frequency, postings = excluded.postings
        """,
        {
            "slice": slice_id,
            "block": block,
            "terms": list(held),
            "counts": [postings.count(packed) for packed in held.values()],
            "postings": list(held.values()),
        },
    )


def append_turns(
    tx: Transaction, row: ConversationRow, first: int, turns: Sequence[StoredTurn], terms: Sequence[Mapping[int, int]]
) -> None:
    """Add turns from position `first` on, and their words to the index; `terms` are those of each turn."""
    rows = [
        {
            "position": first + place,
            "speaker": turn.speaker,
            "text": turn.text,
            "said_at": None if turn.said_at is None else turn.said_at.isoformat(),
            "terms": list(found),
        }
        for place, (turn, found) in enumerate(zip(turns, terms, strict=True))
    ]
    tx.execute(
        """
        insert into conversation_turns (document_id, slice_id, position, speaker, text, said_at, terms)
        select %s, %s, position, speaker, text, said_at, terms
        from json_populate_recordset(null::conversation_turns, %s)
        """,
        (row.document_id, row.slice_id, json.dumps(rows, ensure_ascii=False)),
    )
    counts: Counter[int] = Counter()
    for found in terms:
        counts.update(found)
    lock_words(tx, row.slice_id)
    block = postings.block_of(row.document_id)
    held = _read_block(tx, row.slice_id, block, list(counts))
    grown = {term: postings.added(held.get(term, b""), row.document_id, count) for term, count in counts.items()}
    _write_block(tx, row.slice_id, block, grown)


def describe(tx: Transaction, row: ConversationRow, said: Description) -> None:
    """Write what a capture says of the whole; the vector, where there is one, lacks it from now on."""
    tx.execute(
        """
        update conversations
        set agent = %(agent)s, turns = %(turns)s, turns_sha256 = %(sha256)s, length = %(length)s,
            summary = %(summary)s, started_at = least(started_at, %(started)s), last_at = %(last)s,
            changed_at = %(changed)s, vector_stale = true, synthesis_due_at = %(idle)s
        where slice_id = %(slice)s and document_id = %(document)s
        """,
        {
            "agent": said.agent,
            "turns": said.turns,
            "sha256": said.turns_sha256,
            "length": said.length,
            "summary": said.summary,
            "started": said.started_at,
            "last": said.last_at,
            "changed": said.changed_at,
            "idle": said.idle_at,
            "slice": row.slice_id,
            "document": row.document_id,
        },
    )


def finish_capture(
    tx: Transaction, slice_id: int, document_id: int, made: ConversationVector, *, throttle: timedelta, now: datetime
) -> bool | None:
    """Store the vector and start the throttle, unless one is running; this condition is the throttle.

    Returns whether the vector lacks text that came meanwhile, None when the throttle was running.
    """
    row = tx.execute(
        f"""
        {_SET_VECTOR}, captured_at = %(now)s
        where slice_id = %(slice)s and document_id = %(document)s
          and (captured_at is null or captured_at <= %(now)s - %(throttle)s)
        returning vector_stale
        """,
        _vector_parameters(slice_id, document_id, made) | {"throttle": throttle, "now": now},
    ).fetchone()
    return None if row is None else bool(row[0])


def write_vector(tx: Transaction, slice_id: int, document_id: int, made: ConversationVector) -> None:
    """Store the vector of a conversation whose row is locked."""
    tx.execute(
        f"{_SET_VECTOR} where slice_id = %(slice)s and document_id = %(document)s",
        _vector_parameters(slice_id, document_id, made),
    )


_SET_VECTOR = """
    update conversations
    set vector = %(vector)s::halfvec, vector_model = %(model)s, vector_stale = turns_sha256 <> %(sha256)s,
        chunk_total = %(total)s::real[]::vector, chunk_count = %(chunks)s, chunk_turns = %(turns)s,
        chunk_sha256 = %(chunk_sha256)s
"""


def _vector_parameters(slice_id: int, document_id: int, made: ConversationVector) -> dict[str, Any]:
    state = made.state
    return {
        "slice": slice_id,
        "document": document_id,
        "vector": written(made.vector),
        "model": made.model,
        "sha256": made.sha256,
        "total": None if state.total is None else state.total.tolist(),
        "chunks": state.chunks,
        "turns": state.turns,
        "chunk_sha256": state.sha256,
    }


def read_turns(tx: Transaction, slice_id: int, document_id: int, first: int = 0) -> list[StoredTurn]:
    """Return a conversation's turns from position `first` on, in order; their hashes are left empty."""
    rows = tx.execute(
        "select speaker, text, said_at from conversation_turns"
        " where slice_id = %s and document_id = %s and position >= %s order by position",
        (slice_id, document_id, first),
    ).fetchall()
    return [StoredTurn(speaker, text, said_at, b"") for speaker, text, said_at in rows]


def vector_length(tx: Transaction, slice_id: int, model: str) -> int | None:
    """Return how long the slice's vectors of a model are, None when it has none."""
    row = tx.execute(
        "select vector_dims(vector) from conversations where slice_id = %s and vector_model = %s limit 1",
        (slice_id, model),
    ).fetchone()
    return None if row is None else int(row[0])


_MAY_BE_EMBEDDED = "e.embedding_consent and not 'conversation' = any(e.embedding_excluded_sources)"


def may_be_embedded(tx: Transaction) -> bool:
    """Return whether the organization lets its conversations be embedded."""
    row = tx.execute(f"select {_MAY_BE_EMBEDDED} from enrolment e where e.org_id = tenant_org()").fetchone()
    return row is not None and bool(row[0])


def waiting_for_vectors(
    tx: Transaction, slice_id: int, model: str, *, source: str, now: datetime, limit: int, after: int
) -> list[int]:
    """Return conversations without the model's vector of their latest text, by id from behind `after`.

    Not those of which the embedder has refused a chunk and is not to be asked again yet: `source` is the
    name under which such refusals are held, each under the conversation's id, a colon and the chunk's place.
    """
    rows = tx.execute(
        f"""
        select c.document_id from conversations c
        join enrolment e on e.org_id = tenant_org() and {_MAY_BE_EMBEDDED}
        where c.slice_id = %(slice)s and c.document_id > %(after)s and c.turns > 0
          and (c.vector_stale or c.vector_model is distinct from %(model)s)
          and not exists (
            select from embedding_attempts a
            where a.slice_id = c.slice_id and a.source = %(source)s and a.model = %(model)s
              and split_part(a.item_id, ':', 1) = c.document_id::text
              and (a.retry_at is null or a.retry_at > %(now)s)
          )
        order by c.document_id limit %(limit)s
        """,
        {"slice": slice_id, "model": model, "source": source, "now": now, "limit": limit, "after": after},
    ).fetchall()
    return [row[0] for row in rows]


def forget_vectors(tx: Transaction, slice_id: int, *, keep: str | None = None) -> int:
    """Take away the slice's vectors but for those of the model `keep`; return how many."""
    return tx.execute(
        """
        update conversations
        set vector = null, vector_model = null, vector_stale = true, chunk_total = null, chunk_count = 0,
            chunk_turns = 0, chunk_sha256 = decode(repeat('00', 32), 'hex')
        where slice_id = %(slice)s and vector is not null and (%(keep)s::text is null or vector_model <> %(keep)s)
        """,
        {"slice": slice_id, "keep": keep},
    ).rowcount


def count_vectors(tx: Transaction, slice_id: int, model: str, *, source: str, most_attempts: int) -> dict[str, int]:
    """Count the conversations: `live`, of these `embedded` by the model, else `excluded` or `refused`.

    `embedded` are those with a vector of their latest text; `left_out` those refused `most_attempts` times.
    """
    row = tx.execute(
        """
        select count(*), count(*) filter (where embedded),
            count(*) filter (where not embedded and not allowed),
            count(*) filter (where not embedded and allowed and attempts is not null),
            count(*) filter (where not embedded and allowed and attempts >= %(most)s)
        from (
            select not c.vector_stale and c.vector_model = %(model)s as embedded,
                coalesce(not 'conversation' = any(e.embedding_excluded_sources), true) as allowed,
                (select max(a.attempts) from embedding_attempts a
                 where a.slice_id = c.slice_id and a.source = %(source)s and a.model = %(model)s
                   and split_part(a.item_id, ':', 1) = c.document_id::text) as attempts
            from conversations c left join enrolment e on e.org_id = tenant_org()
            where c.slice_id = %(slice)s
        ) counted
        """,
        {"slice": slice_id, "model": model, "source": source, "most": most_attempts},
    ).fetchone()
    return dict(zip(("live", "embedded", "excluded", "refused", "left_out"), row or (0,) * 5, strict=True))
