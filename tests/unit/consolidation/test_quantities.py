"""Numbers, dates and times as comparable values."""

import pytest

from dreaming.passes.consolidation.numerals import han_number
from dreaming.passes.consolidation.quantities import read_quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234,567.50 dollars", [("1234567.5", "usd")]),
        ("1.234.567,5 Euro", [("1234567.5", "eur")]),
        ("version 1.10", [("1.10", None)]),
        ("1.000", [("1.000", None)]),
        ("twenty-three cats", [("23", None)]),
        ("two hundred and five km", [("205", "km")]),
        ("three thousand four hundred", [("3400", None)]),
        ("5k users", [("5000", None)]),
        ("€2bn", [("2000000000", "eur")]),
        ("-5 °C", [("-5", "c")]),
        ("3-5 days", [("3", None), ("5", "day")]),
        ("the 21st", [("21", "th")]),
        ("٣ cats", [("3", None)]),
        ("GPT-4 and v1.2 and a1", []),
        ("三个", [("3", None)]),
        ("10.0.0.1", [("10.0.0.1", None)]),
    ],
)
def test_numbers_have_one_value_however_they_are_written(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(number.value, number.unit) for number in read_quantities(text).numbers] == expected


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("2026-03-04", {(2026, 3, 4)}),
        ("03/04/2026", {(2026, 3, 4), (2026, 4, 3)}),
        ("13/04/26", {(2026, 4, 13)}),
        ("4.3.2026", {(2026, 3, 4)}),
        ("the fourth of March", {(None, 3, 4)}),
        ("March 4th, 2026", {(2026, 3, 4)}),
        ("4 de marzo de 2026", {(2026, 3, 4)}),
        ("in march 2026", {(2026, 3, None)}),
        ("in May", {(None, 5, None)}),
        ("2026年三月四日", {(2026, 3, 4)}),
    ],
)
def test_dates_keep_every_reading(text: str, readings: set[tuple[int | None, int, int | None]]) -> None:
    (date,) = read_quantities(text).dates
    assert date.readings == readings


@pytest.mark.parametrize("text", ["He may come", "They march on", "open 24/7", "99/99", "Mark said so"])
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert not read_quantities(text).dates


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at 3 pm", {900}),
        ("at 15:00", {900}),
        ("at 12 am", {0}),
        ("at 3:30", {210, 930}),
        ("at noon", {720}),
        ("um 8 Uhr", {480, 1200}),
    ],
)
def test_times_are_minutes_of_the_day(text: str, minutes: set[int]) -> None:
    (time,) = read_quantities(text).times
    assert time.readings == minutes


def test_weekdays_of_several_languages() -> None:
    assert read_quantities("Mondays, mardi, Mittwoch, 星期四, 土曜日").weekdays == {1, 2, 3, 4, 6}


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("二十三", 23), ("两百", 200), ("十", 10), ("一万二", 10002), ("二〇二六", 2026), ("好", None), ("", None)],
)
def test_chinese_numerals(numeral: str, value: int | None) -> None:
    assert han_number(numeral) == value
