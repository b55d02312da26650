"""What becomes of beliefs whose sources are erased. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason, Belief, DecayClass, Source, SourceType
from dreaming.beliefs.rules import Ageing, Folded, fades_at, fold
from dreaming.erasure.wording.records import Decision, Fate, Holder


def decide(holders: Mapping[UUID, Holder], ageing: Ageing) -> Decision:
    """Decide over beliefs that exchanged sources with each other, all of them together.

    - A belief with a live note behind it is folded anew; a person's confirmation, which repeats what the
      belief said when it was given, says then what the notes say.
    - One that only confirmations support stays when a past note told the same words, else it goes.
    - One that was archived stays so while a past source tells it, in that source's words.
    - Every other one is deleted: it would be archived without a source, and hold erased words.
    """
    wordings = frozenset(source.statement for holder in holders.values() for source in _notes(holder))
    fates = {belief_id: _fate(holder, wordings) for belief_id, holder in holders.items()}
    rewritten, confirmations = [], []
    for belief_id, holder in holders.items():
        if fates[belief_id] is Fate.REWRITE:
            folded = fold(past.source for past in holder.past if _is_note(past.source))
            if folded is not None:
                rewritten.append(_retold(holder.belief, folded, ageing))
        elif fates[belief_id] is Fate.REFOLD:
            told = fold(source for source in holder.live if _is_note(source))
            told = told or fold(past.source for past in holder.past if _is_note(past.source))
            confirmations += [_repeated(one, told) for one in _stale(holder, wordings) if told is not None]
    return Decision(fates, tuple(rewritten), tuple(confirmations), wordings)


def _fate(holder: Holder, wordings: frozenset[str]) -> Fate:
    belief = holder.belief
    told = any(_is_note(past.source) for past in holder.past)
    if holder.live:
        if any(_is_note(source) for source in holder.live):
            return Fate.REFOLD if holder.has_lost or _stale(holder, wordings) else Fate.KEEP
        return Fate.REFOLD if belief.statement in wordings and told else Fate.DELETE
    if belief.live or not told:
        return Fate.DELETE
    if belief.archive_reason is ArchiveReason.MERGED and not any(past.is_of_merge for past in holder.past):
        return Fate.DELETE
    return Fate.REWRITE if holder.has_lost or belief.statement not in wordings else Fate.KEEP


def _stale(holder: Holder, wordings: frozenset[str]) -> list[Source]:
    return [source for source in holder.live if not _is_note(source) and source.statement not in wordings]


def _notes(holder: Holder) -> Iterable[Source]:
    yield from (source for source in holder.live if _is_note(source))
    yield from (past.source for past in holder.past if _is_note(past.source))


def _is_note(source: Source) -> bool:
    return source.source_type is SourceType.NOTE


def _retold(belief: Belief, folded: Folded, ageing: Ageing) -> Belief:
    """Put a belief without a live source into the words of its past."""
    half_life = ageing.half_life(folded.decay_class)
    return replace(
        belief,
        statement=folded.statement,
        kind=folded.kind,
        confidence=folded.confidence,
        confirmed_at=folded.confirmed_at,
        first_seen_at=folded.first_seen_at,
        importance=folded.importance,
        decay_class=folded.decay_class,
        fades_at=fades_at(folded.confidence, folded.confirmed_at, half_life, ageing.archive_threshold),
        subject=folded.subject,
        attribute=folded.attribute,
        value=folded.value,
        multi_valued=folded.multi_valued,
        valid_from=folded.valid_from,
        valid_until=folded.valid_until,
        trust=folded.trust,
        provenance=folded.provenance,
        sources=0,
        origins=0,
    )


def _repeated(confirmation: Source, told: Folded) -> Source:
    return replace(
        confirmation,
        statement=told.statement,
        kind=told.kind,
        importance=told.importance,
        decay_class=told.decay_class,
        subject=told.subject,
        attribute=told.attribute,
        value=told.value,
        multi_valued=told.multi_valued,
        valid_from=told.valid_from,
        valid_until=told.valid_until,
    )


def counters_without(beliefs: Iterable[Belief]) -> dict[str, int]:
    """Return the differences of `slice_counters` when these beliefs are gone."""
    counters: Counter[str] = Counter()
    for belief in beliefs:
        if not belief.live:
            counters["beliefs_archived"] -= 1
            continue
        counters[f"beliefs_{belief.kind.value}"] -= 1
        if belief.decay_class is not DecayClass.PERMANENT:
            counters["beliefs_ageing"] -= 1
    return dict(counters)
