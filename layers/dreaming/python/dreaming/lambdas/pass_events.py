"""Turns the events of a pass's Lambda into ticks and batches: a schedule's, or its queue's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import ValidationError

from dreaming.passes.engine import Engine
from dreaming.passes.records import BatchMessage, BatchReport, Deadline, TickReport

_METRICS_OF_COUNTS = (
    "notes_consolidated",
    "notes_empty",
    "notes_retired",
    "claims_rejected",
    "beliefs_created",
    "beliefs_corroborated",
    "model_calls",
)


def handle(
    engine: Engine, event: Mapping[str, Any], context: LambdaContext, *, logger: Logger, metrics: Metrics
) -> dict[str, Any]:
    """Process one event: an SQS batch answers with its failed items, a tick with what it started."""
    if "Records" in event:
        return _batches(engine, event, context, logger, metrics)
    only = event.get("slice_id")
    report = engine.tick(only if isinstance(only, int) else None)
    _log_tick(report, logger)
    metrics.add_metric(name="runs_started", unit=MetricUnit.Count, value=len(report.started))
    return {
        "started": [message.model_dump(mode="json") for message in report.started],
        "refused": [list(item) for item in report.refused],
        "reason": report.reason,
    }


def _batches(
    engine: Engine, event: Mapping[str, Any], context: LambdaContext, logger: Logger, metrics: Metrics
) -> dict[str, Any]:
    # A failed group must not hold up another one, should a batch ever hold more than one message.
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    # A failed item is an answer, never an exception of the whole.
    processor.raise_on_entire_batch_failure = False
    handler = partial(_process, engine, context, logger, metrics)
    response = process_partial_response(event=dict(event), record_handler=handler, processor=processor, context=context)
    return dict(response)


def _process(engine: Engine, context: LambdaContext, logger: Logger, metrics: Metrics, record: SQSRecord) -> None:
    try:
        message = BatchMessage.model_validate_json(record.body)
    except ValidationError as error:
        # Nothing that we sent: it goes to the dead-letter queue, where a person can look at it.
        logger.error("message is not a batch message", extra={"message_id": record.message_id})
        raise ValueError(f"message {record.message_id} is not a batch message") from error
    logger.append_keys(correlation_id=str(message.run_id))
    deadline = Deadline(lambda: context.get_remaining_time_in_millis() / 1000)
    report = engine.batch(message, holder=context.aws_request_id, deadline=deadline)
    _log_batch(report, logger, metrics)


def _log_tick(report: TickReport, logger: Logger) -> None:
    logger.info("tick", extra={"started": len(report.started), "refused": report.refused, "reason": report.reason})


def _log_batch(report: BatchReport, logger: Logger, metrics: Metrics) -> None:
    counts = report.outcome.counts if report.outcome else {}
    logger.info(
        "batch",
        extra={
            "slice_id": report.message.slice_id,
            "batch": report.message.batch,
            "disposition": report.disposition.value,
            "reason": report.reason,
            "counts": counts,
            "next_sent": report.sent is not None,
        },
    )
    metrics.add_metric(name=f"batch_{report.disposition.value}", unit=MetricUnit.Count, value=1)
    for name in _METRICS_OF_COUNTS:
        if counts.get(name):
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=counts[name])
