"""All passes over many slices, with calls that fail and a worker that is killed again and again.

The usual run takes some hundred notes. `make soak` takes 60,000 over 300 slices.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic, sleep

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.autonomy.records import IncomingAction, Outcome, Risk
from dreaming.autonomy.service import log_actions
from dreaming.database import Database
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.notes.records import IncomingNote, IngestCounts, Scope, SliceKey, Tenant
from dreaming.notes.service import ingest, retry_retired
from dreaming.passes.records import PASS_FUNCTIONS
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from dreaming.settings.service import change_consent
from tests.architecture.modules import ROOT
from tests.soak.faulty import FAILING, SPACE, told
from tests.soak.invariants import WATCH, broken, untold_events, wrong_counters
from tests.soak.texts import PHRASE, made_up, spoken
from tests.waiting import wait_until
from tests.world import World

NOTES = int(os.environ.get("DREAMING_SOAK_NOTES", "120"))
SLICES = max(6, NOTES // 200)
ORGANIZATIONS = 3
KILL_SECONDS = 4.0 if NOTES > 1_000 else 0.5
LEAST_KILLS = 3
LONGEST_SECONDS = 60.0 + NOTES / 5
"""A load that takes longer than this goes nowhere."""

FED_AT_ONCE = max(100, NOTES // 60)
FLAT = 1.25
"""By what factor the memory of a worker may grow between the first quarter of the notes and the last."""

ENVIRONMENT = {
    "DREAMING_ENABLED": "true",
    "DREAMING_CHAT_PROVIDER": "scripted",
    "DREAMING_CHAT_SCRIPT": os.devnull,
    "DREAMING_EMBEDDING_PROVIDER": "openai",
    "DREAMING_EMBEDDING_MODEL": "soak",
    "DREAMING_EMBEDDING_DIMENSION": str(SPACE[1]),
    "DREAMING_MODEL_CALLS_PER_DAY": "1000000",
    "DREAMING_EMBEDDING_CALLS_PER_DAY": "1000000",
    "DREAMING_CONVERSATION_MEMORY": "true",
    "DREAMING_CONVERSATION_IDLE_MINUTES": "0",
    "DREAMING_BATCH_NOTES": "100" if NOTES > 1_000 else "20",
}


@dataclass
class Soak:
    """The deployment under load, and what was seen of it."""

    database: Database
    admin: psycopg.Connection[TupleRow]
    folder: Path
    process: subprocess.Popen[str]
    random: Random = field(default_factory=lambda: Random(20260601))
    kills: int = 0
    memory: list[int] = field(default_factory=list)
    ingested: IngestCounts = field(default_factory=IngestCounts)

    @property
    def keys(self) -> list[SliceKey]:
        each = SLICES // ORGANIZATIONS
        return [
            SliceKey(f"org-{org}", *((Scope.PRIVATE, f"owner-{place}") if place else ()))
            for org in range(ORGANIZATIONS)
            for place in range(each)
        ]

    def start(self, *, hours: float = 0, failing: float = FAILING) -> int:
        """Have a worker started and return its process id."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{hours} {failing}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def kill(self, worker: int) -> None:
        assert _is_alive(worker), "a worker has ended by itself"
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: not _is_alive(worker), "the killed worker is gone", within=30)

    def feed(self, notes: list[IncomingNote]) -> None:
        """Bring in notes, a run of them into each slice in turn, and now and then a conversation and actions."""
        keys = self.keys
        now = datetime.now(UTC)
        for start in range(0, len(notes), 20):
            key = keys[self.random.randrange(len(keys))]
            self.ingested += ingest(
                self.database, key, notes[start : start + 20], now=now, new_id=uuid7, max_note_characters=200_000
            )
        self._talk(keys[self.random.randrange(len(keys))])
        self._act(now)

    def edit(self, notes: list[IncomingNote]) -> None:
        """Let some of the notes be edited: they come again with another text, into the slice where they are."""
        where: dict[str, int] = dict(
            self.admin.execute(
                "select external_id, slice_id from notes where external_id = any(%s)",
                [[one.external_id for one in notes]],
            ).fetchall()
        )
        slices = self.slices()
        for one in notes:
            changed = one.model_copy(update={"text": f"{one.text}\n{made_up(1, self.random)[2]}"})
            self.ingested += ingest(
                self.database, slices[where[one.external_id]], [changed],
                now=datetime.now(UTC), new_id=uuid7, max_note_characters=200_000,
            )  # fmt: skip

    def slices(self) -> dict[int, SliceKey]:
        """The slices that there are; chance may have left out some."""
        rows = self.admin.execute("select slice_id, org_id, scope, owner_user_id from slices").fetchall()
        return {row[0]: SliceKey(row[1], Scope(row[2]), row[3]) for row in rows}

    def _talk(self, key: SliceKey) -> None:
        turns = tuple(IncomingTurn(speaker="Ana", text=made_up(0, self.random)[2]) for _ in range(4))
        conversation = IncomingConversation(conversation_id=uuid7().hex, turns=turns, agent="helper")
        capturing = Capturing(self.database, ENVIRONMENT, lambda *_: None, lambda: datetime.now(UTC), lambda _: None)
        answer = capturing.capture(key.tenant, conversation, scope=key.scope)
        assert answer.captured, answer

    def _act(self, now: datetime) -> None:
        actions = [
            IncomingAction(
                agent_id="mailer", external_id=uuid7().hex, tool="mail", summary="sent a letter", risk=Risk.LOW,
                acted_at=now - timedelta(hours=1), outcome=Outcome.SUCCESS,
            )
            for _ in range(5)
        ]  # fmt: skip
        org = f"org-{self.random.randrange(ORGANIZATIONS)}"
        log_actions(self.database, org, actions, now=now, new_id=uuid7)

    def look(self, worker: int) -> None:
        """Remember how much memory a worker takes, in KiB."""
        lines = Path(f"/proc/{worker}/status").read_text("ascii").splitlines()
        self.memory.append(next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")))

    def number(self, query: str) -> int:
        row = self.admin.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])

    @property
    def done(self) -> int:
        """How many notes are behind their slice's cursor."""
        return self.number("select count(*) from notes where state <> 'waiting'")

    def is_drained(self, hours: int = 0) -> bool:
        """Tell whether there is nothing to do, nor will be so many hours from now."""
        waiting = self.number(
            """
            select count(*) from slices s left join dream_cursor c on c.slice_id = s.slice_id
              and c.pass = 'consolidation' where s.last_seq > coalesce(c.position, 0)
            """
        )
        due = self.number(f"select count(*) from due_times where due_at <= now() + interval '{hours} hours'")
        running = self.number("select count(*) from dream_cursor where run_id is not null")
        unsent = self.number("select count(*) from outbox")
        return waiting + due + running + unsent == 0


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def nursery(home: Path, folder: Path, database_url: str) -> Iterator[subprocess.Popen[str]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DREAMING_", "POWERTOOLS_"))}
    path = os.pathsep.join(filter(None, sys.path))
    with (
        (folder / "workers.log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "tests.soak.workers", str(home), str(folder)],
            cwd=ROOT,
            env={**kept, **ENVIRONMENT, "DATABASE_URL": database_url, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def soak(database: Database, database_url: str, admin: psycopg.Connection[TupleRow], tmp_path: Path) -> Iterator[Soak]:
    admin.execute(WATCH.encode())
    for org in range(ORGANIZATIONS):
        with database.transaction(Tenant(f"org-{org}")) as tx:
            for consent in ("enrolled", "model_consent", "embedding_consent"):
                change_consent(tx, f"org-{org}", consent, True, actor="test", now=datetime.now(UTC))
    with nursery(tmp_path / "home", tmp_path, database_url) as process:
        yield Soak(database, admin, tmp_path, process)


@pytest.mark.soak
@pytest.mark.slow
def test_many_slices_are_drained_whole_however_often_calls_fail_and_a_worker_is_killed(
    soak: Soak, capsys: pytest.CaptureFixture[str]
) -> None:
    began = monotonic()

    def say(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{monotonic() - began:7.0f} s  {text}")
            sys.stdout.flush()

    notes = list(spoken(NOTES, datetime.now(UTC), soak.random, corpora=NOTES > 1_000))
    steady = _load(soak, notes, say)
    _settle(soak, say)
    say(f"retired on the way: {_retry(soak)}")
    soak.kill(steady)
    for hours in (1, 24 * 1_000):  # what failed for now is tried again, and then there is much to forget
        steady = soak.start(hours=hours, failing=0)
        wait_until(partial(soak.is_drained, hours), f"all is done {hours} hours later", within=LONGEST_SECONDS)
        soak.kill(steady)
    _tell(soak, say)
    _check(soak)


def _load(soak: Soak, notes: list[IncomingNote], say: Callable[[str], None]) -> int:
    """Feed all notes while one worker lives and another is killed again and again; return the one that lives."""
    steady, mortal = soak.start(), soak.start()
    fed, quarter, since = 0, 1, monotonic()
    started = since
    while quarter <= 4 or soak.kills < LEAST_KILLS:
        assert monotonic() - started < LONGEST_SECONDS, f"{soak.done} of {NOTES} notes are done"
        if fed < NOTES and fed - soak.done < 4 * FED_AT_ONCE:
            part = notes[fed : fed + FED_AT_ONCE]
            soak.feed(part)
            soak.edit(part[:: max(1, len(part) // 3)])
            fed += len(part)
        if monotonic() - since > KILL_SECONDS * soak.random.uniform(0.3, 1.7):
            soak.kill(mortal)
            soak.kills += 1
            mortal, since = soak.start(), monotonic()
        assert _is_alive(steady), "the worker that nobody kills has ended"
        if quarter <= 4 and soak.done >= quarter * NOTES // 4:
            soak.look(steady)
            say(f"{soak.done:6} notes done, {soak.kills} kills, the worker takes {soak.memory[-1] // 1024} MiB")
            quarter += 1
        sleep(0.05)  # the rate at which to look, not a wait for something to have happened
    soak.kill(mortal)
    return steady


def _settle(soak: Soak, say: Callable[[str], None]) -> None:
    wait_until(soak.is_drained, "everything is drained", within=LONGEST_SECONDS)
    say("drained")


def _retry(soak: Soak) -> int:
    """Let what was retired by chance wait again; it is consolidated by a worker whose calls do not fail."""
    retired = soak.number("select count(*) from notes where state = 'retired'")
    for key in soak.keys:
        retry_retired(soak.database, key, None, now=datetime.now(UTC))
    return retired


def _tell(soak: Soak, say: Callable[[str], None]) -> None:
    counted = told(soak.folder / "calls")
    say(", ".join(f"{count:,} {name}" for name, count in sorted(counted.items())))
    for table in ("notes", "note_versions", "beliefs", "sources", "relationships", "belief_vectors", "conversations"):
        say(f"{soak.number(f'select count(*) from {table}'):8,} {table}")
    say(f"{soak.number('select count(*) from beliefs where archived_at is not null'):8,} beliefs archived")
    say(f"{soak.number('select count(*) from watched_events'):8,} events")
    for name, count in soak.admin.execute("select pass, count(*) from dream_runs group by 1 order by 1").fetchall():
        say(f"{count:8,} runs of {name}")
    say(f"{soak.kills:8,} kills; memory at the quarters in MiB: {[one // 1024 for one in soak.memory]}\n")


def _check(soak: Soak) -> None:
    assert broken(soak.admin) == {}
    assert untold_events(soak.admin, soak.folder / "events") == set()
    assert wrong_counters(soak.database) == []
    for name in PASS_FUNCTIONS:
        with LocalQueue(soak.folder / "home" / "queue.sqlite", name) as queue:
            counts = queue.counts()
            assert (counts.visible, counts.in_flight, counts.dead) == (0, 0, 0), name
    _check_log(soak)
    stored = soak.number("select count(*) from notes where external_id ~ '^n[0-9]+$'")
    assert soak.ingested.created == stored == NOTES
    assert soak.ingested.edited > 0
    assert soak.kills >= LEAST_KILLS
    assert soak.number("select count(*) from notes where state = 'retired'") == 0
    assert soak.number("select sum(notes_consolidated) from dream_runs") == soak.number(
        "select count(*) from watched_notes"
    )
    world = World(soak.database, None, None)  # type: ignore[arg-type]
    for key in soak.slices().values():
        world.check(key)
    for name in PASS_FUNCTIONS:
        assert soak.admin.execute("select 1 from dream_runs where pass = %s limit 1", [name]).fetchone(), name
    assert soak.number("select count(*) from beliefs where archive_reason = 'faded'") > 0
    if NOTES > 1_000:
        assert soak.memory[-1] < FLAT * soak.memory[0], soak.memory


def _check_log(soak: Soak) -> None:
    """The handlers of all passes wrote their logs, and no word of a note is in them."""
    log = (soak.folder / "home" / "handlers.log").read_text("utf-8")
    for function in PASS_FUNCTIONS.values():
        assert f'"service":"{function}"' in log, function
    assert soak.number(f"select count(*) from beliefs where statement ~ '{PHRASE}'") > 0
    assert PHRASE not in log
    assert PHRASE not in (soak.folder / "workers.log").read_text("utf-8")
