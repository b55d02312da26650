"""The semantic step of deduplication: what it adds, what it never does, and what it may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dreaming.beliefs.vectors.store import write_vectors
from dreaming.beliefs.words import fold, statement_hash
from dreaming.database import Database
from dreaming.errors import ProviderUnavailable
from dreaming.settings.service import change_consent, change_excluded_sources
from tests.databases import at_database, created_database
from tests.world import KEY, World, note, open_world

BOUGHT = "Ada bought a sofa for the big room"
PURCHASED = "Ada purchased a couch for the large room"
SOLD = "Ada sold a sofa for the big room"
GREY = "Ada thinks about furniture for the living room"
CLOSE, BETWEEN = 0.95, 0.7


@pytest.fixture
def other_database(server_url: str, template_database: str) -> Iterator[Database]:
    with created_database(server_url, template=template_database) as name:
        database = Database(at_database(server_url, name))
        yield database
        database.close()


class FakeEmbedder:
    """Puts statements at given angles from the first of them, and remembers what it was given."""

    name = "fake:angles"
    dimension = 2

    def __init__(self, cosines: Mapping[str, float], failing: Exception | None = None) -> None:
        self._cosines = {fold(statement): cosine for statement, cosine in cosines.items()}
        self._failing = failing
        self.seen: list[str] = []
        self.calls = 0

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        assert timeout > 0
        self.calls += 1
        self.seen += texts
        if self._failing is not None:
            raise self._failing
        cosines = [self._cosines.get(fold(text), 0.0) for text in texts]
        return np.array([(cosine, (1 - cosine**2) ** 0.5) for cosine in cosines], dtype=np.float32)


def fake(failing: Exception | None = None) -> FakeEmbedder:
    return FakeEmbedder({BOUGHT: 1.0, PURCHASED: CLOSE, SOLD: CLOSE, GREY: BETWEEN}, failing)


ON = {"DREAMING_ENABLED": "true", "DREAMING_PACKING": "false", "DREAMING_SEMANTIC_DEDUP": "true"}


def world_with(
    database: Database, folder: Path, embedder: Any, *, consent: bool = True, excluded: Sequence[str] = ()
) -> World:
    world = open_world(database, folder, environment=dict(ON))
    world.embedder = lambda settings, org_id: embedder
    with world.transaction() as tx:
        change_consent(tx, KEY.org_id, "embedding_consent", consent, actor="test", now=world.now)
        change_excluded_sources(tx, KEY.org_id, list(excluded), actor="test", now=world.now)
    return world


def told(world: World, *statements: str, source: str = "test") -> None:
    """Ingest each statement as a note of its own and drain after each."""
    for statement in statements:
        world.ingest(note(statement, statement, source=source, origin=statement))
        world.drain()


def queued(world: World) -> list[tuple[Any, Any]]:
    rows = world.rows("select reason, evidence from conflict_candidates order by reason")
    return [(reason, evidence) for reason, evidence in rows]


def test_a_paraphrase_corroborates_and_the_history_says_by_what(database: Database, tmp_path: Path) -> None:
    world = world_with(database, tmp_path, fake())
    told(world, BOUGHT, PURCHASED)
    assert [row[0::2] for row in world.beliefs()] == [(BOUGHT, 2)]
    ((detail,),) = world.rows("select detail from belief_history where event = 'corroborated'")
    assert detail == {"method": "cosine", "jaccard": 0.4545, "cosine": CLOSE, "model": "fake:angles"}
    assert sum(row[0].get("semantic_matches", 0) for row in world.rows("select pass_counts from dream_runs")) == 1
    world.check()


def test_a_batchs_own_beliefs_are_candidates_too(database: Database, tmp_path: Path) -> None:
    world = world_with(database, tmp_path, fake())
    world.ingest(note("1", BOUGHT, origin="1"), note("2", PURCHASED, origin="2"))
    assert world.drain() == 1
    assert [row[0::2] for row in world.beliefs()] == [(BOUGHT, 2)]


def test_what_a_guard_keeps_apart_and_the_grey_band_are_queued(database: Database, tmp_path: Path) -> None:
    world = world_with(database, tmp_path, fake())
    told(world, BOUGHT, SOLD, GREY)
    assert len(world.statements()) == 3
    found = dict(queued(world))
    assert set(found) == {"opposites", "grey_band", "substitution"}  # the last of SOLD and GREY, 27 degrees apart
    assert found["opposites"]["guard"] == "opposites"
    assert {found["opposites"]["left"], found["opposites"]["right"]} == {"bought", "sold"}
    assert found["opposites"]["cosine"] == pytest.approx(CLOSE, abs=1e-3)
    assert found["grey_band"]["model"] == "fake:angles"


def everything(world: World) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the tables that consolidation writes, without what differs from run to run."""
    queries = {
        "beliefs": "select statement, statement_hash, confidence, confirmed_at, sources, origins, archive_reason, kind"
        " from beliefs order by statement",
        "sources": "select s.statement, s.quote, s.confidence, b.statement from sources s join beliefs b"
        " using (belief_id) order by 1, 4",
        "history": "select event, statement, detail from belief_history order by history_id",
        "tokens": "select t.token, t.size, t.position, b.statement from belief_tokens t join beliefs b"
        " using (belief_id) order by 1, 4",
        "terms": "select t.term, t.occurrences, t.length, b.statement from belief_terms t join beliefs b"
        " using (belief_id) order by 1, 4",
        "conflicts": "select reason, evidence - 'left' - 'right' from conflict_candidates order by 1, 2::text",
        "counters": "select * from slice_counters",
        "runs": "select pass_counts, notes_consolidated, beliefs_created from dream_runs order by started_at, run_id",
    }
    return {name: world.rows(query) for name, query in queries.items()}


STORY = (BOUGHT, PURCHASED, SOLD, GREY, f"{BOUGHT} again", "Tom plays cello and sails on Sundays.", "Tom plays cello.")


def test_switched_off_no_embedder_is_built_and_nothing_differs(
    database: Database, other_database: Database, tmp_path: Path
) -> None:
    """The port is there and would work; off, all tables are those of a pass that has none."""

    def refuse(settings: Any, org_id: str) -> Any:
        raise AssertionError("an embedder was asked for")

    off = {name: value for name, value in ON.items() if "SEMANTIC" not in name}
    with_port = world_with(database, tmp_path, None)
    with_port.environment, with_port.embedder = off, refuse
    (tmp_path / "other").mkdir()
    without = open_world(other_database, tmp_path / "other", environment=off)
    for world in (with_port, without):
        told(world, *STORY)
    assert everything(with_port) == everything(without)


@pytest.mark.parametrize("error", [ProviderUnavailable("down"), RuntimeError("Ada bought a sofa")])
def test_a_failing_embedder_leaves_what_words_decide(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    embedder = fake(error)
    world = world_with(database, tmp_path, embedder)
    told(world, BOUGHT, f"{BOUGHT} again", PURCHASED)
    assert [row[0::2] for row in world.beliefs()] == [(BOUGHT, 2), (PURCHASED, 1)]
    assert embedder.calls > 0
    counts = [row[0].get("embedder_failures") for row in world.rows("select pass_counts from dream_runs")]
    assert counts == [1, 1, 1]
    assert "sofa" not in caplog.text
    assert {getattr(record, "error", type(error).__name__) for record in caplog.records} == {type(error).__name__}


def test_an_embedder_that_cannot_be_built_is_a_failure_too(database: Database, tmp_path: Path) -> None:
    world = world_with(database, tmp_path, None)

    def broken(settings: Any, org_id: str) -> Any:
        raise ProviderUnavailable("no such model")

    world.embedder = broken
    told(world, BOUGHT, PURCHASED)
    assert len(world.statements()) == 2


def test_without_consent_nothing_is_embedded(database: Database, tmp_path: Path) -> None:
    embedder = fake()
    world = world_with(database, tmp_path, embedder, consent=False)
    told(world, BOUGHT, PURCHASED)
    assert embedder.seen == []
    assert len(world.statements()) == 2


def test_unreadable_consent_is_no_consent(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = fake()
    world = world_with(database, tmp_path, embedder)

    def unreadable(tx: Any, org_id: str) -> Any:
        raise ValueError("no such column")

    monkeypatch.setattr("dreaming.passes.consolidation.semantic.read_enrolment", unreadable)
    told(world, BOUGHT, PURCHASED)
    assert embedder.seen == []
    assert len(world.statements()) == 2


def test_neither_claims_nor_beliefs_of_an_excluded_source_are_embedded(database: Database, tmp_path: Path) -> None:
    embedder = fake()
    world = world_with(database, tmp_path, embedder, excluded=["diary"])
    told(world, BOUGHT, source="diary")
    told(world, PURCHASED)
    assert embedder.seen == [PURCHASED]
    told(world, "Ada bought a sofa for the red room", source="diary")
    assert embedder.seen == [PURCHASED]
    assert len(world.statements()) == 3


def test_stored_vectors_are_used_and_only_the_rest_is_embedded(database: Database, tmp_path: Path) -> None:
    embedder = fake()
    world = world_with(database, tmp_path, embedder)
    told(world, BOUGHT)
    ((belief_id,),) = world.rows("select belief_id from beliefs")
    vector = np.array([1.0, 0.0], dtype=np.float32)
    with world.transaction() as tx:
        slice_id = world.slice().slice_id
        hashes = {belief_id: statement_hash(fold(BOUGHT))}
        write_vectors(tx, slice_id, {belief_id: vector}, model=embedder.name, statement_hashes=hashes, now=world.now)
    embedder.seen.clear()
    told(world, PURCHASED)
    assert embedder.seen == [PURCHASED]
    assert world.statements() == [BOUGHT]


def test_no_connection_is_held_while_texts_are_embedded(database: Database, admin: Any, tmp_path: Path) -> None:
    open_transactions: list[int] = []
    embedder = fake()
    world = world_with(database, tmp_path, embedder)
    inner: Callable[..., Any] = embedder.embed

    def watching(texts: Sequence[str], *, timeout: float) -> Any:
        query = "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'"
        open_transactions.append(admin.execute(query).fetchone()[0])
        return inner(texts, timeout=timeout)

    embedder.embed = watching  # type: ignore[method-assign]
    told(world, BOUGHT, PURCHASED)
    assert open_transactions
    assert set(open_transactions) == {0}


def test_one_batch_embeds_a_bounded_number_of_texts(database: Database, tmp_path: Path) -> None:
    embedder = fake()
    world = world_with(database, tmp_path, embedder)
    world.environment["DREAMING_BATCH_NOTES"] = "20"
    lines = [f"The drawer {number} of cabinet {number * 7} holds screws" for number in range(400)]
    world.ingest(*(note(str(at), "\n".join(lines[at * 20 : at * 20 + 20]), origin=str(at)) for at in range(20)))
    world.drain()
    assert len(embedder.seen) == 256
    assert embedder.calls == 4
    assert len(world.statements()) == 400
