"""Erasure of a note: no word of it is left anywhere, and what others said stands as they said it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from dreaming.errors import InvalidInput
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import Scope, SliceKey, Tenant
from tests.database.contradictions.worlds import judge, told
from tests.erasure_world import Admin, Everything, fingerprint, found
from tests.world import KEY, claim, note

ACME, ANA = Tenant("acme"), Tenant("acme", "ana")
PLANTED = "zanzibar"
PLACES = {"notes", "beliefs", "sources", "belief_history"}


def planted(admin: Admin) -> set[str]:
    """The tables in which the planted word occurs."""
    return set(found(admin, [PLANTED]).get(PLANTED, []))


def erase(everything: Everything, *external_ids: str, key: SliceKey = KEY) -> dict[str, int]:
    ids = [everything.id_of(name, key) for name in external_ids]
    return everything.eraser().notes(key.tenant, ids).counts


def test_a_note_alone_behind_its_belief_takes_it_along(everything: Everything, admin: Admin) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."), note("b", "Tom sails on Sundays."))
    assert planted(admin) >= PLACES
    counts = erase(everything, "a")
    assert planted(admin) == set()
    assert counts["notes"] == counts["beliefs"] == counts["sources"] == counts["belief_vectors"] == 1
    assert everything.world.statements() == ["Tom sails on Sundays."]
    assert everything.world.counters().total == 1
    everything.world.check()
    everything.run()
    everything.world.check()


def test_erasing_again_finds_nothing_and_changes_nothing(everything: Everything, admin: Admin) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."), note("b", "Tom sails on Sundays."))
    note_id = everything.id_of("a")
    everything.eraser().notes(ACME, [note_id])
    before = fingerprint(admin, "acme")
    again = everything.eraser().notes(ACME, [note_id, uuid4()])
    assert (again.counts, again.tombstones, again.complete) == ({}, 0, True)
    assert fingerprint(admin, "acme") == before


def test_what_another_note_says_too_is_kept_in_its_words(everything: Everything, admin: Admin) -> None:
    """The belief had the wording of the erased note, which came first; it gets that of the other one."""
    first = "The old green shed is standing behind the water mill near the harbour."
    other = "The old green shed stands behind the water mill near the harbour."
    everything.tell(told(first, "2026-02-01", name="a"))
    everything.tell(told(other, "2026-03-01", name="b"))
    assert everything.world.beliefs() == [(first, 0.8200000000000001, 2, 2)]
    everything.confirm(first, ANA)
    assert found(admin, ["standing behind"])["standing behind"] == ["belief_history", "beliefs", "notes", "sources"]
    erase(everything, "a")
    assert found(admin, ["standing behind"]) == {}
    assert [row[0::2] for row in everything.world.beliefs()] == [(other, 2)]
    everything.world.check()
    everything.run()
    everything.world.check()
    assert everything.world.rows("select count(*) from belief_vectors") == [(1,)]
    # The similarity index has the new words: the same claim finds its belief.
    everything.tell(told(other, "2026-04-01", name="c"))
    assert [row[0::2] for row in everything.world.beliefs()] == [(other, 3)]


def test_the_same_words_of_two_notes_stay_for_the_other_one(everything: Everything, admin: Admin) -> None:
    text = "The zanzibar depot opens in May."
    everything.tell(note("a", text), note("b", text))
    erase(everything, "a")
    assert [row[0::2] for row in everything.world.beliefs()] == [(text, 1)]
    assert everything.world.rows("select count(*) from sources") == [(1,)]
    everything.world.check()
    erase(everything, "b")
    assert planted(admin) == set()


def test_a_confirmation_does_not_keep_erased_words(everything: Everything, admin: Admin) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."))
    everything.confirm("The zanzibar depot opens in May.", ANA)
    erase(everything, "a")
    assert planted(admin) == set()
    assert everything.world.rows("select count(*) from beliefs") == [(0,)]
    everything.world.check()


def test_earlier_versions_and_their_beliefs_go_too(everything: Everything, admin: Admin) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."))
    everything.tell(note("a", "Tom sails on Sundays with his zanzibar crew."))
    everything.tell(note("a", "Backups go to a second region."), note("b", "Lena mends bicycles."))
    assert planted(admin) >= {"note_versions", "beliefs"}
    erase(everything, "a")
    assert planted(admin) == set()
    assert everything.world.statements() == ["Lena mends bicycles."]
    assert everything.world.rows("select count(*) from beliefs") == [(1,)]
    everything.world.check()


def test_a_merged_belief_keeps_nothing_of_the_erased_side(everything: Everything, admin: Admin) -> None:
    first, second = "Acme migrated its zanzibar datastore to Postgres.", "Acme decided to use Postgres."
    everything.examined.judge = judge("duplicate")
    everything.tell(told(first, "2026-02-01", name="a"), told(second, "2026-03-01", name="b"))
    assert everything.world.rows("select count(*) from merges") == [(1,)]
    assert planted(admin) >= {"merges", *PLACES}
    erase(everything, "a")
    assert planted(admin) == set()
    assert everything.world.statements() == [second]
    everything.world.check()
    everything.run()
    # Taking the merge back gives each belief what is its own, in words that are still said.
    with pytest.raises(InvalidInput):
        everything.examined.resolver().unmerge(uuid4())
    merged = everything.world.rows("select kept_belief_id from merges where undone_at is null")
    for (kept,) in merged:
        everything.examined.resolver().unmerge(kept)
    everything.world.check()
    assert planted(admin) == set()
    assert everything.world.statements() == [second]


def test_the_other_side_of_a_merge_goes_with_its_only_note(everything: Everything, admin: Admin) -> None:
    first, second = "Acme migrated its datastore to Postgres.", "Acme decided to use zanzibar Postgres."
    everything.examined.judge = judge("duplicate")
    everything.tell(told(first, "2026-02-01", name="a"), told(second, "2026-03-01", name="b"))
    assert everything.world.rows("select count(*) from merges") == [(1,)]
    erase(everything, "b")
    assert planted(admin) == set()
    assert everything.world.statements() == [first]
    assert everything.world.rows("select count(*) from beliefs") == [(1,)]
    everything.world.check()


def test_what_an_erased_belief_had_replaced_is_current_again(everything: Everything, admin: Admin) -> None:
    def script(request):  # type: ignore[no-untyped-def]
        city = request.passages[0].text.rstrip(".").split()[-1]
        return [claim(request.passages[0].text, subject="Kai", attribute="home", value=city)]

    everything.world.model = ScriptedChatModel(script)
    everything.tell(told("Kai lives in Oslo.", "2026-02-01", name="a"))
    everything.tell(told("Kai lives in Zanzibar.", "2026-03-01", name="b"))
    assert everything.examined.standing() == {"Kai lives in Oslo.": "superseded", "Kai lives in Zanzibar.": "current"}
    erase(everything, "b")
    assert planted(admin) == set()
    everything.examined.examine()
    assert everything.examined.standing() == {"Kai lives in Oslo.": "current"}
    assert planted(admin) == set()
    everything.world.check()


def test_relationships_go_with_what_asserted_them(everything: Everything, admin: Admin) -> None:
    def script(request):  # type: ignore[no-untyped-def]
        text = request.passages[0].text
        kind = "zanzibar_at" if text.startswith("Ines") else "left"
        return [claim(text, relations=[{"type": kind, "target": "Orbit"}])]

    everything.world.model = ScriptedChatModel(script)
    everything.tell(note("a", "Ines works at Orbit"), note("b", "Tariq left Orbit"), note("c", "Ines works at Orbit"))
    assert planted(admin) == {"relationships"}
    counted = "select relationships_live, relationships_ageing, relationships_archived from slice_counters"
    assert everything.world.rows(counted) == [(2, 2, 0)]
    erase(everything, "c")
    assert everything.world.rows("select type, sources from relationships order by type") == [
        ("left", 1),
        ("zanzibar_at", 1),
    ]
    erase(everything, "a")
    assert planted(admin) == set()
    assert everything.world.rows(counted) == [(1, 1, 0)]
    assert everything.world.statements() == ["Orbit", "Tariq left Orbit"]
    everything.world.check()


def test_a_note_of_a_conversation_takes_the_conversation_along(everything: Everything, admin: Admin) -> None:
    everything.capture("chat", "We chose zanzibar for the offsite.", "Noted.", by=ANA)
    everything.capture("other", "We chose Lisbon for the party.", "Noted.", by=ANA)
    everything.synthesize()
    assert planted(admin) >= {"conversations", "conversation_turns", "notes", "beliefs"}
    rows = everything.world.rows("select note_id from notes where position('zanzibar' in text) > 0")
    counts = everything.eraser().notes(ACME, [row[0] for row in rows]).counts
    assert planted(admin) == set()
    assert counts["conversations"] == 1
    assert counts["conversation_terms"] > 0
    assert everything.world.rows("select external_id from conversations") == [("other",)]
    left = everything.world.rows(
        "select (select sum(frequency) from conversation_terms),"
        " (select count(distinct term) from conversation_turns cross join unnest(terms) as term)"
    )
    assert left[0][0] == left[0][1]
    assert everything.capture("chat", "We chose zanzibar for the offsite.", "Noted.", by=ANA).reason == "erased"
    assert planted(admin) == set()


def test_a_private_note_is_erased_by_its_owner_alone(everything: Everything, admin: Admin) -> None:
    key = SliceKey("acme", Scope.PRIVATE, "ana")
    everything.tell(note("a", "The zanzibar depot opens in May."), key=key)
    note_id = everything.id_of("a", key)
    for other in (Tenant("acme", "ben"), Tenant("bakery", "ana")):
        assert everything.eraser().notes(other, [note_id]).counts == {}
    assert everything.eraser().notes(ANA, [note_id], scopes=[Scope.ORG]).counts == {}
    assert planted(admin) >= PLACES
    assert everything.eraser().notes(ANA, [note_id], scopes=[Scope.PRIVATE]).counts["notes"] == 1
    assert planted(admin) == set()


def test_others_are_byte_identical(everything: Everything, admin: Admin) -> None:
    """The same ids and the same text in two tenants: one is erased, of the other not a byte changes."""
    bakery = SliceKey("bakery")
    everything.world.enrol("bakery")
    everything.embedding.consent(key=bakery)
    for key in (KEY, bakery):
        everything.tell(note("a", "The zanzibar depot opens in May."), note("b", "Tom sails on Sundays."), key=key)
    before = fingerprint(admin, "bakery")
    erase(everything, "a", "b")
    assert fingerprint(admin, "bakery") == before
    assert everything.world.statements(bakery) == ["The zanzibar depot opens in May.", "Tom sails on Sundays."]
    everything.tell(note("c", "Tom sails on Sundays."), key=bakery)
    assert [row[2] for row in everything.world.beliefs(bakery)] == [1, 2]


def test_the_answers_of_posts_that_quote_it_are_forgotten(everything: Everything, admin: Admin) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."))
    for user in ("", "ana"):
        admin.execute(
            "insert into idempotency_keys (org_id, user_id, key, request_sha256, claimed_at, answer)"
            " values ('acme', %s, 'k', %s, now(), '{\"statement\": \"zanzibar\"}'),"
            " ('acme', %s, 'at work', %s, now(), null)",
            [user, bytes(32), user, bytes(32)],
        )
    erase(everything, "a")
    assert planted(admin) == set()
    assert admin.execute("select key from idempotency_keys").fetchall() == [("at work",)] * 2


def test_the_audit_says_what_went_and_no_word_of_it(everything: Everything, admin: Admin) -> None:
    everything.tell(note("a", "The zanzibar depot opens in May."))
    counts = erase(everything, "a")
    rows = admin.execute("select actor, action, new_value from audit order by audit_id desc limit 1").fetchall()
    assert rows == [("api:boss", "notes_erased", counts)]
