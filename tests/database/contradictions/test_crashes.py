"""A crash at any statement, the same message twice, and two at once leave one whole effect or none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import Cursor
from psycopg.pq import TransactionStatus

from dreaming.passes.contradictions import run as pass_run
from dreaming.passes.contradictions import settling
from dreaming.passes.records import BatchMessage, Deadline, Disposition
from dreaming.passes.store import LeaseBusy
from tests.database.contradictions.worlds import Examined, told

STORY = (
    told("Acme migrated its datastore to Postgres.", "2026-01-01"),
    told("Acme decided to use Postgres.", "2026-01-02"),
    told("Lena works at the bakery.", "2026-01-03"),
    told("Lena works at the mill.", "2026-02-03"),
    told("The fair is on 3 March.", "2026-01-04", name="a"),
    told("The fair is on 4 March.", "2026-01-04", name="b"),
)


class Crash(Exception):
    """The process is gone."""


@contextmanager
def crash_at(statement: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Let the process die before the given statement of the pass's own transactions."""
    count = [0]
    real = Cursor.execute

    def execute(self: Any, *args: Any, **options: Any) -> Any:
        # Outside of a transaction the pass has no effect: that only opens a connection, or tries one.
        if self.connection.info.transaction_status is not TransactionStatus.IDLE:
            count[0] += 1
            if count[0] == statement:
                raise Crash
        return real(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", execute)
        yield count


def state(examined: Examined) -> tuple[Any, ...]:
    return (
        frozenset(examined.standing().items()),
        frozenset(examined.intervals()),
        examined.world.rows("select count(*) from merges"),
        examined.world.rows("select relation, count(*) from adjudications group by 1 order by 1"),
    )


def test_a_crash_at_any_statement_leaves_all_or_nothing(examined: Examined, monkeypatch: pytest.MonkeyPatch) -> None:
    examined.tell(*STORY, examine=False)
    before = state(examined)
    torn = []
    statement = 1
    engine = examined.engine()
    message = engine.tick(examined.world.slice().slice_id).started[0]
    while True:
        try:
            with crash_at(statement, monkeypatch):
                report = engine.batch(message, holder=f"h{statement}", deadline=Deadline(lambda: 180.0))
            assert report.disposition is Disposition.DONE
            break
        except Crash:
            engine.release(message, holder_prefix="h")
            if state(examined) != before:
                torn.append(statement)
        statement += 3
    assert torn == []
    assert statement > 60
    examined.examine()
    examined.world.check()
    assert examined.standing()["Lena works at the bakery."] == "superseded"
    assert len(examined.standing()) == 5


def test_the_same_message_twice_has_one_effect(examined: Examined) -> None:
    examined.tell(*STORY, examine=False)
    engine = examined.engine()
    message: BatchMessage = engine.tick(examined.world.slice().slice_id).started[0]
    first = engine.batch(message, holder="one", deadline=Deadline(lambda: 180.0))
    after = state(examined)
    second = engine.batch(message, holder="two", deadline=Deadline(lambda: 180.0))
    assert (first.disposition, second.disposition) == (Disposition.DONE, Disposition.STALE)
    assert state(examined) == after


def test_two_at_once_do_the_work_once(examined: Examined, monkeypatch: pytest.MonkeyPatch) -> None:
    examined.tell(*STORY, examine=False)
    engine = examined.engine()
    message = engine.tick(examined.world.slice().slice_id).started[0]
    inside, go_on = threading.Event(), threading.Event()
    real = settling.settle

    def slow(*args: Any, **options: Any) -> Any:
        inside.set()
        assert go_on.wait(30)
        return real(*args, **options)

    monkeypatch.setattr(pass_run, "settle", slow)
    worker = threading.Thread(
        target=engine.batch, args=(message,), kwargs={"holder": "one", "deadline": Deadline(lambda: 180.0)}
    )
    worker.start()
    assert inside.wait(30)
    with pytest.raises(LeaseBusy):
        examined.engine().batch(message, holder="two", deadline=Deadline(lambda: 180.0))
    go_on.set()
    worker.join(30)
    assert examined.world.rows("select count(*) from merges") == [(1,)]
    examined.world.check()
