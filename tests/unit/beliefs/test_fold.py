"""A belief is a pure fold over its live sources: nothing inflates, nothing lingers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs.records import DecayClass, Importance, Kind, Source, SourceType
from dreaming.beliefs.rules import CORROBORATION_STEP, UNTRUSTED_CAP, corroborations, fold, most_confidence
from dreaming.notes.records import Trust

START = datetime(2024, 1, 1, tzinfo=UTC)


def source(number: int, **changes: object) -> Source:
    given_source = Source(
        source_id=UUID(int=number),
        source_type=SourceType.NOTE,
        origin=f"origin-{number}",
        trust=Trust.TRUSTED,
        occurred_at=START + timedelta(days=number),
        sequence=number,
        statement=f"statement {number}",
        confidence=0.8,
        kind=Kind.FACT,
        importance=Importance.NORMAL,
        decay_class=DecayClass.SLOW,
        note_id=UUID(int=number),
        note_version=1,
        quote=f"statement {number}",
        quote_start=0,
        quote_end=len(f"statement {number}"),
    )
    return replace(given_source, **changes)  # type: ignore[arg-type]


sources = st.builds(
    source,
    number=st.integers(1, 40),
    origin=st.sampled_from(["chat", "mail", "minutes", "commit"]),
    trust=st.sampled_from(Trust),
    occurred_at=st.integers(0, 5).map(lambda day: START + timedelta(days=day)),
    confidence=st.floats(0, 1),
    importance=st.sampled_from(Importance),
).map(lambda s: replace(s, confidence=min(s.confidence, UNTRUSTED_CAP)) if s.trust is Trust.UNTRUSTED else s)
source_sets = st.lists(sources, min_size=1, max_size=8, unique_by=lambda item: item.source_id)


def test_one_source_gives_its_own_claim() -> None:
    folded = fold([source(1)])
    assert folded is not None
    assert (folded.statement, folded.confidence, folded.origins) == ("statement 1", 0.8, 1)


def test_no_source_gives_no_belief() -> None:
    assert fold([]) is None


def test_each_further_origin_adds_two_hundredths() -> None:
    folded = fold([source(number) for number in range(1, 7)])
    assert folded is not None
    assert folded.confidence == pytest.approx(0.8 + 5 * CORROBORATION_STEP)
    assert (folded.sources, folded.origins) == (6, 6)


def test_notes_of_one_origin_are_one_witness() -> None:
    folded = fold([source(number, origin="chat") for number in range(1, 7)])
    assert folded is not None
    assert folded.confidence == 0.8
    assert (folded.sources, folded.origins) == (6, 1)


def test_confidence_never_passes_one() -> None:
    folded = fold([source(number, confidence=0.99) for number in range(1, 10)])
    assert folded is not None
    assert folded.confidence == 1.0


def test_first_seen_and_confirmed_keep_the_notes_own_dates() -> None:
    early, late = datetime(2024, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    folded = fold([source(2, occurred_at=late), source(1, occurred_at=early)])
    assert folded is not None
    assert (folded.first_seen_at, folded.confirmed_at) == (early, late)


def test_the_earliest_trusted_claim_gives_base_and_wording() -> None:
    folded = fold([source(1, trust=Trust.UNTRUSTED, confidence=0.5), source(2, confidence=0.7), source(3)])
    assert folded is not None
    assert folded.statement == "statement 2"
    assert folded.confidence == pytest.approx(0.7 + CORROBORATION_STEP)
    assert folded.trust is Trust.TRUSTED
    assert folded.origins == 3


def test_untrusted_sources_alone_count_at_most_half() -> None:
    folded = fold([source(1, trust=Trust.UNTRUSTED, confidence=0.9)])
    assert folded is not None
    assert (folded.confidence, folded.trust) == (0.5, Trust.UNTRUSTED)


def test_any_number_of_untrusted_sources_count_at_most_half_together() -> None:
    few = fold([source(number, trust=Trust.UNTRUSTED, confidence=0.3) for number in range(1, 4)])
    many = fold([source(number, trust=Trust.UNTRUSTED, confidence=0.3) for number in range(1, 60)])
    assert few is not None
    assert many is not None
    assert few.confidence == pytest.approx(0.3 + 2 * CORROBORATION_STEP)
    assert (many.confidence, many.origins) == (UNTRUSTED_CAP, 59)


def test_what_a_trusted_source_said_is_not_confirmed_by_untrusted_ones() -> None:
    alone = fold([source(1)])
    repeated = fold([source(1), *(source(number, trust=Trust.UNTRUSTED) for number in range(2, 30))])
    assert alone is not None
    assert repeated is not None
    assert (repeated.confidence, repeated.confirmed_at) == (alone.confidence, alone.confirmed_at)
    assert (repeated.sources, repeated.origins) == (29, 29)


def test_a_persons_confirmation_is_certain_and_keeps_the_notes_wording() -> None:
    confirmation = source(
        9, source_type=SourceType.CONFIRMATION, confidence=1.0, note_id=None, note_version=None, quote=None,
        quote_start=None, quote_end=None,
    )  # fmt: skip
    folded = fold([source(1), confirmation])
    assert folded is not None
    assert (folded.statement, folded.confidence) == ("statement 1", 1.0)
    assert folded.confirmed_at == confirmation.occurred_at


@given(source_sets, st.randoms())
def test_the_order_of_arrival_does_not_matter(items: list[Source], random: object) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(shuffled) == fold(items)


@given(source_sets, sources)
def test_adding_a_source_and_taking_it_away_again_changes_nothing(items: list[Source], extra: Source) -> None:
    before = fold(items)
    assert fold([item for item in [*items, extra] if item is not extra]) == before


@given(source_sets)
def test_repeating_the_same_origins_adds_nothing(items: list[Source]) -> None:
    again = [
        replace(item, source_id=UUID(int=item.source_id.int + 1000), sequence=item.sequence + 1000) for item in items
    ]
    before, after = fold(items), fold([*items, *again])
    assert before is not None
    assert after is not None
    assert (after.confidence, after.origins, after.statement) == (before.confidence, before.origins, before.statement)


@given(source_sets)
def test_confidence_lies_between_the_base_and_the_base_with_every_origin(items: list[Source]) -> None:
    folded = fold(items)
    assert folded is not None
    lowest = min(item.confidence for item in items)
    highest = max(item.confidence for item in items)
    assert min(lowest, UNTRUSTED_CAP) <= folded.confidence <= min(1.0, highest + CORROBORATION_STEP * (len(items) - 1))
    assert folded.confidence == pytest.approx(
        min(most_confidence(folded.trust), fold_base(items) + CORROBORATION_STEP * corroborations(items))
    )
    assert folded.first_seen_at <= folded.confirmed_at
    assert folded.statement in {item.statement for item in items}


def fold_base(items: list[Source]) -> float:
    """The confidence of a set as if all of it had one origin."""
    folded = fold(replace(item, origin="one") for item in items)
    assert folded is not None
    return folded.confidence


@given(source_sets, source_sets)
def test_untrusted_sources_never_raise_nor_refresh_what_a_trusted_one_says(
    items: list[Source], others: list[Source]
) -> None:
    """However many there are and whatever they claim, only what is shown and counted may differ."""
    trusted = [replace(item, trust=Trust.TRUSTED) for item in items]
    untrusted = [
        replace(item, trust=Trust.UNTRUSTED, confidence=min(item.confidence, UNTRUSTED_CAP),
                source_id=UUID(int=item.source_id.int + 1_000))
        for item in others
    ]  # fmt: skip
    alone, together = fold(trusted), fold([*trusted, *untrusted])
    assert alone is not None
    assert together is not None
    shown = {"sources", "origins", "first_seen_at"}
    for name in alone.__slots__:
        if name not in shown:
            assert getattr(together, name) == getattr(alone, name), name


@given(source_sets)
def test_untrusted_sources_alone_never_pass_the_cap(items: list[Source]) -> None:
    folded = fold(replace(item, trust=Trust.UNTRUSTED) for item in items)
    assert folded is not None
    assert folded.confidence <= UNTRUSTED_CAP
