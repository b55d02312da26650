"""Archived beliefs whose last live note is erased: nothing brings back what nobody says any more."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from dreaming.beliefs.persons.service import Person
from dreaming.beliefs.service import withdraw_notes
from dreaming.erasure.service import Eraser
from dreaming.errors import InvalidInput, NotFound
from dreaming.identifiers import uuid7
from dreaming.local.commands.doctor import State
from dreaming.local.commands.doctor import _counters as counted_anew
from dreaming.passes.contradictions.service import Choice
from dreaming.settings.resolution import resolve
from tests.database.contradictions.worlds import Examined, told
from tests.waiting import wait_until
from tests.world import KEY

Admin = psycopg.Connection[tuple[Any, ...]]

BAKERY, MILL = "Lena works at the bakery.", "Lena works at the mill."
A, B = told(BAKERY, "2026-01-10", name="a"), told(BAKERY, "2026-01-11", name="b")


def person(examined: Examined) -> Person:
    return Person(examined.world.database, KEY.tenant, "mia", examined.world.environment)


def erase(examined: Examined, name: str) -> None:
    world = examined.world
    eraser = Eraser(world.database, environment=world.environment, actor="boss", clock=world.clock, new_id=uuid7)
    eraser.notes(KEY.tenant, [world.rows("select note_id from notes where external_id = %s", [name])[0][0]])


def archive(examined: Examined, why: str) -> None:
    """Tell of the bakery twice and get that out of sight, as superseded, as rejected or by a person."""
    examined.tell(A, B)
    if why == "person":
        person(examined).archive(examined.belief(BAKERY), now=examined.world.now, new_id=uuid7)
        return
    examined.tell(told(MILL, "2026-03-10" if why == "superseded" else "2026-01-10", name="mill"))
    if why == "rejected":
        examined.resolver().resolve(examined.belief(MILL), examined.belief(BAKERY), Choice.LEFT)


def end(examined: Examined, how: str) -> None:
    """Let the second note not say it any more."""
    world = examined.world
    if how == "edit":
        examined.tell(B.model_copy(update={"text": "The fair is on 3 March."}))
    else:
        withdraw_notes(
            world.database, KEY, "test", ["b"], settings=resolve({}, {}), now=world.now, new_id=uuid7
        )  # fmt: skip


def counters(examined: Examined) -> list[tuple[State, str]]:
    """What `dream doctor` says of the counters."""
    return [(one.state, one.found) for one in counted_anew(examined.world.database) if one.name == "counters"]


def of_bakery(admin: Admin) -> list[tuple[Any, ...]]:
    return admin.execute(
        "select archive_reason, sources, origins from beliefs where statement = %s", (BAKERY,)
    ).fetchall()


@pytest.mark.parametrize(
    ("why", "how"),
    [("superseded", "edit"), ("superseded", "withdraw"), ("rejected", "edit"), ("rejected", "withdraw"),
     ("person", "edit"), ("person", "withdraw")],
)  # fmt: skip
def test_an_archived_belief_that_loses_its_last_note_counts_none(
    examined: Examined, admin: Admin, why: str, how: str
) -> None:
    archive(examined, why)
    end(examined, how)
    erase(examined, "a")
    assert of_bakery(admin) == [(why, 0, 0)]
    examined.world.check()
    examined.examine()
    if why != "person":
        erase(examined, "mill")
        examined.examine()
    assert of_bakery(admin) == [(why, 0, 0)]
    examined.world.check()


def test_a_row_with_a_wrong_count_is_shown_and_mended_and_never_restored(examined: Examined, admin: Admin) -> None:
    """Databases may hold such rows from before; the pass must come through."""
    archive(examined, "superseded")
    end(examined, "withdraw")
    erase(examined, "a")
    admin.execute("update beliefs set sources = 1, origins = 1 where statement = %s", (BAKERY,))
    assert counters(examined) == [(State.PROBLEM, "acme / org: 1 belief with a wrong count of sources")]
    erase(examined, "mill")
    examined.examine()
    assert of_bakery(admin) == [("superseded", 0, 0)]
    assert [state for state, _ in counters(examined)] == [State.OK]
    examined.world.check()


def test_nobody_restores_a_belief_by_a_wrong_count(examined: Examined, admin: Admin) -> None:
    archive(examined, "person")
    belief_id = examined.belief(BAKERY)
    for name in ("a", "b"):
        withdraw_notes(
            examined.world.database, KEY, "test", [name], settings=resolve({}, {}), now=examined.world.now, new_id=uuid7
        )
    admin.execute("update beliefs set sources = 1, origins = 1 where statement = %s", (BAKERY,))
    with pytest.raises(InvalidInput, match="archived as person"):
        person(examined).restore(belief_id, now=examined.world.now, new_id=uuid7)


def test_a_persons_act_that_waited_for_an_erasure_finds_nothing(
    examined: Examined, admin: Admin, database_url: str
) -> None:
    examined.tell(A)
    belief_id, raised = examined.belief(BAKERY), []

    def act() -> None:
        try:
            person(examined).confirm(belief_id, now=examined.world.now, new_id=uuid7)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test wants to see it
            raised.append(type(error))

    with psycopg.connect(database_url, options="-c search_path=dreaming,public") as erasing:
        erasing.execute("select from belief_lock for update")
        erasing.execute("delete from beliefs")
        acting = threading.Thread(target=act)
        acting.start()
        wait_until(
            lambda: admin.execute("select from pg_locks where not granted").rowcount > 0, "the act waits", within=20
        )
        erasing.commit()
        acting.join()
    assert raised == [NotFound]
