"""What people read, each answer from one transaction."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from dreaming.api import store
from dreaming.api.beliefs import store as beliefs_store
from dreaming.api.beliefs.store import BeliefFilter, BeliefPlace, BeliefRow
from dreaming.api.records import (
    BeliefPage,
    BeliefReading,
    ConflictReading,
    Explanation,
    Recount,
    RetiredNote,
    RunReading,
    SliceStatus,
)
from dreaming.api.rules import arithmetic
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import ageing
from dreaming.beliefs.store import history
from dreaming.database import Database, Role, Transaction
from dreaming.errors import InvalidInput
from dreaming.notes import store as notes_store
from dreaming.notes.records import NoteState, Slice, SliceKey, Tenant
from dreaming.settings.service import load_settings

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
            return [
                replace(status, runs=tuple(store.recent_runs(tx, status.slice.slice_id, pass_name, runs)))
                for status in store.read_slices(tx, pass_name)
            ]

    def running(self, pass_name: str) -> list[UUID]:
        """Return the runs under way in the visible slices."""
        with self._transaction() as tx:
            return store.running_runs(tx, pass_name)

    def runs(self, run_ids: Sequence[UUID]) -> list[RunReading]:
        """Return the visible runs among `run_ids`."""
        with self._transaction() as tx:
            return store.runs_by_id(tx, run_ids)

    def beliefs(self, key: SliceKey, wanted: BeliefFilter, *, limit: int, cursor: str | None = None) -> BeliefPage:
        """Return a page of a slice's beliefs by aged confidence, then importance.

        `cursor` is the `next_cursor` of the page before; it keeps that page's moment, so that the
        pages fit together however long the reader takes.

        Raises:
            InvalidInput: a limit, a word or a cursor that cannot be.
        """
        _check_limit(limit)
        _check_filter(wanted)
        now, after = (self.now, None) if cursor is None else _parse_cursor(cursor)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return BeliefPage((), None)
            rows = beliefs_store.list_beliefs(
                tx, found.slice_id, wanted, ageing=self._ageing(tx), now=now, limit=limit + 1, after=after
            )
        page = rows[:limit]
        more = _write_cursor(now, page[-1].place) if len(rows) > limit else None
        return BeliefPage(tuple(_reading(row) for row in page), more)

    def explain(self, belief_id: str) -> Explanation:
        """Return why a belief is believed; the first or the last characters of its id are enough.

        Raises:
            InvalidInput: no visible belief has such an id, or several have.
        """
        with self._transaction() as tx:
            found = self._find(tx, belief_id)
            slice_id, belief = found.slice_id, found.belief
            sources = beliefs_store.read_sources(tx, slice_id, belief.belief_id)
            return Explanation(
                reading=_reading(found),
                slice=store.visible_slice(tx, slice_id),
                arithmetic=arithmetic(
                    belief,
                    [reading.source for reading in sources if reading.ended_at is None],
                    self._ageing(tx),
                    self.now,
                ),
                sources=tuple(sources),
                history=tuple(history(tx, slice_id, belief.belief_id)),
                conflicts=tuple(
                    beliefs_store.read_conflicts(
                        tx, found.slice_id, belief_id=found.belief.belief_id, limit=_MOST_CONFLICTS
                    )
                ),
            )

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

    def retired(self, key: SliceKey, *, limit: int) -> list[RetiredNote]:
        """Return a slice's retired notes, the latest first."""
        _check_limit(limit)
        with self._transaction() as tx:
            found = notes_store.find_slice(tx, key)
            return [] if found is None else store.list_retired(tx, found.slice_id, limit)

    def _find(self, tx: Transaction, belief_id: str) -> BeliefRow:
        part = belief_id.strip().lower().replace("-", "").removeprefix("…")
        if len(part) < _SHORTEST_ID or not set(part) <= set("0123456789abcdef"):
            raise InvalidInput(
                "BELIEF_ID",
                f"is {belief_id[:60]!r}",
                f"use at least {_SHORTEST_ID} characters of an id as `dream beliefs` shows it",
            )
        ids = beliefs_store.find_belief_ids(tx, part, _SHOWN_CANDIDATES + 1)
        if not ids:
            raise InvalidInput("BELIEF_ID", f"no belief has the id {belief_id[:60]!r}", "see `dream beliefs`")
        if len(ids) > 1:
            shown = ", ".join(str(one) for one in ids[:_SHOWN_CANDIDATES])
            raise InvalidInput(
                "BELIEF_ID",
                f"{belief_id[:60]!r} is the beginning or end of several ids ({shown}{' …' * (len(ids) > 5)})",
                "use more characters",
            )
        found = beliefs_store.find_belief(tx, ids[0], ageing=self._ageing(tx), now=self.now)
        if found is None:
            raise InvalidInput("BELIEF_ID", "the belief was deleted meanwhile", "see `dream beliefs`")
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
        quotes, wrong_quotes = store.count_quotes(tx, slice_.slice_id)
    pairs = [
        (f"notes {name}", getattr(kept_notes, name), getattr(counted_notes, name))
        for name in type(kept_notes).__dataclass_fields__
    ]
    pairs += [(f"beliefs {kind.value}", kept.by_kind[kind], counted.by_kind[kind]) for kind in counted.by_kind]
    pairs.append(("beliefs archived", kept.archived, counted.archived))
    return Recount(slice_, tuple(pair for pair in pairs if pair[1] != pair[2]), quotes, wrong_quotes)


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


def _write_cursor(now: datetime, place: BeliefPlace) -> str:
    parts = [now.isoformat(), place.aged, place.importance, place.confirmed_at.isoformat(), place.belief_id.hex]
    return urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _parse_cursor(cursor: str) -> tuple[datetime, BeliefPlace]:
    try:
        now, aged, importance, confirmed_at, belief_id = json.loads(
            urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        )
        place = BeliefPlace(float(aged), int(importance), _moment(confirmed_at), UUID(belief_id))
        return _moment(now), place
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInput("cursor", "is not one that a page ended with", "use `next_cursor` unchanged") from error


def _moment(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    if moment.utcoffset() is None:
        raise ValueError("a time without an offset")
    return moment
