"""The SQL of a search of beliefs: BM25 over their terms, cosines, and which of them are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dreaming.api.beliefs.store import AGED, BeliefFilter, ageing_parameters, in_sight
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.vectors.rules import written
from dreaming.database import Transaction


def count_postings(tx: Transaction, slice_id: int, terms: Sequence[int], *, most: int) -> dict[int, int]:
    """Return how many statements hold each term, counted up to `most`."""
    rows = tx.execute(
        """
        select t.term, found.count
        from unnest(%(terms)s::bigint[]) with ordinality as t (term, place)
        cross join lateral (
            select count(*) from (
                select from belief_terms p where p.slice_id = %(slice)s and p.term = t.term limit %(most)s
            ) counted
        ) found
        order by t.place
        """,
        {"terms": list(terms), "slice": slice_id, "most": most},
    ).fetchall()
    return dict(rows)


def _filtered(wanted: BeliefFilter) -> str:
    """The condition of a row of `beliefs` being asked for, but for its words."""
    return f"""beliefs.slice_id = %(slice)s and {in_sight(wanted)}
        and (%(kind)s::text is null or beliefs.kind = %(kind)s) and {AGED} >= %(min_confidence)s"""


def _parameters(slice_id: int, wanted: BeliefFilter, ageing: Ageing, now: datetime) -> dict[str, Any]:
    return {
        "slice": slice_id,
        "archived": wanted.archived,
        "as_of": wanted.as_of,
        "believed_at": wanted.believed_at,
        "kind": wanted.kind.value if wanted.kind else None,
        "min_confidence": wanted.min_confidence,
        **ageing_parameters(ageing, now),
    }


def by_words(
    tx: Transaction,
    slice_id: int,
    terms: dict[int, int],
    wanted: BeliefFilter,
    *,
    ageing: Ageing,
    now: datetime,
    limit: int,
) -> tuple[dict[UUID, float], dict[UUID, float]]:
    """Return the `limit` beliefs asked for that BM25 ranks first: their scores, and their aged confidences.

    Of equals the first by id. `terms` tell how many statements hold each. Beliefs are looked up in that order
    only until there are enough: hence the lateral subquery. k1 = 1.2 and b = 0.75, as in `beliefs.terms.store`.
    """
    rows = tx.execute(
        f"""
        with asked as materialized (
            -- In double precision throughout, and once for each term: the logarithm of a numeric for each
            -- posting would cost more than all the rest.
            select q.term, 1.2::float8 * 0.75 * s.statements / greatest(s.length, 1) as discount,
                2.2::float8 * ln(1 + (greatest(s.statements - q.count, 0) + 0.5::float8) / (q.count + 0.5::float8))
                    as weight
            from unnest(%(terms)s::bigint[], %(counts)s::bigint[]) as q (term, count)
            cross join (
                select greatest(statements, 1) as statements, length
                from belief_term_statistics where slice_id = %(slice)s
            ) s
        ), scored as (
            select hit.belief_id, sum(
                asked.weight * hit.occurrences / (hit.occurrences + 0.3::float8 + asked.discount * hit.length)
            ) as score
            from asked
            cross join lateral (
                select t.belief_id, t.occurrences, t.length from belief_terms t
                where t.slice_id = %(slice)s and t.term = asked.term offset 0
            ) hit
            group by hit.belief_id
        )
        select best.belief_id, best.score, asked_for.aged
        from (select * from scored order by score desc, belief_id) best
        cross join lateral (
            select {AGED} as aged from beliefs where beliefs.belief_id = best.belief_id and {_filtered(wanted)} offset 0
        ) asked_for
        order by best.score desc, best.belief_id limit %(limit)s
        """,
        _parameters(slice_id, wanted, ageing, now)
        | {"terms": list(terms), "counts": list(terms.values()), "limit": limit},
    ).fetchall()
    return {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}


def by_characters(
    tx: Transaction,
    slice_id: int,
    characters: Sequence[str],
    wanted: BeliefFilter,
    *,
    ageing: Ageing,
    now: datetime,
    limit: int,
) -> dict[UUID, float]:
    """Return beliefs asked for that hold any of these characters, with how many; reads every statement."""
    rows = tx.execute(
        f"""
        select belief_id, held::float8 from (
            select beliefs.belief_id, beliefs.confirmed_at, (
                select count(*) from unnest(%(characters)s::text[]) as one where strpos(beliefs.statement, one) > 0
            ) as held
            from beliefs where {_filtered(wanted)}
        ) found
        where held > 0 order by held desc, confirmed_at desc, belief_id limit %(limit)s
        """,
        _parameters(slice_id, wanted, ageing, now) | {"characters": list(characters), "limit": limit},
    ).fetchall()
    return dict(rows)


def aged_confidences(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], wanted: BeliefFilter, *, ageing: Ageing, now: datetime
) -> dict[UUID, float]:
    """Return those of the beliefs that are asked for, with their aged confidences."""
    rows = tx.execute(
        f"select belief_id, {AGED} from beliefs where belief_id = any(%(ids)s) and {_filtered(wanted)}",
        _parameters(slice_id, wanted, ageing, now) | {"ids": list(belief_ids)},
    ).fetchall()
    return dict(rows)


def cosines(
    tx: Transaction, slice_id: int, belief_ids: Sequence[UUID], vector: NDArray[np.floating], *, model: str
) -> dict[UUID, float]:
    """Return how like the query those of the beliefs are that have a vector of their present wording."""
    rows = tx.execute(
        """
        select v.belief_id, 1 - (v.vector <=> %(vector)s::halfvec)
        from belief_vectors v
        join beliefs b on b.slice_id = v.slice_id and b.belief_id = v.belief_id
            and b.statement_hash = v.statement_hash
        where v.slice_id = %(slice)s and v.model = %(model)s and v.belief_id = any(%(ids)s)
        """,
        {"slice": slice_id, "model": model, "ids": list(belief_ids), "vector": written(vector)},
    ).fetchall()
    return dict(rows)
