"""The embedding pass: one batch embeds texts that lack a vector; the last one moves readers to its space.

A slice whose model changed keeps its readers in the old space until the new one is complete. Then one
transaction moves them and deletes the old vectors, so no reader ever compares vectors of two models.
Consent is read at the start of each batch and again before its vectors are stored; once it is
withdrawn, a batch deletes what was embedded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.vectors.records import Space
from dreaming.beliefs.vectors.rules import check_dimension
from dreaming.database import Database, Transaction
from dreaming.errors import BudgetSpent
from dreaming.models.protocols import Embedder
from dreaming.models.selection import embedding_space
from dreaming.notes.records import Slice
from dreaming.passes import store as passes_store
from dreaming.passes.calls import store as calls_store
from dreaming.passes.embedding import store
from dreaming.passes.embedding.beliefs import Beliefs
from dreaming.passes.embedding.calls import embed_texts
from dreaming.passes.embedding.conversations import Conversations
from dreaming.passes.embedding.records import Answers, Consent, Embedded, SliceProgress, Text
from dreaming.passes.embedding.source import EmbeddingSource
from dreaming.passes.records import EMBEDDING, BatchOutcome, Clock, Deadline, Lease
from dreaming.settings.resolution import Settings

SLICES_PER_TICK = 1_000
"""How many slices one tick starts; the others come with the next, those that waited longest first."""

SOURCES: tuple[EmbeddingSource, ...] = (Beliefs(), Conversations())

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Opened:
    """What a batch is about: texts to embed, or `done` when everything is done already."""

    texts: Sequence[Text] = ()
    removed: int = 0
    done: BatchOutcome | None = None


@dataclass(frozen=True, slots=True)
class Embedding:
    """The pass, with its ports.

    `embedder` builds the deployment's embedder for an organization, None where embedding is off; `space`
    names it without building it, and tells its dimension.
    """

    database: Database
    embedder: Callable[[Settings, str], Embedder | None]
    clock: Clock
    space: Callable[[Settings], tuple[str, int] | None] = field(default=embedding_space)
    sources: tuple[EmbeddingSource, ...] = field(default=SOURCES)

    @property
    def name(self) -> str:
        """The pass's name."""
        return EMBEDDING

    def due(
        self, planner: Transaction, settings: Settings, *, now: datetime, stalled_after: timedelta, only: int | None
    ) -> Sequence[Slice]:
        """Return the slices with text to embed, or with vectors to forget."""
        space = self.space(settings)
        return store.slices_to_embed(
            planner,
            EMBEDDING,
            target_model=space[0] if space else None,
            now=now,
            stalled_after=stalled_after,
            only=only,
            limit=SLICES_PER_TICK,
        )

    def run_batch(self, lease: Lease, settings: Settings, deadline: Deadline) -> BatchOutcome:
        """Embed the next texts of the slice and store their vectors; no connection is held in between."""
        embedder = self.embedder(settings, lease.slice.key.org_id)
        opened = self._open(lease, settings, embedder)
        if opened.done is not None or embedder is None:
            return opened.done or BatchOutcome(progressed=False, remaining=False)
        answers = embed_texts(
            embedder,
            opened.texts,
            timeout=float(settings.integer("embedding_timeout_seconds")),
            deadline=deadline,
        )
        return self._store(lease, embedder, opened, answers)

    def _open(self, lease: Lease, settings: Settings, embedder: Embedder | None) -> _Opened:
        """Bring the slice's spaces up to what is configured and consented to, and read the next texts."""
        slice_id, org_id, now = lease.slice.slice_id, lease.slice.key.org_id, self.clock()
        with self.database.transaction(lease.slice.key.tenant) as tx:
            passes_store.require_lease(tx, lease)
            beliefs_store.lock(tx, slice_id)
            consent = store.read_consent(tx, org_id)
            if not consent.given:
                return _Opened(done=self._forget(tx, lease, now))
            if embedder is None:
                return _Opened(done=_committed(tx, lease, BatchOutcome(progressed=False, remaining=False), now))
            target = Space(embedder.name, embedder.dimension)
            store.aim_at(tx, slice_id, target, now=now)
            spaces = store.read_spaces(tx, slice_id)
            if spaces is not None:
                check_dimension(target.dimension, spaces.target.dimension, target.model)
            removed = self._obey(tx, slice_id, consent)
            swept = store.read_swept(tx, slice_id)
            texts = self._missing(tx, slice_id, target.model, now, settings.integer("embedding_batch"), swept)
            store.write_swept(tx, slice_id, swept)
            if not texts:
                counts = self._finish(tx, slice_id, target.model, now) | {"vectors_removed": removed}
                return _Opened(done=_committed(tx, lease, BatchOutcome(False, False, counts=counts), now))
            passes_store.make_due(tx, slice_id, EMBEDDING, now)  # until the last text is done
            budget = settings.integer("embedding_calls_per_day")
            if not calls_store.book_call(tx, org_id, EMBEDDING, target.model, budget=budget, of_pass=True, now=now):
                spent = BudgetSpent(f"the {budget:,} embedding calls of today are used up; see embedding_calls_per_day")
                held = BatchOutcome(False, True, spent.reason, str(spent), {"vectors_removed": removed})
                return _Opened(done=_committed(tx, lease, held, now))
        return _Opened(texts, removed)

    def _store(self, lease: Lease, embedder: Embedder, opened: _Opened, answers: Answers) -> BatchOutcome:
        """Store what was embedded, count what was refused, and switch over when nothing is left to embed."""
        slice_id, org_id, now, model = lease.slice.slice_id, lease.slice.key.org_id, self.clock(), embedder.name
        with self.database.transaction(lease.slice.key.tenant) as tx:
            beliefs_store.lock(tx, slice_id)
            consent = store.read_consent(tx, org_id)
            further = {"calls": answers.calls - 1, "failed_calls": answers.failed_calls}  # the first is booked
            calls_store.add_usage(tx, org_id, EMBEDDING, model, day=now, **further)
            if not consent.given:
                return self._forget(tx, lease, now)
            removed = opened.removed + self._obey(tx, slice_id, consent)
            stored = sum(
                source.store(tx, slice_id, _of(source, answers.embedded), model=model, now=now)
                for source in self.sources
            )
            store.drop_refusals(tx, slice_id, [one.text for one in answers.embedded], model=model)
            left_out = store.count_refusals(tx, slice_id, answers.refused, model=model, now=now)
            remaining = bool(self._missing(tx, slice_id, model, now, 1, store.read_swept(tx, slice_id)))
            counts = {} if remaining else self._finish(tx, slice_id, model, now)
            counts |= {
                "model_calls": answers.calls,
                "texts_embedded": stored,
                "texts_refused": len(answers.refused),
                "texts_left_out": len(left_out),
                "vectors_removed": removed + counts.get("vectors_removed", 0),
            }
            outcome = BatchOutcome(
                progressed=stored > 0 or bool(answers.refused),
                remaining=remaining,
                held=answers.hold.reason if answers.hold else None,
                held_detail=str(answers.hold) if answers.hold else None,
                counts=counts,
            )
            passes_store.commit_batch(tx, lease, outcome, now=now)
        for source_name, item_id in left_out:
            _log.error(
                "text left out of embedding",
                extra={"source": source_name, "item_id": item_id, "model": model, "run_id": str(lease.run_id)},
            )
        return outcome

    def _missing(
        self, tx: Transaction, slice_id: int, model: str, now: datetime, limit: int, swept: dict[str, str]
    ) -> list[Text]:
        """Return the next texts and move `swept` behind them; none only when none is missing from the start on."""
        texts: list[Text] = []
        for source in self.sources:
            wanted = limit - len(texts)
            if not wanted:
                break
            after = swept.pop(source.name, None)
            found = source.missing(tx, slice_id, model, now=now, limit=wanted, after=after)
            if not found and after is not None:
                found = source.missing(tx, slice_id, model, now=now, limit=wanted)
            if found:
                swept[source.name] = found[-1].item_id
            texts += found
        return texts

    def _obey(self, tx: Transaction, slice_id: int, consent: Consent) -> int:
        """Delete the vectors of excluded sources; only then may readers search under this consent."""
        removed = 0
        if consent.excluded_sources:
            removed = sum(source.remove_excluded(tx, slice_id) for source in self.sources)
        store.note_consent(tx, slice_id, consent)
        return removed

    def _finish(self, tx: Transaction, slice_id: int, model: str, now: datetime) -> dict[str, int]:
        """Nothing is left to embed: switch over, unless a refused text is to be tried again before."""
        again = store.next_retry(tx, slice_id, model=model, now=now)
        passes_store.set_due(tx, slice_id, EMBEDDING, again)
        if any(source.came_meanwhile(tx, slice_id, model, now=now) for source in self.sources):
            passes_store.make_due(tx, slice_id, EMBEDDING, now)  # the next tick goes on
            return {}
        store.drop_other_refusals(tx, slice_id, model=model, now=now)
        if again is not None:
            return {}
        switched = store.switch_over(tx, slice_id)
        removed = sum(source.remove(tx, slice_id, keep=model) for source in self.sources)
        return {"spaces_switched": int(switched), "vectors_removed": removed}

    def _forget(self, tx: Transaction, lease: Lease, now: datetime) -> BatchOutcome:
        """Delete every vector of the slice: its organization does not consent to embedding."""
        slice_id = lease.slice.slice_id
        removed = sum(source.remove(tx, slice_id) for source in self.sources)
        store.forget_space(tx, slice_id)
        passes_store.set_due(tx, slice_id, EMBEDDING, None)
        return _committed(tx, lease, BatchOutcome(removed > 0, False, counts={"vectors_removed": removed}), now)


def read_progress(
    tx: Transaction, slice_id: int, configured: Space | None, *, sources: Sequence[EmbeddingSource] = SOURCES
) -> SliceProgress:
    """Return how far the slice is in the `configured` space, else in the one that it was last filled for."""
    spaces = store.read_spaces(tx, slice_id)
    space = configured or (spaces.target if spaces else None)
    model = space.model if space else ""
    return SliceProgress(spaces, {source.name: source.counts(tx, slice_id, model) for source in sources})


def _of(source: EmbeddingSource, embedded: Sequence[Embedded]) -> list[Embedded]:
    return [one for one in embedded if one.text.source == source.name]


def _committed(tx: Transaction, lease: Lease, outcome: BatchOutcome, now: datetime) -> BatchOutcome:
    passes_store.commit_batch(tx, lease, outcome, now=now)
    return outcome
