"""The database undoes, refuses or stalls a transaction of each pass: it is done in the end as if nothing had been.

`make faults` tries each error at many points. The usual run tries one point of each pass.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dreaming.database import Database
from tests.fault_points import Points, refuse, take_no_writes
from tests.fault_scenarios import SCENARIOS, Ground, start
from tests.faults.test_every_point import assert_whole

EVERY = "DREAMING_FAULT_STRIDE" in os.environ

FAULTS = {
    "deadlock": refuse("40P01"),
    "serialization failure": refuse("40001"),
    "disk full": refuse("53100"),
    "statement timeout": refuse("57014"),
    "read-only failover": take_no_writes,
}


def chosen(seen: list[str]) -> list[int]:
    """The last statement of the longest transaction, which writes; with all points one in three statements."""
    if EVERY:
        return [place for place, kind in enumerate(seen) if kind == "statement"][::3]
    ends = [place for place, kind in enumerate(seen) if kind == "commit"]
    began = [0, *ends]
    return [max(zip(began, ends, strict=False), key=lambda span: span[1] - span[0])[1] - 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_pass_is_done_whatever_the_database_refuses(
    database: Database, database_url: str, tmp_path: Path, name: str
) -> None:
    ground, scenario = Ground(database, database_url, tmp_path), SCENARIOS[name]
    undisturbed = start(ground, scenario, "undisturbed")
    undisturbed.go_on(undisturbed.engine())
    undisturbed.points.close()
    expected = undisturbed.state()
    for fault, break_by in FAULTS.items():
        if not EVERY and name != "consolidation" and fault not in ("deadlock", "read-only failover"):
            continue  # the engine and the transactions are the same: one that comes again, one that holds
        for place in chosen(undisturbed.points.seen):
            told = f"{fault} at {place}"
            run = start(ground, scenario, f"{fault.replace(' ', '-')}-{place}")
            run.points = Points(wrong=place, break_by=break_by)
            run.go_on(run.engine())
            if fault == "read-only failover":  # the connection leads to what was the writer, and is not used again
                assert EVERY or any(connection.closed for connection in run.points.connections), told
            run.points.close()
            assert nothing_charged(run), told
            run.finish()
            assert_whole(run)
            assert run.state() == expected, told
            assert nothing_charged(run), told


def nothing_charged(run: Any) -> bool:
    """No note and no action has an attempt that failed, and no vector was given up."""
    charged = (
        "select 1 from note_attempts where attempts > 0",
        "select 1 from autonomy_actions where attempts > 0",
        "select 1 from embedding_attempts",
    )
    return all(run.world.rows(query, key=run.key) == [] for query in charged)
