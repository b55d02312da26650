"""The arithmetic of autonomy: every outcome, every null, every threshold from both sides."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.autonomy.records import (
    Agent,
    Band,
    ChangeKind,
    Evidence,
    Flags,
    Outcome,
    Risk,
    ScoreChange,
    ScoredAction,
)
from dreaming.autonomy.rules import (
    FLOORS,
    WINDOW_ACTIONS,
    Assessment,
    BlockKind,
    ErrorRate,
    Policy,
    assess,
    band,
    capability,
    good_actions_to_unblock,
    next_outcomes,
    outcome_flags,
    replay,
    rise_blocks,
    rounded_score,
    step_towards,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HALF_LIFE = timedelta(days=30)
GOOD = Flags(1, 1, 1)
BAD = Flags(0, 0, 0)
FIELD = timedelta(seconds=1)


def agent(score: int = 75, **changes: object) -> Agent:
    """An agent with news."""
    made = Agent("bot", score, 0, 1, 0, None, None, NOW, NOW)
    return replace(made, **changes)  # type: ignore[arg-type]


def actions(*flags: Flags, days: float = 0.0, stated: float | None = None) -> list[ScoredAction]:
    return [ScoredAction(NOW - timedelta(days=days), one, stated) for one in flags]


def assessed(
    found: list[ScoredAction],
    score: int = 75,
    *,
    factual_error_at: datetime | None = None,
    now: datetime = NOW,
    **changes: object,
) -> Assessment:
    return assess(agent(score, **changes), Evidence(tuple(found), factual_error_at), Policy(), now=now)


def kinds(assessment: Assessment) -> list[BlockKind]:
    return [block.kind for block in assessment.blocks]


@pytest.mark.parametrize(
    ("outcome", "flags"),
    [
        (Outcome.PENDING, None),
        (Outcome.APPROVED, (1, 1, 1)),
        (Outcome.DENIED, (0, None, 0)),
        (Outcome.REJECTED, (0, 1, None)),
        (Outcome.EXPIRED, (None, 1, 0)),
        (Outcome.RESOLVED_EXTERNALLY, (1, 1, None)),
        (Outcome.SUCCESS, None),
        (Outcome.FAILURE, None),
    ],
)
def test_an_outcome_decides_its_flags_or_leaves_them_to_the_judge(
    outcome: Outcome, flags: tuple[int | None, ...] | None
) -> None:
    found = outcome_flags(outcome)
    assert (found and (found.competence, found.commitment, found.compatibility)) == flags
    assert found is None or not found.factual_error


@pytest.mark.parametrize(
    ("outcome", "value"),
    [
        (Outcome.APPROVED, 1.0),
        (Outcome.DENIED, 0.0),
        (Outcome.REJECTED, 0.35 / 0.80),  # compatibility drops out: 0.45 and 0.35 share the whole
        (Outcome.EXPIRED, 0.35 / 0.55),
        (Outcome.RESOLVED_EXTERNALLY, 1.0),
    ],
)
def test_a_dimension_without_data_drops_out_and_the_others_share_its_weight(outcome: Outcome, value: float) -> None:
    flags = outcome_flags(outcome)
    assert flags is not None
    found = capability(actions(flags, flags), HALF_LIFE)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert sum(one.weight for one in found.dimensions) == pytest.approx(1.0)


def test_all_dimensions_weigh_as_designed() -> None:
    for flags, weight in ((Flags(1, 0, 0), 0.45), (Flags(0, 1, 0), 0.35), (Flags(0, 0, 1), 0.20)):
        assert capability(actions(flags), HALF_LIFE).value == pytest.approx(weight)


def test_no_evidence_is_no_capability() -> None:
    assert capability([], HALF_LIFE).value is None
    assert rounded_score(capability([], HALF_LIFE)) is None
    found = assessed([])
    assert (found.wanted, found.adjustment) == (0, 0)


def test_actions_with_only_nulls_carry_no_evidence() -> None:
    nulls = actions(*[Flags()] * 40)
    assert capability(nulls, HALF_LIFE).actions == 0
    assert kinds(assessed(nulls)) == [BlockKind.TOO_FEW_ACTIONS]
    assert kinds(assessed(nulls + actions(*[GOOD] * 29))) == [BlockKind.TOO_FEW_ACTIONS]
    assert assessed(nulls + actions(*[GOOD] * 30)).adjustment == 5


@pytest.mark.parametrize(("count", "adjustment"), [(29, 0), (30, 5), (31, 5)])
def test_a_score_moves_from_thirty_actions_on(count: int, adjustment: int) -> None:
    assert assessed(actions(*[GOOD] * count)).adjustment == adjustment


def test_an_action_weighs_half_when_it_is_a_half_life_older() -> None:
    found = capability([*actions(GOOD), *actions(BAD, days=30)], HALF_LIFE)
    assert found.value == pytest.approx(2 / 3)
    found = capability([*actions(BAD, days=10), *actions(GOOD, days=70)], HALF_LIFE)
    assert found.value == pytest.approx(0.2)


def test_very_old_actions_neither_fail_nor_vanish() -> None:
    ancient = [ScoredAction(datetime(1, 1, 1, tzinfo=UTC), GOOD)] * 3
    assert capability(ancient, timedelta(seconds=1)).value == 1.0
    assert capability([*ancient, *actions(BAD)], timedelta(seconds=1)).value == pytest.approx(0.0)


def test_only_the_newest_five_hundred_count() -> None:
    old = actions(*[BAD] * 10, days=1)
    assert capability([*old, *actions(*[GOOD] * WINDOW_ACTIONS)], HALF_LIFE).value == 1.0
    found = capability([*old, *actions(*[GOOD] * (WINDOW_ACTIONS - 1))], HALF_LIFE)
    assert found.actions == WINDOW_ACTIONS
    assert found.value is not None
    assert found.value < 1.0


flags = st.builds(Flags, *[st.sampled_from([0, 1, None])] * 3, st.booleans())
scored = st.builds(
    ScoredAction,
    st.datetimes(datetime(2020, 1, 1), datetime(2026, 5, 31)).map(lambda one: one.replace(tzinfo=UTC)),  # noqa: DTZ001
    flags,
    st.none() | st.floats(0, 1),
)


@given(st.lists(scored, max_size=60), st.integers(0, 100), st.integers(0, 4_000))
def test_time_alone_asks_nothing_of_a_score(found: list[ScoredAction], score: int, days: int) -> None:
    one = assessed(found, score)
    other = assessed(found, score, now=NOW + timedelta(days=days))
    assert (one.capability, one.wanted) == (other.capability, other.wanted)


@given(st.lists(scored, max_size=60), st.integers(0, 100))
def test_a_step_stays_within_its_limit_and_the_score_within_its_range(found: list[ScoredAction], score: int) -> None:
    result = assessed(found, score)
    assert abs(result.adjustment) <= 5
    assert 0 <= score + result.adjustment <= 100
    assert result.adjustment in (0, result.wanted)
    target = rounded_score(result.capability)
    if target is not None:
        assert abs(target - score - result.wanted) < abs(target - score) or result.wanted == target - score == 0


@pytest.mark.parametrize(
    ("value", "score", "step"),
    [
        (0.755, 75, 1),  # exactly half a point above: up
        (0.7549999, 75, 0),
        (0.745, 75, 0),  # exactly half a point below: stays
        (0.7449999, 75, -1),
        (0.75, 75, 0),
        (0.80, 75, 5),
        (0.81, 75, 5),
        (1.0, 75, 5),
        (0.70, 75, -5),
        (0.0, 75, -5),
        (1.0, 100, 0),
        (0.0, 0, 0),
        (0.995, 99, 1),
        (0.285, 28, 1),  # 100 * 0.285 is 28.499999999999996 in floating point
        (0.575, 57, 1),
    ],
)
def test_the_step_is_the_rounded_distance_limited_to_five(value: float, score: int, step: int) -> None:
    assert step_towards(value, score, 5) == step


@pytest.mark.parametrize(
    ("errors", "of", "blocks"),
    [(6, 30, False), (7, 30, True), (1, 5, False), (2, 9, True), (0, 0, False), (1, 1, True), (3, 15, False)],
)
def test_a_rise_is_blocked_from_above_a_fifth_of_errors(errors: int, of: int, blocks: bool) -> None:
    assert ErrorRate(errors, of).blocks is blocks


@pytest.mark.parametrize(("errors", "adjustment"), [(6, 5), (7, 0)])
def test_the_last_thirty_decide_the_error_rate(errors: int, adjustment: int) -> None:
    latest = actions(*[Flags(0, 1, 1)] * errors, *[GOOD] * (30 - errors))
    older = actions(*[GOOD] * 100, days=1)
    found = assessed([*latest, *older], 50)
    assert found.error_rate == ErrorRate(errors, 30)
    assert found.adjustment == adjustment
    assert kinds(found) == ([] if adjustment else [BlockKind.ERROR_RATE])


def test_actions_that_say_nothing_of_competence_do_not_thin_the_error_rate() -> None:
    expired = actions(*[Flags(None, 1, 0)] * 20)
    known = actions(*[Flags(0, 1, 1)] * 7, *[GOOD] * 23, days=1)
    assert assessed([*expired, *known], 0).error_rate == ErrorRate(7, 30)


def test_falls_are_never_blocked() -> None:
    found = assessed(actions(*[BAD] * 30, stated=1.0), factual_error_at=NOW)
    assert {block.kind for block in rise_blocks(found, NOW)} == {
        BlockKind.ERROR_RATE,
        BlockKind.FACTUAL_ERROR,
        BlockKind.OVERCONFIDENCE,
    }
    assert (found.adjustment, found.blocks) == (-5, ())


@pytest.mark.parametrize(
    ("age", "blocked"),
    [(timedelta(0), True), (timedelta(days=30) - FIELD, True), (timedelta(days=30), False)],
)
def test_a_factual_error_blocks_rises_for_thirty_days(age: timedelta, blocked: bool) -> None:
    found = assessed(actions(*[GOOD] * 30), factual_error_at=NOW - age)
    assert kinds(found) == ([BlockKind.FACTUAL_ERROR] if blocked else [])
    assert found.look_again_at == (NOW - age + timedelta(days=30) if blocked else None)


@pytest.mark.parametrize(
    ("good", "stated", "of", "blocked"),
    [
        (8, 0.95, 10, False),  # 0.15 is not above 0.15
        (8, 0.951, 10, True),
        (7, 1.0, 9, False),  # nine rated actions are too few
        (7, 1.0, 10, True),
        (10, 0.2, 10, False),  # modesty is no fault
    ],
)
def test_overconfidence_blocks_a_rise(good: int, stated: float, of: int, blocked: bool) -> None:
    # Old enough not to count among the last thirty, whose error rate would block as well.
    rated = actions(*[GOOD] * good, *[Flags(0, 1, 1)] * (of - good), days=1, stated=stated)
    found = assessed([*actions(*[GOOD] * 30), *rated], 50)
    assert kinds(found) == ([BlockKind.OVERCONFIDENCE] if blocked else [])
    assert found.adjustment == (0 if blocked else 5)


def test_a_stated_confidence_without_a_known_success_is_not_rated() -> None:
    found = assessed(actions(*[Flags(None, 1, 0)] * 40, stated=1.0))
    assert found.calibration.rated == 0


@pytest.mark.parametrize(
    ("since", "moves"),
    [(timedelta(days=7) - FIELD, False), (timedelta(days=7), True), (timedelta(days=7) + FIELD, True)],
)
@pytest.mark.parametrize("flags", [GOOD, BAD])
def test_a_score_set_by_hand_stays_for_seven_days(since: timedelta, moves: bool, flags: Flags) -> None:
    found = assessed(actions(*[flags] * 30), 50, manual_at=NOW - since)
    assert bool(found.adjustment) is moves
    assert kinds(found) == ([] if moves else [BlockKind.COOL_DOWN])
    assert found.look_again_at == (None if moves else NOW - since + timedelta(days=7))


def test_nothing_moves_without_news() -> None:
    for flags in (GOOD, BAD):
        found = assessed(actions(*[flags] * 30), scorings=30, scorings_used=30)
        assert (found.adjustment, kinds(found)) == (0, [BlockKind.NO_NEWS])
        assert found.look_again_at is None


def test_the_last_of_several_blocks_to_end_says_when_to_look_again() -> None:
    found = assessed(actions(*[GOOD] * 30), 50, manual_at=NOW, factual_error_at=NOW)
    assert found.look_again_at == NOW + timedelta(days=30)
    found = assessed(actions(*[Flags(0, 1, 1)] * 30), 20, manual_at=NOW)
    assert found.look_again_at is None  # no day ends an error rate


@given(st.integers(0, 30), st.integers(1, 30))
def test_so_many_good_actions_end_the_block_by_errors_and_no_fewer(errors: int, of: int) -> None:
    found = actions(*[Flags(0, 1, 1)] * min(errors, of), *[GOOD] * (of - min(errors, of)), days=1)
    needed = good_actions_to_unblock(assessed(found).error_rate, found)
    assert not assessed([*actions(*[GOOD] * needed), *found]).error_rate.blocks
    if needed:
        assert assessed([*actions(*[GOOD] * (needed - 1)), *found]).error_rate.blocks


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (100, Band.FULL),
        (90, Band.FULL),
        (89, Band.SPOT_CHECK),
        (80, Band.SPOT_CHECK),
        (79, Band.APPROVAL_REQUIRED),
        (70, Band.APPROVAL_REQUIRED),
        (69, Band.DRAFT_ONLY),
        (60, Band.DRAFT_ONLY),
        (59, Band.RESTRICTED),
        (0, Band.RESTRICTED),
    ],
)
def test_a_band_begins_at_its_floor(score: int, expected: Band) -> None:
    assert band(score) is expected


def test_the_floors_of_risks() -> None:
    assert FLOORS == {Risk.NONE: 0, Risk.LOW: 60, Risk.MEDIUM: 70, Risk.HIGH: 80, Risk.CRITICAL: 90}


def test_no_outcome_becomes_pending_or_itself_again() -> None:
    for outcome in Outcome:
        assert Outcome.PENDING not in next_outcomes(outcome)
        assert outcome not in next_outcomes(outcome)
    assert next_outcomes(Outcome.PENDING) == set(Outcome) - {Outcome.PENDING}


def change(number: int, old: int, new: int) -> ScoreChange:
    return ScoreChange("bot", number, NOW, ChangeKind.SET, old, new, "r", "mia", {})


def test_a_replay_follows_the_record_and_notices_a_gap() -> None:
    assert replay([]) == 75
    assert replay([change(1, 75, 80), change(2, 80, 40)]) == 40
    for broken in ([change(2, 75, 80)], [change(1, 75, 80), change(2, 75, 40)]):
        with pytest.raises(ValueError, match="does not follow"):
            replay(broken)
