"""Turns the relations that claims state into relationships between beliefs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from dreaming.beliefs.records import Kind
from dreaming.beliefs.relationships import service as relationships
from dreaming.beliefs.relationships import store as relationships_store
from dreaming.beliefs.relationships.records import Assertion
from dreaming.beliefs.rules import Ageing
from dreaming.database import Transaction
from dreaming.identifiers import NewId
from dreaming.passes.consolidation.acceptance import Accepted


@dataclass(frozen=True, slots=True)
class Entities:
    """Where the related entities of a batch come from.

    `accepted` are the notes' claims with those entities that must be made or corroborated as claims of
    their own. `known` are beliefs about an entity that exist already, and `claimed` the batch's claims
    that say what an entity is, each by the id of the entity's source.
    """

    accepted: Mapping[UUID, Accepted]
    known: Mapping[UUID, UUID]
    claimed: Mapping[UUID, UUID]

    def belief(self, entity_id: UUID, belief_of: Mapping[UUID, UUID]) -> UUID | None:
        """Return the entity's belief, once claims have been applied; None when it is suppressed."""
        if entity_id in self.known:
            return self.known[entity_id]
        return belief_of.get(self.claimed.get(entity_id, entity_id))


def find_entities(tx: Transaction, slice_id: int, accepted: Mapping[UUID, Accepted]) -> Entities:
    """Find the beliefs about what the notes' claims relate to.

    A live belief about the entity, by its subject, or a claim of this batch that will be one, stands for
    it; otherwise its bare name becomes a claim, which deduplication matches with a belief of that name.
    """
    names = {entity.statement.lower() for item in accepted.values() for entity in item.entities}
    if not names:
        return Entities(accepted, {}, {})
    stored = relationships_store.find_entities(tx, slice_id, sorted(names))
    stated = {
        source.subject.lower(): source.source_id
        for item in accepted.values()
        for source in item.sources
        if source.kind is Kind.ENTITY and source.subject
    }
    known: dict[UUID, UUID] = {}
    claimed: dict[UUID, UUID] = {}
    extended = {}
    for note_id, item in accepted.items():
        made = []
        for entity in item.entities:
            name = entity.statement.lower()
            if name in stored:
                known[entity.source_id] = stored[name][0]
            if name in stated:
                claimed[entity.source_id] = stated[name]
            if stored.get(name, (None, entity.statement))[1].lower() == name and name not in stated:
                made.append(entity)
        extended[note_id] = replace(item, sources=(*item.sources, *made))
    return Entities(extended, known, claimed)


def relate(
    tx: Transaction,
    slice_id: int,
    entities: Entities,
    belief_of: Mapping[UUID, UUID],
    *,
    ageing: Ageing,
    now: datetime,
    new_id: NewId,
) -> dict[str, int]:
    """Write the relationships that the notes assert, and take back what their earlier versions did.

    `belief_of` tells which belief each source supports. Returns counts for the run's record.
    """
    assertions: list[Assertion] = []
    for note_id, item in entities.accepted.items():
        for stated in item.relations:
            left, right = belief_of.get(stated.claim_id), entities.belief(stated.entity_id, belief_of)
            if left is not None and right is not None:
                assertions.append(Assertion(left, stated.type, right, note_id))
    changes = relationships.relate(
        tx,
        slice_id,
        assertions,
        note_ids=list(entities.accepted),
        ageing=ageing,
        now=now,
        new_id=new_id,
    )
    counts = {
        "relationships_restored": changes.restored,
        "relationships_archived": changes.archived,
        "relations_refused": sum(item.unrelated for item in entities.accepted.values()),
    }
    return {name: count for name, count in counts.items() if count}
