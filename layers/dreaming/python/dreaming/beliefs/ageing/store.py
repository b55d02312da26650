"""The SQL of a slice's ageing: half-lives and threshold behind its rows, kept with its belief lock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row

from dreaming.beliefs.rules import Ageing, fades_at
from dreaming.database import Transaction


@dataclass(frozen=True, slots=True)
class SliceAgeing:
    """What a slice's `fades_at` were computed under, in seconds; None is not known.

    `recomputing` names the rows that a pass is bringing up to date, from where `recomputed_at` and
    `recomputed_id` left it.
    """

    slow_half_life: float | None
    fast_half_life: float | None
    archive_threshold: float | None
    warn_ahead: float | None
    recomputing: str | None
    recomputed_at: datetime | None
    recomputed_id: UUID | None

    def fits(self, ageing: Ageing) -> bool:
        """Tell whether the slice's rows are, or will be when recomputed, what `ageing` makes of them."""
        kept = (self.slow_half_life, self.fast_half_life, self.archive_threshold)
        wanted = parameters(ageing)
        return kept == (wanted["slow"], wanted["fast"], wanted["threshold"])

    @property
    def ageing(self) -> Ageing | None:
        """The ageing itself, or None when it is not known."""
        slow, fast, threshold, warn = self.slow_half_life, self.fast_half_life, self.archive_threshold, self.warn_ahead
        if slow is None or fast is None or threshold is None or warn is None:
            return None
        return Ageing(timedelta(seconds=slow), timedelta(seconds=fast), threshold, timedelta(seconds=warn))


def parameters(ageing: Ageing) -> dict[str, float]:
    """Return an ageing as the SQL takes it: `slow`, `fast` and `warn` in seconds, and `threshold`."""
    return {
        "slow": ageing.slow_half_life.total_seconds(),
        "fast": ageing.fast_half_life.total_seconds(),
        "threshold": ageing.archive_threshold,
        "warn": ageing.warn_ahead.total_seconds(),
    }


def lock(tx: Transaction, slice_id: int) -> SliceAgeing | None:
    """Take the slice's belief lock and return what its rows were computed under; None without such a slice."""
    return _read(tx, slice_id, " for update")


def read(tx: Transaction, slice_id: int) -> SliceAgeing | None:
    """Return what the slice's rows were computed under, which may change at any moment."""
    return _read(tx, slice_id, "")


def _read(tx: Transaction, slice_id: int, locking: str) -> SliceAgeing | None:
    query = f"""
        select slow_half_life, fast_half_life, archive_threshold, warn_ahead, recomputing, recomputed_at, recomputed_id
        from belief_lock where slice_id = %s{locking}
    """
    with tx.cursor(row_factory=class_row(SliceAgeing)) as cursor:
        return cursor.execute(query, (slice_id,)).fetchone()


def keep(tx: Transaction, slice_id: int, ageing: Ageing) -> bool:
    """Tell whether all `fades_at` of the slice are under `ageing`; if not, they are no longer known to be.

    To be called by whoever is about to write beliefs under `ageing`, with the belief lock held.
    """
    row = tx.execute(
        """
        with slice_beliefs as (
            select exists (select from beliefs where slice_id = %(slice)s) as any_yet
        )
        update belief_lock l
        set slow_half_life = case when l.slow_half_life is null and not any_yet then %(slow)s::float8 end,
            fast_half_life = case when l.slow_half_life is null and not any_yet then %(fast)s::float8 end,
            archive_threshold = case when l.slow_half_life is null and not any_yet then %(threshold)s::float8 end,
            warn_ahead = case when l.slow_half_life is null and not any_yet then %(warn)s::float8 end
        from slice_beliefs
        where l.slice_id = %(slice)s
          and (l.slow_half_life, l.fast_half_life, l.archive_threshold)
              is distinct from (%(slow)s::float8, %(fast)s::float8, %(threshold)s::float8)
        returning l.slow_half_life is not null
        """,
        {"slice": slice_id, **parameters(ageing)},
    ).fetchone()
    return row is None or bool(row[0])


def begin_recomputing(tx: Transaction, slice_id: int, ageing: Ageing) -> None:
    """Let `ageing` be what the slice's rows are computed under, once a pass has been through them all."""
    tx.execute(
        """
        update belief_lock
        set slow_half_life = %(slow)s, fast_half_life = %(fast)s, archive_threshold = %(threshold)s,
            warn_ahead = %(warn)s, recomputing = 'beliefs', recomputed_at = null, recomputed_id = null
        where slice_id = %(slice)s
        """,
        {"slice": slice_id, **parameters(ageing)},
    )


def set_warn_ahead(tx: Transaction, slice_id: int, ageing: Ageing) -> None:
    """Keep how long ahead the slice's beliefs are announced; no row depends on it."""
    tx.execute("update belief_lock set warn_ahead = %s where slice_id = %s", (parameters(ageing)["warn"], slice_id))


def set_recomputed(
    tx: Transaction, slice_id: int, *, recomputing: str | None, at: datetime | None, last_id: UUID | None
) -> None:
    """Keep how far the recomputation has come; None: it is finished."""
    tx.execute(
        "update belief_lock set recomputing = %s, recomputed_at = %s, recomputed_id = %s where slice_id = %s",
        (recomputing, at, last_id, slice_id),
    )


def recompute_beliefs(
    tx: Transaction, slice_id: int, state: SliceAgeing, ageing: Ageing, *, now: datetime, limit: int
) -> tuple[int, datetime | None, UUID | None]:
    """Set `fades_at` of the next `limit` live beliefs; return how many there were and the place of the last.

    The latest confirmed come first: whoever confirms one meanwhile moves it behind, and writes it under
    the new ageing. A warning is taken back where fading has moved out of its reach.
    """
    row = tx.execute(
        """
        with page as (
            select belief_id, confirmed_at,
                   fading_moment(confidence, confirmed_at, half_life_of(decay_class, %(slow)s, %(fast)s),
                                 %(threshold)s) as moment
            from beliefs
            where slice_id = %(slice)s and archived_at is null
              and (%(at)s::timestamptz is null
                   or confirmed_at <= %(at)s and (confirmed_at < %(at)s or belief_id > %(id)s))
            order by confirmed_at desc, belief_id
            limit %(limit)s
        ), written as (
            update beliefs b
            set fades_at = page.moment,
                warned_at = case when page.moment <= %(now)s + make_interval(secs => %(warn)s) then b.warned_at end
            from page
            where b.slice_id = %(slice)s and b.belief_id = page.belief_id and b.fades_at is distinct from page.moment
        )
        select count(*) over (), confirmed_at, belief_id from page order by confirmed_at, belief_id desc limit 1
        """,
        {
            "slice": slice_id,
            "at": state.recomputed_at,
            "id": state.recomputed_id,
            "limit": limit,
            "now": now,
            **parameters(ageing),
        },
    ).fetchone()
    return (0, None, None) if row is None else (row[0], row[1], row[2])


def recompute_relationships(
    tx: Transaction, slice_id: int, state: SliceAgeing, ageing: Ageing, *, limit: int
) -> tuple[int, UUID | None]:
    """Set `fades_at` of the next live relationships, `limit` or as many more as leave the same belief.

    Returns how many there were, and the belief that the last ones leave.
    """
    row = tx.execute(
        """
        with page as (
            select relationship_id, from_belief_id,
                   fading_moment(confidence, confirmed_at, half_life_of(decay_class, %(slow)s, %(fast)s),
                                 %(threshold)s) as moment
            from relationships
            where slice_id = %(slice)s and archived_at is null
              and (%(id)s::uuid is null or from_belief_id > %(id)s)
            order by from_belief_id
            fetch first %(limit)s rows with ties
        ), written as (
            update relationships r set fades_at = page.moment
            from page
            where r.slice_id = %(slice)s and r.relationship_id = page.relationship_id
              and r.fades_at is distinct from page.moment
        )
        select count(*) over (), from_belief_id from page order by from_belief_id desc limit 1
        """,
        {"slice": slice_id, "id": state.recomputed_id, "limit": limit, **parameters(ageing)},
    ).fetchone()
    return (0, None) if row is None else (row[0], row[1])


@dataclass(frozen=True, slots=True)
class Floor:
    """What a live belief must reach to have an aged confidence of `aged`: a moment of fading, or a confidence."""

    aged: float
    slow_from: datetime
    fast_from: datetime


def page_floor(
    tx: Transaction, slice_id: int, ageing: Ageing, *, now: datetime, limit: int, below: float | None
) -> Floor | None:
    """Return what the first `limit` live beliefs under an aged confidence of `below` reach at least.

    So a page of the surest beliefs need not age the others. Found among those that fade last and the
    surest permanent ones, by two indexes: `limit` beliefs that reach it are a proof, whichever they are.
    None when there are not so many, or when moments of fading are not what `ageing` makes of them.
    """
    state = read(tx, slice_id)
    if state is None or not state.fits(ageing) or state.recomputing is not None:
        return None
    least = below if below is not None else 2.0
    row = tx.execute(
        """
        with candidates as (
            (select aged(confidence, confirmed_at, half_life_of(decay_class, %(slow)s, %(fast)s), %(now)s) as aged
             from beliefs
             where slice_id = %(slice)s and archived_at is null and fades_at <= %(until)s
             order by fades_at desc limit %(limit)s)
            union all
            (select confidence from beliefs
             where slice_id = %(slice)s and archived_at is null and fades_at is null and confidence < %(below)s
             order by confidence desc limit %(limit)s)
        ), best as (
            select aged from candidates where aged < %(below)s order by aged desc limit %(limit)s
        )
        select min(aged) from best having count(*) = %(limit)s
        """,
        {
            "slice": slice_id,
            "now": now,
            "limit": limit,
            "below": least,
            "until": _fades_from(least, ageing, ageing.slow_half_life, now),
            **parameters(ageing),
        },
    ).fetchone()
    if row is None or row[0] < ageing.archive_threshold:
        return None
    return Floor(
        row[0],
        _fades_from(row[0], ageing, ageing.slow_half_life, now),
        _fades_from(row[0], ageing, ageing.fast_half_life, now),
    )


def _fades_from(aged: float, ageing: Ageing, half_life: timedelta, now: datetime) -> datetime:
    """Return when a belief of a half-life fades whose aged confidence is `aged` now, a second before at most."""
    moment = fades_at(aged, now, half_life, ageing.archive_threshold)
    return now if moment is None else moment - timedelta(seconds=1)
