"""What people do: decide a conflict, confirm, withdraw; and what they see of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dreaming.api.beliefs.store import BeliefFilter
from dreaming.beliefs.service import withdraw_notes
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from dreaming.notes.records import Trust
from dreaming.passes.contradictions.service import Choice
from dreaming.settings.resolution import resolve
from tests.database.contradictions.worlds import Examined, reader, told

THIRD, FOURTH = "The fair is on 3 March.", "The fair is on 4 March."
BAKERY, MILL = "Lena works at the bakery.", "Lena works at the mill."


@pytest.fixture
def undecided(examined: Examined) -> Examined:
    examined.tell(told(THIRD, "2026-01-10", name="a"), told(FOURTH, "2026-01-10", name="b"))
    return examined


def listed(examined: Examined, **wanted: datetime) -> set[str]:
    page = reader(examined).beliefs(examined.key, BeliefFilter(**wanted), limit=50)  # type: ignore[arg-type]
    return {one.belief.statement for one in page.beliefs}


def test_a_conflict_is_listed_for_a_person_with_both_sides(undecided: Examined) -> None:
    (found,) = reader(undecided).reviews(undecided.key, limit=10).items
    assert {found.left_id, found.right_id} == {undecided.belief(THIRD), undecided.belief(FOURTH)}
    assert found.relation == "incompatible"


@pytest.mark.parametrize(
    ("choice", "standing"),
    [
        (Choice.LEFT, {THIRD: "current", FOURTH: "rejected"}),
        (Choice.RIGHT, {THIRD: "rejected", FOURTH: "current"}),
        (Choice.BOTH, {THIRD: "current", FOURTH: "current"}),
    ],
)
def test_a_persons_word_decides_and_stays(undecided: Examined, choice: Choice, standing: dict[str, str]) -> None:
    undecided.resolver().resolve(undecided.belief(THIRD), undecided.belief(FOURTH), choice)
    assert undecided.standing() == standing
    assert reader(undecided).reviews(undecided.key, limit=10).items == ()
    undecided.tell(told("The fair has a carousel.", "2026-01-12"))
    undecided.world.check()
    assert undecided.standing() == standing | {"The fair has a carousel.": "current"}


def test_a_person_may_merge_and_take_it_back(undecided: Examined) -> None:
    undecided.resolver().resolve(undecided.belief(THIRD), undecided.belief(FOURTH), Choice.MERGE)
    (kept,) = undecided.standing()
    undecided.resolver().unmerge(undecided.belief(kept))
    assert set(undecided.standing()) == {THIRD, FOURTH}
    undecided.world.check()


def test_a_belief_is_no_conflict_with_itself(undecided: Examined) -> None:
    with pytest.raises(InvalidInput, match="same belief"):
        undecided.resolver().resolve(undecided.belief(THIRD), undecided.belief(THIRD), Choice.LEFT)


def test_a_superseded_belief_comes_back_when_its_successor_is_withdrawn(examined: Examined) -> None:
    examined.tell(told(BAKERY, "2026-01-10"), told(MILL, "2026-03-10", name="mill"))
    assert examined.standing() == {BAKERY: "superseded", MILL: "current"}
    settings = resolve({}, {})
    withdraw_notes(
        examined.world.database, examined.key, "test", ["mill"], settings=settings, now=examined.world.now, new_id=uuid7
    )
    examined.examine()
    assert examined.standing() == {BAKERY: "current"}
    assert examined.intervals() == set()
    examined.world.check()


def test_as_of_tells_what_held_and_believed_at_what_was_known(examined: Examined) -> None:
    examined.tell(told(BAKERY, "2026-01-10"))
    known_then = examined.world.now
    examined.world.now = known_then.replace(day=known_then.day + 1)
    examined.tell(told(MILL, "2026-03-10"))
    assert listed(examined) == {MILL}
    assert listed(examined, as_of=datetime(2026, 2, 1, tzinfo=UTC)) == {BAKERY}
    assert listed(examined, as_of=datetime(2026, 3, 10, 9, tzinfo=UTC)) == {MILL}
    assert listed(examined, as_of=datetime(2025, 2, 1, tzinfo=UTC)) == set()
    assert listed(examined, believed_at=known_then) == {BAKERY}
    assert listed(examined, believed_at=examined.world.now) == {MILL}


def test_the_line_of_succession_is_told_in_order_of_time(examined: Examined) -> None:
    harbour = "Lena works at the harbour."
    examined.tell(told(MILL, "2026-03-10"), told(harbour, "2026-04-10"), told(BAKERY, "2026-01-10"))
    slice_id = examined.world.slice().slice_id
    line = reader(examined).succession(slice_id, examined.belief(MILL))
    assert [(one.statement, one.standing) for one in line] == [(BAKERY, "past"), (MILL, "past"), (harbour, "current")]
    assert line[0].successor_id == examined.belief(MILL)


def test_an_untrusted_claim_never_supersedes_a_trusted_one(examined: Examined) -> None:
    examined.tell(told(BAKERY, "2026-01-10"), told(MILL, "2026-03-10", trust=Trust.UNTRUSTED))
    assert examined.standing() == {BAKERY: "current", MILL: "rejected"}


def test_what_begins_in_the_future_takes_over_when_its_time_has_come(examined: Examined) -> None:
    later = "As of 1 July 2026, Lena works at the mill."
    examined.tell(told(BAKERY, "2026-01-10"), told(later, "2026-05-01"))
    assert examined.standing() == {BAKERY: "current", later: "current"}
    due = examined.world.rows("select due_at from due_times where pass = 'contradictions'")
    assert due == [(datetime(2026, 7, 1, tzinfo=UTC),)]
    examined.world.now = datetime(2026, 7, 2, tzinfo=UTC)
    examined.examine()
    assert examined.standing() == {BAKERY: "superseded", later: "current"}


def test_one_thing_under_two_names_is_one_line_once_a_note_says_so(examined: Examined) -> None:
    bob, robert = "Bob works at the mill.", "Robert works at the harbour."
    examined.tell(told(bob, "2026-01-10"), told(robert, "2026-02-10"))
    assert set(examined.standing().values()) == {"current"}
    examined.tell(told("Robert, whom everyone calls Bob, is tall.", "2026-03-10", name="alias"))
    examined.examine()
    assert examined.standing()[bob] == "superseded"
    settings = resolve({}, {})
    withdraw_notes(
        examined.world.database,
        examined.key,
        "test",
        ["alias"],
        settings=settings,
        now=examined.world.now,
        new_id=uuid7,
    )
    examined.examine()
    assert examined.standing() == {bob: "current", robert: "current"}


def test_two_things_under_one_name_stay_two(examined: Examined) -> None:
    texts = ["My cousin Jordan is 31 years old.", "The country Jordan is 80 years old."]
    examined.tell(*(told(text, f"2026-0{place}-10") for place, text in enumerate(texts, 1)))
    assert examined.standing() == dict.fromkeys(texts, "current")
