"""Candidate search reads its indexes, as the application role under row-level security, at 25,000 beliefs.

The more there are, the more a scan would cost beside an index: what is not scanned here is not scanned among more.
"""

import random
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from dreaming.beliefs.records import Kind
from dreaming.beliefs.similarity import hash_of, probe, stored_tokens
from dreaming.beliefs.store import find_candidates, find_same_attribute
from dreaming.beliefs.terms.store import COMMON, ranked, recent
from dreaming.beliefs.terms.words import looked_up, terms
from dreaming.beliefs.words import jaccard, word_set
from dreaming.database import Database
from dreaming.notes.records import SliceKey, Tenant
from dreaming.notes.store import create_slice

BELIEFS = 25_000
KEY = SliceKey("large")
DAY = "2026-01-01"

PLACES = ["cellar", "attic", "garden", "harbour", "office", "kitchen", "library", "workshop", "station", "market"]
VERBS = ["keeps", "repairs", "paints", "measures", "orders", "delivers", "inspects", "stores", "lends", "cleans"]
THINGS = [f"item{number}" for number in range(400)]
NAMES = [f"person{number}" for number in range(300)]


def statement(chosen: random.Random) -> str:
    """One of about 12 million sentences of eight to ten words."""
    return (
        f"{chosen.choice(NAMES)} {chosen.choice(VERBS)} the {chosen.choice(THINGS)} and the {chosen.choice(THINGS)}"
        f" in the {chosen.choice(PLACES)} near {chosen.choice(NAMES)}"
    )


@pytest.fixture(scope="module")
def statements() -> list[str]:
    chosen = random.Random(7)
    return [statement(chosen) for _ in range(BELIEFS)]


@pytest.fixture
def large(database: Database, admin: psycopg.Connection[Any], statements: list[str]) -> int:
    """The slice of an organization with many beliefs."""
    with database.transaction(KEY.tenant) as tx:
        slice_id = create_slice(tx, KEY).slice_id
    with admin.cursor() as cursor:
        cursor.execute("set search_path to dreaming, public")
        with cursor.copy(
            "copy beliefs (belief_id, slice_id, kind, statement, statement_hash, words_version, confidence,"
            " confirmed_at, first_seen_at, importance, decay_class, subject, attribute, trust, sources, origins,"
            " created_at, updated_at) from stdin"
        ) as copy:
            for number, text in enumerate(statements):
                copy.write_row(
                    (UUID(int=number), slice_id, "fact", text, hash_of(text), 1, 0.8, DAY, DAY, "normal", "permanent",
                     *text.split()[:2], "trusted", 1, 1, DAY, DAY)
                )  # fmt: skip
        with cursor.copy("copy belief_tokens (slice_id, token, size, position, belief_id) from stdin") as copy:
            for number, text in enumerate(statements):
                stored = stored_tokens(text)
                for position, token in enumerate(stored.tokens):
                    copy.write_row((slice_id, token, stored.size, position, UUID(int=number)))
        with cursor.copy("copy belief_terms (slice_id, term, belief_id, occurrences, length) from stdin") as copy:
            length = 0
            for number, text in enumerate(statements):
                counts = terms(text)
                size = sum(counts.values())
                length += size
                for term, occurrences in counts.items():
                    copy.write_row((slice_id, term, UUID(int=number), occurrences, size))
        cursor.execute("insert into belief_term_statistics values (%s, %s, %s)", (slice_id, BELIEFS, length))
        cursor.execute("analyze belief_terms")
        cursor.execute("analyze beliefs")
        cursor.execute("analyze belief_tokens")
        cursor.execute("analyze slices")
    return slice_id


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


class Explaining:
    """A transaction that explains what is executed on it instead."""

    def __init__(self, tx: Any) -> None:
        self._tx = tx
        self.plans: list[dict[str, Any]] = []

    def cursor(self, **options: Any) -> Any:
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def execute(self, query: str, parameters: Any) -> Any:
        row = self._tx.execute(f"explain (analyze, format json) {query}", parameters).fetchone()
        self.plans.append(row[0][0]["Plan"])
        return self

    def fetchall(self) -> list[Any]:
        return []


@pytest.mark.slow
def test_candidate_search_scans_no_table_and_finds_what_brute_force_finds(
    database: Database, large: int, statements: list[str]
) -> None:
    chosen = random.Random(11)
    probed = [statements[number] for number in range(0, BELIEFS, BELIEFS // 10)]
    probed += [statement(chosen) for _ in range(10)]
    probed += [f"{text} today" for text in probed[:10]]
    with database.transaction(Tenant(KEY.org_id)) as tx:
        assert tx.execute("select current_user").fetchone() == ("dreaming_worker",)
        explained: Any = Explaining(tx)
        find_candidates(explained, large, [probe(text, 0.7) for text in probed])
        find_same_attribute(explained, large, [(text.split()[0], text.split()[1]) for text in probed])
        recent(explained, large, [Kind.FACT, Kind.DECISION], 25)
        ranked(explained, large, [looked_up(text) for text in probed], 10)
        for plan in explained.plans:
            scanned = [node for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
            # Only the slices that row-level security shows, a handful, may be read whole.
            assert {node["Relation Name"] for node in scanned} <= {"slices"}
            read = [node["Actual Rows"] for node in nodes(plan) if node["Node Type"].startswith("Index")]
            assert max(read) <= COMMON + 1
            removed = sum(
                node.get("Rows Removed by Filter", 0) * node["Actual Loops"]
                for node in nodes(plan)
                if node.get("Relation Name") not in {"slices", None}
            )
            assert removed == 0
        found = find_candidates(tx, large, [probe(text, 0.7) for text in probed])
        by_terms = ranked(tx, large, [looked_up(text) for text in probed], 10)
    first = {row.claim: row.statement for row in reversed(by_terms)}
    assert [first[claim] for claim in range(10)] == probed[:10]
    assert max(sum(row.claim == claim for row in by_terms) for claim in range(len(probed))) == 10
    words = [word_set(text) for text in statements]
    for claim, text in enumerate(probed):
        mine = word_set(text)
        near = {UUID(int=number) for number, other in enumerate(words) if jaccard(mine, other) >= 0.7}
        assert near <= {row.belief_id for row in found if row.claim == claim}
