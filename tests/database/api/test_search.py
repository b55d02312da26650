"""Beliefs are found by words and by meaning, in any script, under every filter, page by page, by their owner only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dreaming.api.beliefs.store import BeliefFilter
from dreaming.api.search.service import FoundPage, Searching
from dreaming.beliefs.records import Kind
from dreaming.database import Database, Role
from dreaming.errors import InvalidInput, Throttled
from dreaming.notes.records import Scope, SliceKey, Tenant
from tests.embedding_world import EmbeddingWorld, open_embedding_world
from tests.world import KEY, claim

MEANINGS = {
    "hive": "bees",
    "honey": "bees",
    "bees": "bees",
    "sails": "boat",
    "yacht": "boat",
    "library": "books",
    "workshop": "bicycle",
    "bicycle": "bicycle",
    "cyclist": "bicycle",
}


class Meanings:
    """Texts that mean the same have like vectors; `failure` is raised instead of an answer."""

    name = "meanings"
    dimension = 32

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        assert timeout > 0
        if self.failure is not None:
            raise self.failure
        self.texts += texts
        return np.array([self.vector(text) for text in texts], dtype=np.float32)

    def vector(self, text: str) -> NDArray[np.float64]:
        row = np.full(self.dimension, 0.02)
        for word in text.casefold().strip(".").split():
            meant = MEANINGS.get(word)
            row[sorted(set(MEANINGS.values())).index(meant) if meant else 8 + len(word) % 20] += 3 if meant else 0.3
        unit: NDArray[np.float64] = row / np.linalg.norm(row)
        return unit


@pytest.fixture
def world(database: Database, tmp_path: Path) -> EmbeddingWorld:
    opened = open_embedding_world(database, tmp_path)
    opened.embedder = Meanings()
    opened.drain()
    return opened


def search(
    world: EmbeddingWorld,
    *words: str,
    key: SliceKey = KEY,
    limit: int = 20,
    cursor: str | None = None,
    tenant: Tenant | None = None,
    **wanted: Any,
) -> FoundPage:
    searching = Searching(
        world.world.database,
        tenant or key.tenant,
        world.world.environment,
        world.world.now,
        lambda settings, org_id, name: world.embedder if name == world.embedder.name else None,
        Role.API,
    )
    return searching.search(key, BeliefFilter(words, **wanted), limit=limit, cursor=cursor)


def statements(page: FoundPage) -> list[str]:
    return [one.reading.belief.statement for one in page.found]


def test_a_word_is_found_in_another_form_of_it(world: EmbeddingWorld) -> None:
    page = search(world, "deployment")
    assert statements(page)[0] == "Deployments to production happen on Tuesdays."
    assert page.reason is None
    assert page.found[0].place.lexical > 0
    assert page.found[0].reading.evidence is not None


def test_a_paraphrase_without_a_common_word_is_found_by_meaning(world: EmbeddingWorld) -> None:
    page = search(world, "hive", "honey")
    assert statements(page)[0] == "Priya keeps bees behind the old mill."
    assert page.found[0].place.lexical == 0
    assert (page.found[0].place.likeness or 0) > 0.5


def test_nothing_is_found_where_nothing_fits(world: EmbeddingWorld) -> None:
    world.world.environment["DREAMING_SEARCH_LEAST_LIKENESS"] = "0.95"
    assert statements(search(world, "qwertyuiop")) == []


@pytest.mark.parametrize(
    ("statement", "query"),
    [
        ("小明喜欢在周末骑自行车去海边。", "自行车"),
        ("小明家里养了一只猫和一条狗。", "猫"),
        ("東京の図書館は月曜日に休みます。", "図書館"),
        ("يعمل سامي في مكتبة المدينة كل يوم.", "مكتبة"),
        ("דנה גרה ברחוב הרצל בתל אביב.", "הרצל"),
        ("The team celebrates every release with 🎉 and cake.", "🎉"),
        ("Зоя играет на скрипке по вторникам.", "скрипке"),
        ("Der Müller mahlt das Korn bei Nacht.", "MÜLLER"),
    ],
)
def test_any_script_is_found_by_words_alone(world: EmbeddingWorld, statement: str, query: str) -> None:
    world.consent(given=False)
    world.believe(statement)
    page = search(world, query)
    assert statements(page) == [statement]
    assert page.reason == "no_embedding_consent"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(Throttled("busy"), "throttled"), (InvalidInput("x", "y", "z"), "misconfigured")],
)
def test_without_a_vector_words_decide_and_the_answer_says_why(
    world: EmbeddingWorld, failure: Exception, reason: str
) -> None:
    world.embedder.failure = failure
    page = search(world, "bees")
    assert (statements(page), page.reason) == (["Priya keeps bees behind the old mill."], reason)
    assert world.world.rows("select calls, failed_calls from usage where pass = 'search'") == [(1, 1)]


def test_without_consent_no_query_leaves_before_the_vectors_are_forgotten_either(world: EmbeddingWorld) -> None:
    world.embedder.texts.clear()
    world.consent(given=False)
    assert world.world.rows("select count(*) > 0 from belief_vectors") == [(True,)]
    page = search(world, "bees")
    assert (statements(page), page.reason) == (["Priya keeps bees behind the old mill."], "no_embedding_consent")
    assert world.embedder.texts == []


def test_an_embedder_of_another_space_is_never_asked(world: EmbeddingWorld) -> None:
    world.embedder = replace_name(world.embedder, "another")
    page = search(world, "bees")
    assert (statements(page), page.reason) == (["Priya keeps bees behind the old mill."], "no_embedder")


def test_the_embedding_of_a_query_counts_in_the_budget_of_the_day(world: EmbeddingWorld) -> None:
    usage = "select coalesce(sum(calls), 0) from usage where pass = 'search'"
    spent = world.world.rows("select coalesce(sum(calls), 0)::int from usage")[0][0]
    world.world.environment["DREAMING_MODEL_CALLS_PER_DAY"] = str(spent + 1)
    assert [search(world, "hive").reason for _ in range(2)] == [None, "budget_spent"]
    assert world.world.rows(usage) == [(1,)]
    assert statements(search(world, "deployment"))[0] == "Deployments to production happen on Tuesdays."


def replace_name(embedder: Meanings, name: str) -> Meanings:
    other = Meanings()
    other.name = name
    return other


def test_secrets_of_a_query_reach_no_embedder(world: EmbeddingWorld) -> None:
    world.embedder.texts.clear()
    search(world, "bees", "sk-TEST1234567890abcdefABCDEF1234567890")
    assert len(world.embedder.texts) == 1
    assert "1234567890abcdef" not in world.embedder.texts[0]


def test_of_two_that_fit_alike_the_surer_comes_first(world: EmbeddingWorld) -> None:
    world.world.model = scripted({"The old barn is red.": 0.3, "The new barn is red.": 0.9})
    world.believe("The old barn is red.", "The new barn is red.")
    world.world.environment["DREAMING_SEARCH_LEXICAL_WEIGHT"] = "1"
    assert statements(search(world, "barn")) == ["The new barn is red.", "The old barn is red."]


def scripted(confidences: dict[str, float], **fields: Any) -> Any:
    from dreaming.models.scripted import ScriptedChatModel

    return ScriptedChatModel(
        lambda request: [claim(p.text, confidence=confidences[p.text], **fields) for p in request.passages]
    )


def test_filters_hold_exactly(world: EmbeddingWorld) -> None:
    world.world.model = scripted({"The red barn has bees.": 0.3}, kind="observation")
    world.believe("The red barn has bees.")
    world.drain()
    both = {"The red barn has bees.", "Priya keeps bees behind the old mill."}
    assert set(statements(search(world, "bees"))[:2]) == both
    assert statements(search(world, "bees", kind=Kind.OBSERVATION)) == ["The red barn has bees."]
    assert "The red barn has bees." not in statements(search(world, "bees", min_confidence=0.5))
    assert statements(search(world, "bees", archived=True)) == []
    [(belief_id,)] = world.world.rows("select belief_id from beliefs where statement = 'The red barn has bees.'")
    from dreaming.beliefs.persons.service import Person
    from dreaming.identifiers import uuid7

    world.world.now += timedelta(hours=1)
    before = world.world.now
    world.world.now += timedelta(hours=1)
    person = Person(world.world.database, Tenant("acme"), "test", world.world.environment, Role.API)
    person.archive(belief_id, now=world.world.now, new_id=uuid7)
    assert "The red barn has bees." not in statements(search(world, "bees"))
    assert statements(search(world, "bees", archived=True)) == ["The red barn has bees."]
    assert "The red barn has bees." in statements(search(world, "bees", believed_at=before))
    long_ago = before - timedelta(days=3000)
    assert statements(search(world, "bees", as_of=long_ago)) == []


def test_pages_are_the_whole_list_in_order(world: EmbeddingWorld) -> None:
    world.believe(*(f"Barn {number} holds {'old ' * (number % 3)}hay." for number in range(25)))
    world.drain()
    whole = search(world, "barn", "hay", limit=1000)
    assert len(whole.found) >= 25
    assert whole.next_cursor is None
    collected: list[str] = []
    cursor = None
    while True:
        page = search(world, "barn", "hay", limit=4, cursor=cursor)
        collected += statements(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert collected == statements(whole)
    with pytest.raises(InvalidInput, match="cursor"):
        search(world, "barn", cursor="nonsense")


def test_another_user_and_another_organization_find_nothing(world: EmbeddingWorld) -> None:
    own = SliceKey("acme", Scope.PRIVATE, "ana")
    world.world.ingest(*[replace_text("Ana keeps bees in secret.")], key=own)
    world.world.engine.tick(world.world.slice(own).slice_id)
    world.world.process()
    assert statements(search(world, "secret", key=own)) == ["Ana keeps bees in secret."]
    assert "Ana keeps bees in secret." not in statements(search(world, "secret", "bees"))
    assert search(world, "secret", key=SliceKey("acme", Scope.PRIVATE, "ben")).found == ()
    assert search(world, "secret", key=own, tenant=Tenant("acme", "ben")).found == ()
    assert search(world, "bees", key=SliceKey("bakery")).found == ()


def replace_text(text: str) -> Any:
    from tests.world import note

    return note("own", text)


@pytest.mark.parametrize("words", [(), ("  ",), ("x" * 5_000,)])
def test_bad_queries_are_refused(world: EmbeddingWorld, words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="words"):
        search(world, *words)


def test_what_is_nearest_but_not_asked_for_makes_room_for_others(world: EmbeddingWorld) -> None:
    """120 beliefs nearer to the query than the one asked for are of too little confidence."""
    texts = [f"Hive {number} has honey." for number in range(120)]
    world.world.model = scripted(dict.fromkeys(texts, 0.2))
    world.believe(*texts)
    world.drain()
    found = statements(search(world, "hive", "honey", min_confidence=0.5))
    assert "Priya keeps bees behind the old mill." in found
    assert not set(found) & set(texts)
