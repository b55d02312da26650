"""Search of a slice's beliefs by words and by meaning, in pages, each hit with why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dreaming.api import paging
from dreaming.api.beliefs.store import BeliefFilter, read_beliefs
from dreaming.api.records import BeliefReading
from dreaming.api.search import ranking, store
from dreaming.api.search.ranking import Place
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import ageing as ageing_of
from dreaming.beliefs.vectors import store as vectors_store
from dreaming.beliefs.vectors.records import Space
from dreaming.beliefs.vectors.rules import check_dimension, storable
from dreaming.database import Database, Role, Transaction
from dreaming.errors import BudgetSpent, Hold, InvalidInput, Misconfigured
from dreaming.models.protocols import Embedder
from dreaming.notes import store as notes_store
from dreaming.notes.cleaning import clean, is_empty
from dreaming.notes.records import SliceKey, Tenant
from dreaming.notes.secrets import mask, shortened
from dreaming.passes.calls.limits import call_limits
from dreaming.passes.calls.store import add_usage, book_call
from dreaming.recall.rules import rarest
from dreaming.settings.resolution import Settings
from dreaming.settings.service import load_organization

MOST_FOUND = 1_000
"""How many beliefs the words of one search find at most, the best of them."""

MAX_QUERY_CHARACTERS = 4_000

MOST_POSTINGS = 20_000
"""How many postings one search reads at most, those of its rarest words and all of the rarest one."""

_PURPOSE = "search"
"""What calls of the embedder are counted under."""

_COUNTED = MOST_POSTINGS + 1
_NEAREST = 100
_MOST_NEAREST = 6_400

EmbedderOf = Callable[[Settings, str, str], Embedder | None]
"""Builds the embedder of an organization that made the vectors of a name; None where it is out of reach."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """A belief that a search found, and why."""

    reading: BeliefReading
    place: Place


@dataclass(frozen=True, slots=True)
class FoundPage:
    """Some hits, best first, and the cursor of the next ones. `reason` says why only words were compared."""

    found: tuple[Found, ...]
    next_cursor: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, in which slice and space; `reason` says why no vector is asked for."""

    query: str
    slice_id: int
    ageing: Ageing
    lexical_weight: float
    least_likeness: float
    space: Space | None = None
    embedder: Embedder | None = None
    reason: str | None = None


def lexical_weight(settings: Settings) -> float:
    """Return how much words count against vectors, from 0 to 1."""
    return settings.number("search_lexical_weight")


def least_likeness(settings: Settings) -> float:
    """Return from which cosine a belief is found that shares no word with the query."""
    return settings.number("search_least_likeness")


@dataclass(frozen=True, slots=True)
class Searching:
    """Searches for one tenant at one moment; `embed_seconds` bounds the wait for the query's vector."""

    database: Database
    tenant: Tenant
    environment: Mapping[str, str]
    now: datetime
    embedder: EmbedderOf
    role: Role = field(default=Role.API)
    embed_seconds: float = field(default=5.0)

    def search(self, key: SliceKey, wanted: BeliefFilter, *, limit: int, cursor: str | None = None) -> FoundPage:
        """Return a page of the slice's beliefs that fit the words of `wanted` best.

        Its other conditions hold exactly. Words match in any form of theirs; beliefs that share none with
        the query are found by their vectors. Archived ones, and such as held or were believed in the past
        only, have none. `cursor` goes on where a page ended, at that page's moment.

        Raises:
            InvalidInput: no word, too many of them, or a cursor of another list.
            DatabaseUnavailable: no connection within the bound.
        """
        query = _checked(wanted)
        moment = wanted.as_of or wanted.believed_at or self.now
        now, after = (moment, None) if cursor is None else _read_cursor(cursor)
        question = self._ask(key, query)
        if question is None:
            return FoundPage((), None)
        vector, reason = self._vector(question)
        with self.database.transaction(self.tenant, role=self.role) as tx:
            places = _places(tx, question, wanted, vector, now=now)
            if after is not None:
                places = [place for place in places if place.order > after]
            page = places[:limit]
            rows = read_beliefs(tx, question.slice_id, [one.belief_id for one in page], ageing=question.ageing, now=now)
            if vector is None and question.embedder is not None:  # last, since other searches wait for this row
                name = question.embedder.name
                add_usage(tx, self.tenant.org_id, _PURPOSE, name, day=self.now, failed_calls=1)
        found = tuple(
            Found(BeliefReading(row.belief, row.slice_id, row.place.aged, row.evidence), place)
            for place in page
            if (row := rows.get(place.belief_id)) is not None
        )
        more = _write_cursor(now, page[-1]) if len(places) > limit else None
        return FoundPage(found, more, reason)

    def _ask(self, key: SliceKey, query: str) -> _Question | None:
        with self.database.transaction(self.tenant, role=self.role) as tx:
            found = notes_store.find_slice(tx, key)
            if found is None:
                return None
            settings, enrolment = load_organization(tx, key.org_id, self.environment)
            space = vectors_store.active_space(tx, found.slice_id)
            weight, least = lexical_weight(settings), least_likeness(settings)
            question = _Question(query, found.slice_id, ageing_of(settings), weight, least)
            consents = enrolment.embedding_consent
            if space is None or not consents or weight >= 1:
                reason = None if weight >= 1 else "no_vectors" if consents else "no_embedding_consent"
                return replace(question, reason=reason)
            try:
                embedder = self.embedder(settings, key.org_id, space.model)
            except (Hold, Misconfigured, InvalidInput) as error:
                return replace(question, reason=_reason(error))
            if embedder is None:
                return replace(question, reason="no_embedder")
            per_day = call_limits(settings).per_day
            if not book_call(tx, key.org_id, _PURPOSE, embedder.name, budget=per_day, now=self.now):
                return replace(question, reason=BudgetSpent.reason)
        return replace(question, space=space, embedder=embedder)

    def _vector(self, question: _Question) -> tuple[NDArray[np.float32] | None, str | None]:
        """Return the query's vector, made with no connection held, or why there is none."""
        embedder, space = question.embedder, question.space
        if embedder is None or space is None:
            return None, question.reason
        try:
            vector: NDArray[np.float32] = embedder.embed([question.query], timeout=self.embed_seconds)[0]
            check_dimension(len(vector), space.dimension, space.model)
            storable(vector)
        except (Hold, Misconfigured, InvalidInput) as error:
            return None, _reason(error)
        return vector, None


def _places(
    tx: Transaction,
    question: _Question,
    wanted: BeliefFilter,
    vector: NDArray[np.float32] | None,
    *,
    now: datetime,
) -> list[Place]:
    """Return what the search finds, best first: the same whichever page of it is asked for."""
    slice_id, ageing = question.slice_id, question.ageing
    lexical: dict[UUID, float] = {}
    aged: dict[UUID, float] = {}
    counts = store.count_postings(tx, slice_id, ranking.query_terms(question.query), most=_COUNTED)
    held = {term: count for term, count in counts.items() if count}
    looked_up = {term: held[term] for term in rarest(held, few=1, most=MOST_POSTINGS)}
    if looked_up:
        lexical, aged = store.by_words(tx, slice_id, looked_up, wanted, ageing=ageing, now=now, limit=MOST_FOUND)
    alone = ranking.lone_characters(question.query)
    if alone:
        held_by = store.by_characters(tx, slice_id, alone, wanted, ageing=ageing, now=now, limit=MOST_FOUND)
        lexical = {one: lexical.get(one, 0.0) + held_by.get(one, 0.0) for one in {**lexical, **held_by}}
    likeness: dict[UUID, float] = {}
    if vector is not None and question.space is not None:
        model = question.space.model
        likeness = _nearest(tx, question, wanted, vector, model, now=now)
        likeness |= store.cosines(tx, slice_id, list(lexical.keys() - likeness.keys()), vector, model=model)
    others = [one for one in {**lexical, **likeness} if one not in aged]
    if others:
        aged |= store.aged_confidences(tx, slice_id, others, wanted, ageing=ageing, now=now)
    return ranking.ranked(
        lexical, likeness, aged, lexical_weight=question.lexical_weight, least_likeness=question.least_likeness
    )


def _nearest(
    tx: Transaction,
    question: _Question,
    wanted: BeliefFilter,
    vector: NDArray[np.float32],
    model: str,
    *,
    now: datetime,
) -> dict[UUID, float]:
    """Return the nearest beliefs with their cosines: more of them until enough of those are asked for."""
    if wanted.archived:
        return {}
    kinds = None if wanted.kind is None else [wanted.kind]
    limit = _NEAREST
    while True:
        near = vectors_store.nearest(tx, question.slice_id, vector, model=model, limit=limit, kinds=kinds)
        like = {one: cosine for one, cosine in near if cosine >= question.least_likeness}
        asked = store.aged_confidences(tx, question.slice_id, list(like), wanted, ageing=question.ageing, now=now)
        if len(asked) >= _NEAREST or len(like) < limit or limit >= _MOST_NEAREST:
            return {one: cosine for one, cosine in like.items() if one in asked}
        limit *= 4


def _checked(wanted: BeliefFilter) -> str:
    query = clean(" ".join(wanted.words)).strip()
    if is_empty(query):
        raise InvalidInput("words", "are empty", "say what to look for")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput("words", f"have {len(query):,} characters", f"use at most {MAX_QUERY_CHARACTERS:,}")
    if not 0 <= wanted.min_confidence <= 1:
        raise InvalidInput("min_confidence", f"is {wanted.min_confidence}", "use a number from 0 to 1")
    return shortened(mask(query).text)


def _write_cursor(now: datetime, last: Place) -> str:
    return paging.write_cursor(now, last.score, last.lexical, last.belief_id)


def _read_cursor(cursor: str) -> tuple[datetime, tuple[float, float, bytes]]:
    now, score, lexical, belief_id = paging.read_cursor(
        cursor, [paging.Kind.MOMENT, paging.Kind.SCORE, paging.Kind.SCORE, paging.Kind.ID]
    )
    return cast(datetime, now), (-cast(float, score), -cast(float, lexical), cast(UUID, belief_id).bytes)


def _reason(error: Hold | Misconfigured | InvalidInput) -> str:
    _log.warning("a search compares words only: %s", error)
    return error.reason if isinstance(error, Hold) else "misconfigured"
