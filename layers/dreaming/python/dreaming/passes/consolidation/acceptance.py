"""From a note's answers to the sources it contributes: shape, quote, statement, trust. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import DecayClass, Importance, Kind, Source, SourceType
from dreaming.beliefs.rules import UNTRUSTED_CAP
from dreaming.beliefs.words import fold, is_unspaced
from dreaming.errors import RejectClaim
from dreaming.identifiers import NewId
from dreaming.notes.chunking import Chunk
from dreaming.notes.records import Note, Trust
from dreaming.notes.secrets import mask, shortened
from dreaming.passes.consolidation.claims import check_statement
from dreaming.passes.consolidation.parsing import to_claim
from dreaming.passes.consolidation.quotes import FoldedText, locate_quote
from dreaming.passes.consolidation.records import Claim, QuoteSpan
from dreaming.passes.synthesis.rules import spoken_by_nobody
from dreaming.recall.records import SOURCE as CONVERSATION

_KINDS_OF_TRUSTED_NOTES = frozenset({Kind.CONSTRAINT, Kind.DECISION})


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A relation of a claim to an entity, by the ids of their sources."""

    claim_id: UUID
    type: str
    entity_id: UUID


@dataclass(frozen=True, slots=True)
class Accepted:
    """The sources that a note contributes, and how many of its claims failed which rule.

    `entities` are the sources of what its claims relate to, one for each name, and `relations` say which
    claim is in which relation to which of them; `unrelated` counts those that the note does not bear.
    """

    sources: tuple[Source, ...]
    extracted: int
    rejected: Mapping[str, int]
    entities: tuple[Source, ...] = ()
    relations: tuple[StatedRelation, ...] = ()
    unrelated: int = 0


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
    statement may contain. A source's time is the note's own, never later than `now`. The note is masked, as
    the model saw it; secrets are masked in everything that a claim says.
    """
    folded = FoldedText(note.text)
    nobodys = spoken_by_nobody(note.text) if note.source == CONVERSATION else []
    sources: list[Source] = []
    related = Relating(note, forbidden, new_id)
    rejected: Counter[str] = Counter()
    extracted = 0
    for chunk, items in answers:
        for item in items:
            extracted += 1
            try:
                claim = _without_secrets(to_claim(item, default_timezone=note.occurred_at.tzinfo))
                _check_label(claim, label)
                span = locate_quote(claim.quote, folded, start=chunk.start, end=chunk.start + len(chunk.text))
                _check_speaker(span, nobodys)
                statement = check_statement(claim, note=note, forbidden=forbidden)
            except RejectClaim as rejection:
                rejected[rejection.rule] += 1
                continue
            sources.append(_source(note, claim, statement, span, now=now, new_id=new_id))
            related.add(claim, sources[-1])
    return Accepted(
        tuple(sources), extracted, rejected, tuple(related.entities.values()), tuple(related.relations), related.refused
    )


class Relating:
    """Collects what the claims of one note relate to."""

    def __init__(self, note: Note, forbidden: frozenset[str], new_id: NewId) -> None:
        """Check names against the note; `forbidden` are internal identifiers."""
        self._note = note
        self._forbidden = forbidden
        self._new_id = new_id
        self._words = f" {fold(' '.join((note.text, note.author or '', *note.participants)))} "
        self.entities: dict[str, Source] = {}
        self.relations: list[StatedRelation] = []
        self.refused = 0

    def add(self, claim: Claim, source: Source) -> None:
        """Keep the claim's relations whose target the note names; `source` is the claim's own."""
        for relation in claim.relations:
            try:
                name = self._checked_name(claim, relation.target)
            except RejectClaim:
                self.refused += 1
                continue
            entity = self.entities.get(fold(name)) or self._entity(name, source)
            self.entities[fold(name)] = entity
            stated = StatedRelation(source.source_id, _relation_type(relation.type), entity.source_id)
            if stated.type and stated not in self.relations:
                self.relations.append(stated)

    def _checked_name(self, claim: Claim, target: str) -> str:
        """Return the target's name if it passes for a statement of the note, and the note has it word by word."""
        name = check_statement(
            claim.model_copy(update={"statement": target}), note=self._note, forbidden=self._forbidden
        )
        known = f" {fold(name)} " in self._words or (is_unspaced(name) and fold(name) in self._words)
        if not known:
            raise RejectClaim("relation_unfounded", "the claim relates to something that the note does not name")
        return name

    def _entity(self, name: str, source: Source) -> Source:
        return replace(
            source,
            source_id=self._new_id(),
            statement=name,
            kind=Kind.ENTITY,
            importance=Importance.NORMAL,
            decay_class=DecayClass.SLOW,
            subject=name,
            attribute=None,
            value=None,
            multi_valued=False,
            valid_from=None,
            valid_until=None,
        )


def _relation_type(given: str) -> str:
    """Return a relation's type in one spelling: lower case, words joined by underscores."""
    return "_".join(re.findall(r"\w+", given.casefold()))[:80]


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


def _check_speaker(span: QuoteSpan, nobodys: Iterable[tuple[int, int]]) -> None:
    """Refuse what only an assistant or a system prompt said: a suggestion is nobody's fact."""
    if any(start <= span.start and span.end <= end for start, end in nobodys):
        raise RejectClaim("quote_assistant", "the quote is an assistant's words, which are nobody's evidence")


def _bounded(importance: Importance) -> Importance:
    """Return what an untrusted claim's importance counts for: briefs begin with the important ones."""
    return Importance.LOW if importance is Importance.LOW else Importance.NORMAL


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
        importance=_bounded(claim.importance) if untrusted else claim.importance,
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
