"""An SQS FIFO queue as a pass uses it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from dreaming.errors import Hold
from dreaming.lambdas.traces import subsegment

if TYPE_CHECKING:
    from typing import Any


class QueueUnavailable(Hold):
    """SQS did not do what it was asked; the redelivery of the batch, or the next tick, goes on."""

    reason = "queue_unavailable"


class SqsQueue:
    """Sends to one FIFO queue, and says when a message of it comes again."""

    def __init__(self, url: str) -> None:
        """Name the queue; the client is made at the first call."""
        self._url = url

    @cached_property
    def _client(self) -> Any:
        return boto3.client("sqs")

    def send(self, body: str, *, group_id: str, deduplication_id: str) -> None:
        """Send a message with an explicit deduplication id; raises `QueueUnavailable`."""
        with subsegment("send", {"deduplication_id": deduplication_id}):
            try:
                self._client.send_message(
                    QueueUrl=self._url,
                    MessageBody=body,
                    MessageGroupId=group_id,
                    MessageDeduplicationId=deduplication_id,
                )
            except (BotoCoreError, ClientError) as error:
                raise QueueUnavailable(f"the queue did not take a message: {error}") from error

    def change_visibility(self, receipt: str, seconds: float) -> None:
        """Let a received message come again after `seconds`; raises `QueueUnavailable`."""
        try:
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=round(seconds)
            )
        except (BotoCoreError, ClientError) as error:
            raise QueueUnavailable(f"the queue did not change when a message comes again: {error}") from error
