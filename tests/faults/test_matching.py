"""What the rules of deduplication match and keep apart, a statement against its candidates."""

from uuid import UUID

import pytest

from dreaming.beliefs.words import jaccard, word_set
from dreaming.passes.consolidation.deduplication import decide
from dreaming.passes.consolidation.records import Candidate, CandidateState

THRESHOLD = 0.7


def candidate(number: int, statement: str, state: CandidateState = CandidateState.LIVE) -> Candidate:
    return Candidate(UUID(int=number), statement, state)


def matched(statement: str, *candidates: Candidate) -> int | None:
    match = decide(statement, candidates, threshold=THRESHOLD).match
    return None if match is None else match.candidate.belief_id.int


SHED = "Priya confirmed the garden shed is painted green"


@pytest.mark.parametrize(
    "reworded",
    [
        SHED,
        "Priya confirmed that the garden shed is painted green.",
        "Priya has confirmed the garden shed is painted green",
        "Priya confirms the garden shed is painted green",
        "Priya confirmed the garden shed was painted green",
        "Priya said the garden shed is painted green",
        "The garden shed is painted green, Priya confirmed",
    ],
)
def test_small_rewordings_of_one_event_match_the_same_belief(reworded: str) -> None:
    assert matched(reworded, candidate(1, SHED)) == 1


def test_an_identical_claim_matches_exactly() -> None:
    decision = decide("priya CONFIRMED the garden-shed is painted green!", [candidate(1, SHED)], threshold=THRESHOLD)
    assert decision.match is not None
    assert (decision.match.method, decision.match.likeness.jaccard) == ("exact", 1.0)


def test_one_token_that_is_a_date_makes_two_beliefs_and_a_reported_pair() -> None:
    decision = decide(
        "The boat inspection is 3 March", [candidate(1, "The boat inspection is 4 March")], threshold=THRESHOLD
    )
    assert decision.match is None
    (pair,) = decision.queued
    assert pair.veto is not None
    assert (pair.veto.guard, pair.veto.left, pair.veto.right) == ("dates", "3 March", "4 March")
    assert pair.likeness.jaccard == pytest.approx(5 / 7)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Mara Reed runs the kitchen at Orbit", "Nils Cole runs the bar at Orbit"),
        ("Herons were not seen in July at Pond A", "Herons were seen in May at Pond B"),
        ("Lena works at the bakery", "Lena now works at the bike shop"),
        ("他每天早上在家里喝一杯绿茶", "他每天早上在家里喝一杯咖啡"),
        ("会议定在三月三日上午在北京办公室举行", "会议定在三月三日上午在上海办公室举行"),
    ],
)
def test_two_facts_of_one_shape_stay_two(left: str, right: str) -> None:
    assert matched(left, candidate(1, right)) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("普里娅确认花园小屋漆成了绿色", "普里娅确认花园小屋漆成绿色"),
        ("小明喜欢喝绿茶", "小明喜欢喝绿茶的"),
        ("他住在北京", "他住在北京了"),
        ("彼女は毎朝公園で本を読んでいる", "彼女は毎朝公園で本を読んでいるよ"),
    ],
)
def test_two_sentences_without_spaces_one_particle_apart_match(left: str, right: str) -> None:
    assert jaccard(word_set(left), word_set(right)) >= THRESHOLD
    assert matched(left, candidate(1, right)) == 1


def test_an_exact_match_precedes_a_similar_one_whatever_its_state() -> None:
    live, person = candidate(1, f"{SHED} now"), candidate(2, SHED, CandidateState.PERSON)
    assert matched(SHED, live, person) == 2


def test_live_precedes_faded_precedes_archived_by_a_person() -> None:
    states = (CandidateState.PERSON, CandidateState.FADED, CandidateState.LIVE)
    exact = [candidate(number, SHED, state) for number, state in enumerate(states, 1)]
    assert matched(SHED, *exact) == 3
    assert matched(SHED, *exact[:2]) == 2
    assert matched(SHED, exact[0]) == 1
    similar = [candidate(number, f"{SHED} again", state) for number, state in enumerate(states[:2], 1)]
    assert matched(SHED, *similar) == 2
    assert matched(SHED, *similar, candidate(3, f"{SHED} again indeed")) == 3


def test_the_best_score_wins_and_ties_go_to_the_lower_id() -> None:
    near, nearer = f"{SHED} again indeed", f"{SHED} again"
    assert matched(SHED, candidate(1, near), candidate(2, nearer)) == 2
    assert matched(SHED, candidate(9, nearer), candidate(3, nearer)) == 3


def test_a_vetoed_belief_does_not_hide_one_that_matches() -> None:
    decision = decide(
        SHED, [candidate(1, SHED.replace("is", "is not")), candidate(2, SHED + " indeed")], threshold=THRESHOLD
    )
    assert decision.match is not None
    assert decision.match.candidate.belief_id.int == 2
    assert [pair.candidate.belief_id.int for pair in decision.queued] == [1]


def test_only_live_beliefs_are_reported_as_vetoed() -> None:
    blue = candidate(1, SHED.replace("green", "blue"), CandidateState.FADED)
    assert decide(SHED, [blue], threshold=THRESHOLD) == decide(SHED, [], threshold=THRESHOLD)


def test_statements_without_words_match_nothing() -> None:
    assert matched("...", candidate(1, "!!!")) is None
