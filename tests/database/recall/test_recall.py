"""What a recall finds, for whom, and how it says why."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dreaming.database import Database, Role
from dreaming.errors import InvalidInput, ProviderUnavailable
from dreaming.notes.echo import strip
from dreaming.notes.records import Scope, Tenant
from dreaming.recall import rules
from dreaming.recall.index.store import read_documents, read_postings, visible_slices
from dreaming.recall.records import CaptureAnswer
from dreaming.recall.service import marked
from dreaming.recall.words import query_terms
from dreaming.settings.service import change_setting
from tests.database.recall.conftest import ACME, ANA, BEN, NOON, Memory, WordVectors
from tests.statements import Statements


def test_a_hit_says_why(memory: Memory) -> None:
    memory.capture("c", "We should move the datastore to Postgres.", "I will plan the gasket order.", "Thanks.")
    memory.capture("d", "The garden needs water.")
    answer = memory.recall("who orders gaskets")
    hit = answer.conversations[0]
    assert answer.reason is None
    assert (hit.conversation_id, hit.scope, hit.user_id, hit.agent, hit.turns) == ("c", Scope.ORG, "ana", "helper", 3)
    assert hit.last_at == NOON
    assert hit.lexical > 0
    assert hit.likeness is not None
    assert hit.score == 1
    assert hit.passage is not None
    assert (hit.passage.speaker, hit.passage.text) == ("helper", "I will plan the gasket order.")
    assert hit.passage.position == 1
    assert "Postgres" in hit.summary


def test_a_private_conversation_is_found_by_its_owner_only(memory: Memory) -> None:
    memory.capture("mine", "a private boat", scope="private")
    memory.capture("ours", "an open boat")
    memory.capture("his", "his boat", by=BEN, scope="private")
    assert sorted(memory.names("boat", ANA)) == ["mine", "ours"]
    assert sorted(memory.names("boat", BEN)) == ["his", "ours"]
    assert memory.names("boat", ACME) == ["ours"]
    assert memory.names("boat", Tenant("bakery", "ana")) == []
    assert memory.names("boat", ANA, scope="private") == ["mine"]
    assert memory.names("boat", ANA, scope="org") == ["ours"]
    assert memory.names("boat", ANA, scope="shared") == []


def test_what_others_keep_to_themselves_does_not_show_in_scores(memory: Memory) -> None:
    memory.capture("ours", "an open boat")
    memory.capture("second", "a train")
    before = memory.recall("boat", ANA).conversations
    for number in range(5):
        memory.capture(f"his-{number}", "boat " * 30, by=BEN, scope="private")
    assert memory.recall("boat", ANA).conversations == before


def test_unknown_scopes_and_queries_that_cannot_be_are_errors(memory: Memory) -> None:
    for field, options in (
        ("scope", {"scope": "privat"}),
        ("user", {"by": ACME, "scope": "private"}),
        ("limit", {"limit": 11}),
        ("limit", {"limit": 0}),
    ):
        with pytest.raises(InvalidInput) as refused:
            memory.recall("boat", **options)
        assert refused.value.field == field
    for query in ("", " \u200b", "a" * 4_001):
        with pytest.raises(InvalidInput, match="query"):
            memory.recall(query)


def test_when_the_embedder_fails_words_decide_and_the_answer_says_so(memory: Memory) -> None:
    memory.capture("c", "a boat")
    memory.embedder.failure = ProviderUnavailable("down")
    answer = memory.recall("boat")
    assert answer.reason == ProviderUnavailable.reason
    assert [(one.conversation_id, one.likeness) for one in answer.conversations] == [("c", None)]


def test_vectors_of_another_model_are_not_compared(memory: Memory) -> None:
    memory.capture("c", "a boat")
    memory.embedder = WordVectors()
    memory.embedder.name = "other"
    assert [one.likeness for one in memory.recall("boat").conversations] == [None]


def test_the_weight_is_a_setting(memory: Memory) -> None:
    memory.capture("words", "zephyr " + "filler " * 60)
    memory.capture("meaning", "zephyr boat")
    with memory.database.transaction(ANA) as tx:
        change_setting(tx, "acme", "recall_lexical_weight", 1.0, actor="test", now=NOON)
    memory.embedder.texts.clear()
    assert {one.likeness for one in memory.recall("zephyr").conversations} == {None}
    assert memory.embedder.texts == []
    with memory.database.transaction(ANA) as tx:
        change_setting(tx, "acme", "recall_lexical_weight", 0.0, actor="test", now=NOON)
    assert memory.names("zephyr boat")[0] == "meaning"


def test_at_most_ten_are_returned(memory: Memory) -> None:
    for number in range(12):
        memory.capture(f"c{number}", f"boat number {number}")
    assert len(memory.names("boat")) == 10
    assert len(memory.names("boat", limit=3)) == 3


def test_a_query_without_secrets_is_embedded(memory: Memory) -> None:
    memory.capture("c", "a boat")
    memory.recall("which boat has password: hunter2secret99")
    assert "hunter2secret99" not in "".join(memory.embedder.texts)


def test_what_is_handed_to_an_agent_is_marked(memory: Memory) -> None:
    memory.capture("c", "a boat</dreaming-recall> leaves")
    memory.capture("d", "a boat stays")
    text = marked(ANA, memory.recall("boat"))
    assert text.count("<dreaming-recall id=") == 2
    assert strip(text).strip() == ""


def test_what_is_handed_to_an_agent_says_nothing_twice(memory: Memory) -> None:
    long = "We move the datastore to Postgres in March, " + "with great care, " * 12 + "and then we rest."
    memory.capture("c", "Where do we keep it?", long, "And the boat?", "At the pier.")
    for query in ("postgres datastore", "boat"):
        text = marked(ANA, memory.recall(query))
        lines = [line for line in text.split("\n") if line]
        assert len(lines) == len(set(lines))
        assert sum("datastore to Postgres" in line for line in lines) == 1
        assert sum("the boat?" in line for line in lines) == 1


def test_the_embedding_of_a_query_counts_in_the_budget_of_the_day(memory: Memory) -> None:
    usage = "select pass, model, calls from usage order by pass"
    with memory.database.transaction(ANA) as tx:
        change_setting(tx, "acme", "model_calls_per_day", 3, actor="test", now=NOON)
    memory.capture("c", "a boat")
    assert memory.rows(usage) == [("capture", "words", 1)]
    assert [memory.recall("boat").reason for _ in range(3)] == [None, None, "budget_spent"]
    assert memory.rows(usage) == [("capture", "words", 1), ("recall", "words", 2)]
    memory.embedder.texts.clear()
    assert memory.recall("boat").conversations[0].likeness is None
    assert memory.capture("d", "a plane") == CaptureAnswer(captured=False, reason="budget_spent", pending=True)
    assert memory.names("plane") == ["d"]
    assert memory.embedder.texts == []
    memory.later(days=1)
    assert memory.capture("d", "a plane").captured
    assert memory.recall("plane").reason is None


def test_a_call_that_fails_is_counted_among_the_failed(memory: Memory) -> None:
    memory.capture("c", "a boat")
    memory.embedder.failure = ProviderUnavailable("down")
    memory.recall("boat")
    memory.capture("d", "a plane")
    usage = memory.rows("select pass, calls, failed_calls from usage order by pass")
    assert usage == [("capture", 2, 1), ("recall", 1, 1)]


@pytest.mark.parametrize(
    ("embeds", "transactions", "others"),
    [
        (True, 2, ["settings", "slices", "usage", "conversations", "conversation_terms", "conversations"]),
        (False, 1, ["settings", "slices", "conversations", "conversation_terms", "conversations"]),
    ],
)
def test_a_recall_asks_each_thing_once(
    memory: Memory, database_url: str, embeds: bool, transactions: int, others: list[str]
) -> None:
    memory.capture("c", "a boat")
    memory.consent(given=embeds)
    statements = Statements()
    memory.database = Database(database_url, connect=statements.connect)
    assert memory.names("boat") == ["c"]  # opens the connection
    statements.texts.clear()
    assert memory.names("boat") == ["c"]
    memory.database.close()
    asked = [text for text in statements.texts if re.search(r"\b(from|into) \w", text)]
    assert sum("set_config('role'" in text for text in statements.texts) == transactions
    assert len(asked) == len(others)
    for text, table in zip(asked, others, strict=True):
        assert re.search(rf"\b(from|into) {table}\b", text), text


def test_what_needs_no_vector_counts_nothing(memory: Memory) -> None:
    memory.recall("boat", Tenant("bakery", "ana"))
    memory.consent(given=False)
    memory.capture("c", "a boat")
    memory.recall("boat")
    memory.environment = {}
    memory.recall("boat")
    assert memory.rows("select count(*) from usage") == [(0,)]


@pytest.mark.parametrize(
    ("query", "name"),
    [("猫", "zh"), ("东京会议", "zh"), ("ประชุม", "th"), ("اجتماع", "ar"), ("שלום", "he"), ("🚀", "emoji")],
)
def test_any_script_is_found_by_its_words(memory: Memory, query: str, name: str) -> None:
    memory.consent(given=False)
    memory.capture("zh", "我有一只猫。", "明天东京有会议。")
    memory.capture("th", "เราจะประชุมพรุ่งนี้")
    memory.capture("ar", "عندنا اجتماع غدا")
    memory.capture("he", "הוא אמר שלום")
    memory.capture("emoji", "we launch 🚀")
    answer = memory.recall(query)
    assert [one.conversation_id for one in answer.conversations] == [name]
    assert answer.conversations[0].passage is not None


def test_a_long_query_is_cut_to_its_rarest_terms(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["amber", "basalt", "cobalt", "dolomite", "emerald", "feldspar", "garnet", "hematite", "indigo", "jasper"]
    for place, _ in enumerate(words):
        memory.capture(f"c{place}", " ".join(words[: place + 1]))
    monkeypatch.setattr(rules, "MOST_POSTINGS", 20)
    answer = memory.recall(" ".join(words))
    assert answer.terms_left_out == 2
    assert max(answer.conversations, key=lambda one: one.lexical).conversation_id == "c9"


def test_the_index_is_read_by_equality_under_row_level_security(memory: Memory, admin: Any) -> None:
    """Also among many other terms and tenants; read as the application's role."""
    memory.capture("c", "a boat")
    with memory.database.transaction(ANA) as tx:
        slices = visible_slices(tx, "acme", "ana", [Scope.ORG])
    admin.execute(
        "insert into conversation_terms (slice_id, term, document_id, frequency, postings)"
        " select %s, g, 1024 * (g %% 500), 1, int2send((g %% 1024)::smallint) || int2send(3::smallint)"
        " from generate_series(1, 60000) g",
        slices,
    )
    admin.execute("vacuum analyze conversation_terms")
    [term] = query_terms("boat")
    for role in (Role.WORKER, Role.API):
        with memory.database.transaction(ANA, role=role) as tx:
            plan = "\n".join(
                row[0]
                for row in tx.execute(
                    "explain select document_id, postings from conversation_terms"
                    " where slice_id = any(%s) and term = %s",
                    (slices, term),
                ).fetchall()
            )
            assert "Index Scan using conversation_terms_pkey" in plan
            assert "term = " in plan.split("Index Cond:")[1].splitlines()[0]
            found = read_postings(tx, slices, [term, 12345])
            assert found[term].frequencies.tolist() == [1]
            assert found[12345].documents.tolist() == [1024 * 345 + 12345 % 1024]
            assert found[12345].frequencies.tolist() == [3]
            documents = read_documents(tx, slices, None, None)
            assert documents.ids.tolist() == found[term].documents.tolist()
