"""Whether a claim says what a belief says already: the exact match, then similarity under guards."""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.beliefs.words import fold, jaccard, word_set
from dreaming.passes.consolidation.guards import DEFAULT_GUARDS, Guard, veto
from dreaming.passes.consolidation.records import Candidate, CandidateState, Decision, Match, VetoedPair

_PRECEDENCE = {state: place for place, state in enumerate(CandidateState)}


def decide(
    statement: str,
    candidates: Sequence[Candidate],
    *,
    threshold: float,
    guards: Sequence[Guard] = DEFAULT_GUARDS,
) -> Decision:
    """Decide which of the candidates, if any, `statement` repeats.

    An exact match of the folded texts comes first and needs no guard. Otherwise the word sets must
    reach `threshold` (0.5..1) and no guard may object. Either way live beliefs match before faded
    ones and those before the ones a person archived; then the better score wins, then the lower id.
    Live candidates that only a guard kept apart are reported.
    """
    folded, words = fold(statement), word_set(statement)
    scored = [(jaccard(words, word_set(candidate.statement)), candidate) for candidate in candidates]
    exact = [candidate for score, candidate in scored if score == 1 and fold(candidate.statement) == folded]
    if exact:
        return Decision(Match(min(exact, key=_place), "exact", 1.0), ())
    similar = sorted(
        (pair for pair in scored if pair[0] >= threshold),
        key=lambda pair: (_place(pair[1])[0], -pair[0], _place(pair[1])),
    )
    match: Match | None = None
    vetoed: list[VetoedPair] = []
    for score, candidate in similar:
        objection = veto(statement, candidate.statement, guards)
        if objection is None:
            match = match or Match(candidate, "jaccard", score)
        elif candidate.state is CandidateState.LIVE:
            vetoed.append(VetoedPair(candidate, score, objection))
    return Decision(match, tuple(vetoed))


def _place(candidate: Candidate) -> tuple[int, str]:
    return _PRECEDENCE[candidate.state], candidate.belief_id.hex
