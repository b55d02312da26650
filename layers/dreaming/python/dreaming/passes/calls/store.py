"""The SQL of an organization's usage of models: bookings against the budget of a day, calls and tokens."""

from __future__ import annotations

from datetime import UTC, datetime

from dreaming.database import Transaction


def reserve_calls(
    tx: Transaction, org_id: str, pass_name: str, model: str, *, wanted: int, budget: int | None, now: datetime
) -> int:
    """Book up to `wanted` model calls of today's budget and return how many were granted; None is no limit.

    The organization's day is counted over all passes and models; the row lock makes bookings of one
    pass and model take turns.
    """
    day = now.astimezone(UTC).date()
    key = {"org": org_id, "day": day, "pass": pass_name, "model": model}
    tx.execute(
        """
        insert into usage (org_id, day, pass, model) values (%(org)s, %(day)s, %(pass)s, %(model)s)
        on conflict (org_id, day, pass, model) do update set calls = usage.calls
        """,
        key,
    )
    row = tx.execute("select sum(calls) from usage where org_id = %(org)s and day = %(day)s", key).fetchone()
    granted = wanted if budget is None else max(0, min(wanted, budget - int(row[0] if row else 0)))
    if granted:
        add_usage(tx, org_id, pass_name, model, day=now, calls=granted)
    return granted


def book_call(
    tx: Transaction, org_id: str, pass_name: str, model: str, *, budget: int, of_pass: bool = False, now: datetime
) -> bool:
    """Count one call before it is made; return False when today's budget has no more of them.

    The day is the organization's over all passes and models, or, with `of_pass`, that of this pass alone. In
    one statement, since a recall waits for it. Calls of one pass and model take turns.
    """
    row = tx.execute(
        """
        with booked as (
            select coalesce(sum(calls), 0) as by_all,
                coalesce(sum(calls) filter (where (pass, model) <> (%(pass)s, %(model)s)), 0) as by_others
            from usage where org_id = %(org)s and day = %(day)s and (not %(of_pass)s or pass = %(pass)s)
        )
        insert into usage as known (org_id, day, pass, model, calls)
        select %(org)s, %(day)s, %(pass)s, %(model)s, 1 from booked where by_all < %(budget)s
        on conflict (org_id, day, pass, model) do update set calls = known.calls + 1
        where known.calls + (select by_others from booked) < %(budget)s
        returning 1
        """,
        {
            "org": org_id,
            "day": now.astimezone(UTC).date(),
            "pass": pass_name,
            "model": model,
            "of_pass": of_pass,
            "budget": budget,
        },
    ).fetchone()
    return row is not None


def add_usage(
    tx: Transaction,
    org_id: str,
    pass_name: str,
    model: str,
    *,
    day: datetime,
    calls: int = 0,
    failed_calls: int = 0,
    input_tokens: int = 0,
    output_tokens: int = 0,
) -> None:
    """Add to the organization's usage of the day; negative `calls` give a booking back."""
    tx.execute(
        """
        insert into usage (org_id, day, pass, model, calls, failed_calls, input_tokens, output_tokens)
        values (%(org)s, %(day)s, %(pass)s, %(model)s, %(calls)s, %(failed)s, %(input)s, %(output)s)
        on conflict (org_id, day, pass, model) do update
        set calls = usage.calls + excluded.calls, failed_calls = usage.failed_calls + excluded.failed_calls,
            input_tokens = usage.input_tokens + excluded.input_tokens,
            output_tokens = usage.output_tokens + excluded.output_tokens
        """,
        {
            "org": org_id,
            "day": day.astimezone(UTC).date(),
            "pass": pass_name,
            "model": model,
            "calls": calls,
            "failed": failed_calls,
            "input": input_tokens,
            "output": output_tokens,
        },
    )
