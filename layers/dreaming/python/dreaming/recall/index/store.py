"""The SQL of recall: the slices one may see, postings, vectors compared one by one, the hits' rows.

Long columns come as one array each, read into numpy without a Python number for each row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format
from psycopg.rows import class_row

from dreaming.beliefs.vectors.rules import storable
from dreaming.database import Transaction
from dreaming.notes.records import Scope
from dreaming.recall.index.postings import unpacked
from dreaming.recall.rules import Floats, Integers, Postings

_LENGTHS = 1 << 22
"""Above every length of a conversation in terms that makes a difference."""


@dataclass(frozen=True, slots=True)
class Documents:
    """All conversations of some slices, by ascending id: their lengths in terms, and cosines, NaN without a vector."""

    ids: Integers
    lengths: Floats
    likeness: Floats


@dataclass(frozen=True, slots=True)
class HitRow:
    """What is shown of a conversation, and its turn that fits best; `position` is None where no word fits."""

    document_id: int
    conversation_id: str
    scope: str
    user_id: str | None
    agent: str | None
    turns: int
    started_at: datetime
    last_at: datetime
    summary: str
    position: int | None
    speaker: str | None
    text: str | None
    said_at: datetime | None


def visible_slices(tx: Transaction, org_id: str, user_id: str | None, scopes: Sequence[Scope]) -> list[int]:
    """Return the organization's slices of these scopes; of private ones only the user's own."""
    rows = tx.execute(
        """
        select slice_id from slices
        where org_id = %s and scope = any(%s) and (scope <> 'private' or owner_user_id = %s) order by slice_id
        """,
        (org_id, [scope.value for scope in scopes], user_id),
    ).fetchall()
    return [row[0] for row in rows]


def read_documents(
    tx: Transaction, slices: Sequence[int], vector: NDArray[np.floating] | None, model: str | None
) -> Documents:
    """Return all conversations of the slices, their vectors of `model` compared with `vector`."""
    cosine = "'NaN'::float8"
    if vector is not None:
        cosine = f"""case when vector_model = %(model)s and vector_dims(vector) = {len(vector)}
            then 1 - (vector <=> %(vector)s::halfvec) else 'NaN' end"""
    # Id and length as one number: each element of an array costs as much as a column of a row.
    row = _arrays(
        tx,
        f"""
        select coalesce(array_agg(document_id * {_LENGTHS} + least(length, {_LENGTHS - 1})), '{{}}'),
            coalesce(array_agg({cosine}), '{{}}')
        from conversations where slice_id = any(%(slices)s)
        """,
        {"slices": list(slices), "model": model, "vector": None if vector is None else _written(vector)},
    )[0]
    order = np.argsort(row[0])
    ids, lengths = np.divmod(row[0][order], _LENGTHS)
    return Documents(ids, lengths.astype(np.float64), row[1][order])


def count_postings(tx: Transaction, slices: Sequence[int], terms: Sequence[int]) -> dict[int, int]:
    """Return how many conversations hold each term."""
    rows = tx.execute(
        """
        select t.term, found.count
        from unnest(%(terms)s::bigint[]) as t (term)
        cross join lateral (
            select coalesce(sum(p.frequency), 0)::bigint as count
            from conversation_terms p where p.slice_id = any(%(slices)s) and p.term = t.term
        ) found
        """,
        {"terms": list(terms), "slices": list(slices)},
    ).fetchall()
    counts: dict[int, int] = dict(rows)
    return {term: counts[term] for term in terms}


def read_postings(tx: Transaction, slices: Sequence[int], terms: Sequence[int]) -> dict[int, Postings]:
    """Return where each term occurs in the slices."""
    rows = _arrays(
        tx,
        """
        select t.term, found.blocks, found.counts, found.postings
        from unnest(%(terms)s::bigint[]) as t (term)
        cross join lateral (
            select array_agg(p.document_id) as blocks, array_agg(p.frequency::bigint) as counts,
                string_agg(p.postings, ''::bytea) as postings
            from conversation_terms p where p.slice_id = any(%(slices)s) and p.term = t.term
        ) found
        where found.blocks is not null
        """,
        {"terms": list(terms), "slices": list(slices)},
    )
    return {term: Postings(*unpacked(blocks, counts, packed)) for term, blocks, counts, packed in rows}


def read_hits(
    tx: Transaction, slices: Sequence[int], documents: Sequence[int], weights: Mapping[int, float]
) -> dict[int, HitRow]:
    """Return what is shown of conversations, with the turn whose words weigh most, of equals the latest."""
    query = """
        select c.document_id, c.external_id as conversation_id, s.scope, c.user_id, c.agent, c.turns,
            c.started_at, c.last_at, c.summary, best.position, best.speaker, best.text, best.said_at
        from conversations c
        join slices s on s.slice_id = c.slice_id
        left join lateral (
            select t.position, t.speaker, t.text, t.said_at, (
                select sum(w.weight) from unnest(t.terms) as own (term)
                join unnest(%(terms)s::bigint[], %(weights)s::float8[]) as w (term, weight) on w.term = own.term
            ) as weight
            from conversation_turns t
            where t.document_id = c.document_id and t.slice_id = c.slice_id
            order by weight desc nulls last, t.position desc
            limit 1
        ) best on best.weight > 0
        where c.slice_id = any(%(slices)s) and c.document_id = any(%(documents)s)
    """
    parameters = {
        "slices": list(slices),
        "documents": list(documents),
        "terms": list(weights),
        "weights": list(weights.values()),
    }
    with tx.cursor(row_factory=class_row(HitRow)) as cursor:
        return {row.document_id: row for row in cursor.execute(query, parameters).fetchall()}


def _written(vector: NDArray[np.floating]) -> str:
    """Write a vector as text, as JSON has it: a recall has no time for one format after another."""
    return json.dumps(storable(vector).astype(np.float64).tolist())


def _arrays(tx: Transaction, query: str, parameters: Mapping[str, Any]) -> list[Any]:
    with tx.cursor(binary=True) as cursor:
        types = cursor.adapters.types
        cursor.adapters.register_loader(types["int8"].array_oid, _Integers)
        cursor.adapters.register_loader(types["float8"].array_oid, _Floats)
        return cursor.execute(query, parameters).fetchall()


class _Array(Loader):
    """A flat array without nulls of 8-byte elements, in the binary form: a head, then each after its length."""

    format = Format.BINARY
    element = ">i8"
    native: type[Any] = np.int64

    def load(self, data: Buffer) -> NDArray[Any]:
        """Return the elements; an empty array has a shorter head."""
        elements = (
            np.frombuffer(data, dtype=[("length", ">i4"), ("value", self.element)], offset=20)
            if (len(data) > 12)
            else np.zeros(0, dtype=[("value", self.element)])
        )
        return elements["value"].astype(self.native)


class _Integers(_Array):
    """bigint[]."""


class _Floats(_Array):
    """double precision[]."""

    element = ">f8"
    native = np.float64
