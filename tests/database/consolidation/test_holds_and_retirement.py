"""Infrastructure failures hold without an attempt; a note's own failures retire it at the third, loudly."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.errors import DreamingError, InvalidInput, MissingKey, ModelTimeout, ProviderUnavailable, Throttled
from dreaming.identifiers import uuid7
from dreaming.models.protocols import ChatAnswer, StopReason
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.chunking import split
from dreaming.notes.service import retry_retired
from dreaming.passes.consolidation.run import Consolidation
from dreaming.passes.consolidation.work import SPARE_CALLS, chunk_characters
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchReport, Deadline, Disposition
from dreaming.settings.service import change_consent
from tests.world import KEY, World, note, open_world, verbatim

TEA = "Ines drinks green tea in the morning"
BIKE = "Tariq keeps his bicycle in the cellar"


def failing_on(word: str, failure: Any) -> Callable[[Any], Any]:
    """A script that fails on notes with `word` in them and claims the lines of the others."""
    return lambda request: failure if word in request.passages[0].text else verbatim(request)


@pytest.mark.parametrize(
    "failure",
    [Throttled("slow down", retry_after=7), ProviderUnavailable("HTTP 503"), MissingKey("no key for acme")],
    ids=lambda failure: type(failure).__name__,
)
def test_an_infrastructure_failure_holds_without_an_attempt_and_resumes(
    database: Database, tmp_path: Path, failure: DreamingError
) -> None:
    failures: list[Any] = [failure]
    world = open_world(database, tmp_path, lambda request: failures[0] if failures else verbatim(request))
    world.ingest(note("n1", TEA), note("n2", BIKE))
    reports: list[BatchReport] = []
    world.tick()
    world.process(reports.append)
    assert [report.disposition for report in reports] == [Disposition.HELD]
    assert world.rows("select held_reason, position, run_id from dream_cursor") == [(failure.reason, 0, None)]  # type: ignore[attr-defined]
    assert world.rows("select coalesce(max(attempts), 0), coalesce(sum(calls), 0)::int from note_attempts") == [(0, 0)]
    assert world.rows("select status, held_reason from dream_runs") == [("held", failure.reason)]  # type: ignore[attr-defined]
    failures.clear()
    world.drain()
    assert world.statements() == [TEA, BIKE]
    assert world.rows("select held_reason from dream_cursor") == [(None,)]
    world.check()


def test_notes_before_the_failing_call_are_consolidated_and_their_answers_are_not_paid_again(
    database: Database, tmp_path: Path
) -> None:
    broken = [True]
    model = ScriptedChatModel(
        lambda request: ProviderUnavailable("down") if broken and "bicycle" in request.content else verbatim(request)
    )
    world = open_world(database, tmp_path, model)
    world.environment["DREAMING_MODEL_CONCURRENCY"] = "1"
    world.ingest(note("n1", TEA), note("n2", BIKE), note("n3", f"{TEA} too"))
    world.drain()
    assert world.statements() == [TEA]
    broken.clear()
    before = len(model.requests)
    world.drain()
    assert len(model.requests) - before == 2
    assert world.counters().consolidated == 3
    world.check()


def test_malformed_three_times_retires_loudly_and_goes_on(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world = open_world(database, tmp_path, failing_on("poison", "no claims, just prose"))
    world.ingest(note("n1", TEA), note("n2", "this one is poison"), note("n3", BIKE))
    with caplog.at_level(logging.ERROR, logger="dreaming"):
        world.drain()
    assert world.statements() == [TEA, BIKE]
    assert (world.counters().consolidated, world.counters().retired) == (2, 1)
    assert world.rows("select reason, attempts from retired_notes") == [("malformed", 3)]
    assert world.rows("select event, detail ->> 'reason' from outbox") == [("note.retired", "malformed")]
    assert [record.message for record in caplog.records] == ["note retired"]
    assert "poison" not in caplog.text
    world.check()


def test_a_retired_note_is_retried_by_command(database: Database, tmp_path: Path) -> None:
    poisonous = [True]
    world = open_world(
        database, tmp_path, lambda request: "prose" if poisonous and "tea" in request.content else verbatim(request)
    )
    world.ingest(note("n1", TEA), note("n2", BIKE))
    world.drain()
    poisonous.clear()
    assert retry_retired(world.database, KEY, None, now=world.now) == 1
    world.drain()
    assert world.statements() == [TEA, BIKE]
    assert world.rows("select count(*) from retired_notes") == [(0,)]
    world.check()


def test_an_edit_forgets_the_failures_of_the_old_text(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, failing_on("poison", "prose"))
    world.ingest(note("n1", "this one is poison"))
    world.drain()
    assert world.counters().retired == 1
    world.ingest(note("n1", TEA))
    world.drain()
    assert world.statements() == [TEA]
    assert world.counters().retired == 0
    world.check()


def test_a_retired_edit_keeps_what_the_note_said_before(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, failing_on("poison", "prose"))
    world.ingest(note("n1", TEA))
    world.drain()
    world.ingest(note("n1", "this edit is poison"))
    world.drain()
    assert world.statements() == [TEA]
    assert world.counters().retired == 1
    world.check()


def test_a_refusal_is_final(database: Database, tmp_path: Path) -> None:
    refusal = ChatAnswer("", StopReason.REFUSED, "scripted")
    model = ScriptedChatModel(failing_on("poison", refusal))
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", "this one is poison"), note("n2", TEA))
    world.drain()
    assert len(model.requests) == 2
    assert world.rows("select reason from retired_notes") == [("refused",)]
    assert world.statements() == [TEA]


def test_one_slow_note_is_retired_and_three_in_a_row_are_an_outage(database: Database, tmp_path: Path) -> None:
    slow = ["slow"]
    world = open_world(
        database,
        tmp_path,
        lambda request: ModelTimeout("60 s") if any(w in request.content for w in slow) else verbatim(request),
    )
    world.ingest(note("n1", "a slow note of no use"), note("n2", TEA))
    world.drain()
    assert world.rows("select reason from retired_notes") == [("timeout",)]
    slow[:] = ["outage"]
    world.ingest(*(note(f"o{number}", f"note {number} during the outage") for number in range(4)))
    world.drain()
    assert world.rows("select held_reason from dream_cursor") == [("provider_unavailable",)]
    assert world.counters().waiting == 4
    assert world.rows("select coalesce(max(attempts), 0) from note_attempts where version = 1 and not in_flight_alone"
                      " and note_id in (select note_id from notes where state = 'waiting')") == [(0,)]  # fmt: skip
    slow.clear()
    world.drain()
    assert world.counters().waiting == 0
    world.check()


def test_a_note_costs_a_bounded_number_of_calls_whatever_happens(database: Database, tmp_path: Path) -> None:
    model = ScriptedChatModel(lambda request: "prose", context_tokens=9_000)
    world = open_world(database, tmp_path, model)
    text = " ".join(f"Sentence number {number} says nothing of note." for number in range(2_000))
    world.ingest(note("n1", text))
    world.drain()
    chunks = len(split(text, chunk_characters(text, model.context_tokens, 4_000)))
    assert chunks > 3
    assert 3 <= len(model.requests) <= chunks + SPARE_CALLS
    assert world.counters().retired == 1


def test_the_budget_of_the_day_holds_and_the_next_day_goes_on(world: World) -> None:
    world.environment["DREAMING_MODEL_CALLS_PER_DAY"] = "2"
    world.ingest(*(note(f"n{number}", f"{TEA} on day {number}") for number in range(3)))
    world.drain()
    assert world.counters().consolidated == 2
    assert world.rows("select held_reason from dream_cursor") == [("budget_spent",)]
    world.now = world.now.replace(day=world.now.day + 1)
    world.drain()
    assert world.counters().consolidated == 3
    assert world.rows("select sum(calls)::int from usage") == [(3,)]


def test_consent_withdrawn_between_two_batches_stops_text_at_once(database: Database, tmp_path: Path) -> None:
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    world.environment["DREAMING_BATCH_NOTES"] = "1"
    world.ingest(note("n1", TEA), note("n2", BIKE))
    world.tick()

    def withdraw_consent(report: BatchReport) -> None:
        if report.message.batch == 1:
            with world.transaction() as tx:
                change_consent(tx, KEY.org_id, "model_consent", False, actor="test", now=world.now)

    world.process(withdraw_consent)
    assert len(model.requests) == 1
    assert world.rows("select status, held_reason from dream_runs") == [("stopped", "no_model_consent")]
    assert world.tick().started == ()
    world.enrol()
    world.drain()
    assert world.statements() == [TEA, BIKE]


@pytest.mark.parametrize("switch", ["disabled", "not enrolled", "no consent"])
def test_nothing_is_sent_unless_switch_enrolment_and_consent_say_so(
    database: Database, tmp_path: Path, switch: str
) -> None:
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", TEA))
    if switch == "disabled":
        world.environment.clear()
    else:
        name = "enrolled" if switch == "not enrolled" else "model_consent"
        with world.transaction() as tx:
            change_consent(tx, KEY.org_id, name, False, actor="test", now=world.now)
    world.drain()
    assert model.requests == ()
    assert world.counters().waiting == 1


def test_an_unreadable_setting_sends_nothing(database: Database, tmp_path: Path) -> None:
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", TEA))
    with world.transaction() as tx:
        tx.execute("insert into settings values ('acme', 'batch_notes', '\"many\"', now(), 'a person')")
    report = world.tick()
    assert report.started == ()
    assert [reason for _, reason in report.refused] == ["settings_unreadable"]
    assert model.requests == ()


def test_no_connection_is_held_during_a_call(database: Database, tmp_path: Path) -> None:
    in_use: list[int] = []

    def script(request: Any) -> Any:
        with database.planner() as tx:
            row = tx.execute(
                "select count(*) from pg_stat_activity"
                " where state like 'idle in transaction%' and datname = current_database()"
            ).fetchone()
            assert row is not None
            in_use.append(row[0])
        return verbatim(request)

    world = open_world(database, tmp_path, script)
    world.environment["DREAMING_MODEL_CONCURRENCY"] = "1"
    world.ingest(*(note(f"n{number}", f"{TEA} on day {number}") for number in range(5)))
    world.drain()
    assert in_use == [0] * 5


def test_no_call_starts_that_could_not_take_its_whole_time(database: Database, tmp_path: Path) -> None:
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    world.environment["DREAMING_MODEL_CONCURRENCY"] = "1"
    world.remaining = lambda: 65.0 if model.requests else 180.0
    world.ingest(note("n1", TEA), note("n2", BIKE), note("n3", f"{TEA} too"))
    [message] = world.tick().started
    report = world.batch(message)
    assert [request.timeout for request in model.requests] == [60.0]
    assert report.sent is not None
    assert world.rows("select coalesce(max(attempts), 0) from note_attempts") == [(0,)]
    world.remaining = lambda: 180.0
    world.process()
    assert world.counters().consolidated == 3
    world.check()


def test_a_setting_that_no_model_can_be_built_from_holds_with_the_reason(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("n1", TEA))
    [message] = world.tick().started

    def broken(settings: object, org_id: str) -> Any:
        raise InvalidInput("chat_base_url", "has no http address", "give one that begins with https://")

    work = Consolidation(database, broken, world.clock, uuid7)
    engine = Engine(work, database, world.queue, world.environment, world.clock, uuid7)
    report = engine.batch(message, holder="invocation", deadline=Deadline(lambda: 180.0))
    assert (report.disposition, report.reason) == (Disposition.HELD, "misconfigured")
    [(reason, detail)] = world.rows("select held_reason, held_detail from dream_cursor")
    assert reason == "misconfigured"
    assert "https://" in detail
