"""The HTTP API, invoked by API Gateway for every request."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from dreaming.api.application import build
from dreaming.api.door import Ports
from dreaming.lambdas.wiring import resources

WAIT_SECONDS = 10.0
"""How long a request waits for a sleeping database, well within the 30 seconds of API Gateway."""

logger = Logger(service="api")


def _ports() -> Ports:
    given = resources(wait_seconds=WAIT_SECONDS)
    return Ports(given.database, given.keys, given.environment, given.clock, given.new_id)


app = build(_ports, logger)


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP, clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one request."""
    return app.resolve(event, context)
