"""The list of what is still to be examined is what comparing all beliefs finds, whatever was done to them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.beliefs.persons.service import Person
from dreaming.beliefs.service import withdraw_notes
from dreaming.erasure.service import Eraser
from dreaming.errors import InvalidInput, NotFound
from dreaming.identifiers import uuid7
from dreaming.local.queue import LocalQueue
from dreaming.models.scripted import ScriptedChatModel
from dreaming.notes.records import IncomingNote, Trust
from dreaming.passes.contradictions.examined import store
from dreaming.passes.contradictions.service import Choice
from dreaming.passes.decay.run import Decay
from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, Deadline
from dreaming.settings.resolution import resolve
from dreaming.settings.service import change_setting
from tests.database.contradictions.worlds import Examined, judge, told
from tests.waiting import wait_until
from tests.world import KEY, claim

Admin = psycopg.Connection[TupleRow]

TEXTS = (
    "Lena works at the {place}.",
    "Lena now works at the {place}.",
    "Bob works at the {place}.",
    "Robert works at the {place}.",
    "Robert, whom everyone calls Bob, is tall.",
    "My cousin Jordan is {number} years old.",
    "The country Jordan is {number} years old.",
    "As of {number} July 2026, Lena works at the {place}.",
    "Rosa is afraid of {place} spiders.",
    "Rosa has a fear of {place} spiders.",
    "Lena left the {place}.",
    "The fair is on {number} March.",
)
PLACES = ("bakery", "mill", "harbour")

_BRUTE_FORCE = """
select b.belief_id from beliefs b left join examined_beliefs e using (belief_id)
where e.row_version is distinct from b.xmin::text order by 1
"""


def listed(admin: Admin) -> list[Any]:
    return admin.execute("select belief_id from unexamined_beliefs order by 1").fetchall()


def assert_complete(admin: Admin, after: str) -> None:
    assert listed(admin) == admin.execute(_BRUTE_FORCE).fetchall(), after


class History:
    """Operations on one slice, each of its own kind, drawn by a seeded generator."""

    def __init__(self, examined: Examined, folder: Path, seed: int) -> None:
        self.examined, self.folder = examined, folder
        self.random = random.Random(seed)
        self.told: list[IncomingNote] = []
        self.operations: tuple[Callable[[], None], ...] = (
            *(self.tell, self.tell, self.tell, self.examine, self.examine),
            *(self.edit, self.withdraw, self.erase, self.confirm, self.archive, self.restore, self.warp),
            *(self.age, self.decay, self.resolve, self.unmerge, self.split),
        )

    def text(self) -> str:
        pattern = self.random.choice(TEXTS)
        return pattern.format(place=self.random.choice(PLACES), number=self.random.randint(1, 28))

    def tell(self) -> None:
        day = f"2026-0{self.random.randint(1, 5)}-1{self.random.randint(0, 9)}"
        trust = self.random.choice((Trust.TRUSTED, Trust.TRUSTED, Trust.UNTRUSTED))
        self.told.append(told(self.text(), day, name=f"note-{len(self.told)}", trust=trust))
        self.examined.tell(self.told[-1], examine=False)

    def edit(self) -> None:
        if self.told:
            place = self.random.randrange(len(self.told))
            self.told[place] = self.told[place].model_copy(update={"text": self.text()})
            self.examined.tell(self.told[place], examine=False)

    def examine(self) -> None:
        self.examined.extra = {"DREAMING_CONTRADICTION_BATCH": self.random.choice("129")}
        self.examined.judge = self.random.choice((None, judge(self.random.choice(("duplicate", "coexisting")))))
        self.examined.examine()

    def withdraw(self) -> None:
        if self.told:
            name = self.random.choice(self.told).external_id
            world = self.examined.world
            withdraw_notes(world.database, KEY, "test", [name], settings=resolve({}, {}), now=world.now, new_id=uuid7)

    def erase(self) -> None:
        notes = self.examined.world.rows("select note_id from notes order by note_id")
        if len(notes) > 4:
            world = self.examined.world
            eraser = Eraser(
                world.database, environment=world.environment, actor="boss", clock=world.clock, new_id=uuid7
            )
            eraser.notes(KEY.tenant, [self.random.choice(notes)[0]])

    def _belief(self) -> UUID | None:
        rows = self.examined.world.rows("select belief_id from beliefs where sources > 0 order by belief_id")
        return self.random.choice(rows)[0] if rows else None

    def _as_person(self, act: str) -> None:
        world = self.examined.world
        belief = self._belief()
        if belief is not None:
            person = Person(world.database, KEY.tenant, "mia", world.environment)
            getattr(person, act)(belief, now=world.now, new_id=uuid7)

    def confirm(self) -> None:
        self._as_person("confirm")

    def archive(self) -> None:
        self._as_person("archive")

    def restore(self) -> None:
        self._as_person("restore")

    def warp(self) -> None:
        self.examined.world.now += timedelta(days=self.random.choice((1, 30)))

    def age(self) -> None:
        with self.examined.world.transaction() as tx:
            change_setting(
                tx, KEY.org_id, "slow_decay_days", self.random.choice((20, 200)), actor="t", now=self.examined.world.now
            )

    def decay(self) -> None:
        world = self.examined.world
        queue = LocalQueue(self.folder / "decay.sqlite", "decay", clock=world.clock)
        work = Decay(world.database, Deaf(), world.clock)
        engine = Engine(work, world.database, queue, world.environment, world.clock, uuid7)
        engine.tick()
        while (received := queue.receive(holder="t", visibility_timeout=900)) is not None:
            message = BatchMessage.model_validate_json(received.body)
            engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
            queue.delete(received.receipt)
        queue.close()

    def resolve(self) -> None:
        left, right = self._belief(), self._belief()
        if left is not None and right is not None:
            self.examined.resolver().resolve(left, right, self.random.choice(list(Choice)))

    def unmerge(self) -> None:
        rows = self.examined.world.rows("select kept_belief_id from merges where undone_at is null order by place")
        if rows:
            self.examined.resolver().unmerge(rows[-1][0])

    def split(self) -> None:
        rows = self.examined.world.rows(
            "select belief_id, source_id from sources where ended_at is null order by belief_id, source_id"
        )
        if rows:
            self.examined.resolver().split(*self.random.choice(rows))


class Deaf:
    """A sink that takes all events."""

    def send(self, events: Any) -> list[int]:
        return [event.event_id for event in events]


@pytest.mark.parametrize("seed", [1, 2])
def test_after_any_history_the_list_is_what_comparing_all_finds(
    examined: Examined, admin: Admin, tmp_path: Path, seed: int
) -> None:
    def slowly(request: Any) -> list[dict[str, Any]]:
        return [claim(one.text.strip(), note=one.label, decay_class="slow_decay") for one in request.passages]

    examined.world.model = ScriptedChatModel(slowly)
    history = History(examined, tmp_path, seed)
    history.tell()
    done = set()
    for _ in range(60):
        operation = history.random.choice(history.operations)
        with suppress(InvalidInput, NotFound):  # not possible with what was drawn
            operation()
            done.add(operation.__name__)
        assert_complete(admin, operation.__name__)
    assert len(done) >= 12
    examined.extra = {}
    examined.examine()
    assert listed(admin) == []
    assert admin.execute("select 1 from beliefs limit 1").fetchall() != []


def test_what_was_there_before_the_list_is_listed_when_the_pass_next_comes(examined: Examined, admin: Admin) -> None:
    examined.tell(told("Lena works at the bakery.", "2026-01-10"))
    examined.tell(told("Lena works at the mill.", "2026-02-10"), examine=False)
    admin.execute("delete from unexamined_beliefs")
    admin.execute("update belief_lock set lists_unexamined = false")
    examined.examine()
    assert listed(admin) == []
    assert examined.standing() == {"Lena works at the bakery.": "superseded", "Lena works at the mill.": "current"}


def test_a_copy_of_the_database_whose_rows_have_other_versions_is_no_trouble(examined: Examined, admin: Admin) -> None:
    examined.tell(told("Lena works at the bakery.", "2026-01-10"))
    examined.tell(told("Lena works at the mill.", "2026-02-10"), examine=False)
    with admin.transaction():
        admin.execute("set local session_replication_role = replica")
        admin.execute("update beliefs set updated_at = updated_at")
    (waiting,) = listed(admin)
    assert waiting == (examined.belief("Lena works at the mill."),)
    outcomes = examined.examine()
    assert len(outcomes) == 1
    assert listed(admin) == []
    assert examined.standing() == {"Lena works at the bakery.": "superseded", "Lena works at the mill.": "current"}


def test_one_that_changes_while_it_is_marked_stays_listed(examined: Examined, admin: Admin, database_url: str) -> None:
    examined.tell(told("Lena works at the bakery.", "2026-01-10"), examine=False)
    slice_id = examined.world.slice().slice_id
    belief = examined.belief("Lena works at the bakery.")
    options = "-c search_path=dreaming,public"
    with (
        psycopg.connect(database_url, options=options) as writer,
        psycopg.connect(database_url, options=options) as one,
    ):
        writer.execute("update beliefs set updated_at = now() where belief_id = %s", (belief,))

        def mark() -> None:
            store.mark_examined(one, slice_id, [(belief, "f", None, None, "")], now=examined.world.now)
            one.commit()

        marking = threading.Thread(target=mark)
        marking.start()
        wait_until(
            lambda: admin.execute("select from pg_locks where not granted").rowcount, "the mark waits", within=30
        )
        writer.commit()
        marking.join()
    assert listed(admin) == [(belief,)]


def test_a_mark_by_code_that_knows_no_list_takes_the_belief_off_it(examined: Examined, admin: Admin) -> None:
    examined.tell(told("Lena works at the bakery.", "2026-01-10"), examine=False)
    insert = """
        insert into examined_beliefs (belief_id, slice_id, fingerprint, row_version, examined_at)
        select belief_id, slice_id, 'f', xmin::text, now() from beliefs
    """
    admin.execute(insert)
    assert listed(admin) == []
    admin.execute("update examined_beliefs set row_version = ''")
    assert len(listed(admin)) == 1
    admin.execute(
        "update examined_beliefs e set row_version = b.xmin::text from beliefs b where b.belief_id = e.belief_id"
    )
    assert listed(admin) == []
    admin.execute("delete from examined_beliefs")
    assert len(listed(admin)) == 1
    admin.execute("delete from slices")
    assert listed(admin) == []
