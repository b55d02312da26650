"""Erasing notes in one transaction, so that no wording of theirs is left in their slice.

A belief that has other sources is folded anew and says what those say; one that has none is deleted.
What was concluded from the erased words (vectors, timelines, decisions about pairs, names) goes, and the
contradictions pass comes again to whatever stood beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.ageing import store as ageing_store
from dreaming.beliefs.records import BeliefEvent
from dreaming.beliefs.relationships import service as relationships
from dreaming.beliefs.relationships import store as relationships_store
from dreaming.beliefs.rules import Ageing
from dreaming.beliefs.service import write_changes
from dreaming.beliefs.terms import store as terms_store
from dreaming.beliefs.workspace import Workspace
from dreaming.database import Transaction
from dreaming.erasure.catalogue.records import Catalogue
from dreaming.erasure.catalogue.store import delete_rows
from dreaming.erasure.records import Erased
from dreaming.erasure.tombstones.records import Graveyard
from dreaming.erasure.tombstones.service import bury_conversations, bury_notes
from dreaming.erasure.wording import store
from dreaming.erasure.wording.records import Decision, Fate, Holder
from dreaming.erasure.wording.rules import counters_without, decide
from dreaming.identifiers import NewId
from dreaming.notes import store as notes_store
from dreaming.notes.records import Slice
from dreaming.passes.records import CONTRADICTIONS, EMBEDDING
from dreaming.passes.store import make_due
from dreaming.recall import store as recall_store
from dreaming.recall.records import SOURCE as CONVERSATION


@dataclass(frozen=True, slots=True)
class Erasing:
    """One slice at work in an open transaction of the eraser, at one moment."""

    tx: Transaction
    slice: Slice
    catalogue: Catalogue
    graveyard: Graveyard
    ageing: Ageing
    now: datetime
    new_id: NewId

    @property
    def slice_id(self) -> int:
        """The slice's id."""
        return self.slice.slice_id

    def lock(self) -> bool:
        """Keep ingest and every writer of beliefs out until the end; False when the slice is gone."""
        if not notes_store.lock_slice(self.tx, self.slice_id):
            return False
        ageing_store.lock(self.tx, self.slice_id)
        return True

    def delete(self, table: str, column: str, values: Iterable[object]) -> Erased:
        """Delete rows and all that refers to them."""
        deleted = delete_rows(self.tx, self.catalogue, self.slice_id, table, column, list(values))
        return Erased(deleted=deleted)


def erase_notes(work: Erasing, note_ids: Sequence[UUID]) -> Erased:
    """Erase notes of the slice, which is locked; with one made of a conversation goes that conversation.

    Ids that are no notes of the slice are left alone, so it is safe to repeat.
    """
    documents = store.conversations_of(work.tx, work.slice_id, note_ids, CONVERSATION)
    return _erase(work, note_ids, documents)


def erase_conversations(work: Erasing, documents: Mapping[int, str]) -> Erased:
    """Erase captured conversations (external ids by document) of the locked slice, and the notes made of them."""
    return _erase(work, (), documents)


def _erase(work: Erasing, note_ids: Sequence[UUID], documents: Mapping[int, str]) -> Erased:
    tx, slice_id = work.tx, work.slice_id
    recall_store.lock_conversations(tx, slice_id, list(documents))
    if documents:
        recall_store.lock_words(tx, slice_id)  # before any due time, as a capture does
    wanted = sorted({*note_ids, *store.notes_made_of(tx, slice_id, documents, CONVERSATION)})
    names = store.names_of(tx, slice_id, wanted)
    states = [state for _, state in notes_store.lock_notes(tx, slice_id, names).values()]
    erased = Erased()
    erased.tombstones += bury_notes(tx, work.graveyard, work.slice.key, names.values(), now=work.now)
    erased.tombstones += bury_conversations(tx, work.graveyard, work.slice.key.org_id, documents.values(), now=work.now)
    if names:
        erased.add(_erase_wording(work, list(names)))
        store.forget_cursor_notes(tx, slice_id, list(names))
        erased.deleted["connector_positions"] += store.drop_positions(tx, slice_id, names.values())
        erased.add(work.delete("notes", "note_id", names))
    if documents:
        erased.deleted["conversation_terms"] += recall_store.forget_words(tx, slice_id, documents)
        erased.deleted["embedding_attempts"] += store.forget_refusals(tx, slice_id, documents)
        erased.add(work.delete("conversations", "document_id", documents))
    notes_store.adjust_counters(tx, slice_id, before=states, after=[])
    return erased


def _erase_wording(work: Erasing, note_ids: Sequence[UUID]) -> Erased:
    """Take the notes' sources away, and let no belief keep a word of them."""
    tx, slice_id = work.tx, work.slice_id
    reached = store.reach(tx, slice_id, note_ids)
    lost = sorted(set(reached.sources.values()))
    touched = relationships_store.touched_by(tx, slice_id, sources=list(reached.sources), beliefs=reached.beliefs)
    erased = Erased()
    erased.rewritten["examined_beliefs"] += store.mark_neighbours(tx, slice_id, lost)
    given_away = store.given_away(tx, slice_id, list(reached.sources))
    erased.add(work.delete("sources", "source_id", reached.sources))
    holders = _holders(work, reached.beliefs, {*lost, *given_away})
    decision = decide(holders, work.ageing)
    _write(work, holders, decision, reached, erased)
    gone = decision.of(Fate.DELETE)
    retold = sorted({one.belief_id for one in decision.rewritten} | (set(lost) - set(gone)))
    erased.deleted += store.forget_conclusions(tx, slice_id, [*gone, *retold])
    erased.rewritten["merges"] += store.strip_merges(
        tx, slice_id, [*lost, *given_away], reached.beliefs, list(decision.wordings)
    )
    _drop_relationships(work, touched, gone, erased)
    terms_store.replace(tx, slice_id, {}, gone)
    erased.add(work.delete("beliefs", "belief_id", gone))
    beliefs_store.add_to_counters(tx, slice_id, counters_without(holders[one].belief for one in gone))
    if reached.beliefs:
        make_due(tx, slice_id, CONTRADICTIONS, work.now)
        make_due(tx, slice_id, EMBEDDING, work.now)
    return erased


def _holders(work: Erasing, belief_ids: Sequence[UUID], lost: set[UUID]) -> dict[UUID, Holder]:
    loaded = beliefs_store.load(work.tx, work.slice_id, belief_ids)
    holders = {
        belief_id: Holder(belief, has_lost=belief_id in lost, live=live) for belief_id, (belief, live) in loaded.items()
    }
    for belief_id, past in store.read_past(work.tx, work.slice_id, belief_ids):
        holders[belief_id].past.append(past)
    return holders


def _write(
    work: Erasing, holders: Mapping[UUID, Holder], decision: Decision, reached: store.Reach, erased: Erased
) -> None:
    """Write beliefs as what is left makes them, and their history without erased words."""
    tx, slice_id, wordings = work.tx, work.slice_id, list(decision.wordings)
    erased.rewritten["sources"] += store.rewrite_confirmations(tx, slice_id, decision.confirmations)
    erased.deleted["sources"] += store.drop_confirmations(tx, slice_id, reached.beliefs, wordings)
    repeated = {source.source_id: source for source in decision.confirmations}
    folding = {
        one: (holders[one].belief, [repeated.get(source.source_id, source) for source in holders[one].live])
        for one in decision.of(Fate.REFOLD)
    }
    workspace = Workspace(folding, ageing=work.ageing, now=work.now, new_id=work.new_id)
    for belief_id in folding:
        workspace.touch(belief_id, BeliefEvent.SOURCE_ENDED, {"reason": "erased"})
    changes = workspace.changes()
    changes = replace(
        changes,
        updated=(*changes.updated, *decision.rewritten),
        reworded=(*changes.reworded, *decision.rewritten),
    )
    write_changes(tx, slice_id, changes, run_id=None, now=work.now)
    erased.rewritten["beliefs"] += len(changes.updated)
    deleted, cut = store.clean_history(tx, slice_id, reached.beliefs, list(reached.sources), wordings)
    erased.deleted["belief_history"] += deleted
    erased.rewritten["belief_history"] += cut


def _drop_relationships(work: Erasing, touched: Iterable[UUID], gone: Sequence[UUID], erased: Erased) -> None:
    """Delete relationships that nothing asserts any more, and fold the others anew."""
    remaining = set(touched)
    deleted, counters = store.delete_relationships(work.tx, work.slice_id, remaining, gone)
    erased.deleted["relationships"] += len(deleted)
    relationships_store.add_to_counters(work.tx, work.slice_id, counters)
    relationships.fold_anew(work.tx, work.slice_id, remaining - set(deleted), ageing=work.ageing, now=work.now)
