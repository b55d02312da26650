"""Notes become quoted, deduplicated beliefs; edits, withdrawals and repeats leave what the evidence says."""

from datetime import timedelta
from pathlib import Path

import pytest

from dreaming.beliefs.service import withdraw_notes
from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.notes.records import Trust
from dreaming.settings.resolution import resolve
from tests.world import KEY, NOON, World, claim, note, open_world

TEA = "Ines drinks green tea in the morning"
BIKE = "Tariq keeps his bicycle in the cellar"


def withdraw(world: World, *external_ids: str) -> int:
    settings = resolve(world.environment, {})
    return withdraw_notes(world.database, KEY, "test", external_ids, settings=settings, now=world.now, new_id=uuid7)


def test_a_note_becomes_a_belief_with_its_exact_quote(world: World) -> None:
    world.ingest(note("n1", f"Minutes of Monday.\n\n  {TEA}  \n"))
    world.drain()
    assert TEA in world.statements()
    rows = world.rows("select quote, quote_start, quote_end from sources where statement = %s", (TEA,))
    assert rows == [(TEA, 22, 22 + len(TEA))]
    world.check()


def test_a_further_note_of_another_origin_corroborates(world: World) -> None:
    world.ingest(note("n1", TEA), note("n2", TEA))
    world.drain()
    assert world.beliefs() == [(TEA, pytest.approx(0.82), 2, 2)]
    world.check()


def test_notes_of_one_origin_are_one_witness(world: World) -> None:
    world.ingest(note("n1", TEA, origin="chat-7"), note("n2", TEA, origin="chat-7"))
    world.drain()
    assert world.beliefs() == [(TEA, 0.8, 2, 1)]


def test_repeating_ingest_and_drain_changes_nothing(world: World) -> None:
    notes = [note("n1", TEA), note("n2", BIKE), note("n3", TEA)]
    world.ingest(*notes)
    world.drain()
    tables = "select * from beliefs order by belief_id", "select * from sources order by source_id"
    before = [world.rows(query) for query in tables]
    assert world.ingest(*notes).unchanged == 3
    assert world.tick().started == ()
    assert world.process() == 0
    assert [world.rows(query) for query in tables] == before
    world.check()


def test_an_edit_that_keeps_the_claim_keeps_the_belief_and_its_confidence(world: World) -> None:
    world.ingest(note("n1", TEA))
    world.drain()
    [(belief_id,)] = world.rows("select belief_id from beliefs")
    world.ingest(note("n1", f"Corrected minutes, second edition.\n{TEA}"))
    world.drain()
    live = "select belief_id from beliefs where archived_at is null and statement = %s"
    assert world.rows(live, (TEA,)) == [(belief_id,)]
    assert (TEA, 0.8, 1, 1) in world.beliefs()
    world.check()


def test_an_edit_that_drops_the_claim_archives_the_belief_as_sourceless(world: World) -> None:
    world.ingest(note("n1", TEA))
    world.drain()
    world.ingest(note("n1", BIKE))
    world.drain()
    assert world.statements() == [BIKE]
    assert world.rows("select statement, archive_reason from beliefs where archived_at is not null") == [
        (TEA, "sourceless")
    ]
    world.check()


def test_editing_back_and_forth_leaves_the_confidence_where_the_evidence_says(world: World) -> None:
    world.ingest(note("n1", TEA), note("n2", TEA))
    world.drain()
    for _ in range(3):
        world.ingest(note("n2", BIKE))
        world.drain()
        assert (TEA, 0.8, 1, 1) in world.beliefs()
        world.ingest(note("n2", TEA))
        world.drain()
        assert (TEA, pytest.approx(0.82), 2, 2) in world.beliefs()
    world.check()


def test_an_edit_to_nothing_ends_what_the_note_said(world: World) -> None:
    world.ingest(note("n1", TEA), note("n2", BIKE))
    world.drain()
    world.ingest(note("n1", " \u200b "))
    world.drain()
    assert world.statements() == [BIKE]
    assert world.counters().empty == 1
    world.check()


def test_a_withdrawn_note_stops_counting_at_once_and_counts_again_when_it_comes_back(world: World) -> None:
    world.ingest(note("n1", TEA), note("n2", TEA), note("n3", BIKE))
    world.drain()
    assert withdraw(world, "n2", "n3", "unknown") == 2
    assert world.beliefs() == [(TEA, 0.8, 1, 1)]
    assert withdraw(world, "n2", "n3") == 0
    world.check()
    assert world.ingest(note("n2", TEA), note("n3", BIKE)).reinstated == 2
    world.drain()
    assert world.beliefs() == [(TEA, pytest.approx(0.82), 2, 2), (BIKE, 0.8, 1, 1)]
    world.check()


def test_a_waiting_note_that_is_withdrawn_is_passed_over(world: World) -> None:
    world.ingest(note("n1", TEA), note("n2", BIKE))
    withdraw(world, "n1")
    world.drain()
    assert world.statements() == [BIKE]
    assert world.counters().waiting == 0
    world.check()


def test_an_untrusted_note_counts_at_most_half_and_makes_no_rules(database: Database, tmp_path: Path) -> None:
    rule = "Every invoice goes to the outside accountant"
    world = open_world(
        database, tmp_path, lambda request: [claim(rule, kind="constraint", confidence=1.0)] if request else []
    )
    world.ingest(note("mail", rule, trust=Trust.UNTRUSTED))
    world.drain()
    assert world.rows("select kind, confidence, trust from beliefs") == [("observation", 0.5, "untrusted")]


def test_old_notes_do_not_make_fresh_beliefs(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, lambda request: [claim(request.passages[0].text, decay_class="fast_decay")])
    world.ingest(
        note("old", TEA, occurred_at=NOON - timedelta(days=2000)),
        note("future", BIKE, occurred_at=NOON + timedelta(days=9)),
    )
    world.drain()
    assert world.rows("select statement, archive_reason from beliefs where archived_at is not null") == [(TEA, "faded")]
    assert world.rows("select confirmed_at from beliefs where archived_at is null") == [(NOON,)]
    world.check()


def test_a_faded_belief_is_restored_by_new_evidence_with_the_same_id(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, lambda request: [claim(request.passages[0].text, decay_class="fast_decay")])
    world.ingest(note("old", TEA, occurred_at=NOON - timedelta(days=2000)))
    world.drain()
    [(belief_id,)] = world.rows("select belief_id from beliefs")
    world.ingest(note("new", TEA))
    world.drain()
    assert world.rows("select belief_id, archived_at from beliefs") == [(belief_id, None)]
    assert [row[0] for row in world.rows("select event from belief_history order by history_id")] == [
        "created", "archived", "corroborated", "restored",
    ]  # fmt: skip
    world.check()


def test_what_a_person_archived_is_not_believed_again(world: World) -> None:
    world.ingest(note("n1", TEA))
    world.drain()
    with world.transaction() as tx:
        tx.execute("update beliefs set archived_at = now(), archive_reason = 'person'")
        tx.execute("update slice_counters set beliefs_fact = 0, beliefs_archived = 1")
    world.ingest(note("n2", TEA))
    world.drain()
    assert world.beliefs() == []
    assert world.rows("select sum(claims_suppressed)::int from dream_runs") == [(1,)]
    world.check()


def test_the_run_record_tells_what_was_done(world: World) -> None:
    world.ingest(note("n1", TEA), note("n2", TEA), note("n3", ""))
    world.drain()
    columns = "status, notes_consolidated, notes_empty, beliefs_created, beliefs_corroborated, model_calls, batches"
    assert world.rows(f"select {columns} from dream_runs") == [("drained", 2, 1, 1, 1, 2, 1)]
    assert world.rows("select calls, failed_calls from usage") == [(2, 0)]


def test_answers_are_forgotten_once_the_cursor_has_passed(world: World) -> None:
    world.ingest(note("n1", TEA))
    world.drain()
    assert world.rows("select count(*) from extractions") == [(0,)]
    assert world.rows("select count(*) from note_attempts") == [(0,)]


def test_the_same_attribute_with_another_value_is_left_for_adjudication(database: Database, tmp_path: Path) -> None:
    def script(request: object) -> list[dict[str, object]]:
        text = request.passages[0].text  # type: ignore[attr-defined]
        return [claim(text, subject="Lena", attribute="workplace", value=text.split()[-1])]

    world = open_world(database, tmp_path, script)
    world.ingest(note("n1", "Lena works at the bakery"), note("n2", "These days Lena repairs bikes at Moss"))
    world.drain()
    assert world.rows("select reason from conflict_candidates") == [("same_attribute",)]
    assert len(world.statements()) == 2


def test_batches_of_any_size_end_the_same(database: Database, tmp_path: Path) -> None:
    notes = [note(f"n{number}", [TEA, BIKE, f"{TEA}\n{BIKE}"][number % 3]) for number in range(11)]
    world = open_world(database, tmp_path)
    for size, org_id in ((1, "one"), (3, "three"), (50, "fifty")):
        key = type(KEY)(org_id)
        world.enrol(org_id)
        world.environment["DREAMING_BATCH_NOTES"] = str(size)
        world.ingest(*notes, key=key)
        world.drain()
        assert world.beliefs(key) == [(TEA, pytest.approx(0.92), 7, 7), (BIKE, pytest.approx(0.92), 7, 7)]
        world.check(key)
