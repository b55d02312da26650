"""The embedding pass: what is missing is embedded once, whoever dies, repeats or meets in between."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from dreaming.database import Database
from dreaming.errors import ProviderUnavailable, Throttled
from dreaming.notes.records import Scope, SliceKey
from dreaming.passes import store as passes_store
from dreaming.passes.embedding import store
from dreaming.passes.records import Disposition, RunStatus
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from tests.embedding_world import SENTENCES, EmbeddingWorld
from tests.world import note


def small_batches(embedding: EmbeddingWorld, size: int = 5) -> None:
    embedding.world.environment["DREAMING_EMBEDDING_BATCH"] = str(size)


def embedded(embedding: EmbeddingWorld) -> list[str]:
    return [statement for _, statement in embedding.vectors()]


def test_beliefs_that_were_there_before_are_embedded_in_batches(embedding: EmbeddingWorld) -> None:
    small_batches(embedding)
    reports = embedding.drain()
    assert [len(call) for call in embedding.embedder.calls] == [5, 5, 2]
    assert embedded(embedding) == sorted(SENTENCES)
    assert [report.outcome.status for report in reports if report.outcome] == [
        RunStatus.RUNNING,
        RunStatus.RUNNING,
        RunStatus.DRAINED,
    ]
    assert embedding.progress().missing == 0
    counts = embedding.world.rows("select model_calls, pass_counts from dream_runs where pass = 'embedding'")
    assert counts[0][0] == 3
    assert counts[0][1]["texts_embedded"] == 12


def test_then_nothing_is_due(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    assert embedding.tick() == 0
    assert embedding.world.rows("select pass from due_times where pass = 'embedding'") == []


def test_a_new_belief_is_due_and_alone_embedded(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.believe("The lighthouse keeper retired in May.")
    embedding.drain()
    assert embedding.embedder.calls[1:] == [["The lighthouse keeper retired in May."]]
    assert len(embedded(embedding)) == 13


def test_a_belief_in_other_words_is_embedded_anew_and_not_found_before(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    embedding.reword("Tom sails on Sundays with the youth club.", "Tom now rows on Mondays with the veterans.")
    old_words = embedding.search("Tom sails on Sundays with the youth club.", embedding.embedder, limit=12)
    assert all(cosine < 0.99 for _, cosine in old_words)
    embedding.drain()
    nearest = embedding.search("Tom now rows on Mondays with the veterans.", embedding.embedder)
    assert nearest[0][0] == "Tom now rows on Mondays with the veterans."
    assert nearest[0][1] == pytest.approx(1, abs=1e-3)
    assert embedding.embedder.calls[1:] == [["Tom now rows on Mondays with the veterans."]]


def test_a_reworded_belief_keeps_its_row_and_its_old_vector_is_stale(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    with embedding.world.transaction() as tx:
        tx.execute("update beliefs set statement = 'Nils drinks tea.', statement_hash = 7 where statement like 'Nils%'")
        passes_store.make_due(tx, embedding.slice_id, "embedding", embedding.world.now)
    assert embedding.progress().embedded == 11
    assert "Nils drinks tea." not in dict(embedding.search(SENTENCES[6], embedding.embedder, limit=12))
    embedding.drain()
    assert embedding.search("Nils drinks tea.", embedding.embedder)[0][0] == "Nils drinks tea."
    assert embedding.embedder.calls[1:] == [["Nils drinks tea."]]


def test_a_restored_belief_has_its_vector_at_once(embedding: EmbeddingWorld) -> None:
    embedding.drain()
    with embedding.world.transaction() as tx:
        tx.execute("update beliefs set archived_at = now(), archive_reason = 'faded' where statement like 'Tom%'")
    assert SENTENCES[2] not in dict(embedding.search(SENTENCES[2], embedding.embedder, limit=12))
    with embedding.world.transaction() as tx:
        tx.execute("update beliefs set archived_at = null, archive_reason = null where statement like 'Tom%'")
    assert embedding.search(SENTENCES[2], embedding.embedder)[0][0] == SENTENCES[2]


def test_no_connection_is_held_during_a_call_and_a_second_invocation_waits_its_turn(
    embedding: EmbeddingWorld, database_url: str
) -> None:
    embedding.world.database = Database(database_url, pool_size=1, wait_seconds=0.5)
    embedding.tick()
    received = embedding.queue.receive(holder="test", visibility_timeout=1080)
    assert received is not None
    busy: list[type[BaseException]] = []

    def meanwhile(texts: Sequence[str]) -> None:
        embedding.embedder.before = lambda texts: None
        assert embedding.world.rows("select count(*) from pg_locks where not granted") == [(0,)]
        assert embedding.world.database._pool._free._value == embedding.world.database._pool._size
        with pytest.raises(passes_store.LeaseBusy) as raised:
            embedding.deliver(received.body, "second")
        busy.append(raised.type)

    embedding.embedder.before = meanwhile
    report = embedding.deliver(received.body, "first")
    embedding.world.database.close()
    assert (report.disposition, busy) == (Disposition.DONE, [passes_store.LeaseBusy])
    assert len(embedding.embedder.calls) == 1


def test_an_invocation_that_lost_its_lease_stores_nothing(embedding: EmbeddingWorld) -> None:
    embedding.tick()
    received = embedding.queue.receive(holder="test", visibility_timeout=1080)
    assert received is not None
    second = []

    def meanwhile(texts: Sequence[str]) -> None:
        embedding.embedder.before = lambda texts: None
        embedding.world.now += timedelta(minutes=10)
        second.append(embedding.deliver(received.body, "second").disposition)

    embedding.embedder.before = meanwhile
    first = embedding.deliver(received.body, "first")
    assert (first.disposition, second) == (Disposition.STALE, [Disposition.DONE])
    runs = embedding.world.rows("select pass_counts ->> 'texts_embedded' from dream_runs where pass = 'embedding'")
    assert runs == [("12",)]
    assert len(embedded(embedding)) == 12


def test_a_message_that_arrives_twice_has_one_effect(embedding: EmbeddingWorld) -> None:
    small_batches(embedding)
    embedding.tick()
    received = embedding.queue.receive(holder="test", visibility_timeout=1080)
    assert received is not None
    dispositions = [embedding.deliver(received.body, holder).disposition for holder in ("one", "two", "three")]
    assert dispositions == [Disposition.DONE, Disposition.REPEATED, Disposition.REPEATED]
    assert len(embedding.embedder.calls) == 1
    embedding.queue.delete(received.receipt)
    while embedding.step() is not None:
        pass
    assert sorted(embedding.embedder.embedded) == sorted(SENTENCES)


class Killed(BaseException):
    """The process is gone."""


def test_killed_between_call_and_commit_it_comes_again(
    embedding: EmbeddingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding.tick()
    received = embedding.queue.receive(holder="test", visibility_timeout=1080)
    assert received is not None

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(store, "drop_refusals", die)  # after the vectors are written, before the commit
        patch.setattr(passes_store, "release_lease", lambda *_: None)
        with pytest.raises(Killed):
            embedding.deliver(received.body, "killed")
    assert embedded(embedding) == []
    with pytest.raises(passes_store.LeaseBusy):
        embedding.deliver(received.body, "too early")
    embedding.world.now += timedelta(minutes=10)
    assert embedding.deliver(received.body, "again").disposition is Disposition.DONE
    assert embedded(embedding) == sorted(SENTENCES)
    booked = embedding.world.rows("select calls from usage where pass = 'embedding'")
    assert booked == [(2,)]  # the one that died was paid for too


def test_killed_between_commit_and_send_the_next_delivery_goes_on(
    embedding: EmbeddingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(embedding)
    embedding.tick()
    received = embedding.queue.receive(holder="test", visibility_timeout=1080)
    assert received is not None

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(type(embedding.queue), "send", die)
        with pytest.raises(Killed):
            embedding.deliver(received.body, "killed")
    assert len(embedded(embedding)) == 5
    report = embedding.deliver(received.body, "again")
    assert (report.disposition, report.sent is not None) == (Disposition.REPEATED, True)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [(Throttled("slow down", retry_after=7), "throttled"), (ProviderUnavailable("down"), "provider_unavailable")],
)
def test_an_outage_holds_and_the_next_tick_goes_on(embedding: EmbeddingWorld, problem: Exception, reason: str) -> None:
    small_batches(embedding)

    def third_call_fails(texts: Sequence[str]) -> None:
        if len(embedding.embedder.calls) == 2:
            raise problem

    embedding.embedder.before = third_call_fails
    reports = embedding.drain()
    assert [report.disposition for report in reports] == [Disposition.DONE, Disposition.HELD]
    assert (reports[-1].reason, len(embedded(embedding))) == (reason, 5)
    held = embedding.world.rows("select held_reason from dream_cursor where pass = 'embedding'")
    assert held == [(reason,)]
    embedding.drain()
    assert embedded(embedding) == sorted(SENTENCES)
    assert embedding.world.rows("select held_reason from dream_cursor where pass = 'embedding'") == [(None,)]
    assert embedding.world.rows("select attempts from embedding_attempts") == []
    usage = embedding.world.rows("select model, calls, failed_calls from usage where pass = 'embedding'")
    assert usage == [("fake:one:8", 4, 1)]


def test_the_days_budget_holds_it(embedding: EmbeddingWorld) -> None:
    small_batches(embedding)
    embedding.world.environment["DREAMING_EMBEDDING_CALLS_PER_DAY"] = "2"
    reports = embedding.drain()
    assert (reports[-1].disposition, reports[-1].reason) == (Disposition.HELD, "budget_spent")
    assert len(embedded(embedding)) == 10
    assert embedding.drain()[-1].reason == "budget_spent"
    embedding.world.now += timedelta(days=1)
    embedding.drain()
    assert embedded(embedding) == sorted(SENTENCES)


def test_without_time_for_a_call_nothing_is_lost_and_nothing_goes_round(embedding: EmbeddingWorld) -> None:
    embedding.world.remaining = lambda: 3.0
    reports = embedding.drain()
    assert [report.outcome.status for report in reports if report.outcome] == [RunStatus.STALLED]
    assert embedding.embedder.calls == []
    embedding.world.remaining = lambda: 180.0
    embedding.drain()
    assert embedded(embedding) == sorted(SENTENCES)


def test_with_embedding_off_nothing_is_planned_or_called(embedding: EmbeddingWorld) -> None:
    one = embedding.embedder
    embedding.embedder = None
    assert embedding.drain() == []
    embedding.believe("The orchard was sold to the parish.")
    assert embedding.drain() == []
    embedding.embedder = one
    embedding.drain()
    assert len(embedded(embedding)) == 13


def test_each_slice_has_its_own_vectors_and_shared_ones_run_only_when_asked_for(embedding: EmbeddingWorld) -> None:
    private = SliceKey("acme", Scope.PRIVATE, "mia")
    shared = SliceKey("acme", Scope.SHARED)
    embedding.believe("Mia is afraid of heights.", key=private)
    embedding.world.ingest(note("s", "The shared calendar starts on Mondays."), key=shared)
    embedding.world.tick(embedding.world.slice(shared).slice_id)
    embedding.world.process()
    embedding.drain()
    assert [statement for _, statement in embedding.vectors(private)].count("Mia is afraid of heights.") == 1
    assert "Mia is afraid of heights." not in embedded(embedding)
    with embedding.world.transaction(private) as tx:
        counted = tx.execute(
            "select count(*) from belief_vectors where slice_id = %s", (embedding.world.slice(private).slice_id,)
        ).fetchone()
    assert counted == (1,)
    assert embedding.tick(embedding.world.slice(shared).slice_id) == 1
    assert embedding.step() is not None
    assert "The shared calendar starts on Mondays." in embedded(embedding)


def test_a_stalled_run_is_replaced(embedding: EmbeddingWorld) -> None:
    assert embedding.tick() == 1
    assert embedding.tick() == 0
    embedding.world.now += timedelta(minutes=30)
    assert embedding.tick() == 1
    assert [report.disposition for report in iter(embedding.step, None)] == [Disposition.STALE, Disposition.DONE]
    assert embedded(embedding) == sorted(SENTENCES)


def test_a_reword_during_the_call_is_not_overwritten_by_the_old_vector(embedding: EmbeddingWorld) -> None:
    def meanwhile(texts: Sequence[str]) -> None:
        embedding.embedder.before = lambda texts: None
        with embedding.world.transaction() as tx:
            tx.execute(
                "update beliefs set statement = 'Nils drinks tea.', statement_hash = 7 where statement like 'Nils%'"
            )

    embedding.embedder.before = meanwhile
    embedding.drain()
    assert embedding.search("Nils drinks tea.", embedding.embedder)[0][0] == "Nils drinks tea."
    assert embedding.embedder.calls[1:] == [["Nils drinks tea."]]


def test_a_belief_written_while_the_pass_finishes_stays_due(embedding: EmbeddingWorld) -> None:
    small_batches(embedding, 12)
    embedding.tick()

    def meanwhile(texts: Sequence[str]) -> None:
        embedding.embedder.before = lambda texts: None
        embedding.believe("The orchard was sold to the parish.")

    embedding.embedder.before = meanwhile
    first = embedding.step()
    assert first is not None
    assert first.outcome is not None
    assert first.outcome.remaining
    embedding.step()
    assert "The orchard was sold to the parish." in embedded(embedding)


def test_another_organizations_slice_is_untouched(embedding: EmbeddingWorld) -> None:
    bakery = SliceKey("bakery")
    embedding.world.enrol("bakery")
    embedding.believe(SENTENCES[0], key=bakery)
    embedding.drain()
    assert embedding.vectors(bakery) == []
    embedding.consent(key=bakery)
    embedding.drain()
    assert embedding.vectors(bakery) == [("fake:one:8", SENTENCES[0])]
    assert embedded(embedding) == sorted(SENTENCES)


@pytest.mark.parametrize("left", ["waiting", "taken up"])
def test_a_slice_of_conversations_alone_is_planned_once_it_may_be_embedded(
    embedding: EmbeddingWorld, left: str
) -> None:
    """Captured before the consent, they have no due time; the planner sees them by what synthesis has to do."""
    embedding.drain()
    private = SliceKey("acme", Scope.PRIVATE, "mia")
    embedding.consent(False)
    embedding.drain()
    turn = IncomingTurn(speaker="mia", text="The boat needs new sails.")
    conversation = IncomingConversation(conversation_id="boat", turns=(turn,))
    flag = {**embedding.world.environment, "DREAMING_CONVERSATION_MEMORY": "true"}
    capturing = Capturing(
        embedding.world.database,
        flag,
        lambda settings, org_id: embedding.embedder,
        embedding.world.clock,
        lambda reason: None,
    )
    assert capturing.capture(private.tenant, conversation, scope="private").reason == "no_embedding_consent"
    if left == "taken up":
        with embedding.world.transaction(private) as tx:
            tx.execute("delete from due_times where pass = 'synthesis'")
            tx.execute("insert into dream_cursor (slice_id, pass) select slice_id, 'synthesis' from slices")
    assert embedding.tick() == 0
    embedding.consent()
    embedding.drain()
    assert "mia: The boat needs new sails." in embedding.embedder.embedded
    assert embedding.tick() == 0
