"""Erasure of an owner's data and of an organization, tombstones, and others who must not notice."""

from __future__ import annotations

import pytest

from dreaming.errors import InvalidInput
from dreaming.notes.records import IngestCounts, Scope, SliceKey, Tenant
from dreaming.passes.records import Disposition
from dreaming.recall.service import Recalling
from tests.erasure_world import Admin, Everything, fingerprint, found
from tests.rows import insert_every_row, insert_row, rows_of_every_table
from tests.world import KEY, note

ACME, ANA, BEN = Tenant("acme"), Tenant("acme", "ana"), Tenant("acme", "ben")
ANAS, BENS = SliceKey("acme", Scope.PRIVATE, "ana"), SliceKey("acme", Scope.PRIVATE, "ben")
BAKERY = SliceKey("bakery")
PLANTED = "zanzibar"


def planted(admin: Admin) -> set[str]:
    return set(found(admin, [PLANTED]).get(PLANTED, []))


@pytest.fixture
def lived_in(everything: Everything) -> Everything:
    """Ana's word is planted wherever she can leave it; Ben's and the organization's are plain."""
    everything.tell(note("1", "The zanzibar key hangs in the shed."), note("2", "Tea is served at four."), key=ANAS)
    everything.tell(note("1", "Ben keeps his ladder in the attic."), key=BENS)
    everything.tell(note("1", "Acme ships on Fridays."))
    everything.capture("anas", "We chose zanzibar for the offsite.", "Noted.", by=ANA)
    everything.capture("anas own", "My zanzibar trip is in July.", "Noted.", by=ANA, scope=Scope.PRIVATE)
    everything.capture("bens", "We chose Lisbon for the party.", "Noted.", by=BEN)
    for key in (KEY, ANAS):
        everything.synthesize(key)
    everything.act("anas", "Booked zanzibar rooms.")
    everything.act("bens", "Booked Lisbon rooms.")
    everything.confirm("Acme ships on Fridays.", ANA)
    return everything


def test_everything_on_an_owner_goes_and_nothing_of_others(lived_in: Everything, admin: Admin) -> None:
    assert planted(admin) >= {"notes", "beliefs", "conversations", "conversation_turns", "autonomy_actions"}
    of_ben = "select to_jsonb(b)::text from beliefs b join slices using (slice_id) where owner_user_id = 'ben'"
    bens = lived_in.world.rows(of_ben, key=BENS)
    erased = lived_in.eraser().owner(ANA)
    assert found(admin, [PLANTED, '"ana"', ":ana"]) == {}
    assert erased.complete
    # Two notes and a private conversation with its note, a shared one with its note.
    assert (erased.counts["notes"], erased.counts["conversations"], erased.counts["slices"]) == (4, 2, 1)
    assert erased.tombstones == 6
    assert admin.execute("select scope, owner_user_id from slices order by 1, 2").fetchall() == [
        ("org", None),
        ("private", "ben"),
    ]
    assert admin.execute("select external_id from conversations").fetchall() == [("bens",)]
    assert admin.execute("select summary, conversation_id from autonomy_actions order by 1").fetchall() == [
        ("(erased)", None),
        ("Booked Lisbon rooms.", "bens"),
    ]
    assert lived_in.world.rows(of_ben, key=BENS) == bens
    assert "Acme ships on Fridays." in lived_in.world.statements()
    lived_in.world.check()
    lived_in.world.check(BENS)


def test_a_pseudonym_stands_where_records_named_the_owner(lived_in: Everything, admin: Admin) -> None:
    lived_in.eraser(actor="api:ana").owner(ANA)
    (origin,) = admin.execute("select origin from sources where source_type = 'confirmation'").fetchone()  # type: ignore[misc]
    actors = {row[0] for row in admin.execute("select actor from audit where action <> 'enrolled'").fetchall()}
    assert origin.startswith("person:erased:")
    assert origin.removeprefix("person:") in actors
    assert not any("ana" in actor for actor in actors)
    # Confirmed by whoever it was, the belief is as sure as before.
    assert ("Acme ships on Fridays.", 1.0, 2, 2) in lived_in.world.beliefs()


def test_erasing_an_owner_again_changes_nothing_but_finds_nothing(lived_in: Everything, admin: Admin) -> None:
    lived_in.eraser().owner(ANA)
    before = fingerprint(admin, "acme")
    again = lived_in.eraser().owner(ANA)
    assert (again.counts, again.rewritten_counts, again.tombstones) == ({}, {}, 0)
    assert fingerprint(admin, "acme") == before
    assert lived_in.eraser().owner(Tenant("acme", "nobody")).counts == {}


def test_nothing_of_an_owner_comes_back_until_it_is_lifted(lived_in: Everything, admin: Admin) -> None:
    lived_in.eraser().owner(ANA)
    again = [note("1", "The zanzibar key hangs in the shed."), note("3", "Bread is baked on Mondays.")]
    assert lived_in.world.ingest(*again, key=ANAS) == IngestCounts(created=1, erased=1)
    assert lived_in.capture("anas", "We chose zanzibar for the offsite.", by=ANA).reason == "erased"
    assert planted(admin) == set()
    # Another owner's note of the same name is another note.
    assert lived_in.world.ingest(note("2", "Coffee is served at five."), key=BENS).created == 1
    assert lived_in.eraser().lift_notes(ANAS, "test", ["1", "never seen"]) == 1
    assert lived_in.eraser().lift_conversations(ACME, ["anas"]) == 1
    assert lived_in.eraser().lift_notes(ANAS, "test", ["1"]) == 0
    assert lived_in.world.ingest(*again, key=ANAS) == IngestCounts(created=1, unchanged=1)
    assert lived_in.capture("anas", "We chose zanzibar for the offsite.", by=ANA).captured


def test_the_names_of_tombstones_tell_nothing_without_the_key(lived_in: Everything, admin: Admin) -> None:
    lived_in.eraser().owner(ANA)
    lived_in.world.enrol("bakery")
    for key in (BAKERY,):
        lived_in.tell(note("1", "Acme ships on Fridays."), key=key)
        lived_in.eraser().notes(key.tenant, [lived_in.id_of("1", key)])
    lived_in.eraser().notes(ACME, [lived_in.id_of("1")])
    names = [bytes(row[0]) for row in admin.execute("select name from tombstones").fetchall()]
    assert len(set(names)) == len(names) == 8
    keys = [bytes(row[0]) for row in admin.execute("select key from erasure_keys").fetchall()]
    assert len(set(keys)) == 2


def test_an_organization_goes_whole_and_is_off(lived_in: Everything, admin: Admin) -> None:
    lived_in.world.enrol("bakery")
    lived_in.tell(note("1", "The zanzibar key hangs in the shed."), key=BAKERY)
    usage = admin.execute("select * from usage where org_id = 'acme' order by 1, 2, 3, 4").fetchall()
    before = fingerprint(admin, "bakery")
    waiting = lived_in.world.slice().slice_id
    lived_in.world.ingest(note("9", "The zanzibar key was lost."))
    lived_in.world.tick(waiting)
    erased = lived_in.eraser().organization("acme")
    assert erased.complete
    assert fingerprint(admin, "bakery") == before
    left = {table for table, rows in fingerprint(admin, "acme").items() if rows != fingerprint(admin, "no such")[table]}
    assert left == {"audit", "erasure_keys", "tombstones", "usage"}
    assert admin.execute("select * from usage where org_id = 'acme' order by 1, 2, 3, 4").fetchall() == usage
    assert admin.execute("select actor, action from audit where org_id = 'acme'").fetchall() == [
        ("api:boss", "organization_erased")
    ]
    # What is queued names what is no more.
    received = lived_in.world.receive()
    assert received is not None
    assert lived_in.world.batch(received[0]).disposition is Disposition.STALE
    assert lived_in.world.tick().started == ()


def test_nothing_of_an_erased_organization_comes_in(lived_in: Everything, admin: Admin) -> None:
    lived_in.eraser().organization("acme")
    notes = [note("1", "Acme ships on Fridays."), note("new", "Acme hires a cook.")]
    for key in (KEY, ANAS, SliceKey("acme", Scope.PRIVATE, "newcomer")):
        assert lived_in.world.ingest(*notes, key=key) == IngestCounts(erased=2)
    assert lived_in.capture("another", "Hello there.", by=BEN).reason == "erased"
    with pytest.raises(InvalidInput, match="was erased"):
        lived_in.act("another", "Did something.")
    assert admin.execute("select count(*) from slices where org_id = 'acme'").fetchone() == (0,)
    before = fingerprint(admin, "acme")
    assert lived_in.eraser().organization("acme").counts == {}
    assert fingerprint(admin, "acme") == before
    assert lived_in.eraser().lift_organization("acme")
    assert not lived_in.eraser().lift_organization("acme")
    assert lived_in.world.ingest(*notes).created == 2
    assert lived_in.world.tick().started == ()  # it must be enrolled anew


def test_an_organization_of_every_table_goes_in_small_steps(everything: Everything, admin: Admin) -> None:
    """With one row to a transaction, each step leaves the others whole, and the counts name every row."""
    keys = [SliceKey("cast"), SliceKey("cast", Scope.SHARED), SliceKey("cast", Scope.PRIVATE, "ana")]
    slices = []
    for key in keys:
        row = admin.execute(
            "insert into slices (org_id, scope, owner_user_id) values (%s, %s, %s) returning slice_id",
            [key.org_id, key.scope, key.owner_user_id],
        ).fetchone()
        assert row is not None
        slices.append(int(row[0]))
    insert_every_row(admin, slices[0], "cast")
    by_slice = {
        name
        for (name,) in admin.execute(
            "select table_name from information_schema.columns"
            " where table_schema = 'dreaming' and column_name = 'slice_id'"
        ).fetchall()
    }
    for slice_id in slices[1:]:
        rows = rows_of_every_table(slice_id, "cast")
        second = rows.pop("beliefs (the second of a pair)")
        insert_row(admin, "beliefs", second)
        for table, values in rows.items():
            if table in by_slice:
                insert_row(admin, table, values)
    asked, steps = iter([True, True, True]), list[int]()
    stopping = everything.eraser(rows=1, may_go_on=lambda: next(asked, False))
    assert not stopping.organization("cast").complete
    eraser = everything.eraser(rows=1, on_progress=steps.append)
    erased = eraser.organization("cast")
    assert erased.complete
    assert sum(steps) == erased.deleted.total()
    assert len(steps) > len(keys) + 1
    kept = {"usage", "audit", "erasure_keys", "tombstones"}
    left = {table for table, rows in fingerprint(admin, "cast").items() if rows != fingerprint(admin, "no such")[table]}
    assert left == kept


def test_recall_and_briefs_know_nothing_of_what_was_erased(lived_in: Everything) -> None:
    from dreaming.beliefs.briefs.service import Briefing

    embedder = lived_in.embedding.embedder
    recalling = Recalling(
        lived_in.world.database, lived_in.world.environment, lambda *_: embedder, lived_in.world.clock
    )

    def hits(words: str) -> list[str]:
        return [one.conversation_id for one in recalling.recall(ANA, words).conversations]

    briefing = Briefing(lived_in.world.database, lived_in.world.environment)
    assert "anas" in hits("zanzibar offsite")
    assert "zanzibar" in briefing.brief(ANA, now=lived_in.world.now).text
    lived_in.eraser().owner(ANA)
    assert "anas" not in hits("zanzibar offsite")
    assert "zanzibar" not in briefing.brief(ANA, now=lived_in.world.now).text
    assert "bens" in hits("Lisbon party")
