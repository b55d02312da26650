"""Brings the database up to date: invoked by every deployment, before the functions of its version run."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from dreaming.lambdas.migration import apply_migrations
from dreaming.lambdas.wiring import sandbox_login

logger = Logger(service="migrate")


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Apply the migrations that the database lacks; an error fails the deployment."""
    return apply_migrations(sandbox_login(), event, context, logger=logger)
