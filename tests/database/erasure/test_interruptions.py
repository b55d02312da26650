"""An erasure that dies anywhere is completed by the same call, and a batch at work meanwhile commits nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.erasure.records import Erased
from dreaming.erasure.service import Eraser
from dreaming.models.protocols import ChatRequest
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IngestCounts, Scope, SliceKey, Tenant
from dreaming.passes.records import Disposition
from tests.erasure_world import Admin, Everything, fingerprint, found
from tests.waiting import wait_until
from tests.world import KEY, note, verbatim

ACME, ANA = Tenant("acme"), Tenant("acme", "ana")
ANAS = SliceKey("acme", Scope.PRIVATE, "ana")
PLANTED = "zanzibar"


class Died(Exception):
    """The process was killed before this statement."""


class Killing:
    """Connections that die before statement number `at`, counted over all of them."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at
        self.count = 0

    def connect(self, conninfo: str, **options: Any) -> psycopg.Connection[TupleRow]:
        killing = self

        class Dying(psycopg.Cursor[TupleRow]):
            def execute(self, query: Any, *arguments: Any, **settings: Any) -> Any:
                killing.count += 1
                if killing.count == killing.at:
                    self.connection.close()
                    raise Died
                return super().execute(query, *arguments, **settings)

        return psycopg.connect(conninfo, cursor_factory=Dying, **options)


def of_a_note(everything: Everything) -> Callable[[Eraser], Erased]:
    note_id = everything.id_of("a")
    return lambda eraser: eraser.notes(ACME, [note_id])


def of_an_owner(everything: Everything) -> Callable[[Eraser], Erased]:
    return lambda eraser: eraser.owner(ANA)


def of_an_organization(everything: Everything) -> Callable[[Eraser], Erased]:
    return lambda eraser: eraser.organization("acme")


def fill(everything: Everything) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."), note("b", "The depot opens in May, says zanzibar."))
    everything.tell(note("1", "The zanzibar key hangs in the shed."), key=ANAS)
    everything.capture("anas", "We chose zanzibar for the offsite.", "Noted.", by=ANA)
    everything.synthesize()
    everything.confirm("The zanzibar depot opens in May.", ANA)


@pytest.mark.parametrize("of_what", [of_a_note, of_an_owner, of_an_organization])
def test_killed_at_every_statement_it_is_completed_by_the_same_call(
    everything: Everything, database_url: str, admin: Admin, of_what: Callable[[Everything], Callable[[Eraser], Erased]]
) -> None:
    """Before each statement in turn, each time one later: what was done stays, and the rest follows."""
    fill(everything)
    effect = of_what(everything)
    tried = 0
    died = True
    while died:
        # Each attempt dies one statement further on than all those before it; the last one comes through.
        tried += 1
        killing = Killing(tried)
        database = Database(database_url, connect=killing.connect, wait_seconds=5)
        try:
            effect(everything.eraser(database, rows=2))
        except Died:
            pass
        else:
            died = False
        finally:
            database.close()
        if of_what is of_a_note:
            everything.world.check()
    assert tried > 20
    again = effect(everything.eraser())
    assert again.complete
    if of_what is of_an_organization:
        assert found(admin, [PLANTED]) == {}
        assert again.counts == {}
    if of_what is of_an_owner:
        texts = [row[0] for row in everything.world.rows("select text from notes")]
        assert texts == ["The zanzibar depot opens in May.", "The depot opens in May, says zanzibar."]
        everything.world.check()
    if of_what is of_a_note:
        assert everything.world.rows("select count(*) from notes where external_id = 'a'") == [(0,)]


def test_a_batch_that_waits_for_its_model_meanwhile_commits_nothing(everything: Everything, admin: Admin) -> None:
    world = everything.world

    def script(request: ChatRequest) -> Any:
        if any(PLANTED in passage.text for passage in request.passages):
            everything.eraser().notes(ACME, [everything.id_of("a")])
        return verbatim(request)

    world.model = ScriptedChatModel(script)
    world.ingest(note("a", "The zanzibar depot opens in May."), note("b", "Tom sails on Sundays."))
    world.tick()
    received = world.receive()
    assert received is not None
    message, receipt = received
    try:
        report = world.batch(message, holder=receipt)
    except psycopg.errors.ForeignKeyViolation:
        # Its answer has no note to be kept with any more; the message comes again and is of an earlier run.
        report = world.batch(message, holder=receipt)
    assert report.disposition is Disposition.STALE
    world.queue.delete(receipt)
    assert found(admin, [PLANTED]) == {}
    assert world.statements() == []
    world.check()
    # The next tick goes on with what is left.
    world.drain()
    assert world.statements() == ["Tom sails on Sundays."]
    world.check()


def test_a_batch_at_work_in_an_erased_slice_commits_nothing(everything: Everything, admin: Admin) -> None:
    world = everything.world

    def script(request: ChatRequest) -> Any:
        everything.eraser().organization("acme")
        return verbatim(request)

    world.model = ScriptedChatModel(script)
    world.ingest(note("a", "The zanzibar depot opens in May."))
    world.tick()
    received = world.receive()
    assert received is not None
    try:
        report = world.batch(received[0], holder=received[1])
    except psycopg.Error:
        report = world.batch(received[0], holder=received[1])
    assert report.disposition is Disposition.STALE
    assert found(admin, [PLANTED]) == {}
    assert admin.execute("select count(*) from slices where org_id = 'acme'").fetchone() == (0,)


def test_an_ingest_that_waits_for_an_erasure_obeys_it(everything: Everything, admin: Admin) -> None:
    """It stands at the slice's lock while the owner's data goes; then it makes the slice anew, without the note."""
    everything.tell(note("1", "The zanzibar key hangs in the shed."), key=ANAS)
    counts: list[IngestCounts] = []
    again = note("1", "The zanzibar key hangs in the shed."), note("2", "Tea is served at four.")

    def ingest() -> None:
        counts.append(everything.world.ingest(*again, key=ANAS))

    waiting = threading.Thread(target=ingest)

    with admin.transaction():
        admin.execute("select from slices where owner_user_id = 'ana' for update")
        erasing = threading.Thread(target=lambda: everything.eraser().owner(ANA))
        erasing.start()
        _wait_for_locks(admin, 1)
        waiting.start()
        _wait_for_locks(admin, 2)
    erasing.join(60)
    waiting.join(60)
    assert counts in ([IngestCounts(created=1, erased=1)], [IngestCounts(unchanged=1, created=1)])
    assert found(admin, [PLANTED]) == {}


def _wait_for_locks(admin: Admin, count: int) -> None:
    query = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"

    def waits() -> bool:
        admin.execute("select pg_stat_clear_snapshot()")  # the activity is read once in a transaction
        return admin.execute(query).fetchone() == (count,)

    wait_until(waits, f"{count} wait for a lock", within=30)


def test_others_notice_nothing_of_an_interrupted_erasure(
    everything: Everything, database_url: str, admin: Admin
) -> None:
    bakery = SliceKey("bakery")
    everything.world.enrol("bakery")
    everything.tell(note("a", "The zanzibar depot opens in May."), key=bakery)
    everything.tell(note("a", "The zanzibar depot opens in May."), key=KEY)
    before = fingerprint(admin, "bakery")
    database = Database(database_url, connect=Killing(60).connect)
    with pytest.raises(Died):
        everything.eraser(database, rows=1).organization("acme")
    database.close()
    assert fingerprint(admin, "bakery") == before
