"""What a person does to a belief: once or twice, with history, counters, audit, event and relationships."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dreaming.beliefs.persons.service import Person
from dreaming.beliefs.service import withdraw_notes
from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from dreaming.notes.records import Tenant
from dreaming.settings.resolution import resolve
from tests.ageing_world import AgeingWorld, open_ageing_world

JOB = "Ines works at Orbit"
FAST: dict[str, Any] = {"confidence": 0.6, "decay_class": "fast_decay"}
ORBIT: dict[str, Any] = {"relations": [{"type": "works_at", "target": "Orbit"}]}


@pytest.fixture
def ageing(database: Database, tmp_path: Path) -> AgeingWorld:
    world = open_ageing_world(database, tmp_path)
    world.say(JOB, **FAST, **ORBIT)
    return world


def act(ageing: AgeingWorld, action: str, person: str = "mia") -> Any:
    doing = getattr(ageing.person(person), action)
    outcome = doing(ageing.belief(JOB), now=ageing.now, new_id=uuid7)
    ageing.check()
    return outcome


def events(ageing: AgeingWorld) -> list[str]:
    query = "select event from belief_history where belief_id = %s order by history_id"
    return [row[0] for row in ageing.rows(query, ageing.belief(JOB))]


def test_a_confirmation_is_a_source_of_confidence_one_from_which_it_ages_anew(ageing: AgeingWorld) -> None:
    ageing.at(10)
    outcome = act(ageing, "confirm")
    assert outcome.changed
    assert (outcome.belief.confidence, outcome.belief.confirmed_at) == (1.0, ageing.now)
    assert ageing.column("provenance", JOB) == "person"
    assert ageing.rows("select trust, origin from sources where source_type = 'confirmation'") == [
        ("trusted", "person:mia")
    ]
    # Four and a third half-lives from the confirmation, not from the note.
    assert ageing.column("fades_at", JOB) - ageing.now > timedelta(days=90)
    assert events(ageing) == ["created", "confirmed"]
    assert ageing.rows("select actor, action, subject from audit where action like 'belief_%%'") == [
        ("mia", "belief_confirmed", str(ageing.belief(JOB)))
    ]


def test_confirming_again_moves_the_moment_and_adds_nothing(ageing: AgeingWorld) -> None:
    for day in (1, 2, 3):
        ageing.at(day)
        act(ageing, "confirm")
    assert ageing.rows("select sources, origins, confidence from beliefs where statement = %s", JOB) == [(2, 2, 1.0)]
    assert ageing.column("confirmed_at", JOB) == ageing.now
    act(ageing, "confirm", "tom")
    assert ageing.column("origins", JOB) == 3


def test_a_confirmation_outlives_the_notes(ageing: AgeingWorld) -> None:
    act(ageing, "confirm")
    withdraw_notes(
        ageing.database,
        ageing.key,
        "test",
        ["n1"],
        settings=resolve(ageing.world.environment, {}),
        now=ageing.now,
        new_id=uuid7,
    )
    assert JOB in ageing.live()
    assert ageing.all_edges() == [(JOB, "works_at", "Orbit", "sourceless")]
    ageing.check()


def test_confirming_takes_a_warning_back(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **FAST, importance="high")
    ageing.at(74).run_pass()
    assert ageing.column("warned_at", JOB) is not None
    act(ageing, "confirm")
    assert ageing.column("warned_at", JOB) is None
    ageing.at(90).run_pass()
    assert JOB in ageing.live()


def test_confirming_what_has_faded_brings_it_back_with_its_relationships(ageing: AgeingWorld) -> None:
    ageing.at(80).run_pass()
    assert ageing.archived() == {JOB: "faded"}
    act(ageing, "confirm")
    assert JOB in ageing.live()
    # The edge has faded by itself: the person vouched for the belief, and no note for the edge.
    assert ageing.edges() == []


@pytest.mark.parametrize("times", [1, 2])
def test_archived_by_a_person_it_stays_so_whatever_notes_say(ageing: AgeingWorld, times: int) -> None:
    changed = [act(ageing, "archive").changed for _ in range(times)]
    assert changed == [True, False][:times]
    ageing.say(JOB, **FAST, **ORBIT)
    assert ageing.archived() == {JOB: "person"}
    assert ageing.edges() == []
    assert events(ageing) == ["created", "archived"]
    ageing.run_pass()
    assert ageing.bus.told("belief.archived") == [str(ageing.belief(JOB))]


@pytest.mark.parametrize("times", [1, 2])
def test_restored_it_is_as_before_with_its_relationships(ageing: AgeingWorld, times: int) -> None:
    before = ageing.rows("select confidence, confirmed_at, fades_at, sources from beliefs where statement = %s", JOB)
    act(ageing, "archive")
    assert [act(ageing, "restore").changed for _ in range(times)] == [True, False][:times]
    after = ageing.rows("select confidence, confirmed_at, fades_at, sources from beliefs where statement = %s", JOB)
    assert after == before
    assert ageing.edges() == [(JOB, "works_at", "Orbit")]
    assert events(ageing) == ["created", "archived", "restored"]


def test_restoring_what_would_fade_again_at_once_confirms_it(ageing: AgeingWorld) -> None:
    ageing.at(80).run_pass()
    act(ageing, "restore")
    assert ageing.rows("select confidence, provenance from beliefs where statement = %s", JOB) == [(1.0, "person")]
    ageing.at(81).run_pass()
    assert JOB in ageing.live()
    assert events(ageing) == ["created", "archived", "confirmed", "restored"]


def test_a_faded_belief_can_be_archived_for_good(ageing: AgeingWorld) -> None:
    ageing.at(80).run_pass()
    act(ageing, "archive")
    ageing.say(JOB, **FAST)
    assert ageing.archived() == {JOB: "person"}


def test_restored_under_another_half_life_its_moment_of_fading_is_of_today(ageing: AgeingWorld) -> None:
    act(ageing, "archive")
    ageing.set("fast_decay_days", 42.0)
    ageing.run_pass()
    act(ageing, "restore")
    assert (ageing.column("fades_at", JOB) - ageing.now) / timedelta(days=42) == pytest.approx(3.585, abs=0.001)


def test_what_has_no_source_left_is_not_restored(ageing: AgeingWorld) -> None:
    with ageing.world.transaction() as tx:
        tx.execute("update beliefs set archived_at = now(), archive_reason = 'sourceless' where statement = %s", (JOB,))
    for action in ("restore", "archive", "confirm"):
        with pytest.raises(InvalidInput, match="archived as sourceless"):
            getattr(ageing.person(), action)(ageing.belief(JOB), now=ageing.now, new_id=uuid7)


def test_nobody_acts_on_another_organizations_beliefs(ageing: AgeingWorld) -> None:
    stranger = Person(ageing.database, Tenant("bakery"), "eve", ageing.world.environment)
    for belief_id in (ageing.belief(JOB), uuid4()):
        with pytest.raises(InvalidInput, match="no belief"):
            stranger.archive(belief_id, now=ageing.now, new_id=uuid7)
    assert JOB in ageing.live()


@pytest.mark.parametrize("actor", ["", "x" * 201, "a\0b"])
def test_whoever_acts_has_a_name(ageing: AgeingWorld, actor: str) -> None:
    with pytest.raises(InvalidInput, match="actor"):
        ageing.person(actor)
