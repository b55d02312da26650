"""The SQL of the embedding pass: what is due, spaces and their switch-over, consent, refused texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from psycopg.types.json import Jsonb

from dreaming.beliefs.vectors.records import Space
from dreaming.database import Transaction
from dreaming.notes.records import Scope, Slice, SliceKey
from dreaming.passes.embedding.records import Consent, Refused, SliceSpaces, Text
from dreaming.passes.embedding.rules import MOST_ATTEMPTS, retry_at
from dreaming.passes.records import SYNTHESIS


def slices_to_embed(
    planner: Transaction,
    pass_name: str,
    *,
    target_model: str | None,
    now: datetime,
    stalled_after: timedelta,
    only: int | None,
    limit: int,
) -> list[Slice]:
    """Return the slices with something to embed or to forget, those planned longest ago first; planner role.

    To embed, where the organization is enrolled and consents: a due time has come, the model is another
    than the slice's, its enrolment changed, or it has notes or conversations and nothing was ever embedded.
    To forget: it consents no more. `target_model` is None where embedding is off; then only the latter counts.
    `only` asks for one slice by id, due or not.
    """
    query = """
        select s.slice_id, s.org_id, s.scope, s.owner_user_id
        from slices s
        left join enrolment e on e.org_id = s.org_id
        left join vector_spaces v on v.slice_id = s.slice_id
        left join due_times d on d.slice_id = s.slice_id and d.pass = %(pass)s
        left join dream_cursor c on c.slice_id = s.slice_id and c.pass = %(pass)s
        where (c.run_id is null or c.progressed_at <= %(now)s - %(stalled_after)s)
          and case
            when not coalesce(e.embedding_consent, false) then
                v.slice_id is not null and (%(only)s::bigint is null or s.slice_id = %(only)s)
            when not e.enrolled or %(target)s::text is null then false
            when %(only)s::bigint is not null then s.slice_id = %(only)s
            else s.scope <> 'shared' and (
                d.due_at <= %(now)s
                or v.slice_id is null and (
                    s.last_seq > 0
                    -- The planner sees no conversation, but that one waits to become notes, or has.
                    or exists (select from due_times o where o.slice_id = s.slice_id and o.pass = %(synthesis)s)
                    or exists (select from dream_cursor o where o.slice_id = s.slice_id and o.pass = %(synthesis)s)
                )
                or v.target_model <> %(target)s or v.consent_at is distinct from e.updated_at
                    and v.slice_id is not null
            )
          end
        order by c.planned_at nulls first, s.slice_id
        limit %(limit)s
    """
    parameters = {
        "pass": pass_name,
        "synthesis": SYNTHESIS,
        "target": target_model,
        "now": now,
        "stalled_after": stalled_after,
        "only": only,
        "limit": limit,
    }
    rows = planner.execute(query, parameters).fetchall()
    return [Slice(row[0], SliceKey(row[1], Scope(row[2]), row[3])) for row in rows]


def read_consent(tx: Transaction, org_id: str) -> Consent:
    """Return the organization's consent to embedding; one that has said nothing has not given it."""
    row = tx.execute(
        "select embedding_consent, updated_at, embedding_excluded_sources from enrolment where org_id = %s", (org_id,)
    ).fetchone()
    return Consent(False, None, ()) if row is None else Consent(row[0] is True, row[1], tuple(row[2]))


def read_spaces(tx: Transaction, slice_id: int) -> SliceSpaces | None:
    """Return the slice's spaces, None before anything was embedded."""
    row = tx.execute(
        """
        select active_model, active_dimension, target_model, target_dimension, target_since
        from vector_spaces where slice_id = %s
        """,
        (slice_id,),
    ).fetchone()
    return None if row is None else SliceSpaces(Space(row[0], row[1]), Space(row[2], row[3]), row[4])


def aim_at(tx: Transaction, slice_id: int, space: Space, *, now: datetime) -> None:
    """Make `space` the one that the pass fills; a slice without vectors has it as its active one at once."""
    tx.execute(
        """
        insert into vector_spaces (slice_id, active_model, active_dimension, target_model, target_dimension,
                                   target_since)
        values (%(slice)s, %(model)s, %(dimension)s, %(model)s, %(dimension)s, %(now)s)
        on conflict (slice_id) do update
        set target_model = excluded.target_model, target_dimension = excluded.target_dimension,
            target_since = excluded.target_since, swept = excluded.swept
        where vector_spaces.target_model <> excluded.target_model
        """,
        {"slice": slice_id, "model": space.model, "dimension": space.dimension, "now": now},
    )


def read_swept(tx: Transaction, slice_id: int) -> dict[str, str]:
    """Return the id of the last item that was taken up, by source; a source at its beginning has none."""
    row = tx.execute("select swept from vector_spaces where slice_id = %s", (slice_id,)).fetchone()
    return dict(row[0]) if row else {}


def write_swept(tx: Transaction, slice_id: int, swept: Mapping[str, str]) -> None:
    """Record how far the pass has gone through each source."""
    tx.execute("update vector_spaces set swept = %s where slice_id = %s", (Jsonb(dict(swept)), slice_id))


def note_consent(tx: Transaction, slice_id: int, consent: Consent) -> None:
    """Record that the slice's vectors obey this consent."""
    tx.execute(
        """
        update vector_spaces set consent_at = %(changed)s, excluded_sources = %(excluded)s
        where slice_id = %(slice)s
          and (consent_at, excluded_sources) is distinct from (%(changed)s, %(excluded)s::text[])
        """,
        {"slice": slice_id, "changed": consent.changed_at, "excluded": list(consent.excluded_sources)},
    )


def switch_over(tx: Transaction, slice_id: int) -> bool:
    """Let readers search the target space from now on; return whether it was another than the active one."""
    return (
        tx.execute(
            """
            update vector_spaces set active_model = target_model, active_dimension = target_dimension
            where slice_id = %s and active_model <> target_model
            """,
            (slice_id,),
        ).rowcount
        == 1
    )


def forget_space(tx: Transaction, slice_id: int) -> None:
    """Forget that anything of the slice was embedded or refused."""
    tx.execute("delete from vector_spaces where slice_id = %s", (slice_id,))
    tx.execute("delete from embedding_attempts where slice_id = %s", (slice_id,))


def count_refusals(
    tx: Transaction, slice_id: int, refused: Sequence[Refused], *, model: str, now: datetime
) -> list[tuple[str, str]]:
    """Count one attempt for each text and return source and id of those that are left out from now on.

    A text worded otherwise than at its last refusal starts anew.
    """
    if not refused:
        return []
    rows = tx.execute(
        """
        insert into embedding_attempts as a (slice_id, source, item_id, model, text_hash, attempts, failure,
                                             failed_at, retry_at)
        select %(slice)s, u.source, u.item_id, %(model)s, u.text_hash, 1, u.failure, %(now)s, %(first)s
        from unnest(%(sources)s::text[], %(ids)s::text[], %(hashes)s::bigint[], %(failures)s::text[])
            as u (source, item_id, text_hash, failure)
        on conflict (slice_id, source, model, item_id) do update
        set attempts = case when a.text_hash = excluded.text_hash then least(a.attempts + 1, %(most)s) else 1 end,
            retry_at = case when a.text_hash <> excluded.text_hash then excluded.retry_at
                            when a.attempts + 1 < %(most)s then %(second)s end,
            text_hash = excluded.text_hash, failure = excluded.failure, failed_at = excluded.failed_at
        returning source, item_id, retry_at
        """,
        {
            "slice": slice_id,
            "model": model,
            "now": now,
            "first": retry_at(1, now),
            "second": retry_at(2, now),
            "most": MOST_ATTEMPTS,
            "sources": [one.text.source for one in refused],
            "ids": [one.text.item_id for one in refused],
            "hashes": [one.text.text_hash for one in refused],
            "failures": [one.failure[:500] for one in refused],
        },
    ).fetchall()
    return [(source, item_id) for source, item_id, again in rows if again is None]


def drop_refusals(tx: Transaction, slice_id: int, texts: Sequence[Text], *, model: str) -> None:
    """Forget the attempts of texts that were embedded."""
    tx.execute(
        """
        delete from embedding_attempts a
        using unnest(%s::text[], %s::text[]) as u (source, item_id)
        where a.slice_id = %s and a.model = %s and a.source = u.source and a.item_id = u.item_id
        """,
        ([text.source for text in texts], [text.item_id for text in texts], slice_id, model),
    )


def drop_other_refusals(tx: Transaction, slice_id: int, *, model: str, now: datetime) -> None:
    """Forget attempts of other models, and those that came due and have no text any more."""
    tx.execute(
        "delete from embedding_attempts where slice_id = %s and (model <> %s or retry_at <= %s)",
        (slice_id, model, now),
    )


def next_retry(tx: Transaction, slice_id: int, *, model: str, now: datetime) -> datetime | None:
    """Return when the first refused text is tried again, None when none is."""
    row = tx.execute(
        "select min(retry_at) from embedding_attempts where slice_id = %s and model = %s and retry_at > %s",
        (slice_id, model, now),
    ).fetchone()
    found: datetime | None = row[0] if row else None
    return found
