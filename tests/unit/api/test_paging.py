"""Cursors come back as they were written, and fit the list that they are of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.api.paging import Kind, Listing, moment_and_id, page_of, read_cursor, write_cursor
from dreaming.errors import InvalidInput
from dreaming.notes.records import Tenant

ANA = Tenant("acme", "ana")
PLACE = write_cursor(datetime(2026, 6, 1, tzinfo=UTC), UUID(int=7))
FILTERS: dict[str, Any] = {"scope": "org", "kind": None, "q": ["a", "b"], "least": 0.5, "archived": False}


def test_a_cursor_of_the_same_list_comes_back() -> None:
    listing = Listing("beliefs", ANA, FILTERS)
    cursor = listing.close(PLACE)
    assert cursor is not None
    assert listing.open(cursor) == PLACE
    assert moment_and_id(PLACE) == (datetime(2026, 6, 1, tzinfo=UTC), UUID(int=7))
    assert (listing.open(None), listing.close(None), moment_and_id(None)) == (None, None, None)
    assert "acme" not in cursor
    # A filter that the next version knows and nobody gives changes nothing.
    assert Listing("beliefs", ANA, {**FILTERS, "more": None}).open(cursor) == PLACE


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (Listing("notes", ANA, FILTERS), "another list"),
        (Listing("beliefs", Tenant("birch", "ana"), FILTERS), "another caller"),
        (Listing("beliefs", Tenant("acme"), FILTERS), "another caller"),
        (Listing("beliefs", ANA, FILTERS | {"scope": "private"}), "another 'scope'"),
        (Listing("beliefs", ANA, FILTERS | {"kind": "fact"}), "another 'kind'"),
        (Listing("beliefs", ANA, FILTERS | {"q": ["b", "a"]}), "another 'q'"),
        (Listing("beliefs", ANA, FILTERS | {"archived": None}), "another 'archived'"),
    ],
    ids=str,
)
def test_a_cursor_of_something_else_is_refused_and_told(other: Listing, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as caught:
        other.open(Listing("beliefs", ANA, FILTERS).close(PLACE))
    assert caught.value.field == "cursor"


@given(st.text() | st.sampled_from(["W10", "bnVsbA", "WyJiZWxpZWZzIiwxLDIsM10", PLACE]))
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    for read in (Listing("beliefs", ANA, FILTERS).open, lambda given: read_cursor(given, [Kind.NUMBER] * 3)):
        with pytest.raises(InvalidInput) as caught:
            read(cursor)
        assert caught.value.field == "cursor"


def test_a_page_has_a_cursor_while_there_is_more() -> None:
    assert page_of([1, 2, 3], 2, lambda one: (one,)).items == (1, 2)
    assert page_of([1, 2, 3], 2, lambda one: (one,)).next_cursor == write_cursor(2)
    assert page_of([1, 2], 2, lambda one: (one,)).next_cursor is None
    assert page_of([], 2, lambda one: (one,)).items == ()


def test_a_cursor_is_short_enough_to_be_copied() -> None:
    place = write_cursor(0.123456789012345, datetime(2026, 6, 1, 12, 30, 15, 123456, tzinfo=UTC), UUID(int=7))
    cursor = Listing("beliefs", ANA, {f"filter{number}": "value" for number in range(8)}).close(place)
    assert cursor is not None
    assert len(cursor) < 180


@pytest.mark.parametrize(
    ("kind", "kept", "refused"),
    [
        (Kind.SMALL, [0, 32_767], [-1, 32_768, 1.0, True, "1", None]),
        (Kind.COUNT, [0, 2**31 - 1], [-1, 2**31]),
        (Kind.NUMBER, [0, 2**63 - 1], [-1, 2**63, 10**400]),
        (Kind.SHARE, [0, 0.5, 1.0], [-0.1, 1.1, 1e308, float("inf"), float("nan"), True, "0.5"]),
        (Kind.SCORE, [-3.5, 1e308], [float("inf"), 10**400, None]),
        (Kind.TEXT, ["", "a b", "\U0001f980"], ["a\0", "\ud800", 1, None]),
        (Kind.ID, ["0" * 32], ["q", "", 7, ["0" * 32]]),
        (Kind.MOMENT, [0, -1], [10**18, -(10**18), 10**40, 1.5, "2026", None]),
    ],
)
def test_a_part_is_what_its_column_could_hold(kind: Kind, kept: list[Any], refused: list[Any]) -> None:
    for part in kept:
        assert len(read_cursor(write_cursor(part), [kind])) == 1
    for part in refused:
        with pytest.raises(InvalidInput, match="cursor"):
            read_cursor(write_cursor(part), [kind])


def test_a_cursor_beyond_what_a_url_holds_is_refused() -> None:
    listing = Listing("agents", ANA, {})
    cursor = listing.close(write_cursor("a" * 7_000))
    assert cursor is not None
    with pytest.raises(InvalidInput, match="cursor"):
        listing.open(cursor)
