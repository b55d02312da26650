"""What folding drops can matter: a sign before a word, capitals, a question mark."""

from __future__ import annotations

from uuid import UUID

import pytest

from dreaming.passes.consolidation.deduplication import decide
from dreaming.passes.consolidation.records import Candidate, CandidateState
from dreaming.passes.consolidation.spelling import spelling

DIFFERENT = [
    ("The mask is !admin in the filter.", "The mask is admin in the filter."),
    ("The flag -v prints more.", "The flag -V prints more."),
    ("The shunt has 5 mΩ.", "The shunt has 5 MΩ."),
    ("The line carries 10 MB.", "The line carries 10 Mb."),
    ("They build it on .NET today.", "They build it on net today."),
    ("IT runs the door system.", "It runs the door system."),
    ("Ana likes Polish food.", "Ana likes polish food."),
    ("The pump is on?", "The pump is on."),
    ("The parser is written in C++.", "The parser is written in C."),
]
SAME = [
    ("The team uses GitHub.", "the team uses github"),
    ("The `main` branch is protected.", "The main branch is protected."),
    ("The API answers in JSON.", "The api answers in json."),
    ("He calls it “final”.", "He calls it final."),
    ("THE DOOR OF THE SHED IS ON IT.", "The door of the shed is on it."),
    ("The well-known door is green.", "The wellknown door is green."),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_what_means_something_else_is_no_exact_match_and_is_left_for_adjudication(left: str, right: str) -> None:
    for one, other in ((left, right), (right, left)):
        candidate = Candidate(UUID(int=1), other, CandidateState.LIVE)
        decision = decide(one, [candidate], threshold=0.7)
        assert decision.match is None
        assert [pair.candidate for pair in decision.queued] == [candidate]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_a_habit_of_writing_is_no_difference(left: str, right: str) -> None:
    assert spelling(left, right) is None
    assert spelling(right, left) is None


def test_statements_of_other_words_are_for_other_guards() -> None:
    assert spelling("The shed is green.", "The shed is very green.") is None
