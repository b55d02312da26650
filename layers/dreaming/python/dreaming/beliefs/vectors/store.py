"""The SQL of beliefs' vectors: reading, writing, the nearest within a slice, what has none.

A vector counts while its belief is live and worded as it was when the vector was made; every read here
leaves out all others. Vectors of two models are never compared: each function names one model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import class_row

from dreaming.beliefs.records import Kind
from dreaming.beliefs.vectors.records import Space, Unembedded
from dreaming.beliefs.vectors.rules import check_dimension, read, storable, written
from dreaming.database import Transaction
from dreaming.errors import InvalidInput

_MAY_BE_EMBEDDED = """not exists (
    select from sources s
    join notes n on n.note_id = s.note_id and n.slice_id = s.slice_id
    where s.slice_id = b.slice_id and s.belief_id = b.belief_id and s.ended_at is null
      and n.source = any(e.embedding_excluded_sources)
)"""
"""Of a belief `b` under an enrolment `e`: none of its live sources is a note of an excluded source."""

_FRESH = "b.slice_id = v.slice_id and b.belief_id = v.belief_id and b.statement_hash = v.statement_hash"
"""Of a belief `b` and a vector `v`: the vector is of the belief's present wording."""


_BEFORE_ALL = UUID(int=0)


def active_space(tx: Transaction, slice_id: int) -> Space | None:
    """Return the space that readers of the slice search, or None when they must do without vectors.

    That is: nothing was embedded yet, the organization does not consent to embedding, or it excludes
    sources whose vectors the embedding pass has not yet removed.
    """
    row = tx.execute(
        """
        select v.active_model, v.active_dimension
        from vector_spaces v
        join slices s on s.slice_id = v.slice_id
        join enrolment e on e.org_id = s.org_id and e.embedding_consent
        where v.slice_id = %s and e.embedding_excluded_sources <@ v.excluded_sources
        """,
        (slice_id,),
    ).fetchone()
    return None if row is None else Space(row[0], row[1])


def read_vectors(
    tx: Transaction, slice_id: int, belief_ids: Iterable[UUID], model: str
) -> dict[UUID, NDArray[np.float32]]:
    """Return the model's vectors of those beliefs that are live and have one of their present wording."""
    ids = list(belief_ids)
    if not ids:
        return {}
    with tx.cursor(binary=True) as cursor:
        rows = cursor.execute(
            f"""
            select v.belief_id, halfvec_send(v.vector)
            from belief_vectors v
            join beliefs b on {_FRESH}
            where v.slice_id = %s and v.model = %s and v.belief_id = any(%s) and b.archived_at is null
            """,
            (slice_id, model, ids),
        ).fetchall()
    return {belief_id: read(sent) for belief_id, sent in rows}


def write_vectors(
    tx: Transaction,
    slice_id: int,
    vectors: Mapping[UUID, NDArray[np.floating]],
    *,
    model: str,
    statement_hashes: Mapping[UUID, int],
    now: datetime,
) -> int:
    """Store vectors of beliefs as they are worded now, and return how many were stored.

    `statement_hashes` tells the wording that each vector was made from. Left out are beliefs that were
    reworded meanwhile, that rest on a source excluded from embedding, or whose organization does not
    consent. A slice without a space gets this one.

    Raises:
        Misconfigured: a vector has another length than its space; both numbers are named.
        InvalidInput: a vector is no direction: zeros, NaN, an infinity.
    """
    if not vectors:
        return 0
    dimension = require_dimension(tx, slice_id, model, (vector.shape[-1] for vector in vectors.values()))
    parameters = {
        "slice": slice_id,
        "model": model,
        "dimension": dimension,
        "now": now,
        "ids": list(vectors),
        "hashes": [statement_hashes[belief_id] for belief_id in vectors],
        "vectors": [written(vector) for vector in vectors.values()],
    }
    tx.execute(
        """
        insert into vector_spaces (slice_id, active_model, active_dimension, target_model, target_dimension,
                                   target_since, consent_at, excluded_sources)
        select %(slice)s, %(model)s, %(dimension)s, %(model)s, %(dimension)s, %(now)s, e.updated_at,
               e.embedding_excluded_sources
        from enrolment e where e.org_id = tenant_org() and e.embedding_consent
        on conflict do nothing
        """,
        parameters,
    )
    return tx.execute(
        f"""
        insert into belief_vectors (slice_id, belief_id, model, dimension, statement_hash, vector, embedded_at)
        select b.slice_id, b.belief_id, %(model)s, %(dimension)s, b.statement_hash, u.vector::halfvec, %(now)s
        from unnest(%(ids)s::uuid[], %(hashes)s::bigint[], %(vectors)s::text[]) as u (belief_id, statement_hash, vector)
        join beliefs b on b.belief_id = u.belief_id and b.statement_hash = u.statement_hash
        join enrolment e on e.org_id = tenant_org() and e.embedding_consent
        where b.slice_id = %(slice)s and {_MAY_BE_EMBEDDED}
        on conflict (slice_id, model, belief_id) do update
        set statement_hash = excluded.statement_hash, vector = excluded.vector, embedded_at = excluded.embedded_at
        """,
        parameters,
    ).rowcount


def require_dimension(tx: Transaction, slice_id: int, model: str, lengths: Iterable[int]) -> int:
    """Return the one length of all these vectors of a model.

    Raises `Misconfigured`, naming both numbers, when they differ among themselves or from the vectors
    that the slice holds of the model.
    """
    row = tx.execute(
        """
        select case %(model)s when active_model then active_dimension when target_model then target_dimension end
        from vector_spaces where slice_id = %(slice)s
        """,
        {"slice": slice_id, "model": model},
    ).fetchone()
    expected: int | None = row[0] if row else None
    for length in lengths:
        expected = length if expected is None else expected
        check_dimension(length, expected, model)
    return expected or 0


def nearest(
    tx: Transaction,
    slice_id: int,
    vector: NDArray[np.floating],
    *,
    model: str,
    limit: int,
    kinds: Collection[Kind] | None = None,
) -> list[tuple[UUID, float]]:
    """Return the live beliefs whose vectors of `model` are nearest, with their cosines, the nearest first.

    Every vector of the slice is compared, so the answer is exact; beliefs equally near come by id. Beliefs
    are looked up in that order, only until there are enough: hence the lateral subquery.
    `kinds` restricts it to beliefs of these kinds. Half precision moves a cosine by less than 0.001.

    Raises:
        Misconfigured: `vector` has another length than the space; both numbers are named.
        InvalidInput: it is no direction.
    """
    if limit < 1:
        raise InvalidInput("limit", f"is {limit}", "ask for at least one")
    storable(vector)
    require_dimension(tx, slice_id, model, [vector.shape[0]])
    of_kinds = "" if kinds is None else "and b.kind = any(%(kinds)s)"
    rows = tx.execute(
        f"""
        select v.belief_id, 1 - v.distance
        from (
            select slice_id, belief_id, statement_hash, vector <=> %(vector)s::halfvec as distance
            from belief_vectors
            where slice_id = %(slice)s and model = %(model)s
            order by distance, belief_id
        ) v
        cross join lateral (
            select from beliefs b where {_FRESH} and b.archived_at is null {of_kinds} offset 0
        ) live
        order by v.distance, v.belief_id
        limit %(limit)s
        """,
        {
            "slice": slice_id,
            "model": model,
            "vector": written(vector),
            "limit": limit,
            "kinds": [Kind(kind).value for kind in kinds or ()],
        },
    ).fetchall()
    return [(row[0], float(row[1])) for row in rows]


def unembedded(
    tx: Transaction, slice_id: int, model: str, *, now: datetime, limit: int, after: UUID | None = None
) -> list[Unembedded]:
    """Return live beliefs that lack the model's vector of their present wording and may be embedded.

    By id, from behind `after`. Texts that the embedder has refused wait until they are due again, or for
    good.
    """
    query = f"""
        select b.belief_id, b.statement, b.statement_hash
        from beliefs b
        join enrolment e on e.org_id = tenant_org() and e.embedding_consent
        where b.slice_id = %(slice)s and b.archived_at is null and b.belief_id > %(after)s
          and not exists (select from belief_vectors v where {_FRESH} and v.model = %(model)s)
          and not exists (
            select from embedding_attempts a
            where a.slice_id = b.slice_id and a.source = 'beliefs' and a.model = %(model)s
              and a.item_id = b.belief_id::text and a.text_hash = b.statement_hash
              and (a.retry_at is null or a.retry_at > %(now)s)
          )
          and {_MAY_BE_EMBEDDED}
        order by b.belief_id
        limit %(limit)s
    """
    parameters = {"slice": slice_id, "model": model, "now": now, "limit": limit, "after": after or _BEFORE_ALL}
    with tx.cursor(row_factory=class_row(Unembedded)) as cursor:
        return cursor.execute(query, parameters).fetchall()


def remove_excluded(tx: Transaction, slice_id: int) -> int:
    """Delete the vectors of beliefs that rest on a source excluded from embedding; return how many."""
    return tx.execute(
        f"""
        delete from belief_vectors v
        using beliefs b, enrolment e
        where v.slice_id = %s and b.belief_id = v.belief_id and b.slice_id = v.slice_id
          and e.org_id = tenant_org() and e.embedding_excluded_sources <> '{{}}' and not ({_MAY_BE_EMBEDDED})
        """,
        (slice_id,),
    ).rowcount


def remove_all(tx: Transaction, slice_id: int, *, keep: str | None = None) -> int:
    """Delete the slice's vectors, but for those of the model `keep`; return how many."""
    return tx.execute(
        "delete from belief_vectors where slice_id = %(slice)s and (%(keep)s::text is null or model <> %(keep)s)",
        {"slice": slice_id, "keep": keep},
    ).rowcount


def count_vectors(tx: Transaction, slice_id: int, model: str, *, most_attempts: int) -> dict[str, int]:
    """Count the live beliefs: `live`, of these `embedded` by the model, else `excluded` or `refused`.

    `embedded` are those with a vector of their present wording; `refused` those whose text the embedder
    refused, `left_out` the part of these that `most_attempts` have given up.
    """
    query = f"""
        select count(*), count(*) filter (where embedded),
            count(*) filter (where not embedded and not allowed),
            count(*) filter (where not embedded and allowed and attempts is not null),
            count(*) filter (where not embedded and allowed and attempts >= %(most)s)
        from (
            select exists (select from belief_vectors v where {_FRESH} and v.model = %(model)s) as embedded,
                {_MAY_BE_EMBEDDED} as allowed,
                (select a.attempts from embedding_attempts a
                 where a.slice_id = b.slice_id and a.source = 'beliefs' and a.model = %(model)s
                   and a.item_id = b.belief_id::text and a.text_hash = b.statement_hash) as attempts
            from beliefs b
            left join enrolment e on e.org_id = tenant_org()
            where b.slice_id = %(slice)s and b.archived_at is null
        ) counted
    """
    row: tuple[Any, ...] | None = tx.execute(
        query, {"slice": slice_id, "model": model, "most": most_attempts}
    ).fetchone()
    return dict(zip(("live", "embedded", "excluded", "refused", "left_out"), row or (0,) * 5, strict=True))
