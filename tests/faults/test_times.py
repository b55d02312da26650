"""Times: what a note says of a day is meant as of its own day, and every moment has an offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from dreaming.database import Database
from dreaming.models.scripted import ScriptedChatModel
from tests.world import claim, note, open_world

GARLIC = "Ana planted garlic the day before yesterday"
FRIDAY = datetime(2024, 2, 9, 18, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("statement", "accepted"),
    [
        ("Ana planted garlic on 7 February 2024", True),
        ("Ana planted garlic on 2024-02-07", True),
        ("Ana planted garlic on 30 May 2026", False),  # the day before yesterday of the processing
        ("Ana planted garlic in May 2026", False),
        ("Ana planted garlic on 7 February 2026", False),
        ("Ana planted garlic on 20 February 2024", False),
    ],
)
def test_a_relative_day_is_of_the_notes_own_date_and_never_of_the_processing(
    database: Database, tmp_path: Path, statement: str, accepted: bool
) -> None:
    model = ScriptedChatModel(lambda request: [claim(statement, GARLIC)])
    world = open_world(database, tmp_path, model)
    world.ingest(note("n1", GARLIC, occurred_at=FRIDAY, author="Ana"))
    world.drain()
    header = model.requests[0].content.splitlines()[1]
    assert "2024-02-09T18:00+01:00" in header
    assert "Friday" in header
    assert "2026" not in header
    # Of a note so old it is born faded, which is no matter here.
    assert world.rows("select statement from beliefs") == ([(statement,)] if accepted else [])
    assert world.rows("select claims_rejected from dream_runs") == [(0 if accepted else 1,)]
    assert world.rows("select confirmed_at from beliefs") == [(FRIDAY,)] * accepted


def test_moments_with_and_without_an_offset_are_compared_in_one_zone(database: Database, tmp_path: Path) -> None:
    """The note's own offset stands in for one that the model leaves out."""

    def script(request: object) -> object:
        return [
            claim(
                "The lease of the shed runs for two years", valid_from="2026-03-01", valid_until="2028-03-01T00:00:00Z"
            )
        ]

    world = open_world(database, tmp_path, script)
    text = "The lease of the shed runs for two years"
    east = timezone(timedelta(hours=2))
    world.ingest(
        note("n1", text, occurred_at=datetime(2026, 3, 1, 1, 30, tzinfo=east)),
        note("n2", text, occurred_at=datetime(2026, 3, 1, 0, 0, tzinfo=UTC)),
    )
    world.drain()
    [(first_seen, confirmed, start, end)] = world.rows(
        "select first_seen_at, confirmed_at, valid_from, valid_until from beliefs"
    )
    # Half past one in the east was before midnight in UTC.
    assert first_seen == datetime(2026, 2, 28, 23, 30, tzinfo=UTC)
    assert confirmed == datetime(2026, 3, 1, tzinfo=UTC)
    assert start == datetime(2026, 2, 28, 22, tzinfo=UTC)
    assert end == datetime(2028, 3, 1, tzinfo=UTC)


def test_a_time_without_an_offset_is_refused_at_the_door_of_notes() -> None:
    with pytest.raises(ValueError, match="timezone"):
        note("n1", GARLIC, occurred_at=datetime(2024, 2, 9, 18))  # noqa: DTZ001 - what is refused
