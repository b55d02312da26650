"""The index of words: packed by its migration, and right whoever writes it at once."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from dreaming.database import Database, migrate
from dreaming.database.migration import MIGRATIONS
from dreaming.notes.records import Scope
from dreaming.recall.index.postings import BLOCK
from dreaming.recall.index.store import count_postings, read_postings, visible_slices
from tests.database.recall.conftest import ACME, ANA, Memory

_PACKING = 20


def test_what_was_indexed_row_by_row_is_packed_and_nothing_lost(empty_database_url: str, tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    for file in MIGRATIONS.glob("*.sql"):
        if int(file.name[:3]) < _PACKING:
            shutil.copy(file, before)
    migrate(empty_database_url, folder=before)
    held = {1: {BLOCK - 1: 2, BLOCK: 40_000, BLOCK + 5: 1}, 2: {BLOCK: 3}, 3: {7: 1}}
    with psycopg.connect(empty_database_url, options="-c search_path=dreaming,public") as connection:
        slices = connection.execute(
            "insert into slices (org_id, scope) values ('acme', 'org'), ('bakery', 'org') returning slice_id"
        ).fetchall()
        for slice_id, *_ in slices:
            for term, documents in held.items():
                for document, frequency in documents.items():
                    connection.execute(
                        "insert into conversation_terms (slice_id, term, document_id, frequency)"
                        " values (%s, %s, %s, %s)",
                        (slice_id, term, document, frequency),
                    )
    migrate(empty_database_url)
    database = Database(empty_database_url)
    with database.transaction(ACME) as tx:
        own = visible_slices(tx, "acme", None, [Scope.ORG])
        postings = read_postings(tx, own, [*held, 4])
        counts = count_postings(tx, own, [*held, 4])
        rows = tx.execute("select term, document_id, frequency from conversation_terms order by 1, 2").fetchall()
    database.close()
    found = {
        term: dict(zip(one.documents.tolist(), one.frequencies.tolist(), strict=True)) for term, one in postings.items()
    }
    assert found == {**held, 1: {**held[1], BLOCK: 32_767}}
    assert counts == {1: 3, 2: 1, 3: 1, 4: 0}
    assert rows == [(1, 0, 1), (1, BLOCK, 2), (2, BLOCK, 1), (3, 0, 1)]


def test_captures_of_one_organization_at_once_neither_wait_for_ever_nor_lose_a_word(memory: Memory) -> None:
    """All write the same rows of the index, in orders of their own, while others take words out again."""
    memory.consent(given=False)
    words = [f"word{number}x" for number in range(12)]

    def capture(number: int) -> bool:
        own = words[number % 12 :] + words[: number % 12]
        first = memory.capture(f"c{number}", " ".join(own[:8]))
        second = memory.capture(f"c{number}", " ".join(own[: 8 if number % 3 else 4]), " ".join(own))
        if number % 4 == 0:
            memory.delete(f"c{number}")
        return first.captured and second.captured

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(capture, range(24)))
    memory.check()
    assert memory.rows("select count(*) from conversations") == [(18,)]
    assert sorted(set(memory.names(words[0], ANA))) == sorted(memory.names(words[0], ANA))


def test_an_emptied_index_holds_no_row(memory: Memory) -> None:
    memory.capture("c", "a boat", "a plane")
    memory.delete("c")
    assert memory.rows("select count(*) from conversation_terms") == [(0,)]
