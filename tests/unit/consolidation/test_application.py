"""Whatever happened to the notes on the way, the beliefs are what the notes say in the end."""

from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs.records import DecayClass, Importance, Kind, Source, SourceEnd, SourceType
from dreaming.beliefs.rules import Ageing, fold
from dreaming.beliefs.workspace import Workspace
from dreaming.notes.records import Note, NoteState, Trust
from dreaming.passes.consolidation.application import Application, NoteClaims
from dreaming.passes.consolidation.deduplication import can_matter

NOW = datetime(2026, 6, 1, tzinfo=UTC)
STATEMENTS = (
    "Ines drinks green tea in the morning",
    "Tariq keeps his bicycle in the cellar",
    "The pond behind the mill freezes in January",
)


class Notes:
    """Notes of one slice that are edited, withdrawn and posted again, each change applied at once."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self.workspace = Workspace({}, ageing=Ageing(), now=NOW, new_id=self._id)
        self.saying: dict[int, list[Source]] = {}
        self._versions: dict[int, int] = {}

    def _id(self) -> UUID:
        return UUID(int=next(self._numbers))

    def post(self, number: int, statements: list[str], trust: Trust = Trust.TRUSTED) -> None:
        """Apply a new version of note `number`, or the same version again when nothing changed."""
        said = [(source.statement, source.trust) for source in self.saying.get(number, [])]
        if number not in self._versions or said != [(statement, trust) for statement in statements]:
            self._versions[number] = self._versions.get(number, 0) + 1
        note = self._note(number, trust)
        sources = [self._source(note, statement) for statement in statements]
        application = Application(self.workspace, threshold=0.7, model="test", prompt_version="1", new_id=self._id)
        application.apply([NoteClaims(note, tuple((source, self._candidates(source)) for source in sources))])
        self.saying[number] = sources

    def withdraw(self, number: int) -> None:
        self.workspace.end_note(UUID(int=10_000 + number), SourceEnd.WITHDRAWN)
        self.workspace.refold()
        self.saying.pop(number, None)

    def believed(self) -> dict[str, tuple[object, int, int, datetime]]:
        live = [belief for belief in self.workspace if belief.live]
        found: dict[str, tuple[object, int, int, datetime]] = {
            b.statement: (pytest.approx(b.confidence), b.sources, b.origins, b.confirmed_at) for b in live
        }
        assert len(found) == len(live)
        return found

    def expected(self) -> dict[str, tuple[float, int, int, datetime]]:
        said: dict[str, list[Source]] = {}
        for sources in self.saying.values():
            for source in {source.statement: source for source in reversed(sources)}.values():
                said.setdefault(source.statement, []).append(source)
        folds = {statement: fold(sources) for statement, sources in said.items()}
        return {s: (f.confidence, f.sources, f.origins, f.confirmed_at) for s, f in folds.items() if f is not None}

    def _candidates(self, source: Source) -> tuple[UUID, ...]:
        return tuple(
            b.belief_id
            for b in self.workspace
            if can_matter(source.statement, b.statement, threshold=0.7, nearness=None)
        )

    def _note(self, number: int, trust: Trust) -> Note:
        return Note(
            note_id=UUID(int=10_000 + number),
            slice_id=1,
            external_id=str(number),
            source="test",
            origin=f"origin-{number % 2}",
            version=self._versions[number],
            sequence=number,
            state=NoteState.WAITING,
            text="",
            occurred_at=NOW - timedelta(days=number),
            author=None,
            participants=(),
            trust=trust,
        )

    def _source(self, note: Note, statement: str) -> Source:
        return Source(
            source_id=self._id(),
            source_type=SourceType.NOTE,
            origin=note.origin,
            trust=note.trust,
            occurred_at=note.occurred_at,
            sequence=note.sequence,
            statement=statement,
            confidence=0.5 if note.trust is Trust.UNTRUSTED else 0.5 + note.sequence / 10,
            kind=Kind.FACT,
            importance=Importance.NORMAL,
            decay_class=DecayClass.PERMANENT,
            note_id=note.note_id,
            note_version=note.version,
            quote=statement,
            quote_start=0,
            quote_end=len(statement),
        )


posts = st.tuples(st.integers(0, 3), st.lists(st.sampled_from(STATEMENTS), max_size=4), st.sampled_from(Trust))
steps = st.lists(st.one_of(posts, st.integers(0, 3)), max_size=25)


@given(steps)
def test_the_beliefs_are_what_the_notes_say_in_the_end(
    history: list[tuple[int, list[str], Trust] | int],
) -> None:
    notes = Notes()
    for step in history:
        if isinstance(step, int):
            notes.withdraw(step)
        else:
            notes.post(*step)
        assert notes.believed() == notes.expected()


@given(st.lists(posts, min_size=1, max_size=4, unique_by=lambda post: post[0]), st.integers(1, 4))
def test_posting_the_same_again_changes_nothing(notes_given: list[tuple[int, list[str], Trust]], times: int) -> None:
    notes = Notes()
    for post in notes_given:
        notes.post(*post)
    before = list(notes.workspace)
    for _ in range(times):
        for number, statements, trust in notes_given:
            notes.post(number, statements, trust)
    assert [(b.belief_id, b.confidence, b.sources, b.origins) for b in notes.workspace] == [
        (b.belief_id, b.confidence, b.sources, b.origins) for b in before
    ]


def test_the_workspace_tells_exactly_what_changed() -> None:
    notes = Notes()
    notes.post(1, [STATEMENTS[0]])
    notes.post(2, [STATEMENTS[0], STATEMENTS[1]])
    notes.withdraw(1)
    changes = notes.workspace.changes()
    assert [belief.statement for belief in changes.created] == [STATEMENTS[0], STATEMENTS[1]]
    assert changes.updated == ()
    assert changes.counters == {"beliefs_fact": 2}
    # The first note's source came and went within the transaction, so it is never written.
    assert len(changes.added_sources) == 2
    assert changes.ended_sources == ()
    events = {
        belief.statement: [entry.event.value for entry in changes.history if entry.belief_id == belief.belief_id]
        for belief in changes.created
    }
    assert events == {STATEMENTS[0]: ["created", "corroborated", "source_ended"], STATEMENTS[1]: ["created"]}


def test_a_note_that_says_one_thing_twice_is_one_source_with_its_first_wording() -> None:
    notes = Notes()
    notes.post(1, [STATEMENTS[0], f"{STATEMENTS[0]} again"])
    changes = notes.workspace.changes()
    assert [belief.statement for belief in changes.created] == [STATEMENTS[0]]
    assert len(changes.added_sources) == 1
    assert [entry.event.value for entry in changes.history] == ["created"]
