"""What the page reads: runs by day, what is held, how beliefs are spread, and what fades; each of the caller's only."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dreaming.notes.records import Scope, SliceKey
from tests.functions.http import ANA, call, jwt
from tests.functions.sandbox import Sandbox
from tests.world import NOON, World, claim, note, open_world

BENS = SliceKey("acme", Scope.PRIVATE, "ben")
BIRCH = SliceKey("birch")
BEN, STRANGER = jwt(org_id="acme", sub="ben"), jwt(org_id="birch", sub="ana")

CLAIMS: dict[str, dict[str, Any]] = {
    "The shed is green.": {"confidence": 0.9},
    "Nobody parks by the well.": {"kind": "constraint", "confidence": 0.9, "decay_class": "permanent"},
    "The swallows are back.": {"kind": "observation", "confidence": 0.35, "decay_class": "fast_decay"},
}


@pytest.fixture
def lived(installed: World, tmp_path: Path) -> World:
    """Notes of three slices, read on two days, the second of which ended with an outage."""
    (tmp_path / "lived").mkdir()
    world = open_world(
        installed.database,
        tmp_path / "lived",
        lambda request: [
            claim(line, note=passage.label, **CLAIMS[line])
            for passage in request.passages
            for line in passage.text.splitlines()
        ],
    )
    world.enrol("birch")
    told = "\n".join(CLAIMS)
    world.now = NOON - timedelta(days=1)
    world.ingest(note("a", told, occurred_at=NOON - timedelta(days=10)))
    world.ingest(note("b", told), key=BENS)
    world.ingest(note("c", told), key=BIRCH)
    world.drain()
    world.now = NOON
    return world


def passes(answer: Any) -> list[tuple[str, str, int, int]]:
    return [(one["pass"], one["day"], one["runs"], one["notes_consolidated"]) for one in answer.body["days"]]


def test_the_timeline_counts_each_callers_own_runs_by_day(lived: World, api: Sandbox) -> None:
    assert passes(call(api, "/brain/dream/timeline")) == [("consolidation", "2026-05-31", 1, 1)]
    assert passes(call(api, "/brain/dream/timeline", authorizer=BEN)) == [("consolidation", "2026-05-31", 2, 2)]
    assert passes(call(api, "/brain/dream/timeline", authorizer=STRANGER)) == [("consolidation", "2026-05-31", 1, 1)]


def test_the_timeline_reaches_as_far_as_it_is_asked_to(lived: World, api: Sandbox) -> None:
    body = call(api, "/brain/dream/timeline", query={"days": "1"}).body
    assert (body["first"], body["last"], body["days"]) == ("2026-06-01", "2026-06-01", [])
    assert call(api, "/brain/dream/timeline", query={"days": "2"}).body["first"] == "2026-05-31"
    for wrong in ("0", "367", "x"):
        assert call(api, "/brain/dream/timeline", query={"days": wrong}).status == 422


def test_what_is_held_is_told_with_its_reason_to_those_who_see_the_slice(lived: World, api: Sandbox) -> None:
    assert call(api, "/brain/dream/timeline").body["held"] == []
    with lived.transaction(BENS) as tx:
        tx.execute(
            "update dream_cursor set held_reason = 'throttled', held_detail = 'slow down', held_since = %s "
            "where slice_id = %s",
            (NOON, lived.slice(BENS).slice_id),
        )
    (held,) = call(api, "/brain/dream/timeline", authorizer=BEN).body["held"]
    assert (held["pass"], held["scope"], held["owner_user_id"]) == ("consolidation", "private", "ben")
    assert (held["reason"], held["detail"]) == ("throttled", "slow down")
    assert call(api, "/brain/dream/timeline", authorizer=ANA).body["held"] == []
    assert call(api, "/brain/dream/timeline", authorizer=STRANGER).body["held"] == []


def test_beliefs_are_spread_over_kinds_confidence_and_age(lived: World, api: Sandbox) -> None:
    body = call(api, "/brain/beliefs/summary").body
    found = {(one["kind"], one["tenth"], one["age_from_days"], one["beliefs"]) for one in body["groups"]}
    # 0.9 aged by 10 of 180 days is 0.866; 0.35 aged by 10 of 21 days is 0.252.
    assert found == {("fact", 8, 7, 1), ("constraint", 9, 7, 1), ("observation", 2, 7, 1)}
    private = call(api, "/brain/beliefs/summary", query={"scope": "private"}, authorizer=BEN).body
    assert {one["age_from_days"] for one in private["groups"]} == {0}
    assert call(api, "/brain/beliefs/summary", query={"scope": "private"}).body["groups"] == []


def test_archived_beliefs_are_in_no_group(lived: World, api: Sandbox) -> None:
    (belief_id,) = (row[0] for row in lived.rows("select belief_id from beliefs where kind = 'fact'"))
    call(api, f"/brain/beliefs/{belief_id}/archive", method="POST")
    assert {one["kind"] for one in call(api, "/brain/beliefs/summary").body["groups"]} == {"constraint", "observation"}


def test_what_fades_is_forecast_under_the_settings_in_force(lived: World, api: Sandbox) -> None:
    body = call(api, "/brain/fading").body
    assert (body["ageing"], body["faded"], len(body["weeks"])) == (2, 0, 12)
    # 0.35 reaches 0.05 after 21 * log2(7) = 58.95 days, of which 10 have passed: in the seventh week.
    assert [week["beliefs"] for week in body["weeks"]] == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert body["next_ones"][0]["statement"] == "The swallows are back."
    admin = jwt(org_id="acme", sub="ana", dreaming_admin="true")
    call(api, "/brain/settings/fast_decay_days", method="PUT", body='{"value": 3.5}', authorizer=admin)
    assert call(api, "/brain/fading").body["faded"] == 1
    assert [row[0] for row in lived.rows("select archived_at from beliefs where kind = 'observation'")] == [None]


def test_a_slice_that_is_not_there_has_nothing(api: Sandbox) -> None:
    stranger = jwt(org_id="nobody", sub="nobody")
    assert call(api, "/brain/fading", authorizer=stranger).body["next_ones"] == []
    assert call(api, "/brain/beliefs/summary", authorizer=stranger).body["groups"] == []
    assert call(api, "/brain/dream/timeline", authorizer=stranger).body["days"] == []
