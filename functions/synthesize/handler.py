"""The synthesis pass: invoked by its schedule (a tick) and by its queue (a batch)."""

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.utilities.typing import LambdaContext

from dreaming.lambdas.pass_events import handle
from dreaming.lambdas.wiring import engine

logger = Logger(service="synthesize")
metrics = Metrics(service="synthesize")
copy_config_to_registered_loggers(source_logger=logger, include={"dreaming"})


@metrics.log_metrics
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Plan runs when a schedule calls, process batches when the queue does."""
    return handle(engine("synthesis"), event, context, logger=logger, metrics=metrics)
