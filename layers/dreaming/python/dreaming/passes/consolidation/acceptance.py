"""From a note's answers to the sources it contributes: shape, quote, statement, trust. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dreaming.beliefs.records import Kind, Source, SourceType
from dreaming.beliefs.rules import UNTRUSTED_CAP
from dreaming.errors import RejectClaim
from dreaming.identifiers import NewId
from dreaming.notes.chunking import Chunk
from dreaming.notes.records import Note, Trust
from dreaming.notes.secrets import mask, masked_note, shortened
from dreaming.passes.consolidation.claims import check_statement
from dreaming.passes.consolidation.parsing import to_claim
from dreaming.passes.consolidation.quotes import FoldedText, locate_quote
from dreaming.passes.consolidation.records import Claim, QuoteSpan

_KINDS_OF_TRUSTED_NOTES = frozenset({Kind.CONSTRAINT, Kind.DECISION})


@dataclass(frozen=True, slots=True)
class Accepted:
    """The sources that a note contributes, and how many of its claims failed which rule."""

    sources: tuple[Source, ...]
    extracted: int
    rejected: Mapping[str, int]


def accept(
    note: Note,
    answers: Iterable[tuple[Chunk, Sequence[Mapping[str, Any]]]],
    *,
    label: str,
    forbidden: frozenset[str],
    now: datetime,
    new_id: NewId,
) -> Accepted:
    """Check every item of a note's answers, chunk by chunk.

    `label` is what the note was called in the call; `forbidden` are internal identifiers that no
    statement may contain. A source's time is the note's own, never later than `now`. Secrets are masked
    in the note before a quote is looked for, and in everything that a claim says.
    """
    note = masked_note(note)
    folded = FoldedText(note.text)
    sources: list[Source] = []
    rejected: Counter[str] = Counter()
    extracted = 0
    for chunk, items in answers:
        for item in items:
            extracted += 1
            try:
                claim = _without_secrets(to_claim(item, default_timezone=note.occurred_at.tzinfo))
                _check_label(claim, label)
                span = locate_quote(claim.quote, folded, start=chunk.start, end=chunk.start + len(chunk.text))
                statement = check_statement(claim, note=note, forbidden=forbidden)
            except RejectClaim as rejection:
                rejected[rejection.rule] += 1
                continue
            sources.append(_source(note, claim, statement, span, now=now, new_id=new_id))
    return Accepted(tuple(sources), extracted, rejected)


def _without_secrets(claim: Claim) -> Claim:
    """Return the claim with every text masked; only the quote keeps its length, as its note has it."""
    names = ("statement", "subject", "attribute", "value")
    said = {name: shortened(mask(text).text) for name in names if (text := getattr(claim, name))}
    relations = tuple(
        relation.model_copy(update={"target": shortened(mask(relation.target).text)}) for relation in claim.relations
    )
    return claim.model_copy(update={**said, "quote": mask(claim.quote).text, "relations": relations})


def _check_label(claim: Claim, label: str) -> None:
    if claim.note not in (None, "", label):
        raise RejectClaim("note_unknown", "the claim names a note that was not in the call")


def _source(note: Note, claim: Claim, statement: str, span: QuoteSpan, *, now: datetime, new_id: NewId) -> Source:
    untrusted = note.trust is Trust.UNTRUSTED
    kind = Kind.OBSERVATION if untrusted and claim.kind in _KINDS_OF_TRUSTED_NOTES else claim.kind
    return Source(
        source_id=new_id(),
        source_type=SourceType.NOTE,
        origin=note.origin,
        trust=note.trust,
        occurred_at=min(note.occurred_at, now),
        sequence=note.sequence,
        statement=statement,
        confidence=min(claim.confidence, UNTRUSTED_CAP) if untrusted else claim.confidence,
        kind=kind,
        importance=claim.importance,
        decay_class=claim.decay_class,
        subject=claim.subject,
        attribute=claim.attribute,
        value=claim.value,
        multi_valued=claim.multi_valued,
        valid_from=claim.valid_from,
        valid_until=claim.valid_until,
        note_id=note.note_id,
        note_version=note.version,
        quote=span.text,
        quote_start=span.start,
        quote_end=span.end,
    )
