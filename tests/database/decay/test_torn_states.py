"""A pass that dies at any statement leaves all of its effect or none, and no event without its effect."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dreaming.database import Database
from dreaming.passes.outbox.records import Event
from dreaming.passes.records import Disposition
from tests.ageing_world import AgeingWorld, Bus, open_ageing_world
from tests.databases import at_database, created_database

FAST: dict[str, Any] = {"confidence": 1.0, "decay_class": "fast_decay"}
TABLES = ("beliefs", "relationships", "belief_history", "slice_counters", "due_times", "outbox", "belief_lock")


pytestmark = pytest.mark.slow


class Killed(BaseException):
    """The process dies here."""


@contextmanager
def dying_at(statement: int, *, after: bool) -> Iterator[list[int]]:
    """Raise before (or after) the statement of that number, counted over all connections; tells how many there were."""
    counted = [0]
    original = psycopg.Cursor.execute

    def execute(self: Any, *arguments: Any, **options: Any) -> Any:
        counted[0] += 1
        if counted[0] == statement and not after:
            raise Killed
        result = original(self, *arguments, **options)
        if counted[0] == statement and after:
            raise Killed
        return result

    psycopg.Cursor.execute = execute  # type: ignore[method-assign]
    try:
        yield counted
    finally:
        psycopg.Cursor.execute = original  # type: ignore[method-assign]


def planted(database: Database, folder: Path) -> AgeingWorld:
    """A slice in which a pass on day 95 announces, archives beliefs and edges, and holds one back."""
    ageing = open_ageing_world(database, folder)
    works: dict[str, Any] = {"relations": [{"type": "works_at", "target": "Orbit"}]}
    ageing.say("Ines works at Orbit", "Tariq works at Orbit", **FAST, **works)
    ageing.say("Lena sings in the choir", **FAST, importance="critical")
    ageing.say("Noor rides a red bicycle", decay_class="permanent")
    ageing.say("Noor rides a red bicycle", **FAST, relations=[{"type": "rides", "target": "red bicycle"}])
    return ageing.at(95)


def state(ageing: AgeingWorld) -> list[list[tuple[Any, ...]]]:
    return [sorted(ageing.rows(f"select {table}::text from {table}")) for table in TABLES]


@pytest.fixture
def planted_database(server_url: str, template_database: str, tmp_path: Path) -> Iterator[str]:
    """The name of a database with the planted slice, to copy others from."""
    with created_database(server_url, template=template_database) as name:
        database = Database(at_database(server_url, name))
        planted(database, tmp_path)
        database.close()
        yield name


STEP = 1 if "DREAMING_FAULT_STRIDE" in os.environ else 2
"""Of so many statements one is the last, and all where all points of failure are asked for."""


# As a killed process does, it may leave a connection open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("recomputes", [False, True], ids=["archiving", "recomputing"])
def test_killed_at_any_statement_it_leaves_no_torn_state(
    server_url: str, planted_database: str, tmp_path: Path, after: bool, recomputes: bool
) -> None:
    killed = 0
    for statement in count(1, STEP):
        folder = tmp_path / str(statement)
        folder.mkdir()
        with created_database(server_url, template=planted_database) as name:
            database = Database(at_database(server_url, name))
            try:
                ageing = open_ageing_world(database, folder).at(95)
                if recomputes:
                    ageing.set("fast_decay_days", 20.0)
                died = die_once(ageing, statement, after=after)
                assert_whole(ageing)
                finish(ageing)
            finally:
                database.close()
        if not died:
            break
        killed += 1
    assert killed * STEP >= 15


def die_once(ageing: AgeingWorld, statement: int, *, after: bool) -> bool:
    """Run one batch that dies at a statement; say whether it came that far."""
    [message] = ageing.messages()
    before = state(ageing)
    with dying_at(statement, after=after):
        try:
            ageing.batch(message)
        except Killed:
            died = True
        else:
            died = False
    unsent = ageing.rows("select count(*) from outbox")[0][0]
    changed = state(ageing) != before
    if died and not changed:
        assert (unsent, ageing.bus.events) == (0, [])
    return died


def assert_whole(ageing: AgeingWorld) -> None:
    """No archived belief with a live edge, true counters, and for each effect its event, sent or waiting."""
    ageing.check()
    archived = {str(row[0]) for row in ageing.rows("select belief_id from beliefs where archived_at is not null")}
    warned = {str(row[0]) for row in ageing.rows("select belief_id from beliefs where warned_at is not null")}
    waiting = ageing.rows("select event, detail ->> 'belief_id' from outbox")
    for name, beliefs in (("belief.archived", archived), ("belief.fading", warned)):
        told = set(ageing.bus.told(name)) | {row[1] for row in waiting if row[0] == name}
        assert told == beliefs


def finish(ageing: AgeingWorld) -> None:
    """The queue's redelivery and the next tick bring the slice to where an undisturbed pass brings it."""
    ageing.now = ageing.now.replace(hour=13)
    ageing.run_pass()
    assert ageing.live() == ["Lena sings in the choir", "Noor rides a red bicycle", "Orbit", "red bicycle"]
    assert ageing.edges() == []
    assert_whole(ageing)
    assert ageing.rows("select * from outbox") == []
    assert len(ageing.bus.told("belief.archived")) >= 2


class DyingBus(Bus):
    """Takes what it is sent, and the process dies before it hears of that."""

    def __init__(self, bus: Bus) -> None:
        super().__init__()
        self._bus = bus

    def send(self, events: Sequence[Event]) -> Sequence[int]:
        self._bus.send(events)
        raise Killed


def test_an_event_is_sent_again_when_the_process_died_after_sending(database: Database, tmp_path: Path) -> None:
    ageing = planted(database, tmp_path)
    bus = ageing.bus
    [message] = ageing.messages()
    ageing.bus = DyingBus(bus)
    with pytest.raises(Killed):
        ageing.batch(message)
    ageing.bus = bus
    first = list(bus.events)
    assert ageing.batch(message).disposition is Disposition.STALE
    ageing.now += timedelta(minutes=30)
    ageing.run_pass()
    assert first
    assert bus.events == first + first
    assert ageing.rows("select * from outbox") == []


def test_a_failing_bus_fails_no_pass_and_loses_no_event(database: Database, tmp_path: Path) -> None:
    ageing = planted(database, tmp_path)
    ageing.bus.fails = True
    [report] = ageing.run_pass()
    assert report.disposition is Disposition.DONE
    archived = ageing.archived()
    assert len(archived) == 2
    ageing.bus.fails, ageing.bus.takes = False, 1
    for _ in range(3):
        ageing.now += timedelta(hours=1)
        ageing.run_pass()
    assert sorted(ageing.bus.told("belief.archived")) == sorted(str(ageing.belief(one)) for one in archived)
    assert len(ageing.bus.events) == 3
    assert ageing.messages() == []
    assert ageing.archived() == archived
