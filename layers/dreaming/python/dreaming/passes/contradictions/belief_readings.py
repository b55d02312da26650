"""What a belief says, and when its claims hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from uuid import UUID

from dreaming.beliefs.records import Belief, Source
from dreaming.beliefs.rules import Ageing, aged
from dreaming.beliefs.words import fold
from dreaming.notes.records import Trust
from dreaming.passes.contradictions.reading import OPAQUE, Reading, read_statement
from dreaming.passes.contradictions.records import TimedClaim
from dreaming.passes.contradictions.timing import Span, span_of
from dreaming.passes.contradictions.values import read_value, text_key
from dreaming.passes.contradictions.vocabulary import attribute_name, is_exclusive, is_known

_COARSE = frozenset({"place", "date", "time", "lead"})
"""Attributes that a sentence form tells less exactly than a model may."""

_COARSE_GIVEN = frozenset({"status", "name", "place", "date", "time", "price", "language", "job"})
"""Attributes that a model names where a sentence form tells more."""


_YES_OR_NO = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True, slots=True)
class Examined:
    """A belief with its live sources and what its statement says; `offsets` are those of the notes, in seconds.

    `setting` are the words around it in its notes, where the statement itself names no subject.
    """

    belief: Belief
    sources: tuple[Source, ...]
    reading: Reading | None
    fingerprint: str
    offsets: dict[UUID, int]
    setting: frozenset[str] = frozenset()


_LONGEST_SUBJECT = 80


def fingerprint(belief: Belief) -> str:
    """Return a short hash of what a belief says; pairs are judged again only when it changes."""
    parts = (
        fold(belief.statement), belief.subject, belief.attribute, belief.value, belief.multi_valued,
        belief.valid_from and belief.valid_from.timestamp(), belief.valid_until and belief.valid_until.timestamp(),
        belief.trust.value,
    )  # fmt: skip
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def read_belief(belief: Belief | Source) -> Reading | None:
    """Return what a belief says: by its statement where the form is known, else by the model's own words for it.

    Models name attributes in many ways ("employer", "works at", "job"); the table brings those together
    that it knows. The statement tells besides whether something is denied, over, or new.
    """
    parsed = read_statement(belief.statement)
    if not (belief.subject and belief.attribute and belief.value):
        return parsed or _opaque(belief.statement)
    given = _given(belief.subject, attribute_name(belief.attribute), belief.value, multi_valued=belief.multi_valued)
    if parsed is None:
        return given
    if fold(belief.value) in _YES_OR_NO:
        return replace(_with_flags(given, parsed), negative=given.negative)
    return _brought_together(given, parsed)


def _given(subject: str, attribute: str, value: str, *, multi_valued: bool) -> Reading:
    """Return what a model itself names; a value that denies is the denial of "yes"."""
    table = is_exclusive(attribute)
    exclusive = table if table is not None else not multi_valued
    answer = _YES_OR_NO.get(fold(value))
    if answer is not None:
        return Reading(text_key(subject), attribute, read_value("yes"), negative=not answer)
    return Reading(text_key(subject), attribute, read_value(value), exclusive=exclusive)


def _brought_together(given: Reading, parsed: Reading) -> Reading:
    """Return of what a model named, and of what the sentence says, that which tells more."""
    attribute, exclusive = given.attribute or "", given.exclusive
    both_known = is_known(attribute) and is_known(parsed.attribute or "")
    if both_known and parsed.subject == given.subject and attribute not in _COARSE_GIVEN:
        return _with_flags(given, parsed)
    tells_more = parsed.subject != given.subject or not is_known(attribute) or parsed.attribute not in _COARSE
    if parsed.attribute is not None and is_known(parsed.attribute) and tells_more:
        return parsed
    if parsed.attribute is None and parsed.subject == given.subject:
        return replace(
            parsed, attribute=attribute, exclusive=exclusive, value=parsed.value if parsed.negative else given.value
        )
    return _with_flags(given, parsed)


def _with_flags(given: Reading, parsed: Reading) -> Reading:
    """Return what a model named, with what the statement tells besides of time, denial and change."""
    return replace(
        given,
        negative=parsed.negative,
        past=parsed.past,
        event=parsed.event,
        ended=parsed.ended,
        changes=parsed.changes,
        sense=parsed.sense,
        adds=parsed.adds,
    )


def _opaque(statement: str) -> Reading | None:
    key = text_key(statement)
    return Reading(key[:_LONGEST_SUBJECT], OPAQUE, read_value(statement)) if key else None


def span_in(one: Examined, source: Source) -> Span:
    """Return from when until when a source says, by its own words, that the belief holds."""
    reading = one.reading
    dated = reading is not None and not reading.event and (reading.value.sort or "") in ("date", "time")
    offset = timezone(timedelta(seconds=one.offsets.get(source.source_id, 0)))
    return span_of(source.statement, source.occurred_at.astimezone(offset), dated_value=dated)


def timed_claims(one: Examined, values: Mapping[UUID, tuple[int, tuple[int, ...]]], ageing: Ageing) -> list[TimedClaim]:
    """Return a belief's claims in time, one for each live source."""
    found = []
    if one.belief.belief_id not in values:
        return []
    place, ended = values[one.belief.belief_id]
    for source in one.sources:
        reading = read_belief(source) or one.reading
        if reading is None:
            continue
        span = span_in(one, source)
        start = source.valid_from or span.start or source.occurred_at
        end = source.valid_until or span.end
        if end is not None and start > end:
            start = end
        found.append(
            TimedClaim(
                belief_id=one.belief.belief_id,
                value=place,
                start=start,
                end=end,
                noted_at=source.occurred_at,
                trusted=source.trust is Trust.TRUSTED,
                confidence=_confidence_at(one.belief, start, ageing),
                statement=source.statement,
                negative=reading.negative,
                past=reading.past,
                changes=reading.changes,
                bounded=end is not None and (source.valid_from or span.start) is not None,
                ended=ended,
            )
        )
    return found


def _confidence_at(belief: Belief, at: datetime, ageing: Ageing) -> float:
    return aged(belief.confidence, belief.confirmed_at, ageing.half_life(belief.decay_class), at)
