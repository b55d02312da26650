"""Whether a claim says what a belief says already: the exact match, then likeness under guards."""

from __future__ import annotations

from collections.abc import Sequence

from dreaming.beliefs.words import fold, jaccard, token_list, word_set
from dreaming.passes.consolidation.compounds import is_part
from dreaming.passes.consolidation.guards import DEFAULT_GUARDS, Guard, veto
from dreaming.passes.consolidation.nearness import Nearness
from dreaming.passes.consolidation.records import (
    Candidate,
    CandidateState,
    Decision,
    Likeness,
    Match,
    Method,
    QueuedPair,
    Veto,
)
from dreaming.passes.consolidation.spelling import spelling

MOST_QUEUED = 3
"""How many pairs of one claim are left for adjudication: the most alike."""

_PRECEDENCE = {state: place for place, state in enumerate(CandidateState)}
_METHODS = {method: place for place, method in enumerate(Method)}


def decide(
    statement: str,
    candidates: Sequence[Candidate],
    *,
    threshold: float,
    nearness: Nearness | None = None,
    guards: Sequence[Guard] = DEFAULT_GUARDS,
) -> Decision:
    """Decide which of the candidates, if any, `statement` repeats.

    An exact match of the folded texts comes first and needs no guard but that of spelling. Otherwise the
    word sets must reach `threshold` (0.5..1), or the claim be a part of a live compound, or, with
    `nearness`, the cosine reach the model's; and no guard may object, except to a part. Either way live
    beliefs match before faded ones and those before the ones a person archived; then the order of the
    methods, the better score, the lower id. What a cosine adds never takes the place of a match of words
    with a belief of the same state.

    Reported, the most alike first and at most `MOST_QUEUED`: live candidates that only a guard kept
    apart, and those in the grey band of the cosine.
    """
    folded = fold(statement)
    exact = [
        candidate
        for candidate in candidates
        if fold(candidate.statement) == folded and spelling(statement, candidate.statement) is None
    ]
    if exact and folded:
        return Decision(Match(min(exact, key=_place), Method.EXACT, Likeness(1.0)), ())
    compared = [(candidate, like(statement, candidate.statement, nearness)) for candidate in candidates]
    methods = {
        candidate.belief_id: _method(statement, candidate, likeness, threshold, nearness)
        for candidate, likeness in compared
    }
    objections = _Objections(statement, guards)
    hopeful = [
        Match(candidate, method, likeness)
        for candidate, likeness in compared
        if (method := methods[candidate.belief_id]) is not None
    ]
    match = next(
        (one for one in sorted(hopeful, key=_rank) if one.method is Method.PART or not objections.of(one.candidate)),
        None,
    )
    queued: list[QueuedPair] = []
    for candidate, likeness in sorted(compared, key=_most_alike):
        if len(queued) == MOST_QUEUED:
            break
        if candidate.state is not CandidateState.LIVE or methods[candidate.belief_id] is Method.PART:
            continue
        if methods[candidate.belief_id] is None:
            if _is_grey(statement, candidate, likeness, nearness):
                queued.append(QueuedPair(candidate, likeness, None))
        elif (objection := objections.of(candidate)) is not None:
            queued.append(QueuedPair(candidate, likeness, objection))
    return Decision(match, tuple(queued))


class _Objections:
    """What the guards say of a claim and its candidates, each asked at most once, and only when it matters."""

    def __init__(self, statement: str, guards: Sequence[Guard]) -> None:
        self._statement = statement
        self._guards = guards
        self._known: dict[str, Veto | None] = {}

    def of(self, candidate: Candidate) -> Veto | None:
        if candidate.statement not in self._known:
            self._known[candidate.statement] = veto(self._statement, candidate.statement, self._guards)
        return self._known[candidate.statement]


def _most_alike(compared: tuple[Candidate, Likeness]) -> tuple[float, str]:
    candidate, likeness = compared
    return -likeness.score, candidate.belief_id.hex


def like(left: str, right: str, nearness: Nearness | None) -> Likeness:
    """Return how alike two statements are."""
    cosine = None if nearness is None else nearness.cosine(left, right)
    return Likeness(jaccard(word_set(left), word_set(right)), cosine)


def can_matter(statement: str, candidate: str, *, threshold: float, nearness: Nearness | None) -> bool:
    """Say whether `decide` can match or report a candidate of this statement."""
    if jaccard(word_set(statement), word_set(candidate)) >= threshold:
        return True
    if token_list(statement) == token_list(candidate) or is_part(statement, candidate) or is_part(candidate, statement):
        return True
    cosine = None if nearness is None else nearness.cosine(statement, candidate)
    return nearness is not None and cosine is not None and cosine >= nearness.bands.grey


def _method(
    statement: str, candidate: Candidate, likeness: Likeness, threshold: float, nearness: Nearness | None
) -> Method | None:
    """Return by what the two are alike enough to be one belief, before any guard is asked."""
    if candidate.state is CandidateState.LIVE and is_part(statement, candidate.statement):
        return Method.PART
    if likeness.jaccard >= threshold:
        return Method.JACCARD
    return Method.COSINE if nearness is not None and nearness.matches(likeness.cosine) else None


def _is_grey(statement: str, candidate: Candidate, likeness: Likeness, nearness: Nearness | None) -> bool:
    return nearness is not None and nearness.is_grey(likeness.cosine, likeness.jaccard, statement, candidate.statement)


def _rank(match: Match) -> tuple[int, int, float, str]:
    return (
        _PRECEDENCE[match.candidate.state],
        _METHODS[match.method],
        -match.likeness.score,
        match.candidate.belief_id.hex,
    )


def _place(candidate: Candidate) -> tuple[int, str]:
    return _PRECEDENCE[candidate.state], candidate.belief_id.hex
