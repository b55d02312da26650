"""`dream explain`: every step of the decision about a pair."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dreaming.local.cli import Exit, dream
from dreaming.local.commands.explain import compare
from dreaming.passes.consolidation.guards import DEFAULT_GUARDS
from dreaming.passes.consolidation.nearness import Bands, Nearness, by_statement

INSPECTION = ("The boat inspection is 3 March", "The boat inspection is 4 March")


def explained(*arguments: str) -> Any:
    shown = CliRunner().invoke(dream, ["explain", "--json", *arguments])
    assert shown.exit_code == Exit.DONE, shown.output
    return json.loads(shown.stdout)


def test_a_guard_that_objects_is_named_with_what_it_saw() -> None:
    found = explained(*INSPECTION)
    assert found["verdict"] == "queued"
    assert "'dates'" in found["reason"]
    assert [guard["guard"] for guard in found["guards"]] == [guard.name for guard in DEFAULT_GUARDS]
    assert {"guard": "dates", "objects": True, "left": "3 March", "right": "4 March"} in found["guards"]
    assert found["jaccard"] == pytest.approx(5 / 7)
    assert found["found_by_index"] is True
    assert found["cosine"] is None


def test_an_exact_match_asks_no_guard() -> None:
    found = explained("Tom never sails!", "tom  never sails")
    assert (found["exact"], found["verdict"]) == (True, "one_belief")
    assert found["left"]["folded"] == found["right"]["folded"] == "tom never sails"


def test_rewordings_are_one_belief_and_strangers_are_two() -> None:
    assert explained("Priya said the shed is green", "Priya says the shed is green")["verdict"] == "one_belief"
    strangers = explained("The shed is green", "Ink dries fast")
    assert (strangers["verdict"], strangers["shared_words"], strangers["found_by_index"]) == ("two_beliefs", [], False)


def test_the_threshold_is_the_callers() -> None:
    assert explained("Ada likes green tea", "Ada likes tea", "--threshold", "0.9")["verdict"] == "two_beliefs"


def test_with_semantic_the_vectors_count() -> None:
    found = explained("The rent is due on Monday", "Ink dries fast", "--semantic")
    assert found["embedder"] == "offline:minilm-l6-int8"
    assert found["cosine"] < 0.6
    near = explained("The team migrated its datastore to Postgres", "The team decided to use Postgres", "--semantic")
    assert near["verdict"] == "queued"
    assert 0.6 <= near["cosine"] < 0.85


def near(left: str, right: str, cosine: float) -> Nearness:
    rest = (1 - cosine * cosine) ** 0.5
    pairs = [(left, np.array([1, 0], np.float32)), (right, np.array([cosine, rest], np.float32))]
    return Nearness("fixed", Bands(0.85, 0.6, 0.1), by_statement(pairs))


@pytest.mark.parametrize(("cosine", "verdict"), [(0.86, "queued"), (0.61, "queued"), (0.59, "two_beliefs")])
def test_the_bands_of_the_cosine(cosine: float, verdict: str) -> None:
    assert compare("x y z", "p q r s t u", 0.7, near("x y z", "p q r s t u", cosine)).verdict == verdict
    same = "Ada bought a sofa for the big room", "Ada purchased a couch for the large room"
    assert compare(*same, 0.7, near(*same, cosine)).verdict == ("one_belief" if cosine > 0.85 else verdict)


def test_a_part_of_a_compound_is_one_belief_with_it() -> None:
    found = explained("Tom plays cello and sails on Sundays.", "Tom sails on Sundays.")
    assert (found["part"], found["verdict"]) == (True, "one_belief")


def test_people_see_every_step() -> None:
    shown = CliRunner().invoke(dream, ["explain", *INSPECTION])
    assert shown.exit_code == Exit.DONE
    for step in ("A folded", "Jaccard", "0.71 reaches 0.70", "index", "guard dates", "objects: 3 March / 4 March"):
        assert step in shown.stdout


def test_an_empty_statement_is_refused() -> None:
    shown = CliRunner().invoke(dream, ["explain", " ", "x"])
    assert shown.exit_code == Exit.BAD_INPUT
    assert "A: is empty" in shown.stderr


WORD = st.sampled_from(["the", "a", "shed", "is", "green", "tea", "likes", "3", "March", "not", "北京", "茶"])
WORDS = st.lists(WORD, max_size=8).map(" ".join)


@given(WORDS, WORDS)
def test_what_is_alike_enough_would_be_found_by_the_index(left: str, right: str) -> None:
    found = compare(left, right, 0.7, None)
    if found.exact or found.jaccard >= 0.7:
        assert found.found_by_index
