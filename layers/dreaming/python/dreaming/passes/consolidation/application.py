"""Applies the accepted claims of a batch's notes to the beliefs at hand, strictly in order. No I/O."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason, Belief, Kind, Source, SourceEnd
from dreaming.beliefs.similarity import MOST_ALIKE, SAME_ATTRIBUTE, Probe, hash_of, probe, stored_tokens
from dreaming.beliefs.terms.words import looked_up, terms
from dreaming.beliefs.words import fold
from dreaming.beliefs.workspace import Attached, Evidence, Workspace
from dreaming.identifiers import NewId
from dreaming.notes.records import Note, Trust
from dreaming.passes.consolidation.candidates import RANKED, RECENT
from dreaming.passes.consolidation.compounds import remainder_of
from dreaming.passes.consolidation.deduplication import decide
from dreaming.passes.consolidation.nearness import Nearness
from dreaming.passes.consolidation.records import Candidate, CandidateState, Decision, Likeness, Match, Method

_MATCHABLE = {
    None: CandidateState.LIVE,
    ArchiveReason.FADED: CandidateState.FADED,
    ArchiveReason.PERSON: CandidateState.PERSON,
}


@dataclass(frozen=True, slots=True)
class NoteClaims:
    """A note's accepted claims, each with the stored beliefs that may say the same."""

    note: Note
    claims: tuple[tuple[Source, tuple[UUID, ...]], ...]


@dataclass(slots=True)
class Applied:
    """What applying came to: counts for the run, and pairs (left, right, reason, evidence) to adjudicate.

    `belief_of` tells the belief that each applied claim supports, by the id of its source; a suppressed
    claim has none.
    """

    counts: Counter[str] = field(default_factory=Counter)
    belief_of: dict[UUID, UUID] = field(default_factory=dict)
    conflicts: list[tuple[UUID, UUID, str, Mapping[str, Any]]] = field(default_factory=list)


class Application:
    """One batch's claims on their way into a workspace."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        threshold: float,
        model: str,
        prompt_version: str,
        new_id: NewId,
        nearness: Nearness | None = None,
    ) -> None:
        """Work on `workspace`, which holds every stored belief that a claim may match or contradict.

        `nearness` are the vectors of the semantic step; without it words alone decide. A compound claim of
        which a part is believed already is split, and `new_id` names the source of that part.
        """
        self._workspace = workspace
        self._threshold = threshold
        self._nearness = nearness
        self._new_id = new_id
        self._model = model
        self._prompt_version = prompt_version
        self._fresh = _FreshBeliefs()
        self._told = {(source.note_id, source.statement): belief_id for belief_id, source in workspace.sources()}
        self._by_attribute: defaultdict[tuple[str, str], set[UUID]] = defaultdict(set)
        for belief in workspace:
            self._index_attribute(belief)

    @property
    def left_out(self) -> int:
        """How many beliefs of the batch itself were too many to compare with one claim, over all claims."""
        return self._fresh.left_out

    def apply(self, notes: Iterable[NoteClaims]) -> Applied:
        """Apply the notes in the order given; what an earlier version of a note supported ends."""
        applied = Applied()
        for item in notes:
            supported: set[UUID] = set()
            for claim, candidate_ids in item.claims:
                candidates = self._candidates(claim, candidate_ids)
                for source in self._parted(claim, candidates):
                    if source is not claim:
                        candidates = self._candidates(source, candidate_ids)
                    belief_id = self._apply_claim(source, candidates, supported, applied)
                    if belief_id is not None:
                        supported.add(belief_id)
                        applied.belief_of[source.source_id] = belief_id
            self._workspace.end_note(item.note.note_id, SourceEnd.EDITED, keep=frozenset(supported))
            for belief_id in self._workspace.refold():
                self._fresh.add(self._workspace[belief_id])
                self._index_attribute(self._workspace[belief_id])
        applied.conflicts = [
            pair for pair in applied.conflicts if self._workspace[pair[0]].live and self._workspace[pair[1]].live
        ]
        return applied

    def _parted(self, claim: Source, candidates: Sequence[Candidate]) -> tuple[Source, ...]:
        """Return a compound claim as what is believed already and the rest; any other claim as it is."""
        if any(fold(candidate.statement) == fold(claim.statement) for candidate in candidates):
            return (claim,)
        for candidate in candidates:
            rest = remainder_of(claim.statement, candidate.statement)
            if rest is not None and candidate.state is CandidateState.LIVE:
                part = replace(claim, source_id=self._new_id(), statement=candidate.statement)
                return _about(part), _about(replace(claim, statement=rest))
        return (claim,)

    def _apply_claim(
        self, source: Source, candidates: Sequence[Candidate], supported: Set[UUID], applied: Applied
    ) -> UUID | None:
        """Attach the claim to the belief it matches, or make one; return which belief the note supports.

        `supported` are the beliefs that earlier claims of the note support: a further one adds nothing.
        """
        told = self._told.get((source.note_id, source.statement))
        if told is not None and told not in supported and self._stands(told):
            # The note said so before: read again, it goes on supporting what it supports, whatever came since.
            self._attach(told, source, {"method": "same_note"})
            return told
        decision = decide(source.statement, candidates, threshold=self._threshold, nearness=self._nearness)
        match = decision.match
        parted = None
        if match is not None and match.method is Method.PART and not self._may_join(match.candidate, source):
            parted, match = match, None
        belief_id = self._settle(source, match, supported, applied)
        if belief_id is None:
            return None
        if parted is not None:
            evidence = self._evidence(parted.likeness)
            applied.conflicts.append((belief_id, parted.candidate.belief_id, Method.PART.value, evidence))
        self._leave(belief_id, decision, applied)
        self._note_same_attribute(belief_id, source, applied)
        return belief_id

    def _stands(self, belief_id: UUID) -> bool:
        """Say whether a belief keeps its sources: it is live, or what came later has taken its place."""
        belief = self._workspace[belief_id]
        return belief.live or belief.archive_reason in (ArchiveReason.SUPERSEDED, ArchiveReason.REJECTED)

    def _may_join(self, candidate: Candidate, source: Source) -> bool:
        """Say whether a part of a compound leaves the belief its wording, which its first trusted claim gives."""
        belief = self._workspace[candidate.belief_id]
        outranked = source.trust is Trust.TRUSTED and belief.trust is Trust.UNTRUSTED
        return source.occurred_at >= belief.first_seen_at and not outranked

    def _leave(self, belief_id: UUID, decision: Decision, applied: Applied) -> None:
        """Leave for adjudication what is alike but was not merged."""
        for pair in decision.queued:
            if pair.candidate.belief_id != belief_id:
                evidence = self._evidence(pair.likeness)
                if pair.veto is not None:
                    evidence |= {"guard": pair.veto.guard, "left": pair.veto.left, "right": pair.veto.right}
                applied.conflicts.append((belief_id, pair.candidate.belief_id, pair.reason, evidence))

    def _evidence(self, likeness: Likeness) -> dict[str, str | float | int | None]:
        """Return what two statements were compared by; of the cosine only where there is one."""
        evidence: dict[str, str | float | int | None] = {"jaccard": round(likeness.jaccard, 4)}
        if likeness.cosine is not None and self._nearness is not None:
            evidence |= {"cosine": round(likeness.cosine, 4), "model": self._nearness.model}
        return evidence

    def _settle(self, source: Source, match: Match | None, supported: Set[UUID], applied: Applied) -> UUID | None:
        if match is None:
            belief_id = self._workspace.create(source, model=self._model, prompt_version=self._prompt_version)
            self._fresh.add(self._workspace[belief_id])
            self._index_attribute(self._workspace[belief_id])
            applied.counts["beliefs_created"] += 1
            return belief_id
        if match.candidate.state is CandidateState.PERSON:
            applied.counts["claims_suppressed"] += 1
            return None
        belief_id = match.candidate.belief_id
        if belief_id in supported:
            return belief_id
        attached = self._attach(belief_id, source, {"method": match.method.value, **self._evidence(match.likeness)})
        if attached is Attached.CORROBORATED:
            applied.counts["beliefs_corroborated"] += 1
            if match.method is Method.COSINE:
                applied.counts["semantic_matches"] += 1
        return belief_id

    def _attach(self, belief_id: UUID, source: Source, evidence: Evidence) -> Attached:
        return self._workspace.attach(
            belief_id, source, model=self._model, prompt_version=self._prompt_version, evidence=evidence
        )

    def _candidates(self, source: Source, candidate_ids: Sequence[UUID]) -> list[Candidate]:
        fresh = self._fresh.find(source, self._threshold, semantic=self._nearness is not None)
        ids = dict.fromkeys((*candidate_ids, *fresh))
        beliefs = [self._workspace[belief_id] for belief_id in ids if belief_id in self._workspace]
        return [
            Candidate(belief.belief_id, belief.statement, _MATCHABLE[belief.archive_reason])
            for belief in beliefs
            if belief.archive_reason in _MATCHABLE
        ]

    def _note_same_attribute(self, belief_id: UUID, source: Source, applied: Applied) -> None:
        """Leave for adjudication the latest live beliefs about the same attribute with another value."""
        key = _attribute_key(source)
        if key is None or source.multi_valued or not source.value:
            return
        for other in self._latest_about(key):
            differs = other.value is not None and fold(other.value) != fold(source.value)
            if other.belief_id != belief_id and not other.multi_valued and differs:
                evidence = {"subject": key[0], "attribute": key[1]}
                applied.conflicts.append((belief_id, other.belief_id, "same_attribute", evidence))

    def _latest_about(self, key: tuple[str, str]) -> list[Belief]:
        """Return the latest live beliefs about an attribute, as many as are loaded of the stored ones."""
        live = (belief for belief_id in self._by_attribute[key] if (belief := self._workspace[belief_id]).live)
        return heapq.nsmallest(
            SAME_ATTRIBUTE, live, key=lambda belief: (-belief.confirmed_at.timestamp(), belief.belief_id)
        )

    def _index_attribute(self, belief: Belief) -> None:
        key = _attribute_key(belief)
        if key is not None:
            self._by_attribute[key].add(belief.belief_id)


class _FreshBeliefs:
    """Finds beliefs that the batch made or reworded, as the stored indexes find the others."""

    def __init__(self) -> None:
        self.left_out = 0
        self._by_token: defaultdict[tuple[int, int], dict[UUID, int]] = defaultdict(dict)
        self._by_hash: defaultdict[int, set[UUID]] = defaultdict(set)
        self._by_part: defaultdict[int, set[UUID]] = defaultdict(set)
        self._by_term: defaultdict[int, set[UUID]] = defaultdict(set)
        self._by_kind: defaultdict[Kind, dict[UUID, None]] = defaultdict(dict)

    def add(self, belief: Belief) -> None:
        stored = stored_tokens(belief.statement)
        for position, token in enumerate(stored.tokens):
            self._by_token[token, stored.size][belief.belief_id] = position
        for part in stored.parts:
            self._by_part[part].add(belief.belief_id)
        self._by_hash[hash_of(belief.statement)].add(belief.belief_id)
        for term in terms(belief.statement):
            self._by_term[term].add(belief.belief_id)
        self._by_kind[belief.kind][belief.belief_id] = None

    def find(self, source: Source, threshold: float, *, semantic: bool) -> list[UUID]:
        wanted = probe(source.statement, threshold)
        found = set(self._by_part.get(wanted.statement_hash, ()))
        for one in (wanted.statement_hash, *wanted.parts):
            found |= self._by_hash.get(one, set())
        found.update(self._sharing_tokens(wanted))
        if semantic:
            found.update(self._sharing_terms(source.statement))
            found.update(list(self._by_kind[source.kind])[-RECENT:])
        return sorted(found)

    def _sharing_tokens(self, wanted: Probe) -> Iterable[UUID]:
        """Return the beliefs that share most of the looked-up words, as many as are found of the stored ones."""
        shared: Counter[UUID] = Counter()
        for lookup in wanted.lookups:
            placed = self._by_token.get((lookup.token, lookup.size))
            if placed:
                shared.update([key for key, position in placed.items() if position <= lookup.last_position])
        if len(shared) <= MOST_ALIKE:
            return shared
        self.left_out += len(shared) - MOST_ALIKE
        return heapq.nsmallest(MOST_ALIKE, shared, key=lambda belief_id: (-shared[belief_id], belief_id))

    def _sharing_terms(self, statement: str) -> list[UUID]:
        """Return the beliefs that share most with a claim, a term weighing less the more beliefs have it."""
        weights: defaultdict[UUID, float] = defaultdict(float)
        for term in looked_up(statement):
            having = self._by_term.get(term, ())
            for belief_id in having:
                weights[belief_id] += 1 / len(having)
        return heapq.nsmallest(RANKED, weights, key=lambda belief_id: (-weights[belief_id], belief_id))


def _about(part: Source) -> Source:
    """Return a part of a compound claim without the attribute whose value is in the other part."""
    if part.value is None or fold(part.value) in fold(part.statement):
        return part
    return replace(part, attribute=None, value=None, multi_valued=False)


def _attribute_key(claim: Source | Belief) -> tuple[str, str] | None:
    if not claim.subject or not claim.attribute:
        return None
    return claim.subject.lower(), claim.attribute.lower()
