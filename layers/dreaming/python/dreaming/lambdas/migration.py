"""Migrations as a deployment runs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dreaming.database.migration import NewerSchema, migrate

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from dreaming.lambdas.database import Login

_LONGEST_WAIT = 180.0
_LEFT_FOR_THE_WORK = 30.0


def apply_migrations(
    login: Login, event: Mapping[str, Any], context: LambdaContext, *, logger: Logger
) -> dict[str, Any]:
    """Apply what the database lacks and say what that was.

    `event` may be empty or that of a custom resource; removing one leaves the database as it is. A
    sleeping database is waited for within the invocation's time, and another migration that is
    running is waited for. A database that a later version has migrated is left alone: migrations only
    add, and a deployment that is rolled back must not fail on them.

    Raises:
        DatabaseUnavailable: no answer in time, or the connection was lost.
        Misconfigured: the database cannot be brought up to date as it is.
    """
    if event.get("RequestType") == "Delete":
        return _answer(event, [], newer=False)
    remaining = context.get_remaining_time_in_millis() / 1000 - _LEFT_FOR_THE_WORK
    newer = False
    try:
        applied = migrate(login.url, password=login.password, wait_seconds=max(0.0, min(_LONGEST_WAIT, remaining)))
    except NewerSchema as ahead:
        logger.warning("newer schema", extra={"detail": str(ahead)})
        applied, newer = [], True
    names = [migration.name for migration in applied]
    logger.info("migrated", extra={"applied": names})
    return _answer(event, names, newer=newer)


def _answer(event: Mapping[str, Any], applied: list[str], *, newer: bool) -> dict[str, Any]:
    answer = {"applied": applied, "newer": newer}
    if "RequestType" in event:
        # As the provider of a custom resource expects it.
        return {"PhysicalResourceId": "dreaming-migrations", "Data": {"applied": ", ".join(applied)}} | answer
    return answer
