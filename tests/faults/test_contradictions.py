"""Contradictions and time: what a person would say of two notes is what is believed after them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.database.contradictions.worlds import Examined, judge, told, verdicts
from tests.world import World


@pytest.fixture
def examined(world: World, tmp_path: Path) -> Examined:
    return Examined(world, tmp_path)


def live(examined: Examined) -> set[str]:
    return {statement for statement, reason in examined.standing().items() if reason == "current"}


def test_a_date_one_day_off_is_a_conflict_never_a_duplicate(examined: Examined) -> None:
    third, fourth = "The boat inspection is 3 March.", "The boat inspection is 4 March."
    examined.tell(told(third, "2026-01-10", name="a"), told(fourth, "2026-01-10", name="b"))
    assert live(examined) == {third, fourth}
    assert {one[3] for one in examined.intervals()} == {"review"}
    rows = examined.world.rows("select relation, decided_by from adjudications")
    assert rows == [("incompatible", "rule")]


def test_two_people_with_jobs_of_one_shape_are_two_beliefs_without_a_conflict(examined: Examined) -> None:
    reed, cole = "Mara Reed runs the kitchen at Orbit.", "Nils Cole runs the bar at Orbit."
    examined.tell(told(reed, "2026-01-10"), told(cole, "2026-02-10"))
    assert live(examined) == {reed, cole}
    assert examined.intervals() == set()


def test_an_update_ends_the_old_fact_at_its_own_date(examined: Examined) -> None:
    old, new = "Lena works at the bakery.", "Lena now works at the bike shop."
    examined.tell(told(old, "2026-01-10"), told(new, "2026-03-10"))
    assert live(examined) == {new}
    assert examined.intervals() == {
        (old, "2026-01-10", "2026-03-10", "past"),
        (new, "2026-03-10", None, "current"),
    }


def test_a_bare_not_contradicts_nothing(examined: Examined) -> None:
    july, may = "Herons were not seen in July at Pond A.", "Herons were seen in May at Pond B."
    examined.tell(told(july, "2026-01-10"), told(may, "2026-02-10"))
    assert live(examined) == {july, may}
    # Each may have the stretch that its own text names; neither ends or rejects the other.
    assert examined.world.rows("select count(*) from timelines where successor_id is not null") == [(0,)]
    assert examined.world.rows("select count(*) from timelines where standing in ('review', 'rejected')") == [(0,)]


def test_other_topics_retire_nothing(examined: Examined) -> None:
    texts = [
        "Mia's cat is called Fig.",
        "Mia's dog is called Plum.",
        "Noor's cat is called Olive.",
        "Mia lives in Porto.",
        "Mia likes figs.",
        "The cat show is on 3 May.",
        "Fig trees need sun.",
        "Mia is called by her aunt on Sundays.",
        "The cat flap is broken.",
    ]
    examined.judge = judge("unrelated")
    examined.tell(told(texts[0], "2026-01-01"))
    examined.tell(*(told(text, f"2026-02-{place:02}") for place, text in enumerate(texts[1:], 1)))
    assert live(examined) == set(texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Kai is on project Fern.", "Kai moved from Fern to Moss."),
        ("Kai lives in Graz.", "Kai moved from Graz to Linz."),
        ("Kai works at Delmar.", "Kai left Delmar for Vantage."),
        ("Kai's phone number is 555-0142.", "Kai's phone number changed to 555-0177."),
        ("Kai reports to Ines.", "Kai now reports to Oskar."),
    ],
)
def test_every_kind_of_update_ends_what_was_before(examined: Examined, old: str, new: str) -> None:
    examined.tell(told(old, "2026-01-10"), told(new, "2026-03-10"))
    assert live(examined) == {new}
    assert (old, "2026-01-10", "2026-03-10", "past") in examined.intervals()


def test_a_back_dated_note_never_becomes_the_current_answer(examined: Examined) -> None:
    tram, bike = "Tom takes the tram to work.", "Tom cycles to work."
    examined.tell(told(tram, "2026-02-10"))
    examined.tell(told(bike, "2024-05-04"))
    assert live(examined) == {tram}
    assert examined.intervals() == {
        (bike, "2024-05-04", "2026-02-10", "past"),
        (tram, "2026-02-10", None, "current"),
    }


def test_relative_days_count_from_the_note_and_its_offset(examined: Examined) -> None:
    from datetime import datetime, timedelta, timezone

    from dreaming.notes.records import IncomingNote

    old, new = "Sami lives in Oulu.", "Sami moved to Vaasa the day before yesterday."
    late = datetime(2024, 2, 9, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    examined.tell(told(old, "2023-10-01"), IncomingNote(external_id="x", source="test", text=new, occurred_at=late))
    rows = examined.world.rows("select holds_from from timelines where standing = 'current'")
    assert rows == [(datetime(2024, 2, 7, tzinfo=late.tzinfo),)]


def test_a_judge_that_names_what_was_not_offered_harms_nothing(examined: Examined) -> None:
    import json

    from dreaming.models.scripted import ScriptedChatModel

    examined.judge = ScriptedChatModel(
        lambda _: json.dumps({"relations": [{"candidate": "41", "relation": "successive"}]})
    )
    examined.tell(told("Rosa is afraid of spiders.", "2026-01-10"), told("Rosa has a fear of snakes.", "2026-02-10"))
    assert len(live(examined)) == 2
    assert sum(outcome.counts["verdicts_ignored"] for outcome in examined.outcomes) == 1
    examined.judge = ScriptedChatModel(lambda request: verdicts(request, "coexisting"))
    examined.examine()
    assert examined.world.rows("select relation from adjudications") == [("coexisting",)]
