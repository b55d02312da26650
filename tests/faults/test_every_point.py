"""Each pass fails and dies at its points, one in each run; what it was to do is done in the end, once.

`make faults` tries all points. The usual run takes one in a hundred statements and one in ten of the others.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dreaming.database import Database
from tests.fault_points import Killed, Points, Way
from tests.fault_scenarios import SCENARIOS, Ground, Run, start

STRIDE = int(os.environ.get("DREAMING_FAULT_STRIDE", "100"))


@pytest.fixture
def ground(database: Database, database_url: str, tmp_path: Path) -> Ground:
    return Ground(database, database_url, tmp_path)


def chosen(seen: list[str]) -> list[int]:
    """The points to be tried: one in so many statements, and ten times as many of the others."""
    strides = {True: STRIDE, False: max(1, STRIDE // 10)}
    return [place for place, kind in enumerate(seen) if place % strides[kind == "statement"] == 0]


def assert_whole(run: Run) -> None:
    """What must hold after anything."""
    run.world.check(run.key)
    rows = run.world.rows
    assert rows("select 1 from dream_runs where status = 'running'", key=run.key) == []
    assert rows("select 1 from dream_cursor where lease_holder is not null", key=run.key) == []
    if run.scenario.name == "decay":  # the pass that sends what all have written
        assert rows("select 1 from outbox where sent_at is null", key=run.key) == []
    assert rows("select 1 from extractions", key=run.key) == []
    assert rows("select 1 from retired_notes", key=run.key) == []
    assert rows("select 1 from note_attempts where in_flight is not null", key=run.key) == []
    assert run.scenario.is_done(run)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["fail", "kill"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_pass_goes_wrong_at_each_point_and_is_done_once(
    ground: Ground, name: str, way: Way, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = SCENARIOS[name]
    undisturbed = start(ground, scenario, "undisturbed")
    undisturbed.points = Points(way=way)
    engine = undisturbed.engine()
    undisturbed.go_on(engine)
    undisturbed.points.close()
    points = undisturbed.points
    assert undisturbed.scenario.is_done(undisturbed)
    assert_whole(undisturbed)
    expected = undisturbed.state()
    assert any(expected.values())

    tried = chosen(points.seen)
    for place in tried:
        run = start(ground, scenario, f"{place}")
        run.points = Points(wrong=place, way=way)
        engine = run.engine()
        try:
            run.go_on(engine)
        except Killed:
            assert way == "kill"
        run.points.close()
        run.finish()
        told = f"{way} at {place} ({points.seen[place]}) of {len(points.seen)}"
        assert_whole(run)
        assert run.state() == expected, told
    with capsys.disabled():
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(points.counts.items()))
        sys.stdout.write(f"\n{name}: {way} at {len(tried)} of {len(points.seen)} points ({kinds})\n")
