"""Each turn is in one note, whatever dies, comes twice, or runs at once."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import Cursor

from dreaming.passes.records import BatchMessage, Deadline, Disposition
from dreaming.passes.store import LeaseBusy
from dreaming.passes.synthesis import store
from tests.database.synthesis.conftest import Talking

STATE = (
    "select external_id, version, state from notes order by 1",
    "select document_id, first_turn, part, end_turn from conversation_notes order by 1, 2, 3",
    "select document_id, synthesis_due_at from conversations order by 1",
    "select pass, due_at from due_times where pass = 'synthesis'",
    "select belief_id, archived_at from beliefs order by 1",
)


class Crash(Exception):
    """The process is gone."""


@contextmanager
def crash_at(statement: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the process die before the given statement of the pass's own transactions."""
    count = [0]
    real = Cursor.execute

    def execute(self: Any, *args: Any, **options: Any) -> Any:
        if re.search(r"\b(?:from|into|update)\b", str(args[0])):
            count[0] += 1
            if count[0] == statement:
                raise Crash
        return real(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", execute)
        yield


def state(talking: Talking) -> list[Any]:
    return [talking.world.rows(query) for query in STATE]


def batch(talking: Talking, message: BatchMessage, holder: str = "one") -> Disposition:
    return talking.engine.batch(message, holder=holder, deadline=Deadline(lambda: 180.0)).disposition


@pytest.fixture
def changed(talking: Talking) -> Talking:
    """A conversation of which one note is to be made, one edited and one withdrawn, and a second one."""
    for end in (2, 4, 6):
        talking.say(*(f"Turn {number} is green." for number in range(end)))
        talking.later(minutes=10)
        talking.synthesize()
    talking.world.drain()
    talking.say("Turn 0 is green.", "Turn 1 is green.", "Turn 2 is red.", "Turn 3 is green.")
    talking.say("The boat is blue.", name="other")
    talking.later(minutes=10)
    return talking


def test_a_crash_at_any_statement_leaves_all_or_nothing(changed: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    message = changed.engine.tick().started[0]
    before = state(changed)
    statement = 1
    while True:
        try:
            with crash_at(statement, monkeypatch):
                assert batch(changed, message, f"h{statement}") is Disposition.DONE
            break
        except Crash:
            changed.engine.release(message, holder_prefix="h")
            assert state(changed) == before, statement
        statement += 1
    assert statement > 25
    assert len([row for row in changed.notes() if row[1] == "withdrawn"]) == 1
    changed.check()
    changed.world.drain()
    changed.world.check()


def test_the_same_message_twice_has_one_effect(changed: Talking) -> None:
    message = changed.engine.tick().started[0]
    assert batch(changed, message) is Disposition.DONE
    after = state(changed)
    assert batch(changed, message, "two") is Disposition.STALE
    assert state(changed) == after


def test_two_at_once_do_the_work_once(changed: Talking, monkeypatch: pytest.MonkeyPatch) -> None:
    message = changed.engine.tick().started[0]
    inside, go_on = threading.Event(), threading.Event()
    real = store.replace_made

    def slow(*args: Any) -> None:
        inside.set()
        assert go_on.wait(30)
        real(*args)

    monkeypatch.setattr(store, "replace_made", slow)
    worker = threading.Thread(target=batch, args=(changed, message))
    worker.start()
    assert inside.wait(30)
    with pytest.raises(LeaseBusy):
        batch(changed, message, "two")
    go_on.set()
    worker.join(30)
    changed.check()


def test_a_stalled_run_that_comes_back_has_no_effect(changed: Talking) -> None:
    old = changed.engine.tick().started[0]
    changed.later(hours=1)
    new = changed.engine.tick().started[0]
    assert batch(changed, new) is Disposition.DONE
    after = state(changed)
    assert batch(changed, old, "two") is Disposition.STALE
    assert state(changed) == after


@pytest.mark.parametrize("first", ["capture", "pass"])
def test_a_capture_that_races_with_the_pass_is_not_lost(
    talking: Talking, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Whoever holds the conversation first, the other waits, and its turns become a note of their own or the same."""
    talking.say("Turn 0 is green.")
    talking.later(minutes=10)
    message = talking.engine.tick().started[0]
    inside, go_on = threading.Event(), threading.Event()
    name = "replace_made" if first == "pass" else "lock_due"
    real = getattr(store, name)

    def slow(*args: Any, **options: Any) -> Any:
        inside.set()
        assert go_on.wait(30)
        return real(*args, **options)

    monkeypatch.setattr(store, name, slow)
    worker = threading.Thread(target=batch, args=(talking, message))
    worker.start()
    assert inside.wait(30)
    capture = threading.Thread(target=talking.say, args=("Turn 0 is green.", "Turn 1 is green."))
    capture.start()
    if first == "capture":
        capture.join(30)
        assert not capture.is_alive()
    go_on.set()
    worker.join(30)
    capture.join(30)
    assert not worker.is_alive()
    monkeypatch.undo()
    talking.later(minutes=10)
    talking.synthesize()
    talking.check()
    assert "\n".join(talking.texts()) == "Ana: Turn 0 is green.\nAssistant: Turn 1 is green."
    assert len(talking.texts()) == (2 if first == "pass" else 1)


def test_a_capture_of_another_conversation_while_the_pass_runs_stays_due(
    talking: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    talking.say("Turn 0 is green.")
    talking.later(minutes=10)
    message = talking.engine.tick().started[0]
    real = store.settle_due

    def late(tx: Any, slice_id: int) -> Any:
        found = real(tx, slice_id)
        thread = threading.Thread(target=talking.say, args=("The boat is blue.",), kwargs={"name": "other"})
        thread.start()
        thread.join(0.5)  # it waits for this transaction, or has ended
        threads.append(thread)
        return found

    threads: list[threading.Thread] = []
    monkeypatch.setattr(store, "settle_due", late)
    assert batch(talking, message) is Disposition.DONE
    threads[0].join(30)
    monkeypatch.undo()
    talking.later(minutes=10)
    talking.synthesize()
    assert len(talking.texts()) == 2
    talking.check()
