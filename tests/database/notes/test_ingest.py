"""Ingest keeps notes, versions, sequences and counters exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.rows import TupleRow

from dreaming.database import Database
from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from dreaming.notes import store
from dreaming.notes.records import IncomingNote, IngestCounts, Note, NoteCounters, NoteState, Scope, SliceKey, Trust
from dreaming.notes.service import ingest, retry_retired

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
YESTERDAY = NOW - timedelta(days=1)

Admin = psycopg.Connection[TupleRow]


def incoming(external_id: str, text: str, **changes: Any) -> IncomingNote:
    fields = {"source": "test", "occurred_at": YESTERDAY, **changes}
    return IncomingNote(external_id=external_id, text=text, **fields)


@dataclass
class Memory:
    """One slice and what a test does to it."""

    database: Database
    key: SliceKey = field(default_factory=lambda: SliceKey(f"org-{uuid4()}"))

    def post(self, *notes: IncomingNote, now: datetime = NOW) -> IngestCounts:
        return ingest(self.database, self.key, notes, now=now, new_id=uuid7, max_note_characters=1_000)

    @property
    def slice_id(self) -> int:
        with self.database.transaction(self.key.tenant) as tx:
            found = store.find_slice(tx, self.key)
        assert found is not None
        return found.slice_id

    def notes(self, after: int = 0, limit: int = 1_000) -> list[Note]:
        with self.database.transaction(self.key.tenant) as tx:
            return store.read_waiting(tx, self.slice_id, after, limit)

    def note(self, external_id: str) -> Note:
        (found,) = (note for note in self.notes() if note.external_id == external_id)
        return found

    def counters(self) -> NoteCounters:
        """The maintained counters, after checking them against a recount."""
        with self.database.transaction(self.key.tenant) as tx:
            counted = store.recount(tx, self.slice_id)
            assert store.read_counters(tx, self.slice_id) == counted
        return counted

    def set_state(self, state: NoteState, *external_ids: str) -> None:
        note_ids = [self.note(external_id).note_id for external_id in external_ids]
        with self.database.transaction(self.key.tenant) as tx:
            store.set_state(tx, self.slice_id, note_ids, state)

    def retire(self, *external_ids: str) -> None:
        """What consolidation does to a note whose third attempt failed."""
        self.set_state(NoteState.RETIRED, *external_ids)
        with self.database.transaction(self.key.tenant) as tx:
            for note in map(self.note, external_ids):
                tx.execute(
                    "insert into retired_notes"
                    " (note_id, slice_id, version, sequence, reason, attempts, run_id, retired_at)"
                    " values (%s, %s, %s, %s, 'malformed', 3, %s, %s)",
                    (note.note_id, note.slice_id, note.version, note.sequence, uuid4(), NOW),
                )
                tx.execute(
                    "insert into note_attempts (note_id, slice_id, version, calls, attempts) values (%s, %s, %s, 3, 3)",
                    (note.note_id, note.slice_id, note.version),
                )

    def withdraw(self, *external_ids: str) -> list[UUID]:
        note_ids = [self.note(external_id).note_id for external_id in external_ids]
        with self.database.transaction(self.key.tenant) as tx:
            return store.withdraw(tx, self.slice_id, note_ids, NOW)

    def retry(self, note_ids: Sequence[UUID] | None = None) -> int:
        return retry_retired(self.database, self.key, note_ids, now=NOW)

    def count(self, table: str) -> int:
        with self.database.transaction(self.key.tenant) as tx:
            row = tx.execute(f"select count(*) from {table} where slice_id = %s".encode(), (self.slice_id,)).fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def memory(database: Database) -> Memory:
    return Memory(database)


def test_a_note_is_read_as_it_was_posted(memory: Memory) -> None:
    occurred_at = datetime(2024, 2, 29, 9, 30, 0, 123456, timezone(timedelta(hours=-7, minutes=-30)))
    names = ('Mia "M" Roth', "{Tom}", "Zo\u00eb, Lena", "null")
    counts = memory.post(
        incoming(
            "1",
            "We \u4f60 meet\n\\at nine.",
            occurred_at=occurred_at,
            author="Mia",
            participants=names,
            trust=Trust.UNTRUSTED,
        )
    )
    assert counts == IngestCounts(created=1)
    (note,) = memory.notes()
    assert note.text == "We \u4f60 meet\n\\at nine."
    assert note.occurred_at.isoformat() == occurred_at.isoformat()
    assert (note.author, note.participants, note.trust) == ("Mia", names, Trust.UNTRUSTED)
    assert (note.version, note.sequence, note.state, note.origin) == (1, 1, NoteState.WAITING, "test:1")


def test_the_first_ingest_makes_the_slice_with_its_lock_and_counters(memory: Memory) -> None:
    memory.post(incoming("1", "a"))
    memory.post(incoming("2", "b"))
    assert (memory.count("slices"), memory.count("belief_lock"), memory.count("slice_counters")) == (1, 1, 1)


def test_an_ingest_of_nothing_writes_nothing(memory: Memory, admin: Admin) -> None:
    assert memory.post() == IngestCounts()
    assert admin.execute("select count(*) from slices").fetchone() == (0,)


def test_the_same_note_again_changes_nothing(memory: Memory, admin: Admin) -> None:
    memory.post(incoming("1", "a"), incoming("2", ""))
    everything = "select notes::text, slices::text, slice_counters::text from notes, slices, slice_counters order by 1"
    before = admin.execute(everything).fetchall()
    assert memory.post(incoming("2", ""), incoming("1", "a"), now=NOW + timedelta(days=1)) == IngestCounts(unchanged=2)
    assert admin.execute(everything).fetchall() == before


def test_an_edit_is_a_new_version_at_a_new_sequence_and_keeps_the_old_text(memory: Memory) -> None:
    memory.post(incoming("1", "old"), incoming("2", "other"))
    first = memory.note("1")
    memory.set_state(NoteState.CONSOLIDATED, "1", "2")
    assert memory.post(incoming("1", "new")) == IngestCounts(edited=1)
    note = memory.note("1")
    assert (note.note_id, note.version, note.sequence, note.text) == (first.note_id, 2, 3, "new")
    assert note.state is NoteState.WAITING
    with memory.database.transaction(memory.key.tenant) as tx:
        kept = tx.execute("select version, text from note_versions where note_id = %s", (note.note_id,)).fetchall()
    assert kept == [(1, "old")]
    assert memory.counters() == NoteCounters(total=2, waiting=1, consolidated=1)
    memory.post(incoming("1", "old"))
    assert (memory.note("1").version, memory.count("note_versions")) == (3, 2)


def test_changed_metadata_is_stored_without_a_new_version(memory: Memory, admin: Admin) -> None:
    memory.post(incoming("1", "a", metadata={"n": 1}), incoming("2", "b"))
    assert memory.post(incoming("1", "a", metadata={"n": [2, None]}), incoming("2", "c")) == IngestCounts(
        edited=1, unchanged=1
    )
    assert (memory.note("1").version, memory.note("1").sequence) == (1, 1)
    assert admin.execute("select metadata from notes order by external_id").fetchall() == [({"n": [2, None]},), ({},)]


def test_an_edit_to_nothing_and_back_moves_between_empty_and_waiting(memory: Memory) -> None:
    memory.post(incoming("1", "a"))
    memory.post(incoming("1", " \u200b"))
    assert memory.counters() == NoteCounters(total=1, empty=1)
    memory.post(incoming("1", "a"))
    assert memory.counters() == NoteCounters(total=1, waiting=1)


def test_a_withdrawn_note_is_reinstated_by_the_same_text(memory: Memory) -> None:
    memory.post(incoming("1", "a"), incoming("2", "b"))
    memory.retire("1")
    withdrawn = memory.withdraw("1")
    assert withdrawn == [memory.note("1").note_id]
    assert memory.withdraw("1") == []
    assert memory.counters() == NoteCounters(total=1, waiting=1, withdrawn=1)
    assert (memory.count("retired_notes"), memory.count("note_attempts")) == (0, 0)
    memory.set_state(NoteState.CONSOLIDATED, "1")
    assert memory.note("1").state is NoteState.WITHDRAWN
    assert memory.post(incoming("1", "a"), incoming("2", "b")) == IngestCounts(reinstated=1, unchanged=1)
    note = memory.note("1")
    assert (note.version, note.sequence, note.state) == (2, 3, NoteState.WAITING)
    assert memory.counters() == NoteCounters(total=2, waiting=2)


def test_notes_cannot_be_withdrawn_by_a_state(memory: Memory) -> None:
    memory.post(incoming("1", "a"))
    with pytest.raises(ValueError, match="withdraw"):
        memory.set_state(NoteState.WITHDRAWN, "1")


def test_of_several_posts_of_one_note_the_last_counts(memory: Memory) -> None:
    posts = [incoming("1", "a"), incoming("2", "b"), incoming("1", "c"), incoming("1", "c", source="other")]
    assert memory.post(*posts) == IngestCounts(created=3, unchanged=1)
    assert [(note.source, note.text, note.version) for note in memory.notes()] == [
        ("test", "b", 1),
        ("test", "c", 1),
        ("other", "c", 1),
    ]


def test_an_edit_forgets_the_failures_of_the_old_text(memory: Memory) -> None:
    memory.post(incoming("1", "a"), incoming("2", "b"))
    memory.retire("1", "2")
    memory.post(incoming("1", "c"))
    assert (memory.count("retired_notes"), memory.count("note_attempts")) == (1, 1)
    assert memory.counters() == NoteCounters(total=2, waiting=1, retired=1)


def test_retired_notes_wait_again_at_new_sequences_in_their_old_order(memory: Memory) -> None:
    memory.post(*(incoming(str(number), "a") for number in range(5)))
    memory.retire("3", "1", "2")
    assert memory.retry([memory.note("2").note_id, memory.note("0").note_id, uuid4()]) == 1
    assert (memory.note("2").sequence, memory.note("2").version, memory.note("2").state) == (6, 1, NoteState.WAITING)
    assert memory.retry([]) == 0
    assert memory.retry() == 2
    assert [note.external_id for note in memory.notes(after=6)] == ["1", "3"]
    assert memory.retry() == 0
    assert (memory.count("retired_notes"), memory.count("note_attempts")) == (0, 0)
    assert memory.counters() == NoteCounters(total=5, waiting=5)


def test_retry_in_a_slice_that_does_not_exist_finds_nothing(memory: Memory) -> None:
    assert memory.retry() == 0


def test_a_note_too_long_refuses_the_whole_ingest_by_name(memory: Memory, admin: Admin) -> None:
    with pytest.raises(InvalidInput, match="'test:2' has 1,001 characters"):
        memory.post(incoming("1", "a"), incoming("2", "x" * 1_001))
    assert admin.execute("select count(*) from slices").fetchone() == (0,)


def test_a_large_ingest_is_stored_in_order(memory: Memory) -> None:
    notes = [incoming(str(number), f"note {number}" if number % 10 else " ") for number in range(3_000)]
    assert memory.post(*notes) == IngestCounts(created=3_000)
    assert [note.external_id for note in memory.notes(limit=5_000)] == [str(number) for number in range(3_000)]
    assert memory.counters() == NoteCounters(total=3_000, waiting=2_700, empty=300)


def test_texts_too_large_for_one_statement_go_in_several(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_STATEMENT_CHARACTERS", 1_500)
    for text in ("a", "b"):
        memory.post(*(incoming(str(number), text * 1_000) for number in range(4)))
    assert [(note.sequence, note.text[0]) for note in memory.notes()] == [(5, "b"), (6, "b"), (7, "b"), (8, "b")]
    assert memory.count("note_versions") == 4


def test_reading_starts_after_a_position_and_shows_notes_of_every_state(memory: Memory) -> None:
    memory.post(*(incoming(str(number), "a" if number else "") for number in range(5)))
    memory.withdraw("1")
    memory.set_state(NoteState.CONSOLIDATED, "2")
    assert [note.state.value for note in memory.notes(limit=4)] == ["empty", "withdrawn", "consolidated", "waiting"]
    assert [note.external_id for note in memory.notes(after=3)] == ["3", "4"]


def test_slices_of_one_organization_know_nothing_of_each_other(memory: Memory) -> None:
    private = Memory(memory.database, SliceKey(memory.key.org_id, Scope.PRIVATE, "mia"))
    memory.post(incoming("1", "a"))
    assert private.post(incoming("1", "a")) == IngestCounts(created=1)
    assert (memory.note("1").sequence, private.note("1").sequence) == (1, 1)
    assert memory.slice_id != private.slice_id


def test_notes_are_found_by_the_ids_of_their_source(memory: Memory) -> None:
    memory.post(incoming("1", "a"), incoming("2", "b"), incoming("1", "c", source="other"))
    with memory.database.transaction(memory.key.tenant) as tx:
        found = store.find_notes(tx, memory.slice_id, "test", ["1", "3"])
        assert found == {"1": next(note.note_id for note in memory.notes() if note.text == "a")}
        assert store.lock_notes(tx, memory.slice_id, [*found.values(), uuid4()]) == {found["1"]: (1, NoteState.WAITING)}


operations = st.lists(
    st.one_of(
        st.tuples(
            st.just("post"), st.lists(st.tuples(st.sampled_from("1234"), st.sampled_from(["", "a", "b"])), max_size=6)
        ),
        st.tuples(st.sampled_from(["withdraw", "consolidate", "retire", "retry"]), st.sets(st.sampled_from("1234"))),
    ),
    max_size=8,
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations)
def test_counters_versions_and_sequences_follow_a_model(database: Database, steps: list[tuple[str, Any]]) -> None:
    memory, model = Memory(database), Model()
    memory.post(incoming("seed", "seed"))
    for operation, subject in steps:
        if operation == "post":
            assert memory.post(*(incoming(*post) for post in subject)) == model.post(subject)
            continue
        known = sorted(subject & model.notes.keys())
        if operation == "withdraw":
            memory.withdraw(*known)
        elif operation == "consolidate":
            known = [name for name in known if model.notes[name].state != "retired"]
            memory.set_state(NoteState.CONSOLIDATED, *known)
        elif operation == "retire":
            known = [name for name in known if model.notes[name].state in ("waiting", "consolidated")]
            memory.retire(*known)
        else:
            known = [name for name in known if model.notes[name].state == "retired"]
            assert memory.retry([memory.note(name).note_id for name in sorted(subject & model.notes.keys())]) == len(
                known
            )
        model.move(operation, known)
        assert memory.counters() == model.counters()
    assert memory.counters() == model.counters()
    stored = {note.external_id: note for note in memory.notes() if note.external_id != "seed"}
    assert {name: (note.text, note.state.value, note.version, note.sequence) for name, note in stored.items()} == {
        name: (note.text, note.state, note.version, note.sequence) for name, note in model.notes.items()
    }


@dataclass
class ModelNote:
    text: str
    state: str
    version: int
    sequence: int


@dataclass
class Model:
    """What a slice should hold, one note at a time and without batches."""

    notes: dict[str, ModelNote] = field(default_factory=dict)
    last_sequence: int = 1

    def post(self, posts: list[tuple[str, str]]) -> IngestCounts:
        last = dict(posts)
        in_order = sorted(last, key=lambda name: max(place for place, post in enumerate(posts) if post[0] == name))
        counts = IngestCounts(unchanged=len(posts) - len(last))
        for name in in_order:
            counts += self._post_one(name, last[name])
        return counts

    def _post_one(self, name: str, text: str) -> IngestCounts:
        old = self.notes.get(name)
        if old and old.state != "withdrawn" and old.text == text:
            return IngestCounts(unchanged=1)
        self.last_sequence += 1
        version = old.version + 1 if old else 1
        self.notes[name] = ModelNote(text, "waiting" if text else "empty", version, self.last_sequence)
        if old is None:
            return IngestCounts(created=1)
        return IngestCounts(reinstated=1) if old.state == "withdrawn" else IngestCounts(edited=1)

    def move(self, operation: str, names: list[str]) -> None:
        for note in sorted((self.notes[name] for name in names), key=lambda note: note.sequence):
            if operation == "withdraw" or note.state == "withdrawn":
                note.state = "withdrawn"
            elif operation == "retry":
                self.last_sequence += 1
                note.state, note.sequence = "waiting", self.last_sequence
            else:
                note.state = {"consolidate": "consolidated", "retire": "retired"}[operation]

    def counters(self) -> NoteCounters:
        states = ["waiting", *(note.state for note in self.notes.values())]
        by_state = {
            state: states.count(state) for state in ("waiting", "consolidated", "empty", "retired", "withdrawn")
        }
        return NoteCounters(total=len(states) - by_state["withdrawn"], **by_state)
