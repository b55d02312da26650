"""The terms of statements."""

from dreaming.beliefs.terms.words import TERMS_OF_A_CLAIM, looked_up, terms
from dreaming.beliefs.words import token


def test_forms_of_a_word_are_one_term_and_common_words_are_none() -> None:
    assert terms("The servers stored the log") == terms("A server stores logs")
    assert dict(terms("of the and is")) == {}
    assert sum(terms("tea, tea and tea").values()) == 3


def test_scripts_without_spaces_give_bigrams() -> None:
    assert set(terms("办公室")) == {token("办公"), token("公室")}


def test_a_long_claim_is_looked_up_by_its_rarest_words() -> None:
    claim = "people work time day house great small long zyzzyva quokka xylophone fjord wombat"
    wanted = looked_up(claim)
    assert len(wanted) == TERMS_OF_A_CLAIM
    assert {token("zyzzyva"), token("quokka"), token("fjord"), token("wombat")} <= set(wanted)
    assert set(wanted) <= set(terms(claim))
