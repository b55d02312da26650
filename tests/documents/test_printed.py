"""What is compared loosely, and that nothing else is."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tests.documents.printed import WRITTEN, Names, differs, moved

TODAY = WRITTEN


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("the shed is green", "the shed is green"),
        ("6 notes: 6 created", "6 notes: 6 created"),
        ("0.55 of 0.60  The shed.", "0.53 of 0.60    The shed."),
        ("aged 0.57 × 0.5 ^ (18.2 days) = 0.53 today", "aged 0.57 × 0.5 ^ (403.0 days) = 0.1 today"),
        ("read 2026-11-30 14:39Z, run 5229db38", "read 2026-12-01 00:01Z, run 12345678"),
        ("page  http://127.0.0.1:8377/brain", "page  http://127.0.0.1:40123/brain"),
        ("one …", "one and two"),
        ("one\n…\nfour", "one\ntwo\nthree\nfour"),
        ("one\n…", "one\ntwo"),
    ],
)
def test_what_may_differ(shown: str, printed: str) -> None:
    assert differs(shown, printed, Names(), today=TODAY) is None


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("the shed is green", "the shed is red"),
        ("6 notes: 6 created", "6 notes: 5 created"),
        ("0.55 of 0.60  The shed.", "0.50 of 0.60  The shed."),
        ("confirmed 2026-05-29", "confirmed 2026-05-30"),
        ("Sources (2 counting)", "Sources (3 counting)"),
        ("one\nthree", "one\ntwo\nthree"),
        ("one", "one\ntwo"),
        ("one\ntwo", "one"),
        ("one\n…\nfive", "one\ntwo\nfour"),
    ],
)
def test_what_may_not(shown: str, printed: str) -> None:
    assert differs(shown, printed, Names(), today=TODAY) is not None


def test_an_id_stands_for_one_other_and_goes_into_commands() -> None:
    names = Names()
    assert differs("left f3350a84 right 06a29052", "left aa11aa11 right 22222222", names, today=TODAY) is None
    assert names.put_in("dream conflicts resolve f3350a84 06a29052") == "dream conflicts resolve aa11aa11 22222222"
    assert differs("f3350a84", "22222222", names, today=TODAY) is not None


def test_dates_move_by_the_days_since_the_pages_were_written() -> None:
    later = WRITTEN + timedelta(days=366)
    assert moved("2026-11-02T09:00:00Z and 2026-11-30", later) == "2027-11-03T09:00:00Z and 2027-12-01"
    assert moved("no date: 2026-99-01, 12026-11-02, 2026-11-021", later) == (
        "no date: 2026-99-01, 12026-11-02, 2026-11-021"
    )
    assert moved("2026-11-02", WRITTEN) == str(date(2026, 11, 2))
