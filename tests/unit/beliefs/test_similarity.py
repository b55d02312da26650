"""The similarity index misses nothing that can reach the threshold, and leaves out most of the rest."""

from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs.similarity import probe, stored_tokens
from dreaming.beliefs.words import jaccard, word_set

WORDS = [f"w{number}" for number in range(12)]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)


def found(query: str, stored: str, threshold: float) -> bool:
    """Tell whether a look-up for `query` meets `stored` in the index."""
    index = stored_tokens(stored)
    return any(
        lookup.size == index.size and lookup.token in index.tokens[: lookup.last_position + 1]
        for lookup in probe(query, threshold).lookups
    )


@given(sentences, sentences, st.sampled_from([0.5, 0.55, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]))
def test_whatever_reaches_the_threshold_is_found(query: str, stored: str, threshold: float) -> None:
    if jaccard(word_set(query), word_set(stored)) >= threshold:
        assert found(query, stored, threshold)


@given(sentences)
def test_a_statement_finds_itself_at_every_threshold(statement: str) -> None:
    assert all(found(statement, statement, threshold) for threshold in (0.5, 0.7, 1.0))


def test_a_shared_common_word_alone_finds_nothing() -> None:
    left = "the harbour crane lifts containers of grain"
    right = "the violin lesson begins after lunch today"
    assert not found(left, right, 0.7)
    assert not found(right, left, 0.7)


def test_the_exact_match_ignores_case_and_punctuation() -> None:
    assert probe("The Pond freezes.", 0.7).statement_hash == probe("the pond freezes", 0.7).statement_hash


def test_a_part_finds_its_compound_and_a_compound_its_parts() -> None:
    compound, part = "Tom plays cello and sails on Sundays.", "Tom sails on Sundays!"
    assert probe(part, 0.7).statement_hash in stored_tokens(compound).parts
    assert probe(part, 0.7).statement_hash in probe(compound, 0.7).parts
    assert stored_tokens(part).parts == ()
