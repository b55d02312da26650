"""What the status costs, whatever is stored: `make bench-status`.

    python -m tests.benchmarks.status [--notes 1000000]

Two organizations in one database, of 1,000 and of 1,000,000 notes, each with 500 runs. Both are asked in
turn for `GET /brain/dream/status`, by an event of API Gateway through the function's handler: identity,
settings, row-level security, JSON and all. The notes are filled in by SQL, as ingest would leave them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median
from time import perf_counter, process_time
from typing import Any

import psycopg

from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.lambdas import wiring
from dreaming.lambdas.wiring import Resources
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.notes.records import SliceKey
from dreaming.notes.store import create_slice
from tests.benchmarks.database import benchmark_address
from tests.benchmarks.report import Figure, write
from tests.functions.http import call, jwt
from tests.functions.sandbox import Sandbox, load_sandbox

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
FEW = 1_000
REQUESTS = 400
WARM_UP = 40
MOST_RATIO = 2
MOST_MS = 20

_NOTES = """
insert into notes (note_id, slice_id, source, external_id, origin, sequence, state, trust, occurred_at, occurred_offset,
    text, content_sha256, ingested_at, changed_at)
select md5(%(slice)s || '-' || n)::uuid, %(slice)s, 'chat', 'line-' || n, 'day-' || n / 1000, n,
    case when n %% 100 = 0 then 'waiting' else 'consolidated' end, 'trusted',
    %(now)s::timestamptz - make_interval(secs => n), 0, 'the build of branch ' || n || ' took a while on my machine',
    sha256(n::text::bytea), %(now)s, %(now)s
from generate_series(1, %(notes)s) n
"""

_RUNS = """
insert into dream_runs (run_id, slice_id, pass, generation, status, started_at, progressed_at, finished_at, batches)
select md5('run' || %(slice)s || '-' || n)::uuid, %(slice)s, 'consolidation', n, 'drained',
    %(now)s::timestamptz - make_interval(hours => n), %(now)s, %(now)s, 3
from generate_series(1, 500) n
"""

_COUNTED = """
update slice_counters set notes_total = %(notes)s, notes_waiting = %(notes)s / 100,
    notes_consolidated = %(notes)s - %(notes)s / 100
where slice_id = %(slice)s
"""

_CURSOR = """
insert into dream_cursor (slice_id, pass, position, generation) values (%(slice)s, 'consolidation', %(notes)s, 500)
"""

_HANDED_OUT = "update slices set last_seq = %(notes)s where slice_id = %(slice)s"


def plant(database: Database, admin: psycopg.Connection[Any], org_id: str, notes: int) -> None:
    """Fill an organization with notes and runs."""
    key = SliceKey(org_id)
    with database.transaction(key.tenant) as tx:
        slice_id = create_slice(tx, key).slice_id
    for statement in (_NOTES, _RUNS, _COUNTED, _CURSOR, _HANDED_OUT):
        admin.execute(statement, {"slice": slice_id, "notes": notes, "now": NOW})


def seconds(api: Sandbox, org_id: str, notes: int) -> float:
    """Ask once, and return how long it took; what it tells must be right."""
    start = perf_counter()
    answer = call(api, "/brain/dream/status", authorizer=jwt(org_id=org_id, sub="ana"))
    took = perf_counter() - start
    if answer.status != 200 or answer.body["coverage"]["total"] != notes or len(answer.body["recent_runs"]) != 5:
        raise AssertionError(f"the status of {org_id} is wrong: {answer}")
    return took


def measure(api: Sandbox, sizes: dict[str, int], requests: int) -> dict[str, list[float]]:
    """Ask all organizations in turn, so that what else the machine does meets all of them."""
    times: dict[str, list[float]] = {org_id: [] for org_id in sizes}
    for number in range(requests + WARM_UP):
        for org_id, notes in sizes.items():
            took = seconds(api, org_id, notes)
            if number >= WARM_UP:
                times[org_id].append(took)
    return times


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description="What the status costs, whatever is stored.")
    parser.add_argument("--notes", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    given = parser.parse_args(arguments)
    many, requests = given.notes, given.requests
    sizes = {"few": FEW, "many": many}
    with benchmark_address() as (url, _):
        database = Database(url)
        with psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public") as admin:
            for org_id, notes in sizes.items():
                plant(database, admin, org_id, notes)
            admin.execute("vacuum analyze")
        environment = {"DREAMING_ENABLED": "true"}
        keys = KeyResolver(EnvironmentKeys(environment), clock=lambda: 0.0)
        wiring.install(Resources(database, _no_queue, keys, environment, lambda: NOW, uuid7))
        api = load_sandbox("api")
        before = process_time()
        times = measure(api, sizes, requests)
        processor = (process_time() - before) / (len(sizes) * (requests + WARM_UP))
        database.close()
    middle = {org_id: 1000 * median(found) for org_id, found in times.items()}
    slow = {org_id: 1000 * sorted(found)[int(0.95 * len(found))] for org_id, found in times.items()}
    figures = {
        f"median at {FEW:,} notes": Figure.of(middle["few"], "ms", None),
        "median": Figure.of(middle["many"], "ms", None),
        f"ratio to {FEW:,} notes": Figure.of(middle["many"] / middle["few"], "times", ("<=", MOST_RATIO)),
        "processor time of the function": Figure.of(1000 * processor, "ms", None),
        f"p95 at {FEW:,} notes": Figure.of(slow["few"], "ms", ("<=", MOST_MS)),
        "p95": Figure.of(slow["many"], "ms", ("<=", MOST_MS)),
    }
    return write("status", figures, details={"requests": requests, "runs": 500})


def _no_queue(_name: str) -> Any:
    raise AssertionError("the API sends no messages")


if __name__ == "__main__":
    sys.exit(main())
