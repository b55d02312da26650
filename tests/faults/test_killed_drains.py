"""Processes killed at random moments of a drain: the end is that of an undisturbed one, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from threading import Event
from time import monotonic
from typing import Any

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.notes.records import IncomingNote, Scope, SliceKey
from tests.architecture.modules import ROOT
from tests.faults.test_packing import facts
from tests.waiting import wait_until
from tests.world import World, note, open_world

KILLS = 30
NOTES = 100
"""In each of the five slices."""

SETTINGS = {
    "DREAMING_ENABLED": "true",
    "DREAMING_PACKING": "false",
    "DREAMING_MODEL_CONCURRENCY": "16",
    "DREAMING_BATCH_NOTES": "50",
}

SAVED = """
    create table saved_answers (note_id uuid, saved_at timestamptz);
    create function tell_saved() returns trigger language plpgsql security definer as $$
    begin
        insert into dreaming.saved_answers values (new.note_id, clock_timestamp());
        return null;
    end
    $$;
    create trigger tell_saved after insert on extractions for each row execute function tell_saved();
"""

STATE = {
    "beliefs": """
        select s.scope, s.owner_user_id, b.statement, b.kind, b.statement_hash, b.confidence, b.confirmed_at,
               b.first_seen_at, b.importance, b.decay_class, b.fades_at, b.subject, b.attribute, b.value,
               b.multi_valued, b.valid_from, b.valid_until, b.trust, b.provenance, b.sources, b.origins,
               b.archived_at, b.archive_reason
        from beliefs b join slices s using (slice_id) where s.org_id = %s order by 1, 2, 3, 4, 5
    """,
    "sources": """
        select s.scope, s.owner_user_id, n.external_id, b.statement, f.note_version, f.sequence, f.origin, f.trust,
               f.occurred_at, f.statement, f.confidence, f.kind, f.importance, f.decay_class, f.quote, f.quote_start,
               f.quote_end, f.model, f.prompt_version, f.ended_at, f.ended_reason
        from sources f join slices s using (slice_id) join beliefs b using (belief_id) join notes n using (note_id)
        where s.org_id = %s order by 1, 2, 3, 4, 10
    """,
    "counters": """
        select s.scope, s.owner_user_id, to_jsonb(c) - 'slice_id'
        from slice_counters c join slices s using (slice_id) where s.org_id = %s order by 1, 2
    """,
    "cursors": """
        select s.scope, s.owner_user_id, c.position, c.last_occurred_at, c.held_reason, c.run_id
        from dream_cursor c join slices s using (slice_id)
        where s.org_id = %s and c.pass = 'consolidation' order by 1, 2
    """,
    "left behind": """
        select 'retired' from retired_notes join slices s using (slice_id) where s.org_id = %s
        union all select 'answer' from extractions join slices s using (slice_id) where s.org_id = %s
        union all select 'attempt' from note_attempts join slices s using (slice_id) where s.org_id = %s
    """,
}


def slices(org: str) -> list[SliceKey]:
    return [SliceKey(org), *(SliceKey(org, Scope.PRIVATE, f"owner-{number}") for number in range(4))]


def notes(place: int) -> list[IncomingNote]:
    """One slice's notes: new facts, facts told again, two at once, and none; each text is of one note only."""
    texts = facts(5 * NOTES)[place * NOTES :]
    told = [texts[at // 2] if at % 5 == 3 else f"{texts[at]}\n{texts[at - 1]}" for at in range(NOTES)]
    said = [f"{text}\n" if at % 11 else "" for at, text in enumerate(told)]
    return [note(f"{place}-{at}", f"{text}{place}-{at}", origin=f"o{at}") for at, text in enumerate(said)]


def state(admin: psycopg.Connection[TupleRow], org: str) -> dict[str, list[TupleRow]]:
    """What the drain of an organization came to, without ids and without the time of the day."""
    return {name: admin.execute(query, [org] * query.count("%s")).fetchall() for name, query in STATE.items()}


@contextmanager
def nursery(home: Path, calls: Path, database_url: str) -> Iterator[subprocess.Popen[str]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DREAMING_", "POWERTOOLS_"))}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.killed_drains", str(home), str(calls)],
        cwd=ROOT,
        env={**kept, **SETTINGS, "DATABASE_URL": database_url, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def start(process: subprocess.Popen[str], minutes: int = 0, *, ready: bool = True) -> int:
    """Have a worker started, whose clock is `minutes` ahead, and wait until it is `ready`; return its process id."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{minutes}\n")
    process.stdin.flush()
    lines = (line.split() for line in iter(process.stdout.readline, ""))
    worker = next(line for line in lines if len(line) == 1)[0]  # what earlier ones said late comes before it
    if ready:
        said = next(lines)
        while worker not in said:
            said = next(lines)
        assert said == [worker, "ready"]
    return int(worker)


def is_gone(worker: int) -> bool:
    try:
        os.kill(worker, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
def test_thirty_kills_of_a_drain_change_nothing_of_its_end(
    database: Database, database_url: str, admin: psycopg.Connection[TupleRow], tmp_path: Path
) -> None:
    calm = open_world(database, tmp_path)
    calm.environment |= SETTINGS
    calm.enrol("calm")
    for place, key in enumerate(slices("calm")):
        calm.ingest(*notes(place), key=key)
    calm.drain()

    for place, key in enumerate(slices("killed")):
        calm.ingest(*notes(place), key=key)
    calm.enrol("killed")
    admin.execute(SAVED)
    chance = Random(20260601)
    calls = tmp_path / "calls.jsonl"
    minutes = 0
    with nursery(tmp_path / "home", calls, database_url) as process:
        worker = start(process)
        began = monotonic()
        wait_until(lambda: calls.exists() and calls.stat().st_size, "the first worker calls the model", within=60)
        longest = 0.8 + monotonic() - began
        for kill in range(KILLS):
            assert not is_gone(worker), f"the drain was complete before kill {kill + 1}"
            os.kill(worker, signal.SIGKILL)
            wait_until(partial(is_gone, worker), "the killed worker is gone", within=30)
            # A tick killed between the start of a run and its message is made good when the run has been silent.
            minutes += 30 * (chance.random() < 0.3)
            worker = start(process, minutes, ready=chance.random() < 0.8)
            Event().wait(chance.uniform(0.0, longest))
        wait_until(partial(is_gone, worker), "the worker that lives has done what it can", within=120)
        last = start(process, minutes + 30)
        wait_until(partial(is_gone, last), "the last worker has drained all", within=120)

    undisturbed, disturbed = state(admin, "calm"), state(admin, "killed")
    assert len(undisturbed["sources"]) > 5 * NOTES
    assert undisturbed["left behind"] == []
    for name in STATE:
        assert disturbed[name] == undisturbed[name], name
    _check_calls(admin, calls)
    for key in slices("killed"):
        calm.check(key)


def _check_calls(admin: psycopg.Connection[TupleRow], calls: Path) -> None:
    """No note was asked about once its answer was saved, and every call was booked before it was made."""
    asked: dict[str, float] = {}
    lines = [json.loads(line) for line in calls.read_text("utf-8").splitlines()]
    for line in lines:
        asked.update(dict.fromkeys(line["notes"], line["at"]))
    saved: dict[str, float] = dict(
        admin.execute(
            "select n.text, extract(epoch from min(a.saved_at))::float8 "
            "from saved_answers a join notes n using (note_id) group by 1"
        ).fetchall()
    )
    assert saved.keys() == asked.keys()
    assert len(saved) == 5 * NOTES
    assert [text for text, at in saved.items() if asked[text] > at] == []
    assert len(lines) > 5 * NOTES  # what was on its way at a kill was asked again
    [(booked,)] = admin.execute("select sum(calls)::int from usage where org_id = 'killed'").fetchall()
    [(recorded,)] = admin.execute(
        "select sum(model_calls)::int from dream_runs join slices using (slice_id) where org_id = 'killed'"
    ).fetchall()
    assert booked >= len(lines)
    assert recorded == booked


def test_a_call_is_counted_before_it_is_made(database: Database, tmp_path: Path) -> None:
    seen: list[tuple[int, bool]] = []

    def script(request: Any) -> Any:
        query = "select calls, in_flight is not null from note_attempts join notes using (note_id) where text = %s"
        seen.extend(row for passage in request.passages for row in world.rows(query, [passage.text]))
        return []

    world: World = open_world(database, tmp_path, script)
    world.environment["DREAMING_PACKING"] = "true"
    world.ingest(*(note(f"n{at}", text) for at, text in enumerate(facts(5))))
    world.drain()
    assert seen == [(1, True)] * 5
