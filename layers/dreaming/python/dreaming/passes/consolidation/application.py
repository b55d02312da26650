"""Applies the accepted claims of a batch's notes to the beliefs at hand, strictly in order. No I/O."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from dreaming.beliefs.records import ArchiveReason, Belief, Source, SourceEnd
from dreaming.beliefs.similarity import hash_of, probe, stored_tokens
from dreaming.beliefs.words import fold, jaccard, word_set
from dreaming.beliefs.workspace import Attached, Workspace
from dreaming.notes.records import Note
from dreaming.passes.consolidation.deduplication import decide
from dreaming.passes.consolidation.records import Candidate, CandidateState, Decision

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
    """What applying came to: counts for the run, and pairs (left, right, reason, evidence) to adjudicate."""

    counts: Counter[str] = field(default_factory=Counter)
    conflicts: list[tuple[UUID, UUID, str, Mapping[str, Any]]] = field(default_factory=list)


def near(statement: str, candidate: str, threshold: float) -> bool:
    """Tell whether two statements can be one belief before any guard is asked."""
    return fold(statement) == fold(candidate) or jaccard(word_set(statement), word_set(candidate)) >= threshold


class Application:
    """One batch's claims on their way into a workspace."""

    def __init__(self, workspace: Workspace, *, threshold: float, model: str, prompt_version: str) -> None:
        """Work on `workspace`, which holds every stored belief that a claim may match or contradict."""
        self._workspace = workspace
        self._threshold = threshold
        self._model = model
        self._prompt_version = prompt_version
        self._fresh = _FreshBeliefs()
        self._by_attribute: defaultdict[tuple[str, str], set[UUID]] = defaultdict(set)
        for belief in workspace:
            self._index_attribute(belief)

    def apply(self, notes: Iterable[NoteClaims]) -> Applied:
        """Apply the notes in the order given; what an earlier version of a note supported ends."""
        applied = Applied()
        for item in notes:
            supported: set[UUID] = set()
            for source, candidate_ids in item.claims:
                belief_id = self._apply_claim(source, candidate_ids, supported, applied)
                if belief_id is not None:
                    supported.add(belief_id)
            self._workspace.end_note(item.note.note_id, SourceEnd.EDITED, keep=frozenset(supported))
            for belief_id in self._workspace.refold():
                self._fresh.add(self._workspace[belief_id])
                self._index_attribute(self._workspace[belief_id])
        applied.conflicts = [
            pair for pair in applied.conflicts if self._workspace[pair[0]].live and self._workspace[pair[1]].live
        ]
        return applied

    def _apply_claim(
        self, source: Source, candidate_ids: Sequence[UUID], supported: Set[UUID], applied: Applied
    ) -> UUID | None:
        """Attach the claim to the belief it matches, or make one; return which belief the note supports.

        `supported` are the beliefs that earlier claims of the note support: a further one adds nothing.
        """
        decision = decide(source.statement, self._candidates(source, candidate_ids), threshold=self._threshold)
        belief_id = self._settle(source, decision, supported, applied)
        if belief_id is None:
            return None
        for pair in decision.vetoed:
            if pair.candidate.belief_id != belief_id:
                evidence = {"score": pair.score, "left": pair.veto.left, "right": pair.veto.right}
                applied.conflicts.append((belief_id, pair.candidate.belief_id, pair.veto.guard, evidence))
        self._note_same_attribute(belief_id, source, applied)
        return belief_id

    def _settle(self, source: Source, decision: Decision, supported: Set[UUID], applied: Applied) -> UUID | None:
        match = decision.match
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
        attached = self._workspace.attach(
            belief_id,
            source,
            model=self._model,
            prompt_version=self._prompt_version,
            evidence={"method": match.method, "score": match.score},
        )
        if attached is Attached.CORROBORATED:
            applied.counts["beliefs_corroborated"] += 1
        return belief_id

    def _candidates(self, source: Source, candidate_ids: Sequence[UUID]) -> list[Candidate]:
        ids = dict.fromkeys((*candidate_ids, *self._fresh.find(source.statement, self._threshold)))
        beliefs = [self._workspace[belief_id] for belief_id in ids if belief_id in self._workspace]
        return [
            Candidate(belief.belief_id, belief.statement, _MATCHABLE[belief.archive_reason])
            for belief in beliefs
            if belief.archive_reason in _MATCHABLE
        ]

    def _note_same_attribute(self, belief_id: UUID, source: Source, applied: Applied) -> None:
        """Leave for adjudication every live belief about the same attribute with another value."""
        key = _attribute_key(source)
        if key is None or source.multi_valued or not source.value:
            return
        for other_id in sorted(self._by_attribute[key]):
            other = self._workspace[other_id]
            differs = other.value is not None and fold(other.value) != fold(source.value)
            if other_id != belief_id and other.live and not other.multi_valued and differs:
                evidence = {"subject": key[0], "attribute": key[1]}
                applied.conflicts.append((belief_id, other_id, "same_attribute", evidence))

    def _index_attribute(self, belief: Belief) -> None:
        key = _attribute_key(belief)
        if key is not None:
            self._by_attribute[key].add(belief.belief_id)


class _FreshBeliefs:
    """Finds beliefs that the batch made or reworded, as the stored index finds the others."""

    def __init__(self) -> None:
        self._by_token: defaultdict[int, set[UUID]] = defaultdict(set)
        self._by_hash: defaultdict[int, set[UUID]] = defaultdict(set)

    def add(self, belief: Belief) -> None:
        for token in stored_tokens(belief.statement).tokens:
            self._by_token[token].add(belief.belief_id)
        self._by_hash[hash_of(belief.statement)].add(belief.belief_id)

    def find(self, statement: str, threshold: float) -> list[UUID]:
        wanted = probe(statement, threshold)
        found = set(self._by_hash.get(wanted.statement_hash, ()))
        for lookup in wanted.lookups:
            found |= self._by_token.get(lookup.token, set())
        return sorted(found)


def _attribute_key(claim: Source | Belief) -> tuple[str, str] | None:
    if not claim.subject or not claim.attribute:
        return None
    return claim.subject.lower(), claim.attribute.lower()
