"""What people do about contradictions: look at them, decide them, take merges and matches back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.merging import service as merging
from dreaming.beliefs.records import Belief, Source
from dreaming.beliefs.service import ageing
from dreaming.database import Database, Transaction
from dreaming.errors import InvalidInput, NotFound
from dreaming.identifiers import NewId
from dreaming.notes import store as notes_store
from dreaming.notes.records import Slice, SliceKey
from dreaming.passes.contradictions import store
from dreaming.passes.contradictions.belief_readings import fingerprint
from dreaming.passes.contradictions.lines import Pair, pair_of
from dreaming.passes.contradictions.records import DecidedBy, Judgement, Relation
from dreaming.passes.contradictions.settling import settle
from dreaming.settings.resolution import Settings


class Choice(StrEnum):
    """What a person says of two beliefs: one is right, both are, or they are one."""

    LEFT = "left"
    RIGHT = "right"
    BOTH = "both"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Resolver:
    """Acts for one slice at one moment, each act in one transaction under the belief lock."""

    database: Database
    key: SliceKey
    settings: Settings
    now: datetime
    new_id: NewId

    def resolve(self, left: UUID, right: UUID, choice: Choice) -> None:
        """Let a person's word on a pair stand for good, or until either of them says something else.

        Raises:
            InvalidInput: a belief is not in the slice, has no source, or both are one.
        """
        relation, kept = {
            Choice.LEFT: (Relation.INCOMPATIBLE, left),
            Choice.RIGHT: (Relation.INCOMPATIBLE, right),
            Choice.BOTH: (Relation.COEXISTING, None),
            Choice.MERGE: (Relation.DUPLICATE, None),
        }[choice]
        with self.database.transaction(self.key.tenant) as tx:
            slice_ = self._lock(tx)
            _check_sources(beliefs_store.load(tx, slice_.slice_id, [left, right]), (left, right))
            judgement = self._judgement(tx, slice_, pair_of(left, right), relation, kept, f"a person: {choice.value}")
            settle(
                tx,
                slice_.slice_id,
                [left, right],
                {judgement.pair: judgement},
                ageing=ageing(self.settings),
                now=self.now,
                new_id=self.new_id,
                run_id=None,
            )

    def unmerge(self, belief_id: UUID) -> tuple[UUID, UUID]:
        """Take back the latest merge of a belief, and remember that the two are not one; return their ids.

        Raises:
            InvalidInput: it was not merged, or a later merge must be taken back first.
        """
        with self.database.transaction(self.key.tenant) as tx:
            slice_ = self._lock(tx)
            undone = merging.unmerge(
                tx, slice_.slice_id, belief_id, ageing=ageing(self.settings), now=self.now, new_id=self.new_id
            )
            self._keep_apart(tx, slice_, undone.kept_belief_id, undone.merged_belief_id, "unmerged by a person")
        return undone.kept_belief_id, undone.merged_belief_id

    def split(self, belief_id: UUID, source_id: UUID) -> UUID:
        """Give one source of a belief a belief of its own, never merged again; return that one's id.

        Raises:
            InvalidInput: it is no live source of the belief, or its only one.
        """
        with self.database.transaction(self.key.tenant) as tx:
            slice_ = self._lock(tx)
            made = merging.split(
                tx,
                slice_.slice_id,
                belief_id,
                source_id,
                ageing=ageing(self.settings),
                now=self.now,
                new_id=self.new_id,
            )
            self._keep_apart(tx, slice_, belief_id, made, "split by a person")
        return made

    def _lock(self, tx: Transaction) -> Slice:
        found = notes_store.find_slice(tx, self.key)
        if found is None:
            raise InvalidInput("slice", "has no notes", "ingest some first")
        beliefs_store.lock(tx, found.slice_id)
        return found

    def _keep_apart(self, tx: Transaction, slice_: Slice, left: UUID, right: UUID, why: str) -> None:
        """Remember that two beliefs are not one; how they stand in time the pass derives when it comes."""
        judgement = self._judgement(tx, slice_, pair_of(left, right), Relation.COEXISTING, None, why)
        store.write_judgements(tx, slice_.slice_id, [judgement], prompt_version=None, now=self.now)

    @staticmethod
    def _judgement(
        tx: Transaction, slice_: Slice, pair: Pair, relation: Relation, kept: UUID | None, why: str
    ) -> Judgement:
        loaded = beliefs_store.load(tx, slice_.slice_id, pair)
        return Judgement(
            left=pair[0],
            right=pair[1],
            relation=relation,
            decided_by=DecidedBy.PERSON,
            reason=why,
            kept=kept,
            left_fingerprint=fingerprint(loaded[pair[0]][0]),
            right_fingerprint=fingerprint(loaded[pair[1]][0]),
        )


def _check_sources(loaded: Mapping[UUID, tuple[Belief, Sequence[Source]]], pair: Pair) -> None:
    if pair[0] == pair[1]:
        raise InvalidInput("right_id", "is the same belief as left_id", "name two")
    for name, one in zip(("left_id", "right_id"), pair, strict=True):
        if one not in loaded:
            raise NotFound(name, f"no belief of this slice has the id {one}", "list the conflicts")
        if not loaded[one][1]:
            raise InvalidInput(name, f"the belief {one} has no source any more", "list the conflicts")
