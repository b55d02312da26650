"""How a belief's confidence and its quotes are explained."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from dreaming.api.rules import arithmetic, context_after, context_before
from dreaming.beliefs.records import Belief, DecayClass, Importance, Kind, Source, SourceType
from dreaming.beliefs.rules import Ageing, fades_at, fold
from dreaming.notes.records import Trust

NOW = datetime(2026, 6, 30, tzinfo=UTC)
AGEING = Ageing()


def source(**changes: Any) -> Source:
    values: dict[str, Any] = {
        "source_id": uuid4(),
        "source_type": SourceType.NOTE,
        "origin": "mail:1",
        "trust": Trust.TRUSTED,
        "occurred_at": NOW - timedelta(days=180),
        "sequence": 1,
        "statement": "Rent is due on Monday.",
        "confidence": 0.6,
        "kind": Kind.FACT,
        "importance": Importance.NORMAL,
        "decay_class": DecayClass.SLOW,
    }
    return Source(**values | changes)


def belief(*sources: Source) -> Belief:
    folded = fold(sources)
    assert folded is not None
    fades = fades_at(folded.confidence, folded.confirmed_at, AGEING.half_life(folded.decay_class), 0.05)
    values = {name: getattr(folded, name) for name in folded.__slots__}
    return Belief(belief_id=uuid4(), fades_at=fades, created_at=NOW, **values)


def test_the_sum_of_the_parts_is_the_folded_confidence() -> None:
    sources = [source(), source(origin="mail:2", sequence=2, confidence=0.9), source(origin="mail:2", sequence=3)]
    found = arithmetic(belief(*sources), sources, AGEING, NOW)
    assert found is not None
    assert (found.base, found.corroborations) == (0.6, 1)
    assert found.base + found.step * found.corroborations == pytest.approx(found.confidence)
    assert found.confidence == fold(sources).confidence  # type: ignore[union-attr]


def test_one_half_life_halves() -> None:
    sources = [source()]
    found = arithmetic(belief(*sources), sources, AGEING, NOW)
    assert found is not None
    assert (found.age_days, found.half_life_days) == (180, 180)
    assert found.aged == pytest.approx(found.confidence / 2)


def test_a_confirmation_makes_the_base_whole() -> None:
    sources = [source(), source(source_type=SourceType.CONFIRMATION, origin="person:ana", confidence=1.0, sequence=9)]
    found = arithmetic(belief(*sources), sources, AGEING, NOW)
    assert found is not None
    assert found.base == 1.0
    assert found.confidence == 1.0


def test_an_untrusted_claim_counts_at_most_one_half() -> None:
    sources = [source(trust=Trust.UNTRUSTED, confidence=0.5)]
    found = arithmetic(belief(*sources), sources, AGEING, NOW)
    assert found is not None
    assert found.base == 0.5


def test_a_permanent_belief_has_no_half_life_and_a_clock_behind_ages_nothing() -> None:
    permanent = [source(decay_class=DecayClass.PERMANENT)]
    found = arithmetic(belief(*permanent), permanent, AGEING, NOW)
    assert found is not None
    assert (found.half_life_days, found.aged, found.fades_at) == (None, 0.6, None)
    fresh = [source()]
    behind = arithmetic(belief(*fresh), fresh, AGEING, NOW - timedelta(days=400))
    assert behind is not None
    assert (behind.age_days, behind.aged) == (0, 0.6)


def test_without_a_live_source_there_is_no_arithmetic() -> None:
    assert arithmetic(belief(source()), [], AGEING, NOW) is None


def test_context_is_cut_at_words_only_where_something_was_left_out() -> None:
    assert context_before("alf a word ", cut=True) == "…a word "
    assert context_before("Half a word ", cut=False) == "Half a word "
    assert context_after(" and som", cut=True) == " and…"
    assert context_after(" and some.", cut=False) == " and some."


def test_context_without_any_space_is_kept_whole() -> None:
    assert context_before("没有空格", cut=True) == "…没有空格"
    assert context_after("没有空格", cut=True) == "没有空格…"
