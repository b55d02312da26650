"""The SQL of consolidation: saved answers, attempts, retirement, the step of the cursor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from dreaming.database import Transaction
from dreaming.passes.consolidation.records import AttemptRow, SavedAnswer
from dreaming.passes.records import Lease


def saved_answers(tx: Transaction, slice_id: int, note_ids: Sequence[UUID], *, model: str) -> list[SavedAnswer]:
    """Return the model's answers already paid for, of any prompt."""
    query = """
        select note_id, version, chunk, prompt_version, answer, partial from extractions
        where slice_id = %s and note_id = any(%s) and model = %s
    """
    rows = tx.execute(query, (slice_id, list(note_ids), model)).fetchall()
    return [SavedAnswer(row[0], row[1], row[2], row[3], tuple(row[4]), row[5]) for row in rows]


def save_answers(tx: Transaction, slice_id: int, answers: Sequence[SavedAnswer], *, model: str, now: datetime) -> None:
    """Keep answers before they are applied; the same answer again is a no-op."""
    if not answers:
        return
    tx.execute(
        """
        insert into extractions (note_id, version, chunk, prompt_version, model, slice_id, answer, partial, saved_at)
        select a.note_id, a.version, a.chunk, a.prompt, %(model)s, %(slice)s, a.answer, a.partial, %(now)s
        from rows from (
            unnest(%(notes)s::uuid[], %(versions)s::int[], %(chunks)s::int[], %(prompts)s::text[],
                   %(partials)s::boolean[]),
            jsonb_array_elements(%(answers)s::jsonb)
        ) as a (note_id, version, chunk, prompt, partial, answer)
        on conflict do nothing
        """,
        {
            "model": model,
            "slice": slice_id,
            "now": now,
            "prompts": [answer.prompt_version for answer in answers],
            "notes": [answer.note_id for answer in answers],
            "versions": [answer.version for answer in answers],
            "chunks": [answer.chunk for answer in answers],
            "answers": json.dumps([answer.items for answer in answers], ensure_ascii=False, allow_nan=False),
            "partials": [answer.partial for answer in answers],
        },
    )


def drop_answers(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> None:
    """Forget the answers of notes that the cursor passes, in the transaction that passes them."""
    tx.execute("delete from extractions where slice_id = %s and note_id = any(%s)", (slice_id, list(note_ids)))


def read_attempts(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> dict[UUID, AttemptRow]:
    """Return the notes' attempts."""
    query = """
        select note_id, version, calls, attempts, in_flight, in_flight_alone, suspect, last_failure
        from note_attempts where slice_id = %s and note_id = any(%s)
    """
    with tx.cursor(row_factory=class_row(AttemptRow)) as cursor:
        rows = cursor.execute(query, (slice_id, list(note_ids))).fetchall()
    return {row.note_id: row for row in rows}


def write_attempts(tx: Transaction, slice_id: int, rows: Sequence[AttemptRow], *, now: datetime) -> None:
    """Record the notes' attempts as they are now, all in one statement."""
    if not rows:
        return
    tx.execute(
        """
        insert into note_attempts (note_id, slice_id, version, calls, attempts, in_flight, in_flight_alone, suspect,
                                   last_failure, last_failure_at)
        select a.note_id, %(slice)s, a.version, a.calls, a.attempts, a.in_flight, a.alone, a.suspect, a.failure,
               case when a.failure is not null then %(now)s end
        from unnest(%(notes)s::uuid[], %(versions)s::int[], %(calls)s::int[], %(attempts)s::int[],
                    %(in_flight)s::text[], %(alone)s::boolean[], %(suspect)s::boolean[], %(failures)s::text[])
            as a (note_id, version, calls, attempts, in_flight, alone, suspect, failure)
        on conflict (note_id) do update
        set version = excluded.version, calls = excluded.calls, attempts = excluded.attempts,
            in_flight = excluded.in_flight, in_flight_alone = excluded.in_flight_alone, suspect = excluded.suspect,
            last_failure = excluded.last_failure, last_failure_at = excluded.last_failure_at
        """,
        {
            "slice": slice_id,
            "now": now,
            "notes": [row.note_id for row in rows],
            "versions": [row.version for row in rows],
            "calls": [row.calls for row in rows],
            "attempts": [row.attempts for row in rows],
            "in_flight": [row.in_flight for row in rows],
            "alone": [row.in_flight_alone for row in rows],
            "suspect": [row.suspect for row in rows],
            "failures": [row.last_failure for row in rows],
        },
    )


def drop_attempts(tx: Transaction, slice_id: int, note_ids: Sequence[UUID]) -> None:
    """Forget the attempts of notes that were consolidated."""
    tx.execute("delete from note_attempts where slice_id = %s and note_id = any(%s)", (slice_id, list(note_ids)))


@dataclass(frozen=True, slots=True)
class Retirement:
    """A note to be retired, and why."""

    note_id: UUID
    version: int
    sequence: int
    reason: str
    attempts: int


def record_retirements(
    tx: Transaction, slice_id: int, retirements: Sequence[Retirement], *, run_id: UUID, now: datetime
) -> None:
    """Write the records of retired notes and the events that announce them."""
    if not retirements:
        return
    columns = {
        "slice": slice_id,
        "run": run_id,
        "now": now,
        "notes": [item.note_id for item in retirements],
        "versions": [item.version for item in retirements],
        "sequences": [item.sequence for item in retirements],
        "reasons": [item.reason for item in retirements],
        "attempts": [item.attempts for item in retirements],
    }
    tx.execute(
        """
        with retired as (
            insert into retired_notes (note_id, slice_id, version, sequence, reason, attempts, run_id, retired_at)
            select r.note_id, %(slice)s, r.version, r.sequence, r.reason, r.attempts, %(run)s, %(now)s
            from unnest(%(notes)s::uuid[], %(versions)s::int[], %(sequences)s::bigint[], %(reasons)s::text[],
                        %(attempts)s::int[]) as r (note_id, version, sequence, reason, attempts)
            returning note_id, version, reason
        )
        insert into outbox (slice_id, event, detail, created_at)
        select %(slice)s, 'note.retired',
               jsonb_build_object('note_id', note_id, 'version', version, 'reason', reason, 'run_id', %(run)s::uuid),
               %(now)s
        from retired
        """,
        columns,
    )


def move_cursor(
    tx: Transaction, lease: Lease, *, position: int, occurred_at: datetime | None, note_id: UUID | None
) -> None:
    """Step the cursor forward; it never goes back here."""
    tx.execute(
        """
        update dream_cursor
        set position = %s, last_occurred_at = coalesce(%s, last_occurred_at), last_note_id = coalesce(%s, last_note_id)
        where slice_id = %s and pass = %s and position < %s
        """,
        (position, occurred_at, note_id, lease.slice.slice_id, lease.pass_name, position),
    )


def read_timeouts(tx: Transaction, lease: Lease) -> tuple[int, UUID | None]:
    """Return how many different notes timed out in a row so far, and the last of them."""
    query = "select timeouts_in_row, last_timeout_note_id from dream_cursor where slice_id = %s and pass = %s"
    row = tx.execute(query, (lease.slice.slice_id, lease.pass_name)).fetchone()
    return (0, None) if row is None else (row[0], row[1])


def note_timeouts(tx: Transaction, lease: Lease, *, in_row: int, last_note_id: UUID | None) -> None:
    """Remember how many different notes timed out without an answer in between."""
    tx.execute(
        "update dream_cursor set timeouts_in_row = %s, last_timeout_note_id = %s where slice_id = %s and pass = %s",
        (in_row, last_note_id, lease.slice.slice_id, lease.pass_name),
    )


def add_rejections(tx: Transaction, lease: Lease, by_rule: Mapping[str, int]) -> None:
    """Add to the run's count of rejected claims by the rule that failed."""
    if not by_rule:
        return
    tx.execute(
        """
        update dream_runs r set claims_rejected_by_rule = r.claims_rejected_by_rule || (
            select jsonb_object_agg(n.rule, n.count + coalesce((r.claims_rejected_by_rule ->> n.rule)::int, 0))
            from unnest(%s::text[], %s::int[]) as n (rule, count)
        )
        where r.slice_id = %s and r.run_id = %s
        """,
        (list(by_rule), list(by_rule.values()), lease.slice.slice_id, lease.run_id),
    )


def last_sequence(tx: Transaction, slice_id: int) -> int:
    """Return the highest sequence handed out in the slice; every note up to it is committed."""
    row = tx.execute("select last_seq from slices where slice_id = %s", (slice_id,)).fetchone()
    return int(row[0]) if row else 0


def remaining(tx: Transaction, slice_id: int, position: int) -> bool:
    """Tell whether the slice has handed out a sequence beyond `position`."""
    row = tx.execute("select last_seq > %s from slices where slice_id = %s", (position, slice_id)).fetchone()
    return bool(row and row[0])


def write_conflict_candidates(
    tx: Transaction,
    slice_id: int,
    candidates: Sequence[tuple[UUID, UUID, str, Mapping[str, Any]]],
    *,
    run_id: UUID,
    now: datetime,
) -> int:
    """Leave pairs (left, right, reason, evidence) for adjudication, each once; return how many are new."""
    if not candidates:
        return 0
    ordered = [_in_order(*candidate) for candidate in candidates]
    return tx.execute(
        """
        insert into conflict_candidates (slice_id, left_belief_id, right_belief_id, reason, evidence, run_id, found_at)
        select %(slice)s, c.left_id, c.right_id, c.reason, c.evidence, %(run)s, %(now)s
        from unnest(%(left)s::uuid[], %(right)s::uuid[], %(reasons)s::text[], %(evidence)s::jsonb[])
            as c (left_id, right_id, reason, evidence)
        on conflict do nothing
        """,
        {
            "slice": slice_id,
            "run": run_id,
            "now": now,
            "left": [item[0] for item in ordered],
            "right": [item[1] for item in ordered],
            "reasons": [item[2] for item in ordered],
            "evidence": [json.dumps(item[3], ensure_ascii=False) for item in ordered],
        },
    ).rowcount


def _in_order(
    left: UUID, right: UUID, reason: str, evidence: Mapping[str, Any]
) -> tuple[UUID, UUID, str, Mapping[str, Any]]:
    """Put the lower id on the left, and what was seen of it along with it."""
    if left < right:
        return left, right, reason, evidence
    swapped = {"left": "right", "right": "left"}
    return right, left, reason, {swapped.get(name, name): value for name, value in evidence.items()}


def let_wait_again(tx: Transaction, slice_id: int, *, source: str | None, since: datetime | None) -> tuple[int, int]:
    """Let consolidated notes wait again, all or those of `source` and not written before `since`.

    Returns how many, and the lowest of their sequences (0 for none). The caller has locked the slice and
    its beliefs, and keeps the counters.
    """
    row = tx.execute(
        """
        with waiting as (
            update notes set state = 'waiting'
            where slice_id = %(slice)s and state = 'consolidated'
              and (%(source)s::text is null or source = %(source)s)
              and (%(since)s::timestamptz is null or occurred_at >= %(since)s)
            returning sequence
        )
        select count(*), coalesce(min(sequence), 0) from waiting
        """,
        {"slice": slice_id, "source": source, "since": since},
    ).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def rewind_cursor(tx: Transaction, slice_id: int, pass_name: str, *, position: int, now: datetime) -> None:
    """Set the cursor back to `position` under a new generation: who is at work on the slice rolls back."""
    key = {"slice": slice_id, "pass": pass_name, "position": position, "now": now}
    tx.execute(
        """
        update dream_cursor
        set rewound_from = greatest(position, rewound_from), rewound_at = %(now)s,
            position = least(position, %(position)s), generation = generation + 1, run_id = null, lease_holder = null,
            lease_expires_at = null, held_reason = null, held_detail = null, held_since = null,
            timeouts_in_row = 0, last_timeout_note_id = null
        where slice_id = %(slice)s and pass = %(pass)s
        """,
        key,
    )
    tx.execute(
        """
        update dream_runs set status = 'replaced', held_reason = 'reconsolidation', finished_at = %(now)s
        where slice_id = %(slice)s and pass = %(pass)s and status = 'running'
        """,
        key,
    )


def name_reader(tx: Transaction, slice_id: int, note_ids: Sequence[UUID], *, model: str, prompt_version: str) -> None:
    """Say of the notes' live sources who read them last, also of those that came out the same."""
    tx.execute(
        """
        update sources set model = %(model)s, prompt_version = %(prompt)s
        where slice_id = %(slice)s and note_id = any(%(notes)s) and ended_at is null
          and (model, prompt_version) is distinct from (%(model)s, %(prompt)s)
        """,
        {"slice": slice_id, "notes": list(note_ids), "model": model, "prompt": prompt_version},
    )


def count_readers(tx: Transaction) -> dict[tuple[str, str], int]:
    """Return how many notes have claims from each model and prompt, over all slices that are visible."""
    query = """
        select coalesce(model, ''), coalesce(prompt_version, ''), count(distinct note_id) from sources
        where ended_at is null and note_id is not null group by 1, 2 order by 3 desc, 1, 2
    """
    return {(row[0], row[1]): int(row[2]) for row in tx.execute(query).fetchall()}
