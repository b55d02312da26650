"""Merging two beliefs into one, and taking it back; every caller holds the slice's belief lock.

A merge moves sources and folds again, so that nothing inflates: the kept belief is the fold of the
sources of both. Taking it back gives each its own; where nothing came after the merge, both rows are
again what they were, else each is the fold of what is its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.merging import store
from dreaming.beliefs.merging.store import Merge
from dreaming.beliefs.records import ArchiveReason, BeliefEvent
from dreaming.beliefs.relationships import service as relationships
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import write_changes
from dreaming.beliefs.workspace import Workspace
from dreaming.database import Transaction
from dreaming.errors import InvalidInput, NotFound
from dreaming.identifiers import NewId


def merge(
    tx: Transaction,
    slice_id: int,
    *,
    kept: UUID,
    merged: UUID,
    decided_by: str,
    evidence: Mapping[str, Any],
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
    run_id: UUID | None,
) -> Merge:
    """Let `kept` stand for both: the sources of `merged` move to it, and `merged` is archived as such."""
    before = store.read_rows(tx, slice_id, [kept, merged])
    made = Merge(new_id(), kept, merged, "", "", now)
    store.record(tx, slice_id, made, before=before, decided_by=decided_by, evidence=evidence, run_id=run_id)
    store.move_sources(tx, slice_id, made)
    workspace = Workspace(beliefs_store.load(tx, slice_id, [kept, merged]), ageing=ageing, now=now, new_id=new_id)
    workspace.archive(merged, ArchiveReason.MERGED, {"into": str(kept)})
    workspace.touch(merged)
    workspace.touch(kept, BeliefEvent.MERGED, {"with": str(merged), "decided_by": decided_by})
    if workspace[kept].archive_reason is ArchiveReason.SOURCELESS:
        workspace.restore(kept, {"with": str(merged)})
    write_changes(tx, slice_id, workspace.changes(), run_id=run_id, now=now)
    relationships.carry_over(tx, slice_id, {merged: kept}, ageing=ageing, now=now, new_id=new_id)
    store.settle(tx, slice_id, made)
    return made


def unmerge(tx: Transaction, slice_id: int, belief_id: UUID, *, ageing: Ageing, now: datetime, new_id: NewId) -> Merge:
    """Take back the latest merge of a belief and return it.

    Raises:
        InvalidInput: the belief was not merged, or a later merge must be taken back first.
    """
    found = store.find_merges(tx, slice_id, belief_id)
    if not found:
        raise InvalidInput("belief_id", "the belief was not merged with another", "see its history")
    undone = found[0]
    later = [one for one in store.find_merges(tx, slice_id, undone.kept_belief_id) if one.place > undone.place]
    if later:
        problem = f"the belief that it went into was merged again, with {later[0].merged_belief_id}"
        raise InvalidInput("belief_id", problem, f"first take back the merge of {later[0].merged_belief_id}")
    untouched = (
        store.fingerprint(tx, slice_id, undone.kept_belief_id) == undone.kept_after
        and store.fingerprint(tx, slice_id, undone.merged_belief_id) == undone.merged_after
    )
    store.mark_undone(tx, slice_id, undone.merge_id, now)
    store.return_sources(tx, slice_id, undone)
    both = [undone.kept_belief_id, undone.merged_belief_id]
    workspace = Workspace(beliefs_store.load(tx, slice_id, both), ageing=ageing, now=now, new_id=new_id)
    for one, other in (both, both[::-1]):
        workspace.touch(one, BeliefEvent.UNMERGED, {"from": str(other)})
    workspace.refold()
    if workspace[undone.merged_belief_id].sources:
        _archive_as_before(workspace, undone.merged_belief_id, undone.merged_reason)
    if untouched:
        _archive_as_before(workspace, undone.kept_belief_id, undone.kept_reason)
    write_changes(tx, slice_id, workspace.changes(), run_id=None, now=now)
    relationships.refresh(tx, slice_id, both, ageing=ageing, now=now)
    if untouched:
        store.restore_rows(tx, slice_id, undone)
    return undone


def _archive_as_before(workspace: Workspace, belief_id: UUID, reason: str | None) -> None:
    """Let a belief be in sight, or out of it, as it was before the merge."""
    if reason is not None:
        if workspace[belief_id].archive_reason != ArchiveReason(reason):
            workspace.archive(belief_id, ArchiveReason(reason), {"again": "unmerged"})
    elif not workspace[belief_id].live:
        workspace.restore(belief_id, {"again": "unmerged"})


def split(
    tx: Transaction, slice_id: int, belief_id: UUID, source_id: UUID, *, ageing: Ageing, now: datetime, new_id: NewId
) -> UUID:
    """Give one source of a belief a belief of its own, and return that one's id.

    Raises:
        InvalidInput: it is not a live source of the belief, or the only one.
    """
    loaded = beliefs_store.load(tx, slice_id, [belief_id])
    sources = {source.source_id: source for source in loaded[belief_id][1]} if belief_id in loaded else {}
    if source_id not in sources:
        raise NotFound("source_id", "no live source of the belief has this id", "see the sources of the belief")
    if len(sources) < 2:
        raise InvalidInput("source_id", "it is the belief's only source", "archive the belief instead")
    workspace = Workspace(loaded, ageing=ageing, now=now, new_id=new_id)
    made = workspace.split(belief_id, source_id)
    changes = workspace.changes()
    write_changes(tx, slice_id, changes, run_id=None, now=now)
    store.move_source(tx, slice_id, source_id, made)
    relationships.refresh(tx, slice_id, [belief_id], ageing=ageing, now=now)
    return made
