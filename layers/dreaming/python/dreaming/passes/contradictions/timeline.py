"""The timeline of one line of beliefs, derived as a whole from its claims. Pure.

The outcome depends on the set of claims alone: they are sorted by the time from which they hold, and
where two are of one time by what they say, never by when they came in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from uuid import UUID

from dreaming.passes.contradictions.records import Standing, Stretch, TimedClaim

SAME_TIME = timedelta(hours=24)
"""Claims less apart are of the same time, unless the later one says that something changed."""

CONFIDENCE_MARGIN = 0.05
"""By how much the surer of two incompatible claims must lead to win; within it a person decides."""

_ROUNDING = 1e-9


@dataclass(slots=True)
class _Piece:
    """A stretch in the making: the value that holds, and the claims that say so.

    `announced`: its end was told beforehand, and something else may follow before.
    """

    values: frozenset[int]
    start: datetime
    end: datetime | None
    claims: list[TimedClaim]
    standing: Standing | None = None
    next: list[TimedClaim] = field(default_factory=list)
    announced: bool = False


def derive(
    claims: Iterable[TimedClaim],
    *,
    exclusive: bool,
    fixed: bool,
    now: datetime,
    kept_over: Mapping[UUID, UUID],
) -> tuple[Stretch, ...]:
    """Return the stretches of every belief of a line.

    `exclusive`: one value holds at a time. `fixed`: the value never changes, so two are incompatible
    whenever they were said. `kept_over`: for a belief that a person rejected, the one kept instead.
    """
    ordered = sorted(claims, key=_in_time)
    rejected = [claim for claim in ordered if claim.belief_id in kept_over]
    ordered = [claim for claim in ordered if claim.belief_id not in kept_over]
    ordered, distrusted = _trusted(ordered)
    groups = [ordered] if exclusive else _by_value(ordered)
    pieces = list(chain.from_iterable(_sweep(group, fixed=fixed) for group in groups))
    current = [piece for piece in pieces if piece.end is None and piece.standing is None]
    holder = current[-1].claims[0].belief_id if current else None
    pieces += [_aside(claim) for claim in (*rejected, *distrusted)]
    found = _stretches(pieces, now)
    return tuple(
        Stretch(
            one.belief_id,
            one.holds_from,
            one.holds_until,
            one.standing,
            kept_over.get(one.belief_id, one.successor or holder),
        )
        if one.standing is Standing.REJECTED
        else one
        for one in found
    )


def _in_time(claim: TimedClaim) -> tuple[object, ...]:
    """Order claims by time, then by all that they say, so that no arrival decides."""
    said = claim.statement, claim.negative, claim.value, claim.belief_id, claim.confidence, claim.changes
    return claim.start, claim.noted_at, *said, claim.end is not None, claim.end or claim.start


def _aside(claim: TimedClaim) -> _Piece:
    return _Piece(frozenset({claim.value}), claim.start, claim.end, [claim], Standing.REJECTED)


def _trusted(claims: Sequence[TimedClaim]) -> tuple[list[TimedClaim], list[TimedClaim]]:
    """Set untrusted claims aside where a trusted one speaks: they neither supersede nor date anything."""
    if not any(claim.trusted and not claim.negative for claim in claims):
        denied = {claim.value for claim in claims if claim.trusted}
        aside = [claim for claim in claims if not claim.trusted and claim.value in denied]
        return [claim for claim in claims if claim not in aside], aside
    known = {claim.value for claim in claims if claim.trusted}
    kept = [claim for claim in claims if claim.trusted]
    return kept, [claim for claim in claims if not claim.trusted and (claim.value not in known or claim.negative)]


def _by_value(claims: Sequence[TimedClaim]) -> list[list[TimedClaim]]:
    groups: defaultdict[int, list[TimedClaim]] = defaultdict(list)
    for claim in claims:
        for value in (claim.value, *claim.ended):
            groups[value].append(claim)
    return [groups[value] for value in sorted(groups)]


def _sweep(claims: Sequence[TimedClaim], *, fixed: bool) -> list[_Piece]:
    """Walk through the claims in time and return the pieces, the denied and the outvoted ones too."""
    pieces: list[_Piece] = []
    denials: list[_Piece] = []
    for cluster in _clusters(claims, fixed=fixed):
        winners, losers, open_question = _settle(cluster, fixed=fixed)
        pieces += [_aside(claim) for claim in losers]
        _look_back(pieces, winners)
        fresh = [_Piece(frozenset({one.value}), one.start, one.end, [one]) for one in winners if one.negative]
        denials += fresh
        positive = [claim for claim in winners if not claim.negative and not _is_over(claim)]
        if positive:
            _open(pieces, denials, positive, question=open_question)
        if positive and open_question:
            for denial in fresh:
                denial.standing = Standing.REVIEW
    return pieces + denials


def _look_back(pieces: list[_Piece], claims: Iterable[TimedClaim]) -> None:
    """Apply what the claims say of values that hold no longer."""
    for claim in claims:
        if claim.negative or claim.past:
            _close(pieces, claim)
        if _is_over(claim) and not claim.negative:
            _insert_past(pieces, claim)


def _is_over(claim: TimedClaim) -> bool:
    return claim.past or claim.bounded


def _clusters(claims: Sequence[TimedClaim], *, fixed: bool) -> list[list[TimedClaim]]:
    """Group claims of one time; one that speaks of a change begins a group of its own."""
    clusters: list[list[TimedClaim]] = []
    for claim in claims:
        last = clusters[-1] if clusters else None
        together = last is not None and (fixed or claim.start - last[0].start < SAME_TIME)
        changes = (
            last is not None
            and claim.changes
            and any(one.value != claim.value or one.negative != claim.negative for one in last)
        )
        if together and last is not None and (fixed or not changes):
            last.append(claim)
        else:
            clusters.append([claim])
    return clusters


def _corrected(cluster: Sequence[TimedClaim]) -> tuple[list[TimedClaim], list[TimedClaim]]:
    """Part what was said before a correction and differs from it: what never changes was wrong then."""
    last = max(
        (one for one in cluster if one.changes), key=lambda one: (one.noted_at, one.value, one.statement), default=None
    )
    if last is None:
        return list(cluster), []
    outdated = [one for one in cluster if one.noted_at < last.noted_at and one.value != last.value and not one.negative]
    return [one for one in cluster if one not in outdated], outdated


def _settle(cluster: Sequence[TimedClaim], *, fixed: bool = False) -> tuple[list[TimedClaim], list[TimedClaim], bool]:
    """Return what prevails among claims of one time, what does not, and whether a person must decide."""
    if fixed:
        cluster, outdated = _corrected(cluster)
        if outdated:
            kept, losers, question = _settle(cluster)
            return kept, [*losers, *outdated], question
    sides: defaultdict[tuple[int, bool], list[TimedClaim]] = defaultdict(list)
    asserted = {claim.value for claim in cluster if not claim.negative and not _is_over(claim)}
    for claim in cluster:
        if not _is_over(claim) and (not claim.negative or claim.value in asserted):
            sides[claim.value, claim.negative].append(claim)
    if len(sides) < 2:
        return list(cluster), [], False
    surest = sorted(sides.items(), key=lambda side: (-_confidence(side[1]), side[0]))
    lead = _confidence(surest[0][1]) - _confidence(surest[1][1])
    if lead > CONFIDENCE_MARGIN + _ROUNDING:
        losers = [claim for _, side in surest[1:] for claim in side]
        return [claim for claim in cluster if claim not in losers], losers, False
    near = [
        side for side in surest if _confidence(surest[0][1]) - _confidence(side[1]) <= CONFIDENCE_MARGIN + _ROUNDING
    ]
    losers = [claim for side in surest[len(near) :] for claim in side[1]]
    return [claim for claim in cluster if claim not in losers], losers, True


def _confidence(claims: Iterable[TimedClaim]) -> float:
    return max(claim.confidence for claim in claims)


def _close(pieces: Sequence[_Piece], claim: TimedClaim) -> None:
    """End what a denial, or a look back, says is over."""
    at = claim.end if claim.past and claim.end is not None else claim.noted_at if claim.past else claim.start
    for piece in pieces:
        about = claim.value in piece.values and piece.standing is not Standing.REJECTED and piece.start <= at
        if about and (piece.end is None or piece.end > at):
            piece.end, piece.next = at, [claim]


def _insert_past(pieces: list[_Piece], claim: TimedClaim) -> None:
    """A claim about a time that is over gets its place; what held then gives way to it, and comes back after it."""
    end = claim.end or claim.noted_at
    start = min(claim.start, end)
    if claim.past and not claim.bounded:
        # It only says that something is over; when it began nobody said.
        pieces.append(_Piece(frozenset({claim.value}), end, end, [claim]))
        return
    for piece in list(pieces):
        covers = piece.start <= start and (piece.end is None or piece.end > start)
        if piece.standing is Standing.REJECTED or not covers or claim.value in piece.values:
            continue
        if (piece.end is None or piece.end > end) and end > start:
            pieces.append(_Piece(piece.values, end, piece.end, piece.claims, piece.standing, piece.next))
        piece.end, piece.next = start, [claim]
    pieces.append(_Piece(frozenset({claim.value}), start, end, [claim]))


def _open(pieces: list[_Piece], denials: Sequence[_Piece], claims: list[TimedClaim], *, question: bool) -> None:
    """Let the claims' value hold from now on; what held before ends, unless it is the same."""
    start = min(claim.start for claim in claims)
    values = frozenset(claim.value for claim in claims)
    for denial in denials:
        if denial.values & values and denial.end is None and denial.claims[0] not in claims and denial.start < start:
            denial.end, denial.next = start, claims
    ends = [claim.end for claim in claims]
    end = None if question or None in ends else max(one for one in ends if one is not None)
    standing = Standing.REVIEW if question else None
    for piece in pieces:
        is_open = piece.standing is not Standing.REJECTED and (
            piece.end is None or (piece.announced and piece.end > start)
        )
        if is_open and piece.values == values:
            piece.claims += claims
            if end is not None and not question:
                piece.end, piece.announced = end, True
            return
        if is_open and question and piece.values & values and piece.standing is None:
            # One side of the question held before: it goes on, in question from now.
            piece.end, piece.next = start, []
        elif is_open:
            piece.end, piece.next = start, claims
            if piece.standing is Standing.REVIEW:
                piece.standing = None
    pieces.append(_Piece(values, start, end, list(claims), standing, announced=end is not None))


def _stretches(pieces: Iterable[_Piece], now: datetime) -> list[Stretch]:
    found: dict[tuple[UUID, datetime], Stretch] = {}
    for piece in pieces:
        for belief_id in dict.fromkeys(claim.belief_id for claim in piece.claims):
            successor = next((claim.belief_id for claim in piece.next if claim.belief_id != belief_id), None)
            end = piece.end if piece.end is None or piece.end >= piece.start else piece.start
            standing = piece.standing or _standing(piece.start, end, now)
            stretch = Stretch(belief_id, piece.start, end, standing, successor)
            known = found.get((belief_id, piece.start))
            if known is None or _RANK[standing] < _RANK[known.standing]:
                found[belief_id, piece.start] = stretch
    return sorted(found.values(), key=lambda one: (one.holds_from, one.belief_id))


_RANK = {standing: rank for rank, standing in enumerate(Standing)}


def _standing(start: datetime, end: datetime | None, now: datetime) -> Standing:
    if start > now:
        return Standing.UPCOMING
    return Standing.PAST if end is not None and end <= now else Standing.CURRENT


def overall(stretches: Iterable[Stretch]) -> dict[UUID, Standing]:
    """Return what each belief is, by the strongest of its stretches."""
    found: dict[UUID, Standing] = {}
    for one in stretches:
        if one.belief_id not in found or _RANK[one.standing] < _RANK[found[one.belief_id]]:
            found[one.belief_id] = one.standing
    return found
