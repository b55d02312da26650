"""What people ask of ageing: what fades when, and what a pass would do. Nothing here leaves a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NoReturn, TypeVar
from uuid import UUID

from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import ageing
from dreaming.database import Database, Transaction
from dreaming.errors import InvalidInput
from dreaming.notes import store as notes_store
from dreaming.notes.records import SliceKey
from dreaming.passes.decay import store
from dreaming.passes.decay.records import Due, Fading, Forecast, Preview
from dreaming.passes.decay.rules import WEEKS, weeks
from dreaming.passes.decay.run import BATCH_ROWS, least_relationships, recompute
from dreaming.settings.service import load_settings

MAX_LISTED = 1_000

_ALL = 10_000_000

T = TypeVar("T")


class _UndoneError(Exception, Generic[T]):
    """Ends a transaction whose writes must not stay, and carries what was read in it."""

    def __init__(self, answer: T) -> None:
        super().__init__()
        self.answer = answer


@dataclass(frozen=True, slots=True)
class _View:
    """A slice in which every moment of fading is what the settings make of it; `recomputed` for this reading only."""

    tx: Transaction
    slice_id: int
    ageing: Ageing
    relationships: int
    recomputed: bool


@dataclass(frozen=True, slots=True)
class Outlook:
    """Looks ahead in one slice from the moment `now`; `environment` holds the deployment's settings.

    Where the settings have changed and no pass has recomputed the rows yet, that is done here and undone.
    """

    database: Database
    key: SliceKey
    environment: Mapping[str, str]
    now: datetime

    def forecast(self, *, limit: int = 10, after: tuple[datetime, UUID] | None = None) -> Forecast | None:
        """Return what fades in each of the next 12 weeks, and the first `limit` beliefs; None without a slice.

        `after`: those that follow a belief, given by when it fades and its id.
        """
        _check_limit(limit)
        return self._look(lambda view: self._forecast(view, limit, after))

    def preview(self, *, limit: int = 10) -> Preview | None:
        """Return what a pass would announce and archive now, listing `limit` of each; None without a slice."""
        _check_limit(limit)
        return self._look(lambda view: self._preview(view, limit))

    def _forecast(self, view: _View, limit: int, after: tuple[datetime, UUID] | None) -> Forecast:
        faded, counts = store.count_weeks(view.tx, view.slice_id, now=self.now, weeks=WEEKS)
        beliefs, _ = store.ageing_counters(view.tx, view.slice_id)
        listed = self._listed(view, None, limit + 1, after)
        return Forecast(
            at=self.now,
            ageing=beliefs,
            faded=faded,
            weeks=weeks(counts, now=self.now),
            next_ones=listed[:limit],
            more=len(listed) > limit,
        )

    def _preview(self, view: _View, limit: int) -> Preview:
        faded, soon = (
            select(view.tx, view.slice_id, view.ageing, relationships=view.relationships, now=self.now, limit=_ALL)
            for select in (store.faded_beliefs, store.fading_soon)
        )
        to_warn = [one for one in (*faded, *soon) if one.warns]
        to_archive = [one for one in faded if not one.warns]
        ids = [one.belief_id for one in to_archive]
        following = store.next_due(view.tx, view.slice_id, view.ageing, now=self.now)
        held_until = [max(one.fades_at, self.now + view.ageing.warn_ahead) for one in to_warn]
        return Preview(
            at=self.now,
            warned=len(to_warn),
            archived=len(to_archive),
            held=store.count_held(view.tx, view.slice_id, view.ageing, now=self.now),
            relationships_archived=store.count_relationships_due(view.tx, view.slice_id, ids, now=self.now),
            recomputed=view.recomputed,
            to_warn=self._listed(view, to_warn[:limit], limit),
            to_archive=self._listed(view, to_archive[:limit], limit),
            next_due=min([*held_until, *([following] if following else [])], default=None),
        )

    def _listed(
        self, view: _View, due: list[Due] | None, limit: int, after: tuple[datetime, UUID] | None = None
    ) -> tuple[Fading, ...]:
        return tuple(
            store.list_fading(
                view.tx,
                view.slice_id,
                view.ageing,
                relationships=view.relationships,
                now=self.now,
                limit=limit,
                only=None if due is None else [one.belief_id for one in due],
                after=after,
            )
        )

    def _look(self, read: Callable[[_View], T]) -> T | None:
        with self.database.transaction(self.key.tenant) as tx:
            found = notes_store.find_slice(tx, self.key)
            if found is None:
                return None
            settings = load_settings(tx, self.key.org_id, self.environment)
            wanted, relationships = ageing(settings), least_relationships(settings)
            state = ageing_store.read(tx, found.slice_id)
            if state is not None and state.fits(wanted) and state.recomputing is None:
                return read(_View(tx, found.slice_id, wanted, relationships, recomputed=False))
        try:
            with self.database.transaction(self.key.tenant) as tx:
                _recompute_all(tx, found.slice_id, wanted, now=self.now)
                _undo(read(_View(tx, found.slice_id, wanted, relationships, recomputed=True)))
        except _UndoneError as undone:
            answer: T = undone.answer
            return answer


def _recompute_all(tx: Transaction, slice_id: int, wanted: Ageing, *, now: datetime) -> None:
    ageing_store.lock(tx, slice_id)
    ageing_store.begin_recomputing(tx, slice_id, wanted)
    while (state := ageing_store.read(tx, slice_id)) is not None and state.recomputing is not None:
        recompute(tx, slice_id, state, wanted, now=now, limit=BATCH_ROWS)


def _undo(answer: object) -> NoReturn:
    raise _UndoneError(answer)


def _check_limit(limit: int) -> None:
    if not 0 <= limit <= MAX_LISTED:
        raise InvalidInput("limit", f"is {limit}", f"use 0 to {MAX_LISTED}")
