"""Merges are undone to what was before; a match of one source can be taken back, and stays so."""

from __future__ import annotations

import random

import pytest

from dreaming.errors import InvalidInput
from dreaming.passes.contradictions.service import Choice
from tests.database.contradictions.worlds import Examined, judge, told

ONE, OTHER = "Acme migrated its datastore to Postgres.", "Acme decided to use Postgres."


@pytest.fixture
def two(examined: Examined) -> Examined:
    """Two beliefs that say one thing, consolidated and not yet examined."""
    examined.tell(
        told(ONE, "2026-02-01"), told(OTHER, "2026-03-01"), told("Acme sells staplers.", "2026-03-02"), examine=False
    )
    return examined


def test_two_wordings_of_one_fact_become_one_belief_with_both_sources(two: Examined) -> None:
    two.examine()
    assert two.standing() == {ONE: "current", "Acme sells staplers.": "current"}
    rows = two.world.rows("select sources, origins, confidence from beliefs where statement = %s", [ONE])
    assert rows == [(2, 2, pytest.approx(0.82))]
    assert two.world.rows("select decided_by, undone_at from merges") == [("rule", None)]
    two.world.check()


def test_an_undone_merge_leaves_every_row_as_it_was(two: Examined) -> None:
    before = two.rows_of_beliefs()
    two.examine()
    assert two.rows_of_beliefs() != before
    two.resolver().unmerge(two.belief(ONE))
    assert two.rows_of_beliefs() == before
    two.world.check()


def test_what_was_unmerged_is_not_merged_again(two: Examined) -> None:
    two.examine()
    two.resolver().unmerge(two.belief(ONE))
    two.examine()
    assert two.standing() == {ONE: "current", OTHER: "current", "Acme sells staplers.": "current"}


def test_undoing_after_an_edit_folds_the_sources_anew(two: Examined) -> None:
    two.examine()
    two.tell(told("Acme closed its shop in Leeds.", "2026-03-01", name=f"2026-03-01 {OTHER}"), examine=False)
    two.resolver().unmerge(two.belief(ONE))
    two.world.check()
    assert two.standing()[ONE] == "current"
    assert OTHER not in two.standing()


def test_a_withdrawn_source_does_not_come_back_with_an_unmerge(two: Examined) -> None:
    from dreaming.beliefs.service import withdraw_notes
    from dreaming.identifiers import uuid7
    from dreaming.settings.resolution import resolve

    two.examine()
    withdraw_notes(
        two.world.database, two.key, "test", [f"2026-03-01 {OTHER}"],
        settings=resolve({}, {}), now=two.world.now, new_id=uuid7,
    )  # fmt: skip
    kept = two.belief(ONE)
    two.resolver().unmerge(kept)
    two.world.check()
    assert two.standing() == {ONE: "current", "Acme sells staplers.": "current"}


def test_one_note_supports_a_merged_belief_once(examined: Examined) -> None:
    examined.tell(told(f"{ONE}\n{OTHER}", "2026-02-01"), examine=False)
    before = examined.rows_of_beliefs()
    examined.examine()
    rows = examined.world.rows("select sources, confidence from beliefs where archived_at is null")
    assert rows == [(1, pytest.approx(0.8))]
    merged = examined.world.rows("select kept_belief_id from merges")[0][0]
    examined.resolver().unmerge(merged)
    assert examined.rows_of_beliefs() == before


def test_an_earlier_merge_waits_for_the_later_one(examined: Examined) -> None:
    third = "Acme chose Postgres."
    examined.tell(told(ONE, "2026-02-01"), told(OTHER, "2026-03-01"), told(third, "2026-04-01"))
    assert examined.standing() == {ONE: "current"}
    first, _ = examined.world.rows("select merged_belief_id from merges order by merge_id")
    with pytest.raises(InvalidInput, match="merged again"):
        examined.resolver().unmerge(first[0])
    examined.resolver().unmerge(examined.belief(ONE))
    examined.resolver().unmerge(examined.belief(ONE))
    assert set(examined.standing()) == {ONE, OTHER, third}
    examined.world.check()


def test_what_was_never_merged_cannot_be_unmerged(two: Examined) -> None:
    with pytest.raises(InvalidInput, match="not merged"):
        two.resolver().unmerge(two.belief(ONE))


def test_a_wrongly_matched_source_gets_a_belief_of_its_own_for_good(examined: Examined) -> None:
    examined.tell(told("The red kiosk sells maps.", "2026-02-01"), told("The red kiosk sells maps!", "2026-03-01"))
    belief = examined.belief("The red kiosk sells maps.")
    source = examined.world.rows("select source_id from sources order by occurred_at desc limit 1")[0][0]
    made = examined.resolver().split(belief, source)
    examined.world.check()
    examined.judge = judge("duplicate")
    examined.examine()
    live = examined.world.rows("select belief_id, sources from beliefs where archived_at is null order by belief_id")
    assert live == sorted([(belief, 1), (made, 1)])


def test_the_only_source_cannot_be_split_off(two: Examined) -> None:
    source = two.world.rows("select source_id from sources where statement = %s", [ONE])[0][0]
    with pytest.raises(InvalidInput, match="only source"):
        two.resolver().split(two.belief(ONE), source)


def test_a_belief_that_comes_back_fades_by_the_half_lives_of_now(two: Examined) -> None:
    before = dict(two.world.rows("select statement, fades_at from beliefs"))
    two.examine()
    two.extra = {"DREAMING_SLOW_DECAY_DAYS": "90"}
    two.resolver().unmerge(two.belief(ONE))
    after = dict(two.world.rows("select statement, fades_at from beliefs"))
    assert after[OTHER] < before[OTHER]
    assert after[ONE] < before[ONE]


WORDINGS = [f"Acme moved its {word} store to Postgres." for word in ("data", "record", "order", "client", "stock")]


@pytest.mark.parametrize("seed", range(3))
def test_merges_undone_in_turn_give_back_every_row(examined: Examined, seed: int) -> None:
    chance = random.Random(seed)
    chosen = chance.sample(WORDINGS, chance.randint(2, len(WORDINGS)))
    examined.tell(*(told(text, f"2026-0{place + 1}-01") for place, text in enumerate(chosen)), examine=False)
    before = examined.rows_of_beliefs()
    pairs = [(one, other) for place, one in enumerate(chosen) for other in chosen[place + 1 :]]
    ids = {text: examined.belief(text) for text in chosen}
    chance.shuffle(pairs)
    for one, other in pairs:
        if {one, other} <= examined.standing().keys():
            examined.resolver().resolve(ids[one], ids[other], Choice.MERGE)
            examined.world.check()
    merged = examined.world.rows("select merged_belief_id from merges order by place desc")
    assert len(merged) == len(chosen) - 1
    touched = chance.random() < 0.5 and len(chosen) > 2
    if touched:
        examined.tell(told(chosen[0], "2026-05-20", name="later"), examine=False)
    for (belief_id,) in merged:
        examined.resolver().unmerge(belief_id)
        examined.world.check()
    assert (examined.rows_of_beliefs() == before) is not touched
    assert set(examined.standing()) == set(chosen)
