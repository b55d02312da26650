"""Names that a belief tells no more: the pass comes to their beliefs once again, and ends."""

from __future__ import annotations

from random import Random
from typing import Any

import psycopg
import pytest

from dreaming.beliefs.persons.service import Person
from dreaming.identifiers import uuid7
from dreaming.notes.records import Trust
from dreaming.passes.records import BatchMessage, Deadline
from tests.database.contradictions.worlds import Examined, told
from tests.world import KEY

Admin = psycopg.Connection[tuple[Any, ...]]

TELLS = "Robert, whom everyone calls Bob, is tall."
TELLERS = (TELLS, "Lena Berg, also known as Lenny, is a nurse.", "Plumbline rebranded as Truelevel.")
NAMES = ("Robert", "Bob", "Lena Berg", "Lenny", "Plumbline", "Truelevel")
PLACES = ("bakery", "mill", "harbour", "library")


def drain(examined: Examined, most: int) -> int:
    """Run the pass to its end, of at most so many batches; return how many there were."""
    engine = examined.engine()
    engine.tick(examined.world.slice().slice_id)
    batches = 0
    while (received := engine.queue.receive(holder="t", visibility_timeout=900)) is not None:  # type: ignore[attr-defined]
        assert batches < most
        message = BatchMessage.model_validate_json(received.body)
        engine.batch(message, holder=received.receipt, deadline=Deadline(lambda: 180.0))
        engine.queue.delete(received.receipt)  # type: ignore[attr-defined]
        batches += 1
    return batches


def counts(admin: Admin) -> tuple[int, int]:
    """How many beliefs are still to be examined, and how many aliases are stored that count no more."""
    row = admin.execute(
        """
        select (select count(*) from unexamined_beliefs),
            (select count(*) from aliases a join beliefs b using (belief_id)
             where b.sources = 0 or b.trust <> 'trusted' or b.archive_reason = 'person')
        """
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def archive_or_restore(examined: Examined, statement: str) -> None:
    world = examined.world
    person = Person(world.database, KEY.tenant, "mia", world.environment)
    belief_id, reason = world.rows("select belief_id, archive_reason from beliefs where statement = %s", [statement])[0]
    act = person.restore if reason == "person" else person.archive
    act(belief_id, now=world.now, new_id=uuid7)


@pytest.mark.parametrize("teller_first", [True, False])
def test_the_pass_ends_after_a_person_archives_what_tells_a_name(
    examined: Examined, admin: Admin, *, teller_first: bool
) -> None:
    examined.extra = {"DREAMING_CONTRADICTION_BATCH": "1"}
    others = [
        told(f"{('Bob', 'Robert')[one % 2]} plays tune number {one} every evening.", f"2026-02-1{one}")
        for one in range(4)
    ]
    if teller_first:
        examined.tell(told(TELLS, "2026-01-10"))
        archive_or_restore(examined, TELLS)
        examined.tell(*others, examine=False)
    else:
        examined.tell(*others)
        examined.tell(told(TELLS, "2026-01-10"))
        archive_or_restore(examined, TELLS)
        examined.tell(told("Bob plays chess every evening.", "2026-02-20"), examine=False)
    assert drain(examined, 20) > 0
    assert counts(admin) == (0, 0)


def test_an_alias_that_ends_parts_its_names_and_comes_back_with_its_belief(examined: Examined) -> None:
    """What the one name's belief had replaced of the other's is current as long as nobody tells that they are one."""
    examined.extra = {"DREAMING_CONTRADICTION_BATCH": "1"}
    older, newer = "Bob works at the bakery.", "Robert works at the mill."
    examined.tell(told(older, "2026-01-10"), told(newer, "2026-03-10"), told(TELLS, "2026-01-05"))
    assert examined.standing()[older] == "superseded"
    archive_or_restore(examined, TELLS)
    drain(examined, 20)
    assert examined.standing() == {older: "current", newer: "current", TELLS: "person"}
    archive_or_restore(examined, TELLS)
    drain(examined, 20)
    assert examined.standing()[older] == "superseded"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_history_of_names_is_examined_in_few_batches(examined: Examined, admin: Admin, seed: int) -> None:
    """A batch of two, and each change of names comes to each belief about them once more."""
    random = Random(seed)
    examined.extra = {"DREAMING_CONTRADICTION_BATCH": "2"}
    examined.tell(*(told(one, "2026-01-05") for one in TELLERS), examine=False)
    beliefs = len(TELLERS)
    for step in range(10):
        names = random.sample(NAMES, 2)
        examined.tell(
            *(
                told(f"{name} works at the {random.choice(PLACES)}.", f"2026-02-{10 + step}", name=f"{step} {name}",
                     trust=random.choice((Trust.TRUSTED, Trust.TRUSTED, Trust.UNTRUSTED)))
                for name in names
            ),
            examine=False,
        )  # fmt: skip
        beliefs += len(names)
        for one in random.sample(TELLERS, random.randrange(3)):
            archive_or_restore(examined, one)
        if random.random() < 0.6:
            drain(examined, (beliefs + 1) * (len(TELLERS) + 1))
            assert counts(admin) == (0, 0), step
    drain(examined, (beliefs + 1) * (len(TELLERS) + 1))
    assert counts(admin) == (0, 0)
    examined.world.check()
