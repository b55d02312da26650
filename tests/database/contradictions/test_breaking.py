"""What a hostile or foolish judge, many notes, odd names, odd dates and other scripts can do: nothing wrong."""

from __future__ import annotations

import pytest

from tests.database.contradictions.worlds import Examined, judge, told

FACTS = {
    "Ida has two cats.": "2025-01-02",
    "Ida lives in Turku.": "2025-01-03",
    "Ida's phone number is 555-0142.": "2025-01-04",
    "Ida has three brothers.": "2025-01-05",
    "The kiosk costs 25 euros.": "2025-01-06",
    "The kiosk does not open on Sundays.": "2025-01-07",
    "The kiosk opens on Saturdays.": "2025-01-08",
    "Room A has a projector.": "2025-01-09",
    "Room B has a projector.": "2025-01-10",
}


def test_a_judge_that_calls_everything_one_thing_merges_only_what_no_guard_keeps_apart(examined: Examined) -> None:
    examined.judge = judge("duplicate")
    examined.tell(*(told(text, day) for text, day in FACTS.items()))
    standing = examined.standing()
    for text in ("Ida's phone number is 555-0142.", "The kiosk costs 25 euros.", "The kiosk does not open on Sundays."):
        assert standing.get(text) == "current"
    assert {"Room A has a projector.", "Room B has a projector."} <= standing.keys()


def test_a_judge_that_calls_everything_a_change_retires_nothing_of_two_attributes_or_subjects(
    examined: Examined,
) -> None:
    examined.judge = judge("successive")
    examined.tell(*(told(text, day) for text, day in FACTS.items()))
    standing = examined.standing()
    for text in (
        "Ida lives in Turku.",
        "Ida's phone number is 555-0142.",
        "The kiosk costs 25 euros.",
    ):
        assert standing[text] == "current", text


NAMES = (
    "Bob is what we call production.",
    "Alpha was renamed Beta.",
    "Beta was renamed Gamma.",
    "Gamma was renamed Alpha.",
    "Everyone calls Everyone Everyone.",
)


def test_circular_renames_and_odd_nicknames_end_and_retire_nothing_unrelated(examined: Examined) -> None:
    examined.tell(*(told(text, f"2025-02-0{day}") for day, text in enumerate(NAMES, 1)))
    examined.tell(told("Bob lives in Oslo.", "2025-03-01"), told("Production runs on Postgres.", "2025-03-02"))
    examined.tell(told("Alpha costs 5 euros.", "2025-03-03"), told("Gamma costs 7 euros.", "2025-04-03"))
    standing = examined.standing()
    assert standing["Bob lives in Oslo."] == standing["Production runs on Postgres."] == "current"
    assert (standing["Alpha costs 5 euros."], standing["Gamma costs 7 euros."]) == ("superseded", "current")


SCRIPTS = (
    "田中さんは東京に住んでいます。",
    "田中さんは大阪に住んでいます。",
    "李明在北京工作。",
    "דנה גרה בתל אביב.",
    "يعيش سامي في القاهرة.",
    "Аня живёт в Казани.",
    "\u202eIda lives in Oslo.\u202c",
    "🙂🙂🙂 the cat 🙂 is 🙂 fine.",
)


def test_statements_in_any_script_are_examined_and_kept(examined: Examined) -> None:
    examined.tell(*(told(text, f"2025-02-0{day}") for day, text in enumerate(SCRIPTS, 1)))
    assert set(examined.standing().values()) == {"current"}


@pytest.mark.parametrize("day", ["0001-01-02", "9998-12-30"])
def test_dates_at_the_ends_of_time_break_nothing(examined: Examined, day: str) -> None:
    examined.tell(
        told("Ida has lived in Turku for 3000 years.", day),
        told("Ida moved to Rome two years ago.", day, name="b"),
        told("The price is 5 euros until next year.", day, name="c"),
    )
    examined.examine()
    assert examined.standing()


def test_many_notes_about_one_thing_keep_their_order(examined: Examined) -> None:
    days = [f"2026-0{1 + size // 28}-{1 + size % 28:02d}" for size in range(40)]
    quotas = [told(f"The quota of the archive is {10 + size} GB.", day) for size, day in enumerate(days)]
    letters = [f"The archive holds the letters of {1700 + year}." for year in range(20)]
    examined.tell(*quotas, *(told(text, "2026-02-01", name=text) for text in letters))
    standing = examined.standing()
    assert standing["The quota of the archive is 49 GB."] == "current"
    assert sum(reason == "superseded" for reason in standing.values()) == 39
    assert {standing[text] for text in letters} == {"current"}
