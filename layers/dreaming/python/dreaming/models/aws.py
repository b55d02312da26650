"""Clients of AWS services, and what their ways of failing mean.

A client makes exactly one attempt for each call: how often to try again is for the engine to decide.
Of an error only its machine words are repeated, since services echo what they were sent. boto3 is
imported where it is used, so that whoever only chooses a provider does not wait for it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dreaming.errors import DreamingError, MissingKey, ProviderMisconfigured, ProviderUnavailable, Throttled
from dreaming.models.retry_after import retry_after

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

_lock = threading.Lock()

_CONNECT_SECONDS = 10.0
_NO_CREDENTIALS = frozenset(
    (
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    )
)
_THROTTLED = frozenset(
    (
        "LimitExceededException",
        "RequestLimitExceeded",
        "ServiceQuotaExceededException",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    )
)


def connect(service: str, *, read_timeout: float, connections: int = 10) -> Any:
    """Return a boto3 client that tries once and waits `read_timeout` seconds for each read.

    The region is AWS_REGION's, else what boto3 finds itself (AWS_DEFAULT_REGION, the profile).
    """
    from botocore.config import Config  # noqa: PLC0415 - heavy, and only where AWS is used

    # Below INFO botocore writes whole bodies into the log: note text on the way out, keys on the way in.
    log = logging.getLogger("botocore")
    log.setLevel(max(log.getEffectiveLevel(), logging.INFO))
    config = Config(
        retries={"total_max_attempts": 1, "mode": "standard"},
        connect_timeout=min(read_timeout, _CONNECT_SECONDS),
        read_timeout=read_timeout,
        max_pool_connections=connections,
        tcp_keepalive=True,
    )
    with _lock:  # a session must not make two clients at once
        return _session(os.environ.get("AWS_REGION") or None).client(service, config=config)


@lru_cache(maxsize=1)
def _session(region: str | None) -> Any:
    """Return a session that all clients share: the second client of a service then costs a hundredth."""
    import boto3  # noqa: PLC0415 - heavy, and only where AWS is used

    return boto3.Session(region_name=region)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that a service answered; `text` is its message in lower case, never to be shown."""

    code: str
    status: int
    text: str
    retry_after: float | None
    original_status: int

    def __str__(self) -> str:
        return f"HTTP {self.status}, {self.code}"


def read_failure(error: ClientError) -> Failure:
    """Return what `error` says; what it does not say is "" or 0."""
    response: Mapping[str, Any] = error.response
    named = response.get("Error", {})
    metadata = response.get("ResponseMetadata", {})
    return Failure(
        code=str(named.get("Code", "")),
        status=int(metadata.get("HTTPStatusCode", 0)),
        text=str(named.get("Message", "")).casefold(),
        retry_after=retry_after(metadata.get("HTTPHeaders", {}), datetime.now(UTC)),
        original_status=int(response.get("originalStatusCode", 0)),
    )


def common_fate(failure: Failure, service: str) -> DreamingError | None:
    """Return the error that `failure` means at every service, None when `service` itself must say."""
    if failure.code in _THROTTLED:
        return Throttled(f"{service} asks for fewer calls ({failure}).", retry_after=failure.retry_after)
    if failure.code in _NO_CREDENTIALS:
        return MissingKey(f"{service} refuses the AWS credentials ({failure}): renew those of this process.")
    if failure.status >= 500:
        return ProviderUnavailable(f"{service} failed ({failure}).", retry_after=failure.retry_after)
    return None


def broken(error: BotoCoreError | ResponseParserError, service: str) -> DreamingError:
    """Return what it means that no answer of `service` came, or none that can be read."""
    from botocore import exceptions  # noqa: PLC0415 - heavy, and only where AWS is used

    if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
        return MissingKey(f"{service} needs AWS credentials: give this process a role, a profile or keys.")
    if isinstance(error, exceptions.CredentialRetrievalError | exceptions.TokenRetrievalError):
        return MissingKey(f"{service} needs AWS credentials, and they cannot be read: see to the role or profile.")
    if isinstance(error, exceptions.NoRegionError):
        return ProviderMisconfigured(f"{service} needs a region: set AWS_REGION.")
    refused = exceptions.ParamValidationError | exceptions.InvalidRegionError | exceptions.ProfileNotFound
    if isinstance(error, refused):
        return ProviderMisconfigured(f"boto3 refuses the call of {service} ({type(error).__name__}).")
    return ProviderUnavailable(f"{service} gives no answer ({type(error).__name__}).")
