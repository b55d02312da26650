"""Vectors of many tenants in one table."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg.rows import TupleRow

from dreaming.beliefs.vectors import store
from dreaming.beliefs.vectors.rules import written
from dreaming.database import Database, Role
from dreaming.notes.records import SliceKey
from tests.rows import insert_slice

DIMENSION = 64
LARGE, SMALL = SliceKey("large"), SliceKey("small")
Admin = psycopg.Connection[TupleRow]


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return scaled


def plant(admin: Admin, key: SliceKey, rows: NDArray[np.float32]) -> tuple[int, list[UUID]]:
    """A slice with one belief for each vector; returns its id and the beliefs' in the vectors' order."""
    slice_id = insert_slice(admin, key)
    ids = [UUID(int=slice_id << 64 | place) for place in range(len(rows))]
    admin.execute(
        """
        insert into beliefs (belief_id, slice_id, kind, statement, statement_hash, words_version, confidence,
            confirmed_at, first_seen_at, importance, decay_class, trust, sources, origins, created_at, updated_at)
        select id, %s, 'fact', 'x', 1, 1, 1, now(), now(), 'low', 'permanent', 'trusted', 1, 1, now(), now()
        from unnest(%s::uuid[]) id
        """,
        [slice_id, ids],
    )
    with (
        admin.cursor() as cursor,
        cursor.copy(
            "copy belief_vectors (slice_id, belief_id, model, dimension, statement_hash, vector, embedded_at) "
            "from stdin"
        ) as copy,
    ):
        for belief_id, row in zip(ids, rows, strict=True):
            copy.write_row((slice_id, belief_id, "m", DIMENSION, 1, written(row), "2026-06-01T12:00:00Z"))
    return slice_id, ids


@pytest.mark.slow
@pytest.mark.parametrize("role", [Role.WORKER, Role.API])
def test_a_small_tenant_gets_its_own_ten_nearest_beside_twenty_thousand_nearer_ones(
    database: Database, admin: Admin, role: Role
) -> None:
    random = np.random.default_rng(7)
    query = unit(random.standard_normal(DIMENSION))
    crowd = unit(query + 0.05 * random.standard_normal((20_000, DIMENSION)))
    few = unit(random.standard_normal((12, DIMENSION)))
    large_id, large = plant(admin, LARGE, crowd)
    small_id, small = plant(admin, SMALL, few)
    admin.execute("analyze belief_vectors; analyze beliefs")

    with database.transaction(SMALL.tenant, role=role) as tx:
        found = store.nearest(tx, small_id, query, model="m", limit=10)
        assert store.nearest(tx, large_id, query, model="m", limit=10) == []
    cosines = few.astype(np.float64) @ query
    assert [belief_id for belief_id, _ in found] == [small[place] for place in np.argsort(-cosines)[:10]]
    assert [cosine for _, cosine in found] == pytest.approx(np.sort(cosines)[::-1][:10], abs=1e-3)

    with database.transaction(LARGE.tenant, role=role) as tx:
        found = store.nearest(tx, large_id, query, model="m", limit=10)
    half = crowd.astype(np.float16).astype(np.float64)
    exact = (half @ query) / np.linalg.norm(half, axis=1)
    assert {belief_id for belief_id, _ in found} == {large[place] for place in np.argsort(-exact)[:10]}
