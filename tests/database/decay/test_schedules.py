"""However often the pass comes, it leaves the same: it looks at moments, not at what it did before."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreaming.database import Database
from tests.ageing_world import AgeingWorld, open_ageing_world
from tests.databases import at_database, created_database
from tests.world import NOON

DAYS = 130
PEOPLE = {"Ines": 1.0, "Tariq": 0.8, "Lena": 0.45, "Noor": 0.3, "Kai": 0.2, "Mara": 0.12, "Omar": 0.06}


def planted(database: Database, folder: Path) -> AgeingWorld:
    """Beliefs and edges that fade on all sorts of days within `DAYS`; two of them matter."""
    folder.mkdir()
    ageing = open_ageing_world(database, folder)
    for number, (name, confidence) in enumerate(PEOPLE.items()):
        fields: dict[str, Any] = {"confidence": confidence, "decay_class": "fast_decay"}
        ageing.at(number).say(f"{name} works at Orbit", **fields, relations=[{"type": "works_at", "target": "Orbit"}])
        ageing.say(f"{name} rides a red bicycle", **fields, importance="high" if number in (2, 4) else "normal")
        ageing.say(f"{name} lives on Fir Street", confidence=confidence, decay_class="slow_decay")
    return ageing


def outcome(ageing: AgeingWorld) -> list[tuple[Any, ...]]:
    """Every belief's confidence today and whether it is archived, but not when."""
    return ageing.rows(
        """
        select b.statement, b.confidence, b.confirmed_at, b.fades_at, b.archive_reason, b.importance,
               aged(b.confidence, b.confirmed_at, half_life_of(b.decay_class, 15552000, 1814400), %s)
        from beliefs b order by statement
        """,
        NOON + timedelta(days=DAYS),
    )


def edges(ageing: AgeingWorld) -> set[tuple[str, str]]:
    return {(left, right) for left, _, right in ageing.edges()}


@pytest.fixture
def once(database: Database, tmp_path: Path) -> AgeingWorld:
    """One pass after all the days, and one more a week later, when what matters may go."""
    ageing = planted(database, tmp_path / "once")
    ageing.at(DAYS).run_pass()
    return ageing


@pytest.mark.parametrize("passes", [1, 7, 100])
def test_many_passes_leave_what_one_leaves(
    once: AgeingWorld, server_url: str, template_database: str, tmp_path: Path, passes: int
) -> None:
    compare(once, server_url, template_database, tmp_path / "many", [DAYS * n / passes for n in range(1, passes + 1)])


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(days=st.lists(st.floats(8, DAYS - 0.01), max_size=12))
def test_any_schedule_leaves_what_one_pass_leaves(
    once: AgeingWorld, server_url: str, template_database: str, tmp_path: Path, days: list[float]
) -> None:
    folder = tmp_path / f"schedule-{len(list(tmp_path.iterdir()))}"
    compare(once, server_url, template_database, folder, [*sorted(days), DAYS])


def compare(once: AgeingWorld, server_url: str, template: str, folder: Path, days: list[float]) -> None:
    with created_database(server_url, template=template) as name:
        database = Database(at_database(server_url, name))
        try:
            many = planted(database, folder)
            for day in days:
                many.at(day).run_pass()
            many.check()
            warned = {row[0] for row in outcome(once) if row[5] == "high"}
            assert [row for row in outcome(many) if row[0] not in warned] == [
                row for row in outcome(once) if row[0] not in warned
            ]
            assert edges(many) == edges(once)
            # Those that matter go in the first pass a week or more after their announcement.
            for ageing in (many, once):
                announced = ageing.rows("""
                    select b.archived_at, h.happened_at from belief_history h join beliefs b using (belief_id)
                    where h.event = 'warned'
                """)
                assert announced
                assert all(gone is None or gone - told >= timedelta(days=7) for gone, told in announced)
        finally:
            database.close()


def test_a_hundred_passes_in_one_day_are_as_one(database: Database, tmp_path: Path) -> None:
    ageing = planted(database, tmp_path / "day")
    for number in range(100):
        ageing.at(60 + number / 100).run_pass()
    state = outcome(ageing)
    ageing.at(61).run_pass()
    assert [row[:4] for row in outcome(ageing)] == [row[:4] for row in state]
    ageing.check()
