"""What happens to relationships: assertions of notes, and folding anew when beliefs or sources change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.relationships import store
from dreaming.beliefs.relationships.records import Assertion, RelationshipChanges
from dreaming.beliefs.relationships.rules import changes, refold
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.workspace import BeliefChanges
from dreaming.database import Transaction
from dreaming.identifiers import NewId
from dreaming.passes.records import DECAY
from dreaming.passes.store import make_due


def relate(
    tx: Transaction,
    slice_id: int,
    assertions: Sequence[Assertion],
    *,
    note_ids: Sequence[UUID],
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
) -> RelationshipChanges:
    """Let `assertions` be all that the notes `note_ids` say about relationships.

    What an earlier version of these notes asserted and this one does not is taken back. The beliefs
    and their sources have been written, and the belief lock is held.
    """
    kept = [one for one in dict.fromkeys(assertions) if one.from_belief_id != one.to_belief_id]
    touched = store.unlink_notes(tx, slice_id, note_ids, kept) if note_ids else set()
    touched |= store.assert_edges(tx, slice_id, kept, [new_id() for _ in kept], now=now)
    return fold_anew(tx, slice_id, touched, ageing=ageing, now=now)


def settle(tx: Transaction, slice_id: int, changed: BeliefChanges, *, now: datetime) -> RelationshipChanges:
    """Fold anew what ended sources asserted, and what begins or ends at a belief archived or restored."""
    ended = [source_id for source_id, _ in changed.ended_sources]
    if not ended and not changed.flipped:
        return RelationshipChanges((), {})
    touched = store.touched_by(tx, slice_id, sources=ended, beliefs=changed.flipped)
    return fold_anew(tx, slice_id, touched, ageing=changed.ageing, now=now)


def carry_over(
    tx: Transaction,
    slice_id: int,
    merged: Mapping[UUID, UUID],
    *,
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
) -> RelationshipChanges:
    """Give the relationships of merged beliefs to those they were merged into (old id to new id).

    To be called when the merge has been written, so that the notes' sources are the new belief's.
    """
    moved = [
        replace(
            one,
            from_belief_id=merged.get(one.from_belief_id, one.from_belief_id),
            to_belief_id=merged.get(one.to_belief_id, one.to_belief_id),
        )
        for one in store.asserted_of(tx, slice_id, list(merged))
    ]
    return relate(tx, slice_id, moved, note_ids=(), ageing=ageing, now=now, new_id=new_id)


def refresh(
    tx: Transaction, slice_id: int, belief_ids: Collection[UUID], *, ageing: Ageing, now: datetime
) -> RelationshipChanges:
    """Fold anew all that begins or ends at the beliefs, as when sources have moved between them."""
    touched = store.touched_by(tx, slice_id, sources=(), beliefs=belief_ids)
    return fold_anew(tx, slice_id, touched, ageing=ageing, now=now)


def fold_anew(
    tx: Transaction, slice_id: int, relationship_ids: Collection[UUID], *, ageing: Ageing, now: datetime
) -> RelationshipChanges:
    """Fold relationships over their live sources and write what changed, in at most five statements."""
    loaded = store.load(tx, slice_id, relationship_ids)
    pairs = [
        (stored, refold(stored, sources, ends_live=ends_live, ageing=ageing, now=now))
        for stored, ends_live, sources in loaded
    ]
    changed = changes(pairs)
    fading = [one.fades_at for one in changed.updated if one.live and one.fades_at is not None]
    if fading:
        make_due(tx, slice_id, DECAY, min(fading))
    store.update(tx, slice_id, changed.updated, now=now)
    store.add_to_counters(tx, slice_id, changed.counters)
    return changed
