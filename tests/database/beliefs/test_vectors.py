"""Vectors of beliefs as the database holds them: what is refused, what a read leaves out, exact search."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from dreaming.beliefs.records import Kind
from dreaming.beliefs.vectors import store
from dreaming.beliefs.vectors.records import Space
from dreaming.database import Database
from dreaming.errors import InvalidInput, Misconfigured
from dreaming.notes.records import SliceKey
from tests.rows import insert_row, insert_slice, rows_of_every_table
from tests.world import NOON

ACME = SliceKey("acme")
MODEL = "m:one:8"
Admin = psycopg.Connection[Any]


@pytest.fixture
def slice_id(admin: Admin) -> int:
    return new_slice(admin, ACME)


def new_slice(admin: Admin, key: SliceKey) -> int:
    slice_id = insert_slice(admin, key)
    insert_row(
        admin,
        "enrolment",
        {
            "org_id": key.org_id,
            "enrolled": True,
            "embedding_consent": True,
            "updated_at": NOON,
            "updated_by": "mia",
        },
    )
    return slice_id


def new_beliefs(admin: Admin, slice_id: int, count: int, *, kind: str = "fact") -> list[UUID]:
    """Beliefs whose statement's hash is their place."""
    row = rows_of_every_table(slice_id, "acme")["beliefs"] | {"kind": kind}
    ids = [uuid4() for _ in range(count)]
    for place, belief_id in enumerate(ids):
        insert_row(admin, "beliefs", row | {"belief_id": belief_id, "statement_hash": place})
    return ids


def directions(count: int, dimension: int = 8, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def write(database: Database, slice_id: int, ids: list[UUID], rows: NDArray[np.float32], *, model: str = MODEL) -> int:
    with database.transaction(ACME.tenant) as tx:
        return store.write_vectors(
            tx,
            slice_id,
            dict(zip(ids, rows, strict=True)),
            model=model,
            statement_hashes={belief_id: place for place, belief_id in enumerate(ids)},
            now=NOON,
        )


def test_what_is_written_is_read_in_half_precision(database: Database, admin: Admin, slice_id: int) -> None:
    ids, rows = new_beliefs(admin, slice_id, 20), directions(20)
    assert write(database, slice_id, ids, rows) == 20
    with database.transaction(ACME.tenant) as tx:
        found = store.read_vectors(tx, slice_id, ids, MODEL)
        assert store.active_space(tx, slice_id) == Space(MODEL, 8)
        assert store.read_vectors(tx, slice_id, [], MODEL) == {}
        assert store.read_vectors(tx, slice_id, ids, "another") == {}
    assert {vector.dtype for vector in found.values()} == {np.dtype(np.float32)}
    expected = dict(zip(ids, rows.astype(np.float16).astype(np.float32), strict=True))
    assert all(np.array_equal(found[belief_id], expected[belief_id]) for belief_id in ids)


def test_long_vectors_stay_in_their_row(database: Database, admin: Admin, slice_id: int) -> None:
    ids, rows = new_beliefs(admin, slice_id, 3), directions(3, 3072)
    write(database, slice_id, ids, rows)
    query = "select pg_relation_size(reltoastrelid) from pg_class where oid = 'belief_vectors'::regclass"
    assert admin.execute(query).fetchone() in [(0,), (None,)]
    with database.transaction(ACME.tenant) as tx:
        assert store.nearest(tx, slice_id, rows[1], model=MODEL, limit=1)[0][0] == ids[1]


def test_searching_is_exact_and_ties_come_by_id(database: Database, admin: Admin, slice_id: int) -> None:
    ids, rows = new_beliefs(admin, slice_id, 200), directions(200)
    rows[50:60] = rows[50]
    write(database, slice_id, ids, rows)
    with database.transaction(ACME.tenant) as tx:
        for query in directions(20, seed=1):
            found = store.nearest(tx, slice_id, query, model=MODEL, limit=10)
            cosines = rows.astype(np.float64) @ query
            assert [cosine for _, cosine in found] == pytest.approx(sorted(cosines, reverse=True)[:10], abs=1e-3)
        equal = store.nearest(tx, slice_id, rows[50], model=MODEL, limit=10)
    assert [belief_id for belief_id, _ in equal] == sorted(ids[50:60])


def test_a_search_asks_for_kinds(database: Database, admin: Admin, slice_id: int) -> None:
    facts = new_beliefs(admin, slice_id, 5)
    write(database, slice_id, facts, directions(5))
    decisions = new_beliefs(admin, slice_id, 5, kind="decision")
    write(database, slice_id, decisions, directions(5))
    with database.transaction(ACME.tenant) as tx:

        def found(kinds: list[Kind] | None) -> set[UUID]:
            return {one for one, _ in store.nearest(tx, slice_id, directions(1)[0], model=MODEL, limit=50, kinds=kinds)}

        assert found(None) == {*facts, *decisions}
        assert found([Kind.DECISION]) == set(decisions)
        assert found([]) == set()


@pytest.mark.parametrize("change", ["archived_at = now(), archive_reason = 'person'", "statement_hash = 99"])
def test_archived_and_reworded_beliefs_are_in_no_read(
    database: Database, admin: Admin, slice_id: int, change: str
) -> None:
    ids, rows = new_beliefs(admin, slice_id, 3), directions(3)
    write(database, slice_id, ids, rows)
    admin.execute(f"update beliefs set {change} where belief_id = %s".encode(), [ids[1]])
    with database.transaction(ACME.tenant) as tx:
        assert set(store.read_vectors(tx, slice_id, ids, MODEL)) == {ids[0], ids[2]}
        found = store.nearest(tx, slice_id, rows[1], model=MODEL, limit=10)
    assert {one for one, _ in found} == {ids[0], ids[2]}


def test_a_vector_of_other_words_is_not_stored(database: Database, admin: Admin, slice_id: int) -> None:
    ids, rows = new_beliefs(admin, slice_id, 3), directions(3)
    admin.execute("update beliefs set statement_hash = 99 where belief_id = %s", [ids[1]])
    assert write(database, slice_id, ids, rows) == 2


def test_a_belief_that_is_erased_takes_its_vector_along(database: Database, admin: Admin, slice_id: int) -> None:
    ids = new_beliefs(admin, slice_id, 2)
    write(database, slice_id, ids, directions(2))
    admin.execute("delete from beliefs where belief_id = %s", [ids[0]])
    assert admin.execute("select belief_id from belief_vectors").fetchall() == [(ids[1],)]


def test_another_tenant_can_neither_write_to_a_belief_nor_find_it(
    database: Database, admin: Admin, slice_id: int
) -> None:
    ids, rows = new_beliefs(admin, slice_id, 2), directions(2)
    write(database, slice_id, ids, rows)
    bakery = SliceKey("bakery")
    theirs = new_slice(admin, bakery)
    with database.transaction(bakery.tenant) as tx:
        hashes = {ids[0]: 0}
        written = store.write_vectors(tx, theirs, {ids[0]: rows[1]}, model=MODEL, statement_hashes=hashes, now=NOON)
        assert written == 0
        assert store.read_vectors(tx, slice_id, ids, MODEL) == {}
        assert store.nearest(tx, slice_id, rows[0], model=MODEL, limit=5) == []
        assert store.active_space(tx, slice_id) is None


@pytest.mark.parametrize(
    "vector",
    [
        [0.0] * 8,
        [float("nan"), *[1.0] * 7],
        [float("inf"), *[1.0] * 7],
        [1e-9] * 8,  # zeros in half precision
        [1e9] * 8,  # infinities in half precision
    ],
)
def test_what_is_no_direction_is_refused_and_nothing_written(
    database: Database, admin: Admin, slice_id: int, vector: list[float]
) -> None:
    ids, rows = new_beliefs(admin, slice_id, 2), directions(2)
    rows[1] = vector
    with pytest.raises(InvalidInput, match="no direction"):
        write(database, slice_id, ids, rows)
    assert admin.execute("select count(*) from belief_vectors").fetchone() == (0,)
    with database.transaction(ACME.tenant) as tx, pytest.raises(InvalidInput, match="no direction"):
        store.nearest(tx, slice_id, rows[1], model=MODEL, limit=1)


def test_another_length_is_refused_with_both_numbers(database: Database, admin: Admin, slice_id: int) -> None:
    ids = new_beliefs(admin, slice_id, 2)
    write(database, slice_id, ids[:1], directions(1))
    with pytest.raises(Misconfigured, match=r"12 dimensions.* have 8"):
        write(database, slice_id, ids, directions(2, 12))
    with database.transaction(ACME.tenant) as tx:
        with pytest.raises(Misconfigured, match=r"12 dimensions.* have 8"):
            store.nearest(tx, slice_id, directions(1, 12)[0], model=MODEL, limit=1)
        with pytest.raises(Misconfigured, match=r"9 dimensions.* have 8"):
            store.write_vectors(
                tx,
                slice_id,
                {ids[0]: directions(1)[0], ids[1]: directions(1, 9)[0]},
                model="m:new",
                statement_hashes={ids[0]: 0, ids[1]: 1},
                now=NOON,
            )


@pytest.mark.parametrize(
    ("dimension", "vector"), [(3, "[1,0]"), (2, "[0,0]"), (2, "[NaN,1]"), (4001, "[" + "1," * 4000 + "1]")]
)
def test_the_table_itself_refuses_what_the_code_should_have(
    admin: Admin, slice_id: int, dimension: int, vector: str
) -> None:
    belief_id = new_beliefs(admin, slice_id, 1)[0]
    row = {"slice_id": slice_id, "belief_id": belief_id, "model": "m", "statement_hash": 0, "embedded_at": NOON}
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.DataException)):
        insert_row(admin, "belief_vectors", row | {"dimension": dimension, "vector": vector})


def test_a_search_for_nothing_is_refused(database: Database, slice_id: int) -> None:
    with database.transaction(ACME.tenant) as tx, pytest.raises(InvalidInput, match="limit"):
        store.nearest(tx, slice_id, directions(1)[0], model=MODEL, limit=0)


class Explaining:
    """A transaction that keeps the plan of the last statement."""

    def __init__(self, tx: psycopg.Connection[Any]) -> None:
        self._tx = tx
        self.plan = ""

    def execute(self, query: Any, parameters: Any) -> Any:
        lines = self._tx.execute(f"explain {query}".encode(), parameters).fetchall()
        self.plan = "\n".join(line for (line,) in lines)
        return self._tx.execute(query, parameters)


def test_the_scan_reads_the_slices_rows_by_their_index(database: Database, admin: Admin) -> None:
    slices = [new_slice(admin, SliceKey(f"org-{number}")) for number in range(20)]
    admin.execute(
        """
        insert into beliefs (belief_id, slice_id, kind, statement, statement_hash, words_version, confidence,
            confirmed_at, first_seen_at, importance, decay_class, trust, sources, origins, created_at, updated_at)
        select gen_random_uuid(), s, 'fact', 'x', n, 1, 1, now(), now(), 'low', 'permanent', 'trusted', 1, 1,
            now(), now()
        from unnest(%s::bigint[]) s, generate_series(1, 300) n
        """,
        [slices],
    )
    admin.execute(
        """
        insert into belief_vectors
        select b.slice_id, b.belief_id, 'm', 2, b.statement_hash, '[1,0]', now() from beliefs b
        """
    )
    admin.execute("analyze beliefs; analyze belief_vectors")
    with database.transaction(SliceKey("org-7").tenant) as tx:
        explained = Explaining(tx)
        store.nearest(explained, slices[7], np.array([0.0, 1.0]), model="m", limit=10)  # type: ignore[arg-type]
    plan = explained.plan
    assert "Limit" in plan
    assert "Seq Scan on belief_vectors" not in plan
    assert "Seq Scan on beliefs" not in plan
