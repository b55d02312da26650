"""Turns the events of a pass's Lambda into ticks and batches: a schedule's, or its queue's."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from traceback import format_tb
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from pydantic import ValidationError

from dreaming.errors import DatabaseUnavailable, DreamingError, Hold
from dreaming.lambdas.traces import subsegment
from dreaming.passes.records import BatchMessage, BatchReport, Deadline, Disposition, TickReport
from dreaming.passes.store import LeaseBusy

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from dreaming.passes.engine import Engine

_FIRST_RETRY_SECONDS = 15
"""When a failed message comes again; doubled with each receive, so that five outlast one invocation."""

_LONGEST_RETRY_SECONDS = 900

_RECEIVES_WITHOUT_DATABASE = 3
"""After so many receives the message of an unreachable database is finished, short of the dead letters."""


def handle(
    engine: Engine, event: Mapping[str, Any], context: LambdaContext, *, logger: Logger, metrics: Metrics
) -> dict[str, Any]:
    """Process one event: an SQS batch answers with its failed items, a tick with what it started.

    A tick raises `Hold` when the database or the queue cannot be reached; Lambda repeats it once.
    """
    if "Records" in event:
        return _batches(engine, event, context, logger, metrics)
    only = event.get("slice_id")
    with subsegment("tick", {"pass": engine.work.name}) as told:
        report = engine.tick(only if isinstance(only, int) else None)
        told["started"] = len(report.started)
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
    receives = int(record.attributes.approximate_receive_count)
    # The keys are for this record only: the next one of the event may be of another run.
    with ExitStack() as keys:
        try:
            message = _message(record)
            keys.enter_context(logger.append_context_keys(correlation_id=str(message.run_id)))
            _batch(engine, message, context, logger, metrics, receives=receives)
        except LeaseBusy:
            # Queues deliver twice; whoever came second waits its turn, and nothing is wrong.
            logger.info("batch busy", extra={"message_id": record.message_id, "receives": receives})
            metrics.add_metric(name="batch_busy", unit=MetricUnit.Count, value=1)
            _come_again(engine, record.receipt_handle, _retry_seconds(receives), logger)
            raise
        except Exception as error:
            _log_failure(error, record.message_id, logger)
            metrics.add_metric(name="batch_failed", unit=MetricUnit.Count, value=1)
            _come_again(engine, record.receipt_handle, _retry_seconds(receives), logger)
            raise


def _message(record: SQSRecord) -> BatchMessage:
    try:
        return BatchMessage.model_validate_json(record.body)
    except ValidationError:
        # Nothing that we sent: it goes to the dead-letter queue, where a person can look at it.
        raise ValueError(f"message {record.message_id} is not a batch message") from None


def _batch(
    engine: Engine, message: BatchMessage, context: LambdaContext, logger: Logger, metrics: Metrics, *, receives: int
) -> None:
    deadline = Deadline(lambda: context.get_remaining_time_in_millis() / 1000)
    ids: dict[str, str | int] = {"run_id": str(message.run_id), "slice_id": message.slice_id, "batch": message.batch}
    with subsegment("batch", {"pass": engine.work.name, **ids}) as told:
        try:
            report = engine.batch(message, holder=context.aws_request_id, deadline=deadline)
        except DatabaseUnavailable as hold:
            if receives < _RECEIVES_WITHOUT_DATABASE:
                raise
            # A hold that cannot be written down; a tick replaces the run when it has been silent for long enough.
            report = BatchReport(message, Disposition.HELD, hold.reason)
        told["disposition"] = report.disposition.value
    _log_batch(report, logger, metrics)


def _retry_seconds(receives: int) -> int:
    return min(_FIRST_RETRY_SECONDS << min(receives - 1, 10), _LONGEST_RETRY_SECONDS)


def _come_again(engine: Engine, receipt: str, seconds: int, logger: Logger) -> None:
    try:
        engine.queue.change_visibility(receipt, seconds)
    except Hold as hold:
        # Then it comes again after the queue's own, longer time.
        logger.warning("visibility not shortened", extra={"reason": hold.reason})


def _log_failure(error: Exception, message_id: str, logger: Logger) -> None:
    # Errors of other libraries may quote what they were given: their text stays out of the log.
    told = str(error) if isinstance(error, DreamingError) else None
    logger.error(
        "batch failed",
        extra={
            "message_id": message_id,
            "exception_name": type(error).__name__,
            "detail": told,
            "places": format_tb(error.__traceback__),
        },
    )


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
    for name, value in counts.items():
        if value:
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
