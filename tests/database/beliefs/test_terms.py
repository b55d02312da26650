"""Terms in the database follow the statements."""

from pathlib import Path

from dreaming.beliefs.terms.store import COMMON, ranked
from dreaming.beliefs.terms.words import looked_up, terms
from dreaming.database import Database
from tests.world import World, note, open_world


def found(world: World, statement: str, limit: int = 10) -> list[str]:
    with world.transaction() as tx:
        rows = ranked(tx, world.slice().slice_id, [looked_up(statement)], limit)
    return [row.statement for row in rows]


def statistics(world: World) -> tuple[int, int]:
    ((statements, length),) = world.rows("select statements, length from belief_term_statistics")
    return statements, length


STORED = ("The ferry to Kirkwall leaves at nine", "Ferry tickets cost ten pounds", "Ada keeps bees on the roof")


def test_the_rarer_shared_word_ranks_first_and_what_shares_none_is_not_found(
    database: Database, tmp_path: Path
) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("1", "\n".join(STORED)))
    world.drain()
    assert found(world, "Which ferries go to Kirkwall by ferry") == list(STORED[:2])
    assert found(world, "Which ferries go to Kirkwall by ferry", limit=1) == [STORED[0]]
    assert found(world, "quartz") == []
    assert statistics(world) == (3, sum(sum(terms(text).values()) for text in STORED))


def test_a_reworded_belief_is_found_by_its_new_words_alone(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    first, second = "The shed is painted green again", "The shed is painted green indeed"
    world.ingest(note("1", first, origin="1"), note("2", second, origin="2"))
    world.drain()
    assert world.statements() == [first]
    world.ingest(note("1", "Ink dries fast on paper", origin="1"))
    world.drain()
    assert world.statements() == ["Ink dries fast on paper", second]
    assert found(world, "shed") == [second]
    assert found(world, "again") == []
    assert statistics(world)[1] == sum(sum(terms(text).values()) for text in world.statements())


def test_a_word_of_too_many_statements_is_not_read(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("1", "Ada keeps bees"))
    world.drain()
    slice_id = world.slice().slice_id
    assert found(world, "bees") == ["Ada keeps bees"]
    with world.transaction() as tx:
        tx.execute(
            """
            insert into beliefs (belief_id, slice_id, kind, statement, statement_hash, words_version, confidence,
                confirmed_at, first_seen_at, importance, decay_class, trust, sources, origins, created_at, updated_at)
            select gen_random_uuid(), slice_id, kind, statement, statement_hash, words_version, confidence,
                confirmed_at, first_seen_at, importance, 'permanent', trust, 1, 1, created_at, updated_at
            from beliefs, generate_series(1, %s)
            """,
            (COMMON,),
        )
        tx.execute(
            "insert into belief_terms select %s, t.term, b.belief_id, 1, 3 from beliefs b,"
            " (select distinct term from belief_terms) t on conflict do nothing",
            (slice_id,),
        )
    assert found(world, "bees") == []
