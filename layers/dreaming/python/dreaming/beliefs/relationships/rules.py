"""Folding relationships over their sources. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from dreaming.beliefs.records import DecayClass, Source
from dreaming.beliefs.relationships.records import Ending, Relationship, RelationshipChanges
from dreaming.beliefs.rules import Ageing, fades_at, fold


def refold(
    relationship: Relationship, sources: Iterable[Source], *, ends_live: bool, ageing: Ageing, now: datetime
) -> Relationship:
    """Return the relationship as its live sources, its ends and the time make it.

    It is archived when no source asserts it, when one of its beliefs is archived, or when it has
    faded, and live otherwise: what archived it before does not matter, so it comes back with what
    took it away.
    """
    folded = fold(sources)
    if folded is None:
        return _standing(replace(relationship, sources=0, origins=0), Ending.SOURCELESS, now)
    moment = fades_at(
        folded.confidence, folded.confirmed_at, ageing.half_life(folded.decay_class), ageing.archive_threshold
    )
    after = replace(
        relationship,
        confidence=folded.confidence,
        confirmed_at=folded.confirmed_at,
        first_seen_at=folded.first_seen_at,
        decay_class=folded.decay_class,
        fades_at=moment,
        sources=folded.sources,
        origins=folded.origins,
    )
    if not ends_live:
        return _standing(after, Ending.ENDPOINT, now)
    return _standing(after, Ending.FADED if moment is not None and moment <= now else None, now)


def _standing(relationship: Relationship, ending: Ending | None, now: datetime) -> Relationship:
    archived_at = None if ending is None else relationship.archived_at or now
    return replace(relationship, archived_at=archived_at, archive_reason=ending)


def changes(pairs: Sequence[tuple[Relationship, Relationship]]) -> RelationshipChanges:
    """Return what is to be written of pairs (as stored, as it is now)."""
    changed = [(before, after) for before, after in pairs if before != after]
    counters = Counter(name for _, after in changed for name in counters_of(after))
    counters.subtract(name for before, _ in changed for name in counters_of(before))
    return RelationshipChanges(
        updated=tuple(after for _, after in changed),
        counters={name: change for name, change in counters.items() if change},
        archived=sum(before.live and not after.live for before, after in changed),
        restored=sum(after.live and not before.live for before, after in changed),
    )


def counters_of(relationship: Relationship) -> tuple[str, ...]:
    """The counters of the slice in which a relationship counts."""
    if not relationship.live:
        return ("relationships_archived",)
    if relationship.decay_class is DecayClass.PERMANENT:
        return ("relationships_live",)
    return ("relationships_live", "relationships_ageing")
