"""Statements in plain form, and whether two of them may be about one thing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.passes.contradictions.bearing import may_be_one_thing
from dreaming.passes.contradictions.phrasing import phrased
from dreaming.passes.contradictions.reading import read_statement
from dreaming.passes.contradictions.timing import span_of

MONDAY = datetime(2025, 3, 10, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Hi all, the office is in Leeds", "The office is in Leeds"),
        ("Turns out Karim is from Sfax", "Karim is from Sfax"),
        ("Owner of the billing service: Tariq", "The owner of the billing service is Tariq"),
        ("We bumped the upload limit to 50 MB", "The upload limit was bumped to 50 MB"),
        ("Moved the nightly job to 04:00", "The nightly job was moved to 04:00"),
        ("Nils said: I play chess", "Nils plays chess"),
        ("Nils said: I still have a boat", "Nils still has a boat"),
        ("Nils said: My dog is old", "Nils's dog is old"),
        ("Nils said: We decided to use Go", "We decided to use Go"),
        ("The standup is at half past nine", "The standup is at 9:30"),
        ("Professor Lindholm lives in Lund", "Prof. Lindholm lives in Lund"),
        ("Priya changed her number to 5", "Priya changed her number to 5"),
        ("Tom: I like tea", "Tom likes tea"),
    ],
)
def test_a_statement_is_brought_into_plain_form(said: str, plain: str) -> None:
    assert phrased(said)[0] == plain


@pytest.mark.parametrize("said", ["Correction: it is 5", "Turns out it is 5", "Sorry, it is 5", "FYI: it is 5"])
def test_only_words_of_correction_correct(said: str) -> None:
    assert phrased(said) == ("It is 5", not said.startswith("FYI"))


@given(st.text(max_size=120))
def test_any_text_is_read_whatever_space_is_around_it_and_its_times_have_an_offset(text: str) -> None:
    assert read_statement(f" {text}\n") == read_statement(text)
    span = span_of(text, MONDAY, dated_value=False)
    assert all(moment.tzinfo is not None for moment in (span.start, span.end) if moment is not None)


@pytest.mark.parametrize(
    ("left", "right", "may"),
    [
        ("Prod runs Postgres 14", "We upgraded prod to Postgres 16", True),
        ("We support Internet Explorer", "Support for Internet Explorer ended in May", True),
        ("Tessa's mother lives in Ghent", "Tessa lives in Bruges", False),
        ("The adult ticket costs 14 euros", "The child ticket costs 7 euros", False),
        ("Kai sings in the choir", "Mona has two cats", False),
        ("We sell apples", "Lena is tall", False),
    ],
)
def test_a_judge_may_set_only_statements_of_one_thing_against_each_other(left: str, right: str, may: bool) -> None:
    readings = [read_statement(text) for text in (left, right)]
    assert readings[0] is not None
    assert readings[1] is not None
    subjects = (readings[0].subject, readings[1].subject)
    assert may_be_one_thing(readings[0], readings[1], (left, right), subjects) is may


@pytest.mark.parametrize(
    ("statement", "start", "end"),
    [
        ("The shop is closed until Friday.", None, "2025-03-14"),
        ("Kim is on leave until the end of March.", None, "2025-04-01"),
        ("Kim is on leave through March.", None, "2025-04-01"),
        ("Pat joined Opal in spring 2024.", "2024-03-01", None),
        ("Pat joined Opal last summer.", "2024-06-01", None),
        ("Pat has worked at Opal for three years.", "2022-03-10", None),
        ("Ida moves to Rome in two weeks.", "2025-03-24", None),
        ("Ole moved to Bern on Tuesday.", "2025-03-04", None),
        ("Starting 1 May the yoga class is on Fridays.", "2025-05-01", None),
        ("The yoga class is on Fridays from 1 May.", "2025-05-01", None),
        ("The class runs from Monday to Friday.", None, None),
        ("Tim moved to Oslo 5000 years ago.", None, None),
    ],
)
def test_times_without_a_full_date_count_from_the_note(statement: str, start: str | None, end: str | None) -> None:
    reading = read_statement(statement)
    dated = reading is not None and (reading.value.sort or "") in ("date", "time")
    span = span_of(statement, MONDAY, dated_value=dated)
    assert [moment and moment.date().isoformat() for moment in (span.start, span.end)] == [start, end]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The kitchen is run by Agnes", "Agnes runs the kitchen"),
        ("Class 4b is taught by Mr. Novak", "Mr. Novak teaches class 4b"),
        ("The team lead is Ida", "Ida is the team lead"),
        ("The CFO is Ivo Krall", "Ivo Krall is the new CFO"),
        ("Deadline for the report: 3 April", "The report is due on 3 April"),
        ("Status of ticket 4411 is open", "Ticket 4411 is open"),
    ],
)
def test_two_turns_of_one_fact_are_read_alike(left: str, right: str) -> None:
    one, other = read_statement(left), read_statement(right)
    assert one is not None
    assert other is not None
    assert (one.subject, one.attribute, one.value.text) == (other.subject, other.attribute, other.value.text)
