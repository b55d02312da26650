"""The decision with vectors: what a cosine adds, and what is left for adjudication."""

from uuid import UUID

import numpy as np
import pytest

from dreaming.passes.consolidation.deduplication import MOST_QUEUED, can_matter, decide
from dreaming.passes.consolidation.nearness import BANDS, Bands, Nearness, by_statement
from dreaming.passes.consolidation.records import Candidate, CandidateState, Decision, Method
from dreaming.passes.consolidation.semantic import bands
from dreaming.settings.resolution import resolve

CLAIM = "Ada bought a sofa for the big room"
SAME = "Ada purchased a couch for the large room"
AGAIN = f"{CLAIM} again"


def near(cosines: dict[str, float], given: Bands | None = None) -> Nearness:
    vectors = [(text, np.array([cosine, (1 - cosine**2) ** 0.5], np.float32)) for text, cosine in cosines.items()]
    return Nearness("fixed", given or Bands(0.85, 0.6, 0.1), by_statement([(CLAIM, np.array([1, 0])), *vectors]))


def decided(nearness: Nearness | None, *statements: str, state: CandidateState = CandidateState.LIVE) -> Decision:
    candidates = [Candidate(UUID(int=at), statement, state) for at, statement in enumerate(statements, 1)]
    return decide(CLAIM, candidates, threshold=0.7, nearness=nearness)


def test_a_cosine_adds_a_match_with_its_evidence() -> None:
    match = decided(near({SAME: 0.9}), SAME).match
    assert match is not None
    assert match.method is Method.COSINE
    assert match.likeness.cosine == pytest.approx(0.9, abs=1e-6)
    assert decided(None, SAME).match is None


def test_words_match_before_a_greater_cosine() -> None:
    match = decided(near({SAME: 0.99, AGAIN: 0.5}), SAME, AGAIN).match
    assert match is not None
    assert (match.candidate.statement, match.method) == (AGAIN, Method.JACCARD)


def test_a_statement_without_a_vector_is_compared_by_its_words() -> None:
    nearness = near({SAME: 0.9})
    match = decided(nearness, AGAIN).match
    assert match is not None
    assert match.likeness.cosine is None


@pytest.mark.parametrize(
    ("state", "method"), [(CandidateState.FADED, Method.COSINE), (CandidateState.PERSON, Method.COSINE)]
)
def test_a_cosine_finds_archived_beliefs_too(state: CandidateState, method: Method) -> None:
    match = decided(near({SAME: 0.9}), SAME, state=state).match
    assert match is not None
    assert (match.candidate.state, match.method) == (state, method)
    assert decided(near({SAME: 0.7}), SAME, state=state).queued == ()


def test_guards_veto_a_cosine_and_the_pair_is_queued_with_the_guard() -> None:
    sold = "Ada sold a sofa for the big room"
    (pair,) = decided(near({sold: 0.97}), sold).queued
    assert pair.reason == "opposites"
    assert pair.likeness.cosine == pytest.approx(0.97, abs=1e-6)


def test_only_the_most_alike_are_queued() -> None:
    others = {f"Ada thinks about chair {number}": 0.6 + number / 100 for number in range(10)}
    queued = decided(near(others), *others).queued
    assert [pair.candidate.statement for pair in queued] == list(others)[: -MOST_QUEUED - 1 : -1]
    assert {pair.reason for pair in queued} == {"grey_band"}


def test_other_scripts_need_a_shared_word_in_the_grey_band() -> None:
    def grey(left: str, right: str) -> bool:
        vector = np.array([1, 0], np.float32)
        nearness = Nearness("fixed", Bands(1.1, 0.6, 0.1), by_statement([(left, vector), (right, vector)]))
        return bool(decide(left, [Candidate(UUID(int=1), right, CandidateState.LIVE)], threshold=0.7,
                           nearness=nearness).queued)  # fmt: skip

    assert not grey("办公室在三楼", "她喜欢喝茶")
    assert not grey("Мария работает врачом", "Офис на третьем этаже")
    assert grey("办公室在三楼", "办公室很大")
    assert grey("Ink dries fast", "The rent is due")


def test_what_cannot_matter_is_told_without_asking_a_guard() -> None:
    nearness = near({SAME: 0.61, "x": 0.59})
    assert can_matter(CLAIM, SAME, threshold=0.7, nearness=nearness)
    assert not can_matter(CLAIM, SAME, threshold=0.7, nearness=None)
    assert not can_matter(CLAIM, "x", threshold=0.7, nearness=nearness)
    assert can_matter(f"{CLAIM} and sails on Sundays", CLAIM, threshold=0.95, nearness=None)


def test_a_setting_goes_before_what_was_measured_for_the_model() -> None:
    (model,) = BANDS
    assert bands(resolve({}, {}), model) == BANDS[model]
    assert bands(resolve({}, {}), "another") == Bands(0.85, 0.6)
    assert bands(resolve({"DREAMING_SEMANTIC_GREY": "0.7"}, {}), model).grey == 0.7
    assert bands(resolve({}, {"semantic_threshold": 0.9}), model).threshold == 0.9
