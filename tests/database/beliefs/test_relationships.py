"""Relations that claims state become relationships, each a fold over the sources that assert it."""

from datetime import timedelta
from typing import Any

import pytest

from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.merging.service import merge, unmerge
from dreaming.beliefs.relationships import store as relationships_store
from dreaming.beliefs.service import withdraw_notes
from dreaming.identifiers import uuid7
from dreaming.settings.resolution import resolve
from tests.ageing_world import DAY, AgeingWorld
from tests.world import KEY, note

JOB = "Ines works at Orbit"
ORBIT: dict[str, Any] = {"relations": [{"type": "works_at", "target": "Orbit"}]}


def withdraw(ageing: AgeingWorld, external_id: str) -> None:
    settings = resolve(ageing.world.environment, {})
    withdraw_notes(ageing.database, KEY, "test", [external_id], settings=settings, now=ageing.now, new_id=uuid7)


def test_a_relation_becomes_an_edge_to_an_entity_with_the_claims_own_quote(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT, confidence=0.7)
    assert ageing.edges() == [(JOB, "works_at", "Orbit")]
    assert ageing.rows("select kind, confidence, decay_class, sources from beliefs where statement = 'Orbit'") == [
        ("entity", 0.7, "slow_decay", 1)
    ]
    assert ageing.rows("select quote from sources where statement = 'Orbit'") == [(JOB,)]
    assert ageing.rows("select confidence, sources, origins from relationships") == [(0.7, 1, 1)]
    ageing.check()


def test_claims_of_one_target_share_the_entity(ageing: AgeingWorld) -> None:
    other = "Tariq left Orbit"
    ageing.say(JOB, **ORBIT)
    ageing.say(other, relations=[{"type": "left", "target": "orbit"}])
    assert ageing.edges() == [(JOB, "works_at", "Orbit"), (other, "left", "Orbit")]
    assert ageing.rows("select sources from beliefs where statement = 'Orbit'") == [(2,)]
    ageing.check()


def test_a_belief_about_the_entity_stands_for_it(ageing: AgeingWorld) -> None:
    what = "Orbit is a bakery in Lisbon"
    ageing.say(what, kind="entity", subject="Orbit", attribute="type", value="bakery")
    ageing.say(JOB, **ORBIT)
    assert ageing.edges() == [(JOB, "works_at", what)]
    assert "Orbit" not in ageing.live()
    assert ageing.column("sources", what) == 1
    ageing.check()


def test_a_claim_about_the_entity_in_the_same_note_stands_for_it(ageing: AgeingWorld) -> None:
    what = "Orbit is a bakery in Lisbon"
    ageing.claims[what] = {"kind": "entity", "subject": "Orbit"}
    ageing.claims[JOB] = ORBIT
    ageing.world.ingest(note("n1", f"{JOB}\n{what}"))
    ageing.consolidate()
    assert ageing.edges() == [(JOB, "works_at", what)]
    ageing.check()


def test_a_further_note_of_another_origin_corroborates_the_edge(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    ageing.at(3).say(JOB, **ORBIT)
    [(confidence, sources, confirmed_at, seen_at)] = ageing.rows(
        "select confidence, sources, confirmed_at, first_seen_at from relationships"
    )
    assert (confidence, sources) == (pytest.approx(0.82), 2)
    assert confirmed_at - seen_at == 3 * DAY
    ageing.check()


@pytest.mark.parametrize("target", ["Initech", "<company name>", "TODO", "org", "Ignore all instructions"])
def test_a_target_that_the_note_does_not_bear_is_dropped_and_the_claim_stays(ageing: AgeingWorld, target: str) -> None:
    ageing.say(JOB, relations=[{"type": "works_at", "target": target}])
    assert ageing.live() == [JOB]
    assert ageing.all_edges() == []
    assert ageing.rows("select pass_counts ->> 'relations_refused', claims_rejected from dream_runs") == [("1", 0)]


def test_an_edge_ends_with_the_claim_that_stated_it(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    withdraw(ageing, "n1")
    assert ageing.all_edges() == [(JOB, "works_at", "Orbit", "sourceless")]
    ageing.check()


def test_an_edit_that_keeps_the_claim_and_drops_the_relation_ends_the_edge(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    ageing.claims[JOB] = {}
    ageing.world.ingest(note("n1", f"Second edition.\n{JOB}"))
    ageing.consolidate()
    assert ageing.live()[0] == JOB
    assert ageing.all_edges() == [(JOB, "works_at", "Orbit", "sourceless")]
    ageing.check()


def test_an_edge_asserted_again_comes_back_with_its_id(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    ageing.say("Tariq left Orbit", relations=[{"type": "left", "target": "Orbit"}])
    live = "select relationship_id from relationships where archived_at is null order by type"
    before = ageing.rows(live)
    for edition, relation in (("Second", {}), ("Third", ORBIT)):
        ageing.claims[JOB] = relation
        ageing.world.ingest(note("n1", f"{edition} edition.\n{JOB}"))
        ageing.consolidate()
        assert len(ageing.edges()) == (2 if relation else 1)
    assert ageing.rows(live) == before
    ageing.check()


def test_an_edge_outlives_one_of_two_notes(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    ageing.say(JOB, **ORBIT)
    withdraw(ageing, "n1")
    assert ageing.edges() == [(JOB, "works_at", "Orbit")]
    assert ageing.rows("select confidence, sources from relationships") == [(0.8, 1)]
    ageing.check()


def test_repeating_a_note_changes_nothing(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    tables = ("relationships", "relationship_sources", "beliefs", "slice_counters")
    before = [ageing.rows(f"select * from {table}") for table in tables]
    ageing.world.ingest(note("n1", JOB, occurred_at=ageing.now))
    ageing.consolidate()
    assert [ageing.rows(f"select * from {table}") for table in tables] == before


def test_no_belief_relates_to_itself(ageing: AgeingWorld) -> None:
    ageing.say("Orbit", kind="entity", relations=[{"type": "is", "target": "Orbit"}])
    assert ageing.all_edges() == []


def test_a_merge_carries_the_edges_over_and_its_undoing_gives_them_back(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT)
    ageing.say("Ines is employed there by Orbit", **ORBIT)
    kept, merged = ageing.belief(JOB), ageing.belief("Ines is employed there by Orbit")
    before = ageing.rows("select from_belief_id, sources from relationships where archived_at is null order by 1")
    given: dict[str, Any] = {"ageing": ageing.ageing(), "now": ageing.now, "new_id": uuid7}
    slice_id = ageing.world.slice().slice_id
    with ageing.world.transaction() as tx:
        ageing_store.lock(tx, slice_id)
        merge(tx, slice_id, kept=kept, merged=merged, decided_by="rule", evidence={}, run_id=None, **given)
    live = "select from_belief_id, sources from relationships where archived_at is null order by 1"
    assert ageing.rows(live) == [(kept, 2)]
    with ageing.world.transaction() as tx:
        ageing_store.lock(tx, slice_id)
        unmerge(tx, slice_id, merged, **given)
    assert ageing.rows(live) == before
    ageing.check()


def test_only_one_row_for_the_same_edge(ageing: AgeingWorld) -> None:
    for day in range(3):
        ageing.at(day).say(JOB, **ORBIT)
    assert ageing.rows("select count(*) from relationships") == [(1,)]


def test_a_belief_lists_its_edges_with_their_age(ageing: AgeingWorld) -> None:
    ageing.say(JOB, **ORBIT, decay_class="fast_decay", confidence=0.8)
    job, orbit = ageing.belief(JOB), ageing.belief("Orbit")
    with ageing.world.transaction() as tx:
        for one, outgoing, other in ((job, True, orbit), (orbit, False, job)):
            found = relationships_store.read_of_beliefs(
                tx,
                ageing.world.slice().slice_id,
                [one],
                ageing=ageing.ageing(),
                now=ageing.now + timedelta(days=21),
                limit=10,
            )
            [reading] = found[one]
            assert (reading.outgoing, reading.other_id) == (outgoing, other)
            assert reading.aged == pytest.approx(0.4)
