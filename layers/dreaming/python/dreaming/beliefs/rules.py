"""The arithmetic of beliefs: the fold over sources, ageing, and the moment of fading. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log2

from dreaming.beliefs.records import DecayClass, Importance, Kind, Provenance, Source, SourceType
from dreaming.notes.records import Trust

CORROBORATION_STEP = 0.02
"""What each further distinct origin adds to a belief's confidence (design, section 6)."""

UNTRUSTED_CAP = 0.5
"""What a claim of an untrusted note counts at most, and what any number of them counts together."""

MAX_HALVINGS = 1000.0
"""Clamp of the exponent: `power` in PostgreSQL raises an underflow error beyond about 1,074."""

_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)
_IMPORTANCE_ORDER = {importance: rank for rank, importance in enumerate(Importance)}


@dataclass(frozen=True, slots=True)
class Ageing:
    """The half-lives of the two ageing decay classes, and the aged confidence at which one fades.

    `warn_ahead`: how long before it fades an important belief is announced.
    """

    slow_half_life: timedelta = timedelta(days=180)
    fast_half_life: timedelta = timedelta(days=21)
    archive_threshold: float = 0.05
    warn_ahead: timedelta = timedelta(days=7)

    def half_life(self, decay_class: DecayClass) -> timedelta | None:
        """The half-life of `decay_class`, or None for `permanent`."""
        by_class: Mapping[DecayClass, timedelta | None] = {
            DecayClass.PERMANENT: None,
            DecayClass.SLOW: self.slow_half_life,
            DecayClass.FAST: self.fast_half_life,
        }
        return by_class[decay_class]


@dataclass(frozen=True, slots=True)
class Folded:
    """What a belief's live sources say together."""

    statement: str
    kind: Kind
    confidence: float
    confirmed_at: datetime
    first_seen_at: datetime
    importance: Importance
    decay_class: DecayClass
    trust: Trust
    provenance: Provenance
    subject: str | None
    attribute: str | None
    value: str | None
    multi_valued: bool
    valid_from: datetime | None
    valid_until: datetime | None
    sources: int
    origins: int


def fold(sources: Iterable[Source]) -> Folded | None:
    """Fold the live sources of one belief; None when there is none left.

    The outcome depends on the set of sources alone, not on the order or the history of their
    arrival, so an edit, a withdrawal, a merge or an erasure folds again and nothing inflates.

    Where there is a trusted source, the untrusted ones are shown and counted among `sources` and
    `origins`, and bear on nothing else but `first_seen_at`: anybody can send many of them.

    - base: the confidence of the earliest trusted claim, else of the earliest, at most 0.5; a
      person's confirmation makes it 1.0;
    - confidence: `min(most, base + 0.02 × (distinct origins that count - 1))`, where `most` is 1, or
      0.5 for what only untrusted sources say;
    - wording, kind, decay class, subject and validity: those of the claim that gives the base, or
      of the earliest claim when the base is a confirmation;
    - importance: the highest among the trusted claims, else among all;
    - provenance: a person's as long as one confirms it;
    - `confirmed_at`: the latest evidence that counts; `first_seen_at`: the earliest of all.

    A source's time and claim were bounded when it was recorded: none is later than that moment.
    """
    ordered = sorted(sources, key=lambda source: (source.occurred_at, source.sequence, source.source_id))
    if not ordered:
        return None
    evidence = counting(ordered)
    claims = [source for source in evidence if source.source_type is SourceType.NOTE] or evidence
    leading = claims[0]
    confidence = _base(leading, ordered) + CORROBORATION_STEP * corroborations(evidence)
    return Folded(
        statement=leading.statement,
        kind=leading.kind,
        confidence=min(most_confidence(leading.trust), confidence),
        confirmed_at=evidence[-1].occurred_at,
        first_seen_at=ordered[0].occurred_at,
        importance=max((source.importance for source in claims), key=_IMPORTANCE_ORDER.__getitem__),
        decay_class=leading.decay_class,
        trust=leading.trust,
        provenance=Provenance.PERSON if _confirmed(ordered) else Provenance.MODEL,
        subject=leading.subject,
        attribute=leading.attribute,
        value=leading.value,
        multi_valued=leading.multi_valued,
        valid_from=leading.valid_from,
        valid_until=leading.valid_until,
        sources=len(ordered),
        origins=len({source.origin for source in ordered}),
    )


def counting(sources: Iterable[Source]) -> list[Source]:
    """Return the sources that bear on confidence and age: the trusted ones, or all where none is trusted."""
    given = list(sources)
    return [source for source in given if source.trust is Trust.TRUSTED] or given


def corroborations(sources: Iterable[Source]) -> int:
    """Count the distinct origins among the sources that count, beyond the first."""
    return len({source.origin for source in counting(sources)}) - 1


def most_confidence(trust: Trust) -> float:
    """Return what a belief of this trust is believed at most, however many say it."""
    return 1.0 if trust is Trust.TRUSTED else UNTRUSTED_CAP


def _base(leading: Source, sources: Iterable[Source]) -> float:
    if _confirmed(sources):
        return 1.0
    return leading.confidence if leading.trust is Trust.TRUSTED else min(UNTRUSTED_CAP, leading.confidence)


def _confirmed(sources: Iterable[Source]) -> bool:
    return any(source.source_type is SourceType.CONFIRMATION for source in sources)


def aged(confidence: float, confirmed_at: datetime, half_life: timedelta | None, now: datetime) -> float:
    """Return `confidence × 0.5 ^ ((now - confirmed_at) / half_life)`; None never ages.

    One anchor, no compounding: the result does not depend on when or how often anybody looked. A
    clock behind `confirmed_at` ages nothing.
    """
    if half_life is None:
        return confidence
    halvings = (now - confirmed_at) / half_life
    return float(confidence * 0.5 ** min(max(halvings, 0.0), MAX_HALVINGS))


def fades_at(
    confidence: float, confirmed_at: datetime, half_life: timedelta | None, threshold: float
) -> datetime | None:
    """Return the moment when `aged` reaches `threshold`, or None when it never does.

    Solves `confidence × 0.5 ^ (t / half_life) = threshold` for t; a confidence at or below the
    threshold has faded at its own confirmation.
    """
    if half_life is None:
        return None
    if confidence <= threshold:
        return confirmed_at
    age = half_life * log2(confidence / threshold)
    return confirmed_at + age if confirmed_at < _LAST_MOMENT - age else _LAST_MOMENT
