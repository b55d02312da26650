"""The stored beliefs that a batch's claims may repeat, found in a fixed number of statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from dreaming.beliefs import store as beliefs_store
from dreaming.beliefs.records import Source
from dreaming.beliefs.similarity import probe
from dreaming.beliefs.terms import store as terms_store
from dreaming.beliefs.terms.words import looked_up
from dreaming.database import Transaction
from dreaming.passes.consolidation.deduplication import can_matter
from dreaming.passes.consolidation.nearness import Nearness

RANKED = 10
"""How many beliefs BM25 adds for a claim."""

RECENT = 25
"""How many of the latest beliefs of its kind the semantic step adds for a claim."""


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of each claim, in the claims' order, each with what it says.

    `left_out`: how many were too many for one claim, over all claims.
    """

    of_claim: tuple[Mapping[UUID, str], ...]
    left_out: int = 0

    @property
    def statements(self) -> dict[UUID, str]:
        """What each candidate says."""
        return {belief_id: statement for candidates in self.of_claim for belief_id, statement in candidates.items()}

    def mattering(
        self, claims: Sequence[Source], *, threshold: float, nearness: Nearness | None
    ) -> list[tuple[UUID, ...]]:
        """Return for each claim the candidates that a decision can come to, for only those are loaded."""
        return [
            tuple(
                belief_id
                for belief_id, statement in candidates.items()
                if can_matter(claim.statement, statement, threshold=threshold, nearness=nearness)
            )
            for claim, candidates in zip(claims, self.of_claim, strict=True)
        ]


def find(tx: Transaction, slice_id: int, claims: Sequence[Source], *, threshold: float, semantic: bool) -> Found:
    """Find the candidates of all claims, in one statement, with the semantic step in three.

    Every belief whose words can reach `threshold`, compounds and their parts; for the semantic step the first
    by BM25 as well, and the latest of the claim's kind.
    """
    if not claims:
        return Found(())
    of_claim: list[dict[UUID, str]] = [{} for _ in claims]
    probes = [probe(claim.statement, threshold) for claim in claims]
    alike = beliefs_store.find_candidates(tx, slice_id, probes)
    rows: list[beliefs_store.CandidateRow | terms_store.RankedRow] = [*alike]
    if semantic:
        rows += terms_store.ranked(tx, slice_id, [looked_up(claim.statement) for claim in claims], RANKED)
    for row in rows:
        of_claim[row.claim][row.belief_id] = row.statement
    if semantic:
        for recent in terms_store.recent(tx, slice_id, [claim.kind for claim in claims], RECENT):
            for claim, candidates in zip(claims, of_claim, strict=True):
                if claim.kind == recent.kind:
                    candidates[recent.belief_id] = recent.statement
    left_out: dict[int, int] = {}
    for one in alike:
        left_out[one.claim] = max(one.left_out, left_out.get(one.claim, 0))
    return Found(tuple(of_claim), sum(left_out.values()))
