"""Positions of connectors are stored with the notes that they cover, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from dreaming.notes import store as notes_store
from dreaming.notes.connectors.marks import Feed, Mark
from dreaming.notes.connectors.service import forget_entries, ingest_marked, marks_opener
from dreaming.notes.records import IncomingNote, IngestCounts, Scope, SliceKey

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
FEED = Feed("markdown", "vault", "/home/ana/vault")
MARK: Mark = {"sha256": "ab"}

Admin = psycopg.Connection[TupleRow]


def note(external_id: str, text: str = "a") -> IncomingNote:
    return IncomingNote(external_id=external_id, source="vault", text=text, occurred_at=NOW)


def ingest(
    database: Database, key: SliceKey, notes: Sequence[IncomingNote], marks: Mapping[str, Mark], feed: Feed = FEED
) -> IngestCounts:
    return ingest_marked(database, key, notes, feed, marks, now=NOW, new_id=uuid7, max_note_characters=100)


def entries(database: Database, key: SliceKey, feed: Feed = FEED) -> set[str]:
    return set(marks_opener(database, key, incremental=True)(feed, "").entries)


@pytest.fixture
def key() -> SliceKey:
    return SliceKey(f"org-{uuid4()}")


def test_marks_come_back_to_their_slice_connector_source_and_location(database: Database, key: SliceKey) -> None:
    ingest(database, key, [note("1")], {"1.md": MARK})
    ingest(database, key, [], {"2.md": MARK})
    assert entries(database, key) == {"1.md", "2.md"}
    for other in (
        Feed("mbox", *("vault", FEED.location)),
        Feed("markdown", "v", FEED.location),
        Feed("markdown", "vault", "/"),
    ):
        assert entries(database, key, other) == set()
    assert entries(database, SliceKey(key.org_id, Scope.PRIVATE, "ana")) == set()


def test_a_mark_replaces_the_one_before_and_can_be_forgotten(database: Database, key: SliceKey, admin: Admin) -> None:
    ingest(database, key, [note("1")], {"a": {"n": 1}, "b": {"n": 2}})
    ingest(database, key, [], {"a": {"n": 3}})
    assert admin.execute("select entry, mark from connector_positions order by entry").fetchall() == [
        ("a", {"n": 3}),
        ("b", {"n": 2}),
    ]
    forget_entries(database, key, FEED, ["a", "unheard-of"])
    assert entries(database, key) == {"b"}


def test_marks_without_use_still_say_what_was_there(database: Database, key: SliceKey) -> None:
    known = marks_opener(database, key, incremental=True)(FEED, "options")
    known.put("1.md", MARK)
    ingest(database, key, [note("1")], known.take())
    again = marks_opener(database, key, incremental=True)(FEED, "options")
    assert (again.known("1.md") or {})["sha256"] == "ab"
    assert marks_opener(database, key, incremental=True)(FEED, "other options").known("1.md") is None
    full = marks_opener(database, key, incremental=False)(FEED, "options")
    assert full.known("1.md") is None
    assert full.entries == {"1.md"}


def test_a_refused_ingest_leaves_no_mark(database: Database, key: SliceKey) -> None:
    with pytest.raises(InvalidInput):
        ingest(database, key, [note("1"), note("2", "x" * 101)], {"1.md": MARK})
    assert entries(database, key) == set()


def test_a_crash_between_notes_and_marks_leaves_neither(
    database: Database, key: SliceKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("dreaming.notes.connectors.store.save_marks", crash)
        with pytest.raises(KeyboardInterrupt):
            ingest(database, key, [note("1")], {"1.md": MARK})
    with database.transaction(key.tenant) as tx:
        assert notes_store.find_slice(tx, key) is None
    assert ingest(database, key, [note("1")], {"1.md": MARK}) == IngestCounts(created=1)


def test_marks_without_any_note_make_no_slice(database: Database, key: SliceKey) -> None:
    assert ingest(database, key, [], {"1.md": MARK}) == IngestCounts()
    with database.transaction(key.tenant) as tx:
        assert notes_store.find_slice(tx, key) is None
    forget_entries(database, key, FEED, ["1.md"])


def test_locations_of_any_length_and_bytes_can_be_kept(database: Database, key: SliceKey) -> None:
    feed = Feed.of("markdown", "v" * 200, "/" + "\u5bb6" * 2_000 + "\udcff")
    ingest(database, key, [note("1")], {"\u5bb6" * 170: MARK}, feed)
    assert entries(database, key, feed) == {"\u5bb6" * 170}
