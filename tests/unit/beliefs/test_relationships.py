"""A relationship is a fold over its live sources, and live as long as they, its ends and time let it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from dreaming.beliefs.records import DecayClass
from dreaming.beliefs.relationships.records import Ending, Relationship
from dreaming.beliefs.relationships.rules import changes, counters_of, refold
from dreaming.beliefs.rules import Ageing
from tests.unit.beliefs.test_fold import START, source

NEW = Relationship(
    relationship_id=UUID(int=1),
    from_belief_id=UUID(int=2),
    type="works_at",
    to_belief_id=UUID(int=3),
    confidence=0.0,
    confirmed_at=START,
    first_seen_at=START,
    decay_class=DecayClass.PERMANENT,
    fades_at=None,
    sources=0,
    origins=0,
    created_at=START,
    archived_at=START,
    archive_reason=Ending.SOURCELESS,
)
SOON = START + timedelta(days=30)


def folded(*numbers: int, ends_live: bool = True, now: datetime = SOON, before: Relationship = NEW) -> Relationship:
    sources = [source(number, decay_class=DecayClass.FAST) for number in numbers]
    return refold(before, sources, ends_live=ends_live, ageing=Ageing(), now=now)


def test_its_confidence_and_dates_are_those_of_its_sources() -> None:
    made = folded(1, 5)
    assert made.confidence == pytest.approx(0.82)
    assert (made.sources, made.origins) == (2, 2)
    assert (made.first_seen_at, made.confirmed_at) == (START + timedelta(days=1), START + timedelta(days=5))
    assert (made.decay_class, made.live) == (DecayClass.FAST, True)


def test_what_took_it_away_brings_it_back() -> None:
    live = folded(1)
    hidden = folded(1, ends_live=False, before=live)
    assert (hidden.archive_reason, hidden.archived_at) == (Ending.ENDPOINT, SOON)
    assert folded(1, before=hidden) == live
    gone = folded(before=live)
    assert (gone.archive_reason, gone.sources) == (Ending.SOURCELESS, 0)
    assert folded(1, before=gone) == live


def test_faded_it_stays_away_when_its_ends_come_back() -> None:
    late = datetime(2027, 1, 1, tzinfo=UTC)
    hidden = folded(1, ends_live=False, now=late)
    assert folded(1, before=hidden, now=late).archive_reason is Ending.FADED


def test_it_keeps_the_moment_at_which_it_went() -> None:
    hidden = folded(1, ends_live=False, before=folded(1))
    later = refold(hidden, [], ends_live=False, ageing=Ageing(), now=SOON + timedelta(days=9))
    assert (later.archived_at, later.archive_reason) == (SOON, Ending.SOURCELESS)


def test_only_what_changed_is_written_and_counted() -> None:
    live = folded(1)
    permanent = replace(live, decay_class=DecayClass.PERMANENT, fades_at=None)
    found = changes([(NEW, live), (permanent, permanent)])
    assert found.updated == (live,)
    assert found.counters == {"relationships_live": 1, "relationships_ageing": 1, "relationships_archived": -1}
    assert (found.restored, found.archived) == (1, 0)
    assert counters_of(permanent) == ("relationships_live",)
