"""Cursors come back as they were written, and fit the list that they are of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.api.paging import Listing, moment_and_id, page_of, read_cursor, write_cursor
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
    for read in (Listing("beliefs", ANA, FILTERS).open, lambda given: read_cursor(given, [int, int, int])):
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
