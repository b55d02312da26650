"""The decay pass: what fades is archived once and reversibly, and what matters is announced before."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.passes.records import Disposition
from dreaming.settings.service import change_consent
from tests.ageing_world import DAY, AgeingWorld, open_ageing_world
from tests.world import NOON

TEA = "Ines drinks green tea in the morning"
JOB = "Ines works at Orbit"
FAST: dict[str, Any] = {"confidence": 1.0, "decay_class": "fast_decay"}
SLOW: dict[str, Any] = {"confidence": 1.0, "decay_class": "slow_decay"}


def counts(ageing: AgeingWorld) -> dict[str, Any]:
    """What the latest pass counted."""
    [(archived, others)] = ageing.rows(
        "select beliefs_archived, pass_counts from dream_runs where pass = 'decay' order by started_at desc limit 1"
    )
    return {"beliefs_archived": archived, **others}


@pytest.mark.parametrize(
    ("fields", "alive", "faded"),
    [(FAST, 90.7, 90.8), (SLOW, 777.9, 778.0), ({"confidence": 0.06, "decay_class": "fast_decay"}, 5.5, 5.53)],
)
def test_it_is_archived_when_its_age_reaches_the_threshold(
    ageing: AgeingWorld, fields: dict[str, Any], alive: float, faded: float
) -> None:
    ageing.say(TEA, **fields)
    ageing.at(alive).run_pass()
    assert ageing.live() == [TEA]
    ageing.at(faded).run_pass()
    assert ageing.archived() == {TEA: "faded"}
    assert counts(ageing) == {
        "beliefs_archived": 1,
        "beliefs_warned": 0,
        "beliefs_ageing": 0,
        "relationships_archived": 0,
        "relationships_ageing": 0,
    }
    ageing.check()


def test_permanent_never_fades(ageing: AgeingWorld) -> None:
    ageing.say(TEA, confidence=0.01, decay_class="permanent")
    ageing.at(100_000).run_pass()
    assert ageing.live() == [TEA]


def test_exactly_the_threshold_archives(ageing: AgeingWorld) -> None:
    """Believed at 0.06 by a settings' threshold of 0.05, then the threshold is set to just that."""
    ageing.say(TEA, confidence=0.06, decay_class="slow_decay")
    ageing.set("archive_threshold", 0.06)
    ageing.run_pass()
    assert ageing.archived() == {TEA: "faded"}
    ageing.check()


def test_what_is_born_faded_is_archived_without_a_warning_or_an_event(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, importance="critical", at=NOON - timedelta(days=400))
    assert ageing.archived() == {TEA: "faded"}
    ageing.run_pass()
    assert ageing.bus.events == []


def test_a_note_of_year_one_breaks_nothing(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, at=datetime(1, 1, 1, tzinfo=NOON.tzinfo))
    ageing.say(JOB, **SLOW)
    ageing.set("slow_decay_days", 90.0)
    ageing.at(1).run_pass()
    assert ageing.live() == [JOB]
    ageing.check()


def test_relationships_go_with_their_ends_and_age_on_their_own(ageing: AgeingWorld) -> None:
    ageing.say("Orbit bakes rye bread", kind="entity", subject="Orbit", decay_class="permanent")
    ageing.say(JOB, decay_class="permanent")
    for line in (JOB, "Tariq works at Orbit"):
        ageing.say(line, **FAST, relations=[{"type": "works_at", "target": "Orbit"}])
    ageing.at(91).run_pass()
    assert ageing.live() == [JOB, "Orbit bakes rye bread"]
    assert [(edge[0], edge[3]) for edge in ageing.all_edges()] == [
        (JOB, "faded"),
        ("Tariq works at Orbit", "endpoint"),
    ]
    ageing.check()


def test_a_permanent_relationship_goes_with_its_end_only(ageing: AgeingWorld) -> None:
    ageing.say(JOB, decay_class="permanent", relations=[{"type": "works_at", "target": "Orbit"}])
    ageing.at(5000).run_pass()
    assert ageing.live() == [JOB]
    assert ageing.all_edges() == [(JOB, "works_at", "Orbit", "endpoint")]
    ageing.check()


@pytest.mark.parametrize("importance", ["high", "critical"])
def test_what_matters_is_announced_and_held_for_a_week(ageing: AgeingWorld, importance: str) -> None:
    ageing.say(TEA, **FAST, importance=importance)
    ageing.at(83).run_pass()
    assert ageing.column("warned_at", TEA) is None
    ageing.at(85).run_pass()
    assert ageing.column("warned_at", TEA) == ageing.now
    assert ageing.bus.told("belief.fading") == [str(ageing.belief(TEA))]
    ageing.at(91.9).run_pass()
    assert ageing.live() == [TEA]
    ageing.at(92).run_pass()
    assert ageing.archived() == {TEA: "faded"}
    assert ageing.bus.told("belief.fading") == [str(ageing.belief(TEA))]
    assert ageing.bus.told("belief.archived") == [str(ageing.belief(TEA))]
    ageing.check()


def test_announced_late_it_is_held_from_the_announcement(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, importance="high")
    ageing.at(200).run_pass()
    assert ageing.live() == [TEA]
    ageing.at(206.9).run_pass()
    assert ageing.live() == [TEA]
    ageing.at(207).run_pass()
    assert ageing.live() == []
    ageing.check()


def test_evidence_takes_the_warning_back(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, importance="high")
    ageing.at(85).run_pass()
    ageing.at(86).say(TEA, **FAST, importance="high")
    assert ageing.column("warned_at", TEA) is None
    for day in (93, 94, 160):
        ageing.at(day).run_pass()
        assert ageing.live() == [TEA]
    ageing.check()


def test_a_belief_of_many_relationships_matters(ageing: AgeingWorld) -> None:
    ageing.set("warn_relationships", 2)
    for line in ("Ines works at Orbit", "Tariq works at Orbit"):
        ageing.say(line, decay_class="permanent", relations=[{"type": "works_at", "target": "Orbit"}])
    # The entity has the claims' confidence and ages slowly; its two edges are permanent.
    ageing.at(715).run_pass()
    assert ageing.bus.told("belief.fading") == []
    ageing.at(722).run_pass()
    assert ageing.bus.told("belief.fading") == [str(ageing.belief("Orbit"))]
    ageing.check()


def test_reasserted_after_archiving_it_is_the_same_belief_with_its_relationships(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **FAST, relations=[{"type": "works_at", "target": "Orbit"}])
    belief_id = ageing.belief(JOB)
    ageing.at(91).run_pass()
    assert ageing.edges() == []
    ageing.at(100).say(JOB, **FAST, relations=[{"type": "works_at", "target": "Orbit"}])
    assert ageing.belief(JOB) == belief_id
    assert ageing.live() == [JOB, "Orbit"]
    assert ageing.edges() == [(JOB, "works_at", "Orbit")]
    events = [
        row[0]
        for row in ageing.rows("select event from belief_history where belief_id = %s order by history_id", belief_id)
    ]
    assert events == ["created", "archived", "corroborated", "restored"]
    ageing.run_pass()
    assert ageing.bus.told("belief.restored") == [str(belief_id)]
    ageing.check()


def test_a_relationship_comes_back_when_both_ends_are_live(ageing: AgeingWorld) -> None:
    """The edge is permanent and went only because its ends did; it waits for the second of them."""
    ageing.say(JOB, **FAST, relations=[{"type": "works_at", "target": "Orbit"}])
    ageing.say("Orbit", kind="entity", **FAST, relations=[])
    with ageing.world.transaction() as tx:
        tx.execute("update sources set decay_class = 'permanent' where statement = %s", (JOB,))
        tx.execute("update relationships set decay_class = 'permanent', fades_at = null")
        tx.execute("update slice_counters set relationships_ageing = 0")
    ageing.person().archive(ageing.belief(JOB), now=ageing.now, new_id=uuid7)
    ageing.person().archive(ageing.belief("Orbit"), now=ageing.now, new_id=uuid7)
    assert ageing.all_edges() == [(JOB, "works_at", "Orbit", "endpoint")]
    ageing.person().restore(ageing.belief("Orbit"), now=ageing.now, new_id=uuid7)
    assert ageing.edges() == []
    ageing.person().restore(ageing.belief(JOB), now=ageing.now, new_id=uuid7)
    assert ageing.edges() == [(JOB, "works_at", "Orbit")]


def test_a_message_that_comes_twice_has_one_effect(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    [message] = ageing.at(91).messages()
    assert ageing.batch(message).disposition is Disposition.DONE
    state = everything(ageing)
    assert ageing.batch(message).disposition is Disposition.STALE
    assert everything(ageing) == state
    assert ageing.bus.told("belief.archived") == [str(ageing.belief(TEA))]


def everything(ageing: AgeingWorld) -> list[list[tuple[Any, ...]]]:
    tables = ("beliefs", "relationships", "belief_history", "slice_counters", "due_times", "outbox", "dream_runs")
    return [sorted(ageing.rows(f"select {table}::text from {table}")) for table in tables]


def test_a_second_pass_straight_after_is_not_even_due(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    ageing.say(JOB, **SLOW)
    ageing.at(91).run_pass()
    assert ageing.messages() == []


def test_a_clock_that_goes_back_raises_nothing_and_archives_nothing(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST, importance="high")
    ageing.say(JOB, **FAST)
    ageing.at(86).run_pass()
    state = ageing.rows("select belief_id, confidence, confirmed_at, archived_at, warned_at from beliefs order by 1")
    ageing.at(-30).run_pass()
    query = "select belief_id, confidence, confirmed_at, archived_at, warned_at from beliefs order by 1"
    assert ageing.rows(query) == state
    assert ageing.rows("select max(aged(confidence, confirmed_at, 1814400, %s)) from beliefs", ageing.now) == [(1.0,)]
    ageing.at(100).run_pass()
    assert set(ageing.archived()) == {TEA, JOB}
    ageing.check()


@pytest.mark.parametrize("batch_rows", [1, 2, 3])
def test_batches_come_to_the_same_as_one_transaction(database: Database, tmp_path: Path, batch_rows: int) -> None:
    ageing = open_ageing_world(database, tmp_path, batch_rows=batch_rows)
    names = ["Ines", "Tariq", "Lena", "Noor"]
    ageing.say(*(f"{name} works at Orbit" for name in names), **FAST, relations=[{"type": "at", "target": "Orbit"}])
    ageing.say("Ines sings in the choir", **FAST, importance="critical")
    reports = ageing.at(95).run_pass()
    assert len(reports) > 1
    assert ageing.live() == ["Ines sings in the choir", "Orbit"]
    assert ageing.edges() == []
    assert counts(ageing)["beliefs_archived"] == 4
    assert counts(ageing)["relationships_archived"] == 4
    ageing.check()


def test_nobody_ages_who_is_not_enrolled(ageing: AgeingWorld) -> None:
    ageing.say(TEA, **FAST)
    with ageing.world.transaction() as tx:
        change_consent(tx, "acme", "enrolled", False, actor="test", now=ageing.now)
    assert ageing.at(91).messages() == []
    assert ageing.live() == [TEA]


def test_the_run_is_recorded_and_logged(ageing: AgeingWorld, caplog: pytest.LogCaptureFixture) -> None:
    ageing.say(TEA, **FAST, importance="high")
    ageing.say(JOB, **FAST)
    with caplog.at_level("INFO", logger="dreaming.passes.decay.run"):
        ageing.at(86).run_pass()
    [record] = [record for record in caplog.records if record.message == "decay"]
    assert (record.beliefs_warned, record.beliefs_ageing, record.drained) == (1, 2, True)  # type: ignore[attr-defined]
    assert isinstance(ageing.belief(TEA), UUID)
    assert TEA not in caplog.text
    assert ageing.now - NOON == 86 * DAY
