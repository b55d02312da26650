"""The SQL function and the Python one agree, on confidences and on the moment of fading."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg.rows import TupleRow

from dreaming.beliefs.records import DecayClass
from dreaming.beliefs.rules import Ageing, aged, fades_at

Admin = psycopg.Connection[TupleRow]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
moments = st.datetimes(datetime(1, 1, 1), datetime(9998, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001 - naive bounds
half_lives = st.floats(0.01, 36_500).map(lambda days: timedelta(days=days))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    confidence=st.floats(0, 1),
    confirmed_at=moments,
    now=moments,
    decay_class=st.sampled_from(DecayClass),
    slow=half_lives,
    fast=half_lives,
    threshold=st.floats(0.0001, 0.9),
)
@example(1.0, YEAR_ONE, NOW, DecayClass.FAST, timedelta(days=180), timedelta(days=0.01), 0.05)
@example(0.05, NOW, NOW, DecayClass.SLOW, timedelta(days=180), timedelta(days=21), 0.05)
@example(1.0, NOW, NOW - timedelta(days=9), DecayClass.FAST, timedelta(days=180), timedelta(days=21), 0.05)
@example(1.0, datetime(9998, 12, 31, tzinfo=UTC), NOW, DecayClass.SLOW, timedelta(days=36_500), timedelta(1), 0.05)
def test_sql_and_python_agree(  # noqa: PLR0917 - the examples are written in this order
    admin: Admin,
    confidence: float,
    confirmed_at: datetime,
    now: datetime,
    decay_class: DecayClass,
    slow: timedelta,
    fast: timedelta,
    threshold: float,
) -> None:
    half_life = Ageing(slow, fast, threshold).half_life(decay_class)
    query = """
        with half_life as (select half_life_of(%(class)s, %(slow)s, %(fast)s) as seconds)
        select aged(%(confidence)s, %(at)s, seconds, %(now)s),
               fading_moment(%(confidence)s, %(at)s, seconds, %(threshold)s)
        from half_life
    """
    given_values = {
        "class": decay_class.value,
        "slow": slow.total_seconds(),
        "fast": fast.total_seconds(),
        "confidence": confidence,
        "at": confirmed_at,
        "now": now,
        "threshold": threshold,
    }
    row = admin.execute(query, given_values).fetchone()
    assert row is not None
    # Where the exponent is large, one microsecond of the quotient's last digit is a larger part of the result.
    assert row[0] == pytest.approx(aged(confidence, confirmed_at, half_life, now), rel=1e-9, abs=1e-300)
    expected = fades_at(confidence, confirmed_at, half_life, threshold)
    if expected is None:
        assert row[1] is None
    else:
        assert abs(row[1] - expected) <= timedelta(microseconds=1000)


def test_one_half_life_is_one_half(admin: Admin) -> None:
    query = "select aged(1, %s, 21 * 86400, %s), aged(1, %s, null, %s)"
    later = NOW + timedelta(days=21)
    assert admin.execute(query, [NOW, later, NOW, later]).fetchone() == (0.5, 1.0)
