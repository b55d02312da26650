"""What statements say of what: by their forms, whatever the words around."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from dreaming.passes.contradictions.aliases import canonical_names, resolve, told_aliases
from dreaming.passes.contradictions.reading import read_statement
from dreaming.passes.contradictions.timing import span_of
from dreaming.passes.contradictions.values import alternatives, read_value, same_value


@pytest.mark.parametrize(
    ("statement", "subject", "attribute", "value"),
    [
        ("Lena now works at the bike shop.", "lena", "employer", "bike shop"),
        ("Alice joined Meta as a staff engineer", "alice", "employer", "meta"),
        ("Pia has lived in Zurich since March 2025.", "pia", "place", "zurich"),
        ("Nils Cole is the CEO of Orbit", "orbit", "ceo", "nils cole"),
        ("The CEO of Orbit is Nils Cole", "orbit", "ceo", "nils cole"),
        ("Mara Reed runs the kitchen at Orbit", "kitchen at orbit", "lead", "mara reed"),
        ("The kiosk costs 25 euros", "kiosk", "price", "25 euros"),
        ("The deadline for the report is 4 May", "report", "deadline", "4 may"),
        ("The report is due on 4 May", "report", "deadline", "4 may"),
        ("The boat inspection is on 3 March", "boat inspection", "date", "3 march"),
        ("Backups run at 2 am", "backups", "time", "2 am"),
        ("Sofia goes to work by bike", "sofia", "commute", "bike"),
        ("Sofia cycles to work", "sofia", "commute", "bike"),
        ("The backend uses Postgres", "backend", "database", "postgres"),
        ("Priya said: I live in Oslo", "priya", "place", "oslo"),
        ("Maybe the key is in the shed", "key", "place", "shed"),
        ("As of May 2025, Lena lives in Bergen", "lena", "place", "bergen"),
    ],
)
def test_a_known_form_gives_subject_attribute_and_value(
    statement: str, subject: str, attribute: str, value: str
) -> None:
    found = read_statement(statement)
    assert found is not None
    assert (found.subject, found.attribute, found.value.text) == (subject, attribute, value)


@pytest.mark.parametrize(
    "statement", ["Rosa no longer eats meat", "Rosa does not eat meat any more", "Rosa doesn't eat meat"]
)
def test_a_denial_is_read_as_the_value_that_does_not_hold(statement: str) -> None:
    found = read_statement(statement)
    assert found is not None
    assert (found.attribute, found.value.text, found.negative) == ("diet", "omnivore", True)


@pytest.mark.parametrize(
    ("statement", "ended"),
    [
        ("Kai moved from Fern to Moss", "fern"),
        ("The backend switched from MySQL to Postgres", "mysql"),
        ("Sami left Northwind for Contoso", "northwind"),
        ("We replaced Trello with Asana", "trello"),
        ("Tom wears contact lenses instead of glasses", "glasses"),
    ],
)
def test_a_change_tells_what_it_ends(statement: str, ended: str) -> None:
    found = read_statement(statement)
    assert found is not None
    assert [value.text for value in found.ended] == [ended]
    assert found.changes


def test_what_used_to_be_is_past() -> None:
    found = read_statement("Lena used to work at the mill")
    assert found is not None
    assert found.past
    assert not found.negative


@pytest.mark.parametrize(
    ("left", "right"),
    [("25 euros", "€25"), ("3 March 2026", "March 3, 2026"), ("9 am", "9:00"), ("Oslo", "Oslo, Norway")],
)
def test_values_are_equal_by_what_they_mean(left: str, right: str) -> None:
    assert same_value(read_value(left), read_value(right), {})


@pytest.mark.parametrize(
    ("left", "right"), [("York", "New York"), ("25 euros", "25 dollars"), ("3 March", "4 March"), ("Oslo", "Bergen")]
)
def test_values_that_differ_are_not_equal(left: str, right: str) -> None:
    assert not same_value(read_value(left), read_value(right), {})


def test_values_of_one_sort_are_alternatives() -> None:
    assert alternatives(read_value("painted white"), read_value("painted green"))
    assert alternatives(read_value("100 requests per minute"), read_value("250 requests per minute"))
    assert not alternatives(read_value("cello"), read_value("tennis"))


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("Robert, whom everyone calls Bob, is tall", {("bob", "robert")}),
        ("Our database is PostgreSQL (Postgres)", {("postgres", "postgresql")}),
        ("Acme Corp, formerly known as Initech, makes staplers", {("acme corp", "initech")}),
        ("Everyone calls Margaret Peg", {("margaret", "peg")}),
        ("Plumbline rebranded as Truelevel", {("plumbline", "truelevel")}),
        ("Berlin (Germany) is large", set()),
        ("The meeting (Monday) was short", set()),
    ],
)
def test_names_of_one_thing_are_learned_from_what_is_told(statement: str, names: set[tuple[str, str]]) -> None:
    assert {(one.name, one.other_name) for one in told_aliases(statement)} == names


def test_canonical_names_do_not_depend_on_order() -> None:
    pairs = [("bob", "robert"), ("robert", "rob"), ("fern", "project moss")]
    assert canonical_names(pairs) == canonical_names(reversed(pairs))
    assert resolve("robert phone", canonical_names(pairs)) == "bob phone"
    assert resolve("moss", canonical_names(pairs)) == "fern"


NOTE = datetime(2026, 3, 11, 0, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("statement", "day"),
    [
        ("Lena moved to Oslo in 2019", "2019-01-01"),
        ("Lena joined Acme two years ago", "2024-03-11"),
        ("Kai moved to Moss yesterday", "2026-03-10"),
        ("Kai moved to Moss last month", "2026-02-01"),
        ("Since November 2025 Lena works at Orbit", "2025-11-01"),
        ("As of 1 May 2026, the office is in Nice", "2026-05-01"),
        ("Lena lives in Oslo", None),
    ],
)
def test_times_count_from_the_note_in_its_offset(statement: str, day: str | None) -> None:
    start = span_of(statement, NOTE, dated_value=False).start
    assert (start and start.date().isoformat()) == day
    assert start is None or start.utcoffset() == timedelta(hours=2)


def test_a_date_that_is_the_value_is_not_when_it_holds() -> None:
    assert span_of("The launch was moved to 3 March", datetime(2026, 1, 1, tzinfo=UTC), dated_value=True).start is None
