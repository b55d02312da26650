"""The beliefs that one transaction works on, in memory: attach, end, refold, and tell what changed.

The store loads beliefs with their live sources, the caller changes sources here, and the store
writes the outcome in a fixed number of statements. No I/O, no clock.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import (
    ArchiveReason,
    Belief,
    BeliefEvent,
    DecayClass,
    HistoryEntry,
    Source,
    SourceEnd,
    SourceRecord,
    SourceType,
)
from dreaming.beliefs.rules import Ageing, Folded, counting, fades_at, fold
from dreaming.identifiers import NewId

Evidence = Mapping[str, str | float | int | None]


class Attached(StrEnum):
    """What attaching a source came to."""

    CORROBORATED = "corroborated"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(slots=True)
class _Worked:
    """A belief at work: its row as stored (None when new), its row as it will be, its sources."""

    stored: Belief | None
    current: Belief | None
    sources: dict[UUID, Source]
    touched: bool = False
    pending: list[tuple[BeliefEvent, UUID | None, Evidence]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BeliefChanges:
    """What a workspace leaves to be written; `counters` are differences of `slice_counters` columns.

    `ageing`: what every `fades_at` here was computed under.
    """

    created: tuple[Belief, ...]
    updated: tuple[Belief, ...]
    reworded: tuple[Belief, ...]
    added_sources: tuple[SourceRecord, ...]
    ended_sources: tuple[tuple[UUID, SourceEnd], ...]
    history: tuple[HistoryEntry, ...]
    counters: Mapping[str, int]
    ageing: Ageing

    @property
    def flipped(self) -> tuple[UUID, ...]:
        """The beliefs that were archived or restored."""
        events = {BeliefEvent.ARCHIVED, BeliefEvent.RESTORED}
        return tuple(dict.fromkeys(entry.belief_id for entry in self.history if entry.event in events))

    @property
    def next_moment(self) -> datetime | None:
        """The least moment at which the decay pass may have something to do for what is written here."""
        fading = [one.fades_at for one in (*self.created, *self.updated) if one.live and one.fades_at is not None]
        return min(fading) - self.ageing.warn_ahead if fading else None

    @property
    def concern_vectors(self) -> bool:
        """Whether a statement may lack its vector now, or a belief rest on a source that is not to be embedded."""
        restored = any(entry.event is BeliefEvent.RESTORED for entry in self.history)
        return restored or bool(self.created or self.reworded or self.added_sources)


class Workspace:
    """Beliefs under change; what was added and ended is kept until `changes` is asked for."""

    def __init__(
        self, beliefs: Mapping[UUID, tuple[Belief, Iterable[Source]]], *, ageing: Ageing, now: datetime, new_id: NewId
    ) -> None:
        """Start from stored beliefs with their live sources."""
        self._worked = {
            belief_id: _Worked(belief, belief, {source.source_id: source for source in sources})
            for belief_id, (belief, sources) in beliefs.items()
        }
        # Which beliefs a note may support: one that it no longer does may stand there too.
        self._of_note: defaultdict[UUID | None, dict[UUID, None]] = defaultdict(dict)
        for belief_id, source in self.sources():
            self._of_note[source.note_id][belief_id] = None
        self._ageing = ageing
        self._now = now
        self._new_id = new_id
        self._added: dict[UUID, SourceRecord] = {}
        self._ended: dict[UUID, SourceEnd] = {}
        self._history: list[HistoryEntry] = []

    def __contains__(self, belief_id: UUID) -> bool:
        """Tell whether the belief is at work here."""
        return belief_id in self._worked

    def __iter__(self) -> Iterator[Belief]:
        """Yield every belief as it stands now."""
        return (worked.current for worked in self._worked.values() if worked.current is not None)

    def __getitem__(self, belief_id: UUID) -> Belief:
        """Return the belief as it stands after the latest refold."""
        current = self._worked[belief_id].current
        if current is None:
            raise KeyError(belief_id)
        return current

    def sources(self) -> Iterator[tuple[UUID, Source]]:
        """Yield every live source with its belief's id."""
        for belief_id, worked in self._worked.items():
            for source in worked.sources.values():
                yield belief_id, source

    def create(self, source: Source, *, model: str | None, prompt_version: str | None) -> UUID:
        """Make a belief of one source and return its id."""
        belief_id = self._new_id()
        worked = _Worked(None, None, {})
        self._worked[belief_id] = worked
        self._add(worked, SourceRecord(belief_id, source, model, prompt_version))
        worked.pending.append((BeliefEvent.CREATED, source.source_id, {}))
        self._refold_one(belief_id, worked)
        return belief_id

    def attach(
        self, belief_id: UUID, source: Source, *, model: str | None, prompt_version: str | None, evidence: Evidence
    ) -> Attached:
        """Add a source to a belief.

        A note supports a belief once: its earlier source is replaced, or kept when the claim and
        the note's version are the same.
        """
        worked = self._worked[belief_id]
        earlier = _of_note(worked.sources.values(), source.note_id)
        if earlier is not None and _same_claim(earlier, source):
            return Attached.UNCHANGED
        if earlier is not None:
            self._end(worked, earlier, SourceEnd.EDITED)
        self._add(worked, SourceRecord(belief_id, source, model, prompt_version))
        event = BeliefEvent.CORROBORATED if earlier is None else BeliefEvent.SOURCE_REPLACED
        worked.pending.append((event, source.source_id, evidence))
        return Attached.CORROBORATED if earlier is None else Attached.REPLACED

    def end_note(self, note_id: UUID, reason: SourceEnd, *, keep: frozenset[UUID] = frozenset()) -> None:
        """End what the note still supports, except the beliefs in `keep`."""
        for belief_id in self._of_note[note_id]:
            worked = self._worked[belief_id]
            source = _of_note(worked.sources.values(), note_id)
            if source is not None and belief_id not in keep:
                self._end(worked, source, reason)
                worked.pending.append((BeliefEvent.SOURCE_ENDED, source.source_id, {"reason": reason.value}))

    def confirm(self, belief_id: UUID, source: Source, evidence: Evidence) -> None:
        """Add a person's confirmation; an earlier one of the same origin gives way to it."""
        worked = self._worked[belief_id]
        for earlier in [one for one in worked.sources.values() if _is_confirmation(one, source.origin)]:
            self._end(worked, earlier, SourceEnd.EDITED)
        self._add(worked, SourceRecord(belief_id, source, None, None))
        worked.pending.append((BeliefEvent.CONFIRMED, source.source_id, evidence))

    def archive(self, belief_id: UUID, reason: ArchiveReason, evidence: Evidence) -> None:
        """Take the belief out of sight; one that is archived already only changes its reason."""
        self.refold()
        before = self[belief_id]
        self._replace(belief_id, archived_at=before.archived_at or self._now, archive_reason=reason)
        self._tell(belief_id, BeliefEvent.ARCHIVED, {**evidence, "reason": reason.value})

    def restore(self, belief_id: UUID, evidence: Evidence) -> None:
        """Bring the belief back into sight, whatever had archived it; one without a live source stays out of it."""
        renewed = self.renew(belief_id)
        if renewed.live or not renewed.sources:
            return
        self._replace(belief_id, archived_at=None, archive_reason=None, warned_at=None)
        self._tell(belief_id, BeliefEvent.RESTORED, evidence)

    def touch(self, belief_id: UUID, event: BeliefEvent | None = None, evidence: Evidence | None = None) -> None:
        """Let the belief be folded anew after its sources were moved in the database."""
        worked = self._worked[belief_id]
        worked.touched = True
        if event is not None:
            worked.pending.append((event, None, evidence or {}))

    def split(self, belief_id: UUID, source_id: UUID) -> UUID:
        """Give a stored source a new belief and return its id; the caller moves the source's row there."""
        worked = self._worked[belief_id]
        source = worked.sources.pop(source_id)
        made = self._new_id()
        self._worked[made] = _Worked(None, None, {source_id: source}, touched=True)
        self._of_note[source.note_id][made] = None
        self._worked[made].pending.append((BeliefEvent.CREATED, source_id, {"from": str(belief_id)}))
        self.touch(belief_id, BeliefEvent.UNMERGED, {"from": str(made)})
        return made

    def renew(self, belief_id: UUID) -> Belief:
        """Fold the belief anew although no source changed: an archived row's moment of fading may be of old.

        One that had faded and has not under the half-lives of today comes back by that alone.
        """
        self._worked[belief_id].touched = True
        self.refold()
        return self[belief_id]

    def refold(self) -> tuple[UUID, ...]:
        """Fold every touched belief anew; return the ids of those whose wording changed."""
        reworded = []
        for belief_id, worked in self._worked.items():
            if worked.touched:
                before = worked.current.statement if worked.current else None
                self._refold_one(belief_id, worked)
                if worked.current is not None and before not in (None, worked.current.statement):
                    reworded.append(belief_id)
        return tuple(reworded)

    def changes(self) -> BeliefChanges:
        """Return everything to be written since the workspace was filled."""
        self.refold()
        pairs = [(worked.stored, worked.current) for worked in self._worked.values() if worked.current is not None]
        kept = [(stored, current) for stored, current in pairs if stored is not None]
        counters = Counter(name for _, current in pairs for name in _counters(current))
        counters.subtract(name for stored, _ in kept for name in _counters(stored))
        return BeliefChanges(
            created=tuple(current for stored, current in pairs if stored is None),
            updated=tuple(current for stored, current in kept if stored != current),
            reworded=tuple(current for stored, current in kept if stored.statement != current.statement),
            added_sources=tuple(record for key, record in self._added.items() if key not in self._ended),
            ended_sources=tuple((key, end) for key, end in self._ended.items() if key not in self._added),
            history=tuple(self._history),
            counters={name: change for name, change in counters.items() if change},
            ageing=self._ageing,
        )

    def _add(self, worked: _Worked, record: SourceRecord) -> None:
        worked.sources[record.source.source_id] = record.source
        self._of_note[record.source.note_id][record.belief_id] = None
        worked.touched = True
        self._added[record.source.source_id] = record

    def _end(self, worked: _Worked, source: Source, reason: SourceEnd) -> None:
        del worked.sources[source.source_id]
        worked.touched = True
        self._ended[source.source_id] = reason

    def _replace(self, belief_id: UUID, **changes: Any) -> None:
        self._worked[belief_id].current = replace(self[belief_id], **changes)

    def _tell(self, belief_id: UUID, event: BeliefEvent, detail: Evidence, source_id: UUID | None = None) -> None:
        after = self[belief_id]
        self._history.append(
            HistoryEntry(
                belief_id, event, after.confidence, after.confirmed_at, after.statement, source_id, dict(detail)
            )
        )

    def _refold_one(self, belief_id: UUID, worked: _Worked) -> None:
        folded = fold(worked.sources.values())
        before = worked.current
        worked.current = after = self._row(belief_id, before, folded)
        if not after.live or _has_new_evidence(worked):
            self._replace(belief_id, warned_at=None)
        events = list(worked.pending)
        if before is not None and before.statement != after.statement:
            events.append((BeliefEvent.REWORDED, None, {"before": before.statement}))
        if after.archive_reason is not None and (before is None or before.live):
            events.append((BeliefEvent.ARCHIVED, None, {"reason": after.archive_reason.value}))
        if before is not None and not before.live and after.live:
            events.append((BeliefEvent.RESTORED, None, {}))
        for event, source_id, detail in events:
            self._tell(belief_id, event, detail, source_id)
        worked.pending.clear()
        worked.touched = False

    def _row(self, belief_id: UUID, before: Belief | None, folded: Folded | None) -> Belief:
        if folded is None:
            if before is None:
                raise AssertionError("a new belief has a source")
            reason = before.archive_reason or ArchiveReason.SOURCELESS
            return replace(
                before, sources=0, origins=0, archived_at=before.archived_at or self._now, archive_reason=reason
            )
        fades = fades_at(
            folded.confidence,
            folded.confirmed_at,
            self._ageing.half_life(folded.decay_class),
            self._ageing.archive_threshold,
        )
        archived_at, reason_kept = self._archive(before, fades)
        return Belief(
            belief_id=belief_id,
            kind=folded.kind,
            statement=folded.statement,
            confidence=folded.confidence,
            confirmed_at=folded.confirmed_at,
            first_seen_at=folded.first_seen_at,
            importance=folded.importance,
            decay_class=folded.decay_class,
            fades_at=fades,
            subject=folded.subject,
            attribute=folded.attribute,
            value=folded.value,
            multi_valued=folded.multi_valued,
            valid_from=folded.valid_from,
            valid_until=folded.valid_until,
            trust=folded.trust,
            provenance=folded.provenance,
            sources=folded.sources,
            origins=folded.origins,
            created_at=before.created_at if before else self._now,
            archived_at=archived_at,
            archive_reason=reason_kept,
            warned_at=before.warned_at if before else None,
        )

    def _archive(self, before: Belief | None, fades: datetime | None) -> tuple[datetime | None, ArchiveReason | None]:
        """Born faded is written archived; new evidence restores what had faded; the rest stays as it is."""
        faded = fades is not None and fades <= self._now
        if before is None:
            return (self._now, ArchiveReason.FADED) if faded else (None, None)
        if before.archive_reason is ArchiveReason.FADED and not faded:
            return None, None
        return before.archived_at, before.archive_reason


_NEW_EVIDENCE = frozenset({BeliefEvent.CORROBORATED, BeliefEvent.SOURCE_REPLACED, BeliefEvent.CONFIRMED})


def _has_new_evidence(worked: _Worked) -> bool:
    """Tell whether something came that keeps the belief from fading; an untrusted source keeps no trusted belief."""
    counted = {source.source_id for source in counting(worked.sources.values())}
    return any(event in _NEW_EVIDENCE and source_id in counted for event, source_id, _ in worked.pending)


def _is_confirmation(source: Source, origin: str) -> bool:
    return source.source_type is SourceType.CONFIRMATION and source.origin == origin


def _of_note(sources: Iterable[Source], note_id: UUID | None) -> Source | None:
    if note_id is None:
        return None
    return next((source for source in sources if source.note_id == note_id), None)


def _same_claim(left: Source, right: Source) -> bool:
    """Equal in all that was claimed and where; ids aside."""
    return replace(left, source_id=right.source_id) == right


def _counters(belief: Belief) -> tuple[str, ...]:
    """The counters of the slice in which the belief counts."""
    if not belief.live:
        return ("beliefs_archived",)
    kind = f"beliefs_{belief.kind.value}"
    return (kind,) if belief.decay_class is DecayClass.PERMANENT else (kind, "beliefs_ageing")
