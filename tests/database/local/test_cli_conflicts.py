"""`dream conflicts`: what contradicts itself, side by side, and a person's word on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.database.local.conftest import Dream

NINE, TEN = "The bakery opens at 9:00 daily.", "The bakery opens at 10:00 daily."


@pytest.fixture
def undecided(dream: Dream) -> Dream:
    """Two notes of one hour that cannot both be right."""
    dream.switch_on()
    dream.script(
        *(
            {
                "when": text,
                "claims": [{"kind": "fact", "statement": text, "quote": text, "confidence": 0.8}],
            }
            for text in (NINE, TEN)
        )
    )
    dream.notes(
        {"id": "1", "text": NINE, "at": "2026-11-01T10:00:00+01:00", "author": "Ana"},
        {"id": "2", "text": TEN, "at": "2026-11-01T10:30:00+01:00", "author": "Bo"},
    )
    dream("drain")
    dream("run", "contradictions")
    return dream


def conflict(dream: Dream) -> dict[str, Any]:
    (found,) = dream.json("conflicts")["conflicts"]
    return dict(found)


def live(dream: Dream) -> set[str]:
    return {one["statement"] for one in dream.json("beliefs")["beliefs"]}


def test_a_conflict_is_listed_side_by_side_with_both_quotes(undecided: Dream) -> None:
    found = conflict(undecided)
    assert {found[side]["statement"] for side in ("left", "right")} == {NINE, TEN}
    assert all(found[side]["quotes"][0]["quote"] == found[side]["statement"] for side in ("left", "right"))
    shown = undecided("conflicts").stdout
    assert "Which holds?" in shown
    assert "left" in shown
    assert "right" in shown


@pytest.mark.parametrize("keep", ["left", "right", "both", "merge"])
def test_a_persons_word_decides_a_conflict(undecided: Dream, keep: str) -> None:
    found = conflict(undecided)
    ids = found["left"]["belief_id"], found["right"]["belief_id"]
    undecided("conflicts", "resolve", *ids, "--keep", keep)
    assert undecided.json("conflicts")["conflicts"] == []
    wanted = {"left": {found["left"]["statement"]}, "right": {found["right"]["statement"]}, "both": {NINE, TEN}}
    if keep == "merge":
        assert len(live(undecided)) == 1
        undecided("unmerge", ids[0])
        assert live(undecided) == {NINE, TEN}
    else:
        assert live(undecided) == wanted[keep]


def test_a_belief_that_is_not_there_is_refused(undecided: Dream) -> None:
    found = conflict(undecided)
    refused = undecided("conflicts", "resolve", found["left"]["belief_id"], "ffffffff", "--keep", "left", code=2)
    assert "ffffffff" in refused.stderr
    undecided("conflicts", "resolve", *(2 * [found["left"]["belief_id"]]), "--keep", "left", code=2)
    assert conflict(undecided)["left"]["belief_id"] == found["left"]["belief_id"]


def test_what_is_only_alike_is_counted_and_not_called_a_conflict(dream: Dream) -> None:
    """A history of changes, read without a model that could judge."""
    dream.switch_on()
    texts = ("Added notes on proxies", "Added notes on Python 3", "Changed the interface for the queue")
    claims = [{"kind": "fact", "statement": one, "quote": one, "confidence": 0.8} for one in texts]
    dream.script(*({"when": one["statement"], "claims": [one]} for one in claims))
    at = "2026-11-01T10:00:00+01:00"
    dream.notes(*({"id": str(place), "text": text, "at": at, "author": "Ana"} for place, text in enumerate(texts)))
    dream("drain", "consolidation")
    dream("settings", "reset", "chat_provider")
    dream("drain", "contradictions")
    found = dream.json("conflicts")
    assert (found["conflicts"], found["waiting_for_a_judge"] > 0) == ([], True)
    shown = dream("conflicts").stdout
    assert "Nothing contradicts itself" in shown
    assert "only alike: whether they contradict is for a judge" in shown
    near = dream("conflicts", "--neighbours").stdout
    assert near.count("Alike, not known to contradict: ") == found["waiting_for_a_judge"]
    assert "Still open" not in near
