"""Known faults of memory systems, on the whole path from notes to beliefs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from dreaming.errors import ProviderUnavailable
from dreaming.models.protocols import ChatAnswer, StopReason
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import Scope, SliceKey
from dreaming.passes.consolidation.prompt import INSTRUCTIONS
from tests.world import NOON, claim, note, open_world, verbatim

SHED = (
    "Priya confirmed the garden shed is painted green",
    "Priya confirmed that the garden shed is painted green",
    "Priya has confirmed the garden shed is painted green",
    "Priya confirmed the garden shed is painted green.",
    "Priya confirmed: the garden shed is painted green!",
    "Priya confirmed the garden's shed is painted green",
)


OAKS = (("first", "gate"), ("second", "pond"), ("third", "wall"))


class Killed(BaseException):
    """The sandbox dies in the middle of a call."""


def test_one_event_told_in_six_sessions_is_one_belief_with_six_sources(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(*(note(f"n{number}", text) for number, text in enumerate(SHED)))
    world.drain()
    [(_, confidence, sources, origins)] = world.beliefs()
    assert (sources, origins) == (6, 6)
    assert confidence == pytest.approx(0.8 + 5 * 0.02)
    world.check()


def test_the_same_note_posted_twice_costs_no_second_call_and_changes_no_id(database: Database, tmp_path: Path) -> None:
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    ids = []
    for _ in range(2):
        world.ingest(note("n1", SHED[0]))
        world.drain()
        ids.append(world.rows("select belief_id, note_id from sources"))
    assert len(model.requests) == 1
    assert ids[0] == ids[1]


def test_the_identical_claim_again_deletes_nothing(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, lambda request: [claim(SHED[0]), claim(SHED[0])])
    world.ingest(note("n1", SHED[0]))
    world.drain()
    assert world.beliefs() == [(SHED[0], 0.8, 1, 1)]
    world.check()


def test_a_date_that_differs_by_one_day_is_a_conflict_and_never_a_duplicate(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path)
    world.ingest(note("n1", "The boat inspection is 3 March"), note("n2", "The boat inspection is 4 March"))
    world.drain()
    assert world.statements() == ["The boat inspection is 3 March", "The boat inspection is 4 March"]
    sides = """
        select l.statement, c.evidence ->> 'left', r.statement, c.evidence ->> 'right' from conflict_candidates c
        join beliefs l on l.belief_id = c.left_belief_id join beliefs r on r.belief_id = c.right_belief_id
    """
    [(left, seen_left, right, seen_right)] = world.rows(sides)
    assert seen_left in left
    assert seen_right in right


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200d\ufeff"])
def test_an_empty_note_costs_no_call_is_marked_and_passed(database: Database, tmp_path: Path, text: str) -> None:
    model = ScriptedChatModel(lambda request: [claim("The user likes everything")])
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", text))
    world.drain()
    assert model.requests == ()
    assert world.counters().empty == 1
    assert world.rows("select position from dream_cursor") == [(1,)]
    assert world.beliefs() == []


def test_a_sentence_of_the_prompt_is_dropped_and_counted(database: Database, tmp_path: Path) -> None:
    sentence = next(line.strip() for line in INSTRUCTIONS.splitlines() if len(line.split()) > 5)
    world = open_world(database, tmp_path, lambda request: [claim(sentence[:200])])
    world.ingest(note("n1", "Good morning to all of you in the garden"))
    world.drain()
    assert world.beliefs() == []
    assert world.rows("select claims_rejected from dream_runs") == [(1,)]


def test_a_placeholder_is_rejected(database: Database, tmp_path: Path) -> None:
    world = open_world(database, tmp_path, lambda request: [claim("<short title here>", request.passages[0].text)])
    world.ingest(note("n1", "Good morning to all of you in the garden"))
    world.drain()
    assert world.beliefs() == []
    assert sum(row[0].get("statement_placeholder", 0) for row in world.rows(
        "select claims_rejected_by_rule from dream_runs")) == 1  # fmt: skip


def test_no_belief_contains_the_owners_id(database: Database, tmp_path: Path) -> None:
    owner = "u::77::chat-3"
    key = SliceKey("acme", Scope.PRIVATE, owner)
    model = ScriptedChatModel(
        lambda request: [
            claim(f"{owner} finished the report", "I finished the report"),
            claim("The report is finished", "I finished the report", subject=owner),
        ]
    )
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", "I finished the report"), key=key)
    world.drain()
    assert all(owner not in request.content for request in model.requests)
    stored = world.rows("select statement, subject, value from beliefs", key=key)
    assert all(owner not in (part or "") for row in stored for part in row)


@pytest.mark.parametrize(
    ("answer", "statements"),
    [
        ("Sure:\n```json\n[%s]\n```\nDone.", 1),
        ("%s", 1),
        ('{"beliefs": %s}', 1),
        ('{"claims": [%s]}', 1),
        ("<think>hm [1]</think>[%s,]", 1),
        ("[]", 0),
        ('{"claims": []}', 0),
    ],
)
def test_what_real_models_send_is_understood(database: Database, tmp_path: Path, answer: str, statements: int) -> None:
    item = json.dumps(claim(SHED[0]))
    world = open_world(database, tmp_path, lambda request: answer.replace("%s", item))
    world.ingest(note("n1", SHED[0]))
    world.drain()
    assert len(world.statements()) == statements
    assert world.counters().consolidated == 1


def test_a_cut_off_answer_keeps_its_finished_claims_and_is_marked(database: Database, tmp_path: Path) -> None:
    facts = [f"The {number} oak stands by the {place}" for number, place in OAKS]
    cut = json.dumps([claim(fact) for fact in facts])[:-1] + ', {"kind": "fact", "statement": "The fou'
    world = open_world(database, tmp_path, lambda request: ChatAnswer(cut, StopReason.TRUNCATED, "scripted"))
    world.ingest(note("n1", "\n".join(facts)))
    world.drain()
    assert len(world.statements()) == 3
    assert world.rows("select partial_chunks from dream_runs") == [(1,)]


def test_an_invalid_answer_deletes_nothing_and_says_so(database: Database, tmp_path: Path) -> None:
    answers: list[Any] = []
    world = open_world(database, tmp_path, lambda request: answers[0] if answers else verbatim(request))
    world.ingest(note("n1", SHED[0]), note("n2", "The pond freezes in January"))
    world.drain()
    before = world.rows("select belief_id, statement, confidence, sources from beliefs order by 1")
    answers.append('{"deleted": "everything"')
    world.ingest(note("n1", f"{SHED[0]} and blue"))
    world.drain()
    assert world.rows("select belief_id, statement, confidence, sources from beliefs order by 1") == before
    assert world.rows("select reason from retired_notes") == [("malformed",)]
    world.check()


def test_a_provider_that_was_down_all_along_leaves_the_notes_for_the_next_tick(
    database: Database, tmp_path: Path
) -> None:
    down: list[Any] = [ProviderUnavailable("down")]
    world = open_world(database, tmp_path, lambda request: down[0] if down else verbatim(request))
    world.ingest(note("n1", SHED[0]))
    for _ in range(6):
        world.drain()
    assert world.counters().waiting == 1
    down.clear()
    world.drain()
    assert world.statements() == [SHED[0]]


def test_a_note_that_kills_its_sandbox_is_retired_at_the_third_time_though_nothing_was_written_after_the_call(
    database: Database, tmp_path: Path
) -> None:
    kills = 0

    def script(request: Any) -> Any:
        nonlocal kills
        if "lethal" in request.content:
            kills += 1
            raise Killed
        return verbatim(request)

    world = open_world(database, tmp_path, script)
    world.ingest(note("n1", "a lethal note of no use"), note("n2", SHED[0]))
    world.tick()
    for _ in range(20):
        received = world.receive()
        if received is None:
            break
        message, receipt = received
        try:
            world.batch(message, holder=receipt)
        except Killed:
            world.queue.release("test")
        else:
            world.queue.delete(receipt)
    assert kills <= 4  # once among others, then three times alone
    assert world.rows("select reason, attempts from retired_notes") == [("crash", 3)]
    assert world.statements() == [SHED[0]]
    world.check()


def test_a_nul_byte_neither_breaks_the_row_nor_the_quote(database: Database, tmp_path: Path) -> None:
    item = json.dumps(claim("Rent due Monday for all rooms", "Rent\u0000 due Monday for all rooms"))
    world = open_world(database, tmp_path, lambda request: f"[{item}]")
    world.ingest(note("n1", "Rent\u0000 due Monday for all rooms", metadata={"k\u0000": "v\u0000"}))
    world.drain()
    assert world.rows("select statement, quote from sources") == [
        ("Rent due Monday for all rooms", "Rent due Monday for all rooms")
    ]
    world.check()


def test_braces_and_percent_signs_reach_the_model_as_they_are(database: Database, tmp_path: Path) -> None:
    text = "config {name} {0} {{x}} %s %(y)s"
    model = ScriptedChatModel(verbatim)
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", text))
    world.drain()
    assert text in model.requests[0].content


def test_corroborating_notes_keep_first_seen_and_last_confirmed(database: Database, tmp_path: Path) -> None:
    early, late = datetime(2024, 2, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    world = open_world(database, tmp_path, now=NOON)
    world.ingest(note("n1", SHED[0], occurred_at=late), note("n2", SHED[0], occurred_at=early))
    world.drain()
    assert world.rows("select first_seen_at, confirmed_at from beliefs") == [(early, late)]
