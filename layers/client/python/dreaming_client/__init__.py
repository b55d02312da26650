"""A typed client of Dreaming's HTTP API, synchronous and asynchronous."""

from dreaming_client.asynchronous import AsyncDreaming
from dreaming_client.client import Dreaming
from dreaming_client.errors import (
    ApiError,
    ConnectionFailed,
    DreamingError,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotRunning,
    NotVerified,
    TryLater,
    UnexpectedAnswer,
)
from dreaming_client.sending import Retries
from dreaming_client.signing import Credentials, SigV4Auth, environment_credentials

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncDreaming",
    "ConnectionFailed",
    "Credentials",
    "Dreaming",
    "DreamingError",
    "InvalidRequest",
    "NotAllowed",
    "NotFound",
    "NotRunning",
    "NotVerified",
    "Retries",
    "SigV4Auth",
    "TryLater",
    "UnexpectedAnswer",
    "environment_credentials",
]
