"""What the decay pass costs where much is stored and little is due, and what ageing costs readers.

    python -m tests.benchmarks.decay [--rows 1000000]

One slice with that many beliefs and twice as many relationships, of which 1 % are due. Compared on the
same database: the pass; a second pass straight after; an update of every row's confidence, as a system
does that decays by rewriting; and a page of the list and a search, each with ageing and without. All of
it as the worker's or the API's role, under row-level security.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any
from unittest import mock

import psycopg

from dreaming.api.beliefs import store as reading
from dreaming.api.beliefs.store import BeliefFilter
from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.rules import Ageing
from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import SliceKey
from dreaming.notes.store import create_slice
from dreaming.passes.decay.run import Decay
from dreaming.passes.engine import Engine
from dreaming.passes.outbox.records import Event
from dreaming.passes.records import BatchMessage, Deadline
from dreaming.settings.service import change_consent
from tests.benchmarks.database import benchmark_address
from tests.benchmarks.report import Figure, write
from tests.waiting import wait_until

KEY = SliceKey("bench")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
REPEATS = 7
PAGE = 50
LARGE = 100_000
"""From so many beliefs on, a pass is held against rewriting them: among fewer it is mostly what any run costs."""

PLANT = """
insert into beliefs (belief_id, slice_id, kind, statement, statement_hash, words_version, confidence, confirmed_at,
    first_seen_at, importance, decay_class, fades_at, subject, trust, sources, origins, created_at, updated_at)
select md5(n::text)::uuid, %(slice)s, (array['fact', 'preference', 'decision', 'entity'])[1 + n %% 4],
    format('Measurement %%s of station %%s says that the river stood at level %%s on that day', n, n %% 977, n %% 53),
    n, 1, confidence, confirmed_at, confirmed_at, 'normal', 'slow_decay',
    fading_moment(confidence, confirmed_at, 15552000, 0.05), format('Station %%s', n %% 977), 'trusted', 1, 1,
    confirmed_at, confirmed_at
from (
    select n, 0.5 + 0.4 * ((n * 7) %% 11) / 10.0 as confidence,
        case when n %% 100 = 0 then %(now)s - interval '800 days' - make_interval(mins => n %% 1440)
             else %(now)s - make_interval(mins => (n * 37) %% 750000) end as confirmed_at
    from generate_series(1, %(rows)s) n
) planted
"""
"""`rows` beliefs of the slice `slice`, of which 1 % have faded at `now`."""

# Each belief has four relationships, one fewer than what makes it important.
RELATE = """
insert into relationships (relationship_id, slice_id, from_belief_id, type, to_belief_id, confidence, confirmed_at,
    first_seen_at, decay_class, fades_at, sources, origins, created_at, updated_at)
select md5('edge' || n || '-' || step)::uuid, %(slice)s, md5(n::text)::uuid, 'near',
    md5(((n + step) %% %(rows)s + 1)::text)::uuid, 0.8, %(now)s - make_interval(mins => (n * 37) %% 700000),
    %(now)s - make_interval(mins => (n * 37) %% 700000), 'slow_decay',
    fading_moment(0.8, %(now)s - make_interval(mins => (n * 37) %% 700000), 15552000, 0.05), 1, 1, %(now)s, %(now)s
from generate_series(1, %(rows)s) n, unnest(array[1, 7919]) step
"""
"""Two relationships from each of them."""

_COUNT = """
update slice_counters c
set beliefs_fact = k.fact, beliefs_preference = k.preference, beliefs_decision = k.decision, beliefs_entity = k.entity,
    beliefs_ageing = k.beliefs, relationships_live = k.edges, relationships_ageing = k.edges
from (
    select count(*) filter (where kind = 'fact') as fact, count(*) filter (where kind = 'preference') as preference,
        count(*) filter (where kind = 'decision') as decision, count(*) filter (where kind = 'entity') as entity,
        count(*) as beliefs, (select count(*) from relationships) as edges
    from beliefs
) k
where c.slice_id = %(slice)s
"""

_REWRITE = """
update {} set confidence = aged(confidence, confirmed_at, 15552000, %(now)s), updated_at = %(now)s
where slice_id = %(slice)s and archived_at is null
"""

_TOUCHED = """
select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables
where relname in ('beliefs', 'relationships', 'belief_history', 'outbox')
"""

_OTHERS = """
select count(*) from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
"""


class Nowhere:
    """Takes every event."""

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        return [event.event_id for event in events]


class Bench:
    """The planted slice, the pass over it, and what is measured."""

    def __init__(self, url: str, folder: Path, rows: int) -> None:
        self.rows = rows
        self.admin = psycopg.connect(url, autocommit=True, options="-c search_path=dreaming,public")
        self.database = Database(url)
        self.queue = LocalQueue(folder / "queue.sqlite", "decay")
        self.slice_id = self._plant()

    def _plant(self) -> int:
        with self.database.transaction(KEY.tenant) as tx:
            slice_id = create_slice(tx, KEY).slice_id
            change_consent(tx, KEY.org_id, "enrolled", True, actor="bench", now=NOW)
        given = {"slice": slice_id, "rows": self.rows, "now": NOW}
        for statement in (PLANT, RELATE, _COUNT):
            self.admin.execute(statement, given)
        self.admin.execute(
            "update belief_lock set slow_half_life = 15552000, fast_half_life = 1814400, archive_threshold = 0.05,"
            " warn_ahead = 604800"
        )
        self.admin.execute("insert into due_times values (%s, 'decay', %s)", [slice_id, NOW])
        self.admin.execute("vacuum analyze")
        self.admin.execute("checkpoint")
        return slice_id

    def run_pass(self, *, forced: bool = False) -> dict[str, int]:
        """A tick and all its batches; returns the batches and what they counted."""
        work = Decay(self.database, Nowhere(), lambda: NOW)
        engine = Engine(work, self.database, self.queue, {"DREAMING_ENABLED": "true"}, lambda: NOW, uuid7)
        engine.tick(self.slice_id if forced else None)
        counts = {"batches": 0}
        while received := self.queue.receive(holder="bench", visibility_timeout=1080):
            message = BatchMessage.model_validate_json(received.body)
            report = engine.batch(message, holder="bench", deadline=Deadline(lambda: 180.0))
            self.queue.delete(received.receipt)
            counts["batches"] += 1
            for name, count in (report.outcome.counts if report.outcome else {}).items():
                counts[name] = counts.get(name, 0) + count
        return counts

    def rewrite(self) -> None:
        """Age by rewriting every live row."""
        for table in ("beliefs", "relationships"):
            with self.database.transaction(KEY.tenant) as tx:
                tx.execute(_REWRITE.format(table), {"slice": self.slice_id, "now": NOW})

    def touched(self) -> int:
        """How many rows of the slice's tables were written so far, by the server's own statistics.

        A connection tells of its last transactions when it ends, so those of the pass are ended first.
        """
        self.database.close()
        wait_until(lambda: self._others() == 0, "the pass's connections end", within=30)
        self.admin.execute("select pg_stat_force_next_flush()")
        self.admin.execute("select pg_stat_clear_snapshot()")
        row = self.admin.execute(_TOUCHED).fetchone()
        return int(row[0]) if row and row[0] is not None else 0

    def _others(self) -> int:
        row = self.admin.execute(_OTHERS).fetchone()
        return int(row[0]) if row else 0

    def read(self, words: tuple[str, ...], *, ageing: bool) -> None:
        """A page of the list, or of what has all the words; without ageing by confidence, as every row has it."""
        with (
            mock.patch.object(reading, "AGED", reading.AGED if ageing else "confidence"),
            mock.patch.object(ageing_store, "page_floor", ageing_store.page_floor if ageing else lambda *_, **__: None),
            self.database.transaction(KEY.tenant) as tx,
        ):
            reading.list_beliefs(tx, self.slice_id, BeliefFilter(words), ageing=Ageing(), now=NOW, limit=PAGE)

    def compared(self, words: tuple[str, ...]) -> tuple[float, float]:
        """Median seconds with ageing and without, in turns."""
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(REPEATS):
            for ageing in (False, True):
                times[ageing].append(timed(lambda ageing=ageing: self.read(words, ageing=ageing)))  # type: ignore[misc]
        return median(times[True]), median(times[False])

    def close(self) -> None:
        self.database.close()
        self.queue.close()
        self.admin.close()


def timed(call: Callable[[], Any]) -> float:
    """Seconds that a call takes."""
    began = perf_counter()
    call()
    return perf_counter() - began


def measure(bench: Bench) -> int:
    """Measure everything and write the report."""
    listed, listed_without = bench.compared(())
    searched, searched_without = bench.compared(("river", "station", "level", "17"))
    counts: dict[str, int] = {}
    passed = timed(lambda: counts.update(bench.run_pass()))
    before = bench.touched()
    again_due = timed(bench.run_pass)
    second: dict[str, int] = {}
    again = timed(lambda: second.update(bench.run_pass(forced=True)))
    touched = bench.touched() - before
    rewritten = timed(bench.rewrite)
    figures = {
        "pass": Figure.of(passed, "s", None),
        "pass, a thousand due": Figure.of(1000 * passed / counts["beliefs_archived"], "s", None),
        "rewriting every row": Figure.of(rewritten, "s", None),
        "pass / rewriting": Figure.of(passed / rewritten, "x", ("<=", 1 / 20) if bench.rows >= LARGE else None),
        "beliefs archived": Figure.of(counts["beliefs_archived"], "beliefs", (">=", bench.rows / 100)),
        "relationships archived": Figure.of(counts["relationships_archived"], "relationships", None),
        "second pass, not due": Figure.of(again_due, "s", None),
        "second pass, forced": Figure.of(again, "s", None),
        "rows that second passes touch": Figure.of(touched, "rows", ("<=", 0)),
        "list page": Figure.of(listed * 1000, "ms", None),
        "list page / without ageing": Figure.of(listed / listed_without, "x", ("<=", 1.1)),
        "top-50 search": Figure.of(searched * 1000, "ms", None),
        "top-50 search / without ageing": Figure.of(searched / searched_without, "x", ("<=", 1.1)),
    }
    details = {"beliefs": bench.rows, "relationships": 2 * bench.rows, "batches": counts["batches"]}
    return write("decay", figures, details=details)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many beliefs")
    rows = parser.parse_args(arguments).rows
    with benchmark_address(durable=False) as (url, folder):
        bench = Bench(url, folder, rows)
        try:
            return measure(bench)
        finally:
            bench.close()


if __name__ == "__main__":
    sys.exit(main())
