"""What people read, each answer from one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast
from uuid import UUID

from dreaming.api import paging, store
from dreaming.api.beliefs import store as beliefs_store
from dreaming.api.beliefs.store import BeliefFilter, BeliefPlace, BeliefRow
from dreaming.api.paging import Kind, Page, page_of
from dreaming.api.records import (
    BeliefPage,
    BeliefReading,
    ConflictReading,
    Explanation,
    Progress,
    Recount,
    RetiredNote,
    RunPage,
    RunReading,
    SliceStatus,
)
from dreaming.api.rules import arithmetic
from dreaming.api.timelines import store as timelines_store
from dreaming.api.timelines.store import ReviewRow, SuccessionRow
from dreaming.beliefs.relationships import store as relationships_store
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import ageing
from dreaming.beliefs.store import histories
from dreaming.database import Database, Role, Transaction
from dreaming.errors import InvalidInput, NotFound
from dreaming.notes import store as notes_store
from dreaming.notes.records import Note, NoteState, Slice, SliceKey, Tenant
from dreaming.passes.rules import why_not
from dreaming.settings.service import load_settings
from dreaming.settings.store import read_enrolment

MAX_PAGE = 1_000
MAX_WORDS = 20
MAX_WORD_LENGTH = 200

_SHORTEST_ID = 4
_SHOWN_CANDIDATES = 5
_MOST_CONFLICTS = 100


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads for one tenant at one moment; `environment` holds the deployment's settings."""

    database: Database
    tenant: Tenant
    environment: Mapping[str, str]
    now: datetime

    def status(self, pass_name: str, *, runs: int = 5) -> list[SliceStatus]:
        """Return where every visible slice stands, with its latest runs."""
        with self._transaction() as tx:
            return _statuses(tx, self.tenant, pass_name, runs)

    def progress(self, pass_name: str, *, runs: int = 5) -> Progress:
        """Return the same, with every reason why switch, enrolment or consent let no run of the pass start."""
        with self._transaction() as tx:
            try:
                settings = load_settings(tx, self.tenant.org_id, self.environment)
            except InvalidInput:
                settings = None
            stopped = why_not(pass_name, settings, read_enrolment(tx, self.tenant.org_id))
            return Progress(tuple(_statuses(tx, self.tenant, pass_name, runs)), stopped)

    def running(self, pass_name: str) -> list[UUID]:
        """Return the runs under way in the visible slices."""
        with self._transaction() as tx:
            return store.running_runs(tx, self.tenant, pass_name)

    def runs(self, run_ids: Sequence[UUID]) -> list[RunReading]:
        """Return the visible runs among `run_ids`."""
        with self._transaction() as tx:
            return store.runs_by_id(tx, self.tenant, run_ids)

    def run_page(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Return runs of every pass in the visible slices, the latest start first."""
        _check_limit(limit)
        after = paging.moment_and_id(cursor)
        with self._transaction() as tx:
            runs = store.latest_runs(tx, self.tenant, limit + 1, after=after)
        page = runs[:limit]
        more = paging.write_cursor(page[-1].started_at, page[-1].run_id) if len(runs) > limit else None
        return RunPage(tuple(page), more)

    def notes(
        self, key: SliceKey, *, state: NoteState | None, source: str | None, limit: int, cursor: str | None = None
    ) -> tuple[list[Note], str | None]:
        """Return a page of a slice's notes without their texts, the latest sequence first, and its cursor."""
        _check_limit(limit)
        before = None if cursor is None else cast(int, paging.read_cursor(cursor, [Kind.NUMBER])[0])
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return [], None
            notes = store.list_notes(tx, found.slice_id, state=state, source=source, limit=limit + 1, before=before)
        page = notes[:limit]
        return page, paging.write_cursor(page[-1].sequence) if len(notes) > limit else None

    def note(self, note_id: UUID) -> Note:
        """Return a visible note with its text; raises `NotFound`."""
        with self._transaction() as tx:
            found = store.find_note(tx, self.tenant, note_id)
        if found is None:
            raise NotFound("note_id", "no note has this id", "list the notes")
        return found

    def beliefs(self, key: SliceKey, wanted: BeliefFilter, *, limit: int, cursor: str | None = None) -> BeliefPage:
        """Return a page of a slice's beliefs by aged confidence, then importance.

        `cursor` is the `next_cursor` of the page before; it keeps that page's moment, so that the
        pages fit together however long the reader takes.

        Raises:
            InvalidInput: a limit, a word or a cursor that cannot be.
        """
        _check_limit(limit)
        _check_filter(wanted)
        moment = wanted.as_of or wanted.believed_at or self.now
        now, after = (moment, None) if cursor is None else _place_of(cursor)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return BeliefPage((), None)
            rows = beliefs_store.list_beliefs(
                tx, found.slice_id, wanted, ageing=self._ageing(tx), now=now, limit=limit + 1, after=after
            )
        page = rows[:limit]
        more = _cursor_of(now, page[-1].place) if len(rows) > limit else None
        return BeliefPage(tuple(_reading(row) for row in page), more)

    def explain(self, belief_id: str) -> Explanation:
        """Return why a belief is believed; the first or the last characters of its id are enough.

        Raises:
            InvalidInput: no visible belief has such an id, or several have.
        """
        with self._transaction() as tx:
            found = self._find(tx, belief_id)
            return self._explained(tx, found.slice_id, [found])[found.belief.belief_id]

    def explain_all(self, key: SliceKey, belief_ids: Sequence[UUID]) -> dict[UUID, Explanation]:
        """Return why beliefs of one slice are believed, in as many statements as for one; absent ones are left out."""
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None or not belief_ids:
                return {}
            wanted = sorted(set(belief_ids))
            rows = beliefs_store.read_beliefs(tx, found.slice_id, wanted, ageing=self._ageing(tx), now=self.now)
            return self._explained(tx, found.slice_id, list(rows.values()))

    def _explained(self, tx: Transaction, slice_id: int, found: Sequence[BeliefRow]) -> dict[UUID, Explanation]:
        ids = [row.belief.belief_id for row in found]
        ageing = self._ageing(tx)
        slice_ = store.visible_slice(tx, self.tenant, slice_id)
        sources = beliefs_store.read_sources(tx, self.tenant, slice_id, ids)
        events = histories(tx, slice_id, ids)
        conflicts = beliefs_store.conflicts_of(tx, slice_id, ids, limit=_MOST_CONFLICTS)
        related = relationships_store.read_of_beliefs(
            tx, slice_id, ids, ageing=ageing, now=self.now, limit=_MOST_CONFLICTS
        )
        return {
            row.belief.belief_id: Explanation(
                reading=_reading(row),
                slice=slice_,
                arithmetic=arithmetic(
                    row.belief,
                    [one.source for one in sources[row.belief.belief_id] if one.ended_at is None],
                    ageing,
                    self.now,
                ),
                sources=tuple(sources[row.belief.belief_id]),
                history=tuple(events[row.belief.belief_id]),
                conflicts=tuple(conflicts[row.belief.belief_id]),
                relationships=tuple(related[row.belief.belief_id]),
            )
            for row in found
        }

    def succession(self, slice_id: int, belief_id: UUID) -> list[SuccessionRow]:
        """Return the line of succession that a belief is on, in order of time; none when nothing bears upon it."""
        with self._transaction() as tx:
            return timelines_store.read_succession(tx, slice_id, belief_id)

    def waiting_for_a_judge(self, key: SliceKey) -> int:
        """Count the pairs of a slice that are alike, and of which nobody knows yet whether they contradict."""
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            return 0 if found is None else timelines_store.count_waiting(tx, found.slice_id)

    def reviews(
        self, key: SliceKey, *, limit: int, neighbours: bool = False, cursor: str | None = None
    ) -> Page[ReviewRow]:
        """Return the pairs of a slice's beliefs that need a person, the undecidable before the open."""
        _check_limit(limit)
        after = None if cursor is None else paging.read_cursor(cursor, [Kind.SMALL, Kind.MOMENT, Kind.ID, Kind.ID])
        place = cast(tuple[int, datetime, UUID, UUID] | None, after)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return Page(())
            rows = timelines_store.read_reviews(tx, found.slice_id, limit + 1, neighbours=neighbours, after=place)
        return page_of(rows, limit, lambda row: row.place)

    def corroborated(self, key: SliceKey, *, limit: int) -> list[BeliefReading]:
        """Return the live beliefs of a slice that the most origins support, at least two."""
        _check_limit(limit)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return []
            rows = beliefs_store.most_corroborated(
                tx, found.slice_id, ageing=self._ageing(tx), now=self.now, limit=limit
            )
        return [_reading(row) for row in rows]

    def notes_by_source(self, key: SliceKey) -> dict[str, dict[NoteState, int]]:
        """Count a slice's notes by source and state."""
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            return {} if found is None else store.notes_by_source(tx, found.slice_id)

    def conflicts(self, key: SliceKey, *, limit: int) -> list[ConflictReading]:
        """Return the pairs of a slice's beliefs that are left for adjudication, the newest first."""
        _check_limit(limit)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            return [] if found is None else beliefs_store.read_conflicts(tx, found.slice_id, limit=limit)

    def retired(self, key: SliceKey, *, limit: int, cursor: str | None = None) -> Page[RetiredNote]:
        """Return a slice's retired notes, the latest first."""
        _check_limit(limit)
        place = paging.moment_and_id(cursor)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return Page(())
            rows = store.list_retired(tx, found.slice_id, limit + 1, after=place)
        return page_of(rows, limit, lambda note: (note.retired_at, note.note_id))

    def _find(self, tx: Transaction, belief_id: str) -> BeliefRow:
        part = belief_id.strip().lower().replace("-", "").removeprefix("…")
        if len(part) < _SHORTEST_ID or not set(part) <= set("0123456789abcdef"):
            raise InvalidInput(
                "belief_id",
                f"is {belief_id[:60]!r}",
                f"use at least {_SHORTEST_ID} characters of an id as the list of beliefs shows it",
            )
        ids = beliefs_store.find_belief_ids(tx, self.tenant, part, _SHOWN_CANDIDATES + 1)
        if not ids:
            raise NotFound("belief_id", f"no belief has the id {belief_id[:60]!r}", "list the beliefs")
        if len(ids) > 1:
            shown = ", ".join(str(one) for one in ids[:_SHOWN_CANDIDATES])
            raise InvalidInput(
                "belief_id",
                f"{belief_id[:60]!r} is the beginning or end of several ids ({shown}{' …' * (len(ids) > 5)})",
                "use more characters",
            )
        found = beliefs_store.find_belief(tx, self.tenant, ids[0], ageing=self._ageing(tx), now=self.now)
        if found is None:
            raise NotFound("belief_id", "the belief was deleted meanwhile", "list the beliefs")
        return found

    def _ageing(self, tx: Transaction) -> Ageing:
        return ageing(load_settings(tx, self.tenant.org_id, self.environment))

    def _transaction(self) -> AbstractContextManager[Transaction]:
        return self.database.transaction(self.tenant, role=Role.API)


def recount(database: Database) -> list[Recount]:
    """Count the notes and beliefs of every slice of every tenant anew and compare with the counters.

    Each slice's counters are locked while it is counted. Every stored quote is compared with its
    place in the note too.
    """
    with database.planner() as planner:
        slices = store.all_slices(planner)
    return [_recount(database, slice_) for slice_ in slices]


def _recount(database: Database, slice_: Slice) -> Recount:
    with database.transaction(slice_.key.tenant) as tx:
        counted_notes = notes_store.recount(tx, slice_.slice_id)
        kept_notes = notes_store.read_counters(tx, slice_.slice_id)
        counted = store.count_beliefs(tx, slice_.slice_id)
        kept = store.read_belief_counters(tx, slice_.slice_id)
        wrong_sources = store.count_miscounted(tx, slice_.slice_id)
        quotes, wrong_quotes = store.count_quotes(tx, slice_.slice_id)
        counted_ageing = relationships_store.count(tx, slice_.slice_id)
        kept_ageing = relationships_store.read_counters(tx, slice_.slice_id)
    pairs = [
        (f"notes {name}", getattr(kept_notes, name), getattr(counted_notes, name))
        for name in type(kept_notes).__dataclass_fields__
    ]
    pairs += [(f"beliefs {kind.value}", kept.by_kind[kind], counted.by_kind[kind]) for kind in counted.by_kind]
    pairs.append(("beliefs archived", kept.archived, counted.archived))
    pairs += [(name.replace("_", " "), kept_ageing[name], number) for name, number in counted_ageing.items()]
    differences = tuple(pair for pair in pairs if pair[1] != pair[2])
    return Recount(slice_, differences, wrong_sources, quotes, wrong_quotes)


def _statuses(tx: Transaction, tenant: Tenant, pass_name: str, runs: int) -> list[SliceStatus]:
    return [
        replace(status, runs=tuple(store.recent_runs(tx, status.slice.slice_id, pass_name, runs)))
        for status in store.read_slices(tx, tenant, pass_name)
    ]


def _reading(row: BeliefRow) -> BeliefReading:
    return BeliefReading(row.belief, row.slice_id, row.place.aged, row.evidence)


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput("limit", f"is {limit}", f"use 1 to {MAX_PAGE}")


def _check_filter(wanted: BeliefFilter) -> None:
    if len(wanted.words) > MAX_WORDS:
        raise InvalidInput("words", f"are {len(wanted.words)}", f"search for at most {MAX_WORDS}")
    for word in wanted.words:
        if not word or len(word) > MAX_WORD_LENGTH or "\0" in word:
            raise InvalidInput("words", f"include {word[:40]!r}", f"use words of 1 to {MAX_WORD_LENGTH} characters")
    if not 0 <= wanted.min_confidence <= 1:
        raise InvalidInput("min_confidence", f"is {wanted.min_confidence}", "use a number from 0 to 1")


def _cursor_of(now: datetime, place: BeliefPlace) -> str:
    return paging.write_cursor(now, place.aged, place.importance, place.confirmed_at, place.belief_id)


def _place_of(cursor: str) -> tuple[datetime, BeliefPlace]:
    now, *place = paging.read_cursor(cursor, [Kind.MOMENT, Kind.SHARE, Kind.SMALL, Kind.MOMENT, Kind.ID])
    return cast(datetime, now), BeliefPlace(*cast(tuple[float, int, datetime, UUID], tuple(place)))
