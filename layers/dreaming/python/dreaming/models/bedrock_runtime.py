"""Calls of Amazon Bedrock, and what each way of failing means."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dreaming.errors import (
    DreamingError,
    MalformedAnswer,
    ModelTimeout,
    ProviderMisconfigured,
    ProviderUnavailable,
    Throttled,
)
from dreaming.models.aws import Failure, broken, common_fate, connect, read_failure
from dreaming.models.wire import Refusal

_Answer = TypeVar("_Answer")

_SERVICE = "Bedrock"
_CLIENTS = 4
_CONNECTIONS = 64  # as many as model calls can be in flight at once


def connect_bedrock(read_timeout: float) -> Any:
    """Return a client of Bedrock's runtime; see `dreaming.models.aws.connect`."""
    return connect("bedrock-runtime", read_timeout=read_timeout, connections=_CONNECTIONS)


class BedrockRuntime:
    """Calls Bedrock with the credentials of this process; safe to call from several threads at once.

    boto3 fixes a time-out for the life of a client, so clients are kept by time-out, the least recently
    used go first, and time-outs are rounded down: to seconds, and to five of them above ten. What is
    bounded is the wait for each read of the answer, which arrives whole.
    """

    def __init__(self, connect_with: Callable[[float], Any] = connect_bedrock) -> None:
        """Take what makes a client of a read time-out in seconds; nothing is made before the first call."""
        self._connect_with = connect_with
        self._lock = threading.Lock()
        self._clients: OrderedDict[int, Any] = OrderedDict()

    def converse(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Call `Converse` once and return its answer; `timeout` is in seconds.

        Raises `Refusal` for what is about this request; `MissingKey`, `ModelTimeout`, `Throttled`,
        `ProviderMisconfigured` and `ProviderUnavailable` for what is not; `MalformedAnswer` when the
        model itself failed over the request.
        """

        def call(client: Any) -> dict[str, Any]:
            answered: dict[str, Any] = client.converse(**request)
            return answered

        return self._attempt(call, timeout)

    def invoke(self, model: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Call `InvokeModel` once and return the JSON object of its answer; raises as `converse` does."""

        def call(client: Any) -> bytes:
            answered = client.invoke_model(
                modelId=model, body=json.dumps(body), contentType="application/json", accept="application/json"
            )
            content: bytes = answered["body"].read()
            return content

        try:
            parsed = json.loads(self._attempt(call, timeout))
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise ProviderUnavailable("Bedrock's answer is not a JSON object.")
        return parsed

    def _attempt(self, call: Callable[[Any], _Answer], timeout: float) -> _Answer:
        from botocore.exceptions import (  # noqa: PLC0415 - heavy, and only where Bedrock is used
            BotoCoreError,
            ClientError,
            ReadTimeoutError,
        )
        from botocore.parsers import ResponseParserError  # noqa: PLC0415 - heavy, and only where Bedrock is used

        try:
            return call(self._client(timeout))
        except ClientError as error:
            raise _fate(read_failure(error)) from None
        except ReadTimeoutError:
            raise ModelTimeout(f"No answer within {timeout:g} seconds.") from None
        except (BotoCoreError, ResponseParserError) as error:
            raise broken(error, _SERVICE) from None

    def _client(self, timeout: float) -> Any:
        seconds = max(int(timeout), 1)
        seconds = seconds if seconds <= 10 else seconds - seconds % 5
        with self._lock:
            if seconds not in self._clients:
                self._clients[seconds] = self._connect_with(float(seconds))
            self._clients.move_to_end(seconds)
            while len(self._clients) > _CLIENTS:
                self._clients.popitem(last=False)
            return self._clients[seconds]


def _fate(failure: Failure) -> Exception:
    """Return the error that `failure` means; codes as the service model of `bedrock-runtime` lists them."""
    if failure.code == "ModelTimeoutException":
        return ModelTimeout("The model took longer than Bedrock allows it.")
    if failure.code == "ModelNotReadyException":
        return ProviderUnavailable("The model is not ready yet.", retry_after=failure.retry_after)
    if failure.code == "ModelErrorException":
        return _model_error(failure)
    if failure.code == "ResourceNotFoundException":
        return ProviderMisconfigured(f"Bedrock knows no such model in this region ({failure}): check the model's id.")
    return common_fate(failure, _SERVICE) or Refusal(failure.status, failure.code, failure.text)


def _model_error(failure: Failure) -> DreamingError:
    said = f"The model failed ({failure}, originally {failure.original_status or 'not said'})."
    if failure.original_status == 429:
        return Throttled(said, retry_after=failure.retry_after)
    if 400 <= failure.original_status < 500:
        return MalformedAnswer(said)
    return ProviderUnavailable(said, retry_after=failure.retry_after)
