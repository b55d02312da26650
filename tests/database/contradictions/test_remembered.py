"""What is remembered of pairs: what somebody was asked, and what a rule sets against each other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from dreaming.beliefs.persons.service import Person
from dreaming.identifiers import uuid7
from dreaming.passes.contradictions import store
from dreaming.passes.contradictions.belief_readings import fingerprint
from dreaming.passes.contradictions.examined import store as examined_store
from dreaming.passes.contradictions.records import MAX_ATTEMPTS, DecidedBy, Judgement, Relation
from dreaming.passes.contradictions.service import Choice
from dreaming.passes.contradictions.timelines import store as timelines_store
from tests.database.contradictions.worlds import Examined, judge, told
from tests.world import KEY

BAKERY, MILL = "Lena works at the old bakery.", "Noor lives in the old mill."
BEFORE = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def unrelated(examined: Examined) -> Examined:
    """Two beliefs that a search finds alike and a rule unrelated."""
    examined.tell(told(BAKERY, "2026-01-10"), told(MILL, "2026-01-11"))
    return examined


def rows(examined: Examined) -> list[tuple[str | None, str | None, int]]:
    return examined.world.rows("select relation, decided_by, attempts from adjudications order by 1, 2, 3")


def remember(examined: Examined, relation: Relation | None, by: DecidedBy | None, attempts: int = 0) -> None:
    """A row of the pair as the pass would have written it."""
    left, right = sorted((examined.belief(BAKERY), examined.belief(MILL)))
    slice_id = examined.world.slice().slice_id
    with examined.world.transaction() as tx:
        beliefs = store.load(tx, slice_id, [left, right]).beliefs
        judgement = Judgement(
            left,
            right,
            relation,
            by,
            "r",
            left_fingerprint=fingerprint(beliefs[left][0]),
            right_fingerprint=fingerprint(beliefs[right][0]),
            attempts=attempts,
        )
        store.write_judgements(tx, slice_id, [judgement], prompt_version=None, now=BEFORE)


def touch(examined: Examined, belief_id: UUID) -> None:
    """Let the pass come to a belief again that says what it said."""
    world = examined.world
    Person(world.database, KEY.tenant, "mia", world.environment).confirm(belief_id, now=world.now, new_id=uuid7)
    examined.examine()


def test_that_a_rule_finds_nothing_between_two_is_said_anew_and_not_remembered(unrelated: Examined) -> None:
    unrelated.judge = model = judge("successive")
    touch(unrelated, unrelated.belief(BAKERY))
    assert rows(unrelated) == []
    assert not model.requests
    assert unrelated.standing() == {BAKERY: "current", MILL: "current"}


def test_the_pass_takes_away_what_was_remembered_of_unrelated_pairs(unrelated: Examined) -> None:
    remember(unrelated, Relation.UNRELATED, DecidedBy.RULE)
    unrelated.examine()
    assert rows(unrelated) == []
    remember(unrelated, Relation.COEXISTING, DecidedBy.RULE)
    unrelated.examine()
    assert rows(unrelated) == [("coexisting", "rule", 0)]
    touch(unrelated, unrelated.belief(MILL))
    assert rows(unrelated) == []


@pytest.mark.parametrize(
    ("relation", "by", "attempts"),
    [
        (Relation.UNRELATED, DecidedBy.MODEL, 0),
        (Relation.COEXISTING, DecidedBy.PERSON, 0),
        (Relation.UNRELATED, DecidedBy.RULE, 3),
        (None, None, 3),
    ],
    ids=["a judge's word", "a person's", "a rule's after calls", "calls alone"],
)
def test_what_somebody_was_asked_stays(
    unrelated: Examined, relation: Relation | None, by: DecidedBy | None, attempts: int
) -> None:
    remember(unrelated, relation, by, attempts)
    touch(unrelated, unrelated.belief(BAKERY))
    touch(unrelated, unrelated.belief(MILL))
    expected = (relation or Relation.UNRELATED, by or DecidedBy.RULE, attempts)
    assert rows(unrelated) == [expected]


def test_a_judges_unrelated_is_asked_for_once_however_often_the_two_are_examined(examined: Examined) -> None:
    examined.judge = model = judge("unrelated")
    spiders, fear = "Rosa is afraid of spiders.", "Rosa has a fear of spiders."
    examined.tell(told(spiders, "2026-02-01"), told(fear, "2026-03-01"))
    asked = len(model.requests)
    assert asked > 0
    for statement in (spiders, fear):
        touch(examined, examined.belief(statement))
    assert len(model.requests) == asked
    assert rows(examined) == [("unrelated", "model", 0)]


def test_two_names_of_one_thing_are_remembered_together(examined: Examined) -> None:
    robert, bob = "Robert works at the mill.", "Bob worked at the mill."
    examined.tell(told("Robert, whom everyone calls Bob, is tall.", "2026-01-01"))
    examined.tell(told(robert, "2026-01-10"), told(bob, "2026-02-10"))
    pair = sorted((examined.belief(robert), examined.belief(bob)))
    query = "select relation, decided_by from adjudications where left_belief_id = %s and right_belief_id = %s"
    assert examined.world.rows(query, pair) == [("coexisting", "rule")]


def test_what_is_due_is_found_by_indexes_alone(unrelated: Examined) -> None:
    unrelated.resolver().resolve(unrelated.belief(BAKERY), unrelated.belief(MILL), Choice.BOTH)
    slice_id, now = unrelated.world.slice().slice_id, unrelated.world.now
    plans: list[str] = []
    with unrelated.world.transaction() as tx:
        execute = tx.execute
        execute("set local enable_seqscan = off")

        def explained(query: Any, parameters: Any) -> Any:
            plans.append("\n".join(row[0] for row in execute(f"explain {query}", parameters).fetchall()))
            return execute(query, parameters)

        tx.execute = explained
        examined_store.unexamined(tx, slice_id, 10)
        timelines_store.crossed(tx, slice_id, now, 10)
        timelines_store.next_boundary(tx, slice_id, now)
        store.forget_unrelated(tx, slice_id, 10)
        store.open_pairs(tx, slice_id, max_attempts=MAX_ATTEMPTS, run_id=UUID(int=0), limit=10)
        del tx.execute
    unexamined, crossed, boundary, forgotten, open_pairs = plans
    assert "unexamined_beliefs_slice_id_created_at_belief_id_idx" in unexamined
    for plan in (crossed, boundary):
        assert "timelines_slice_id_holds_from_idx" in plan
        assert "timelines_slice_id_holds_until_idx" in plan
    assert "adjudications_slice_id_idx" in forgotten
    assert "adjudications_slice_id_decided_at_left_belief_id_right_beli_idx" in open_pairs
