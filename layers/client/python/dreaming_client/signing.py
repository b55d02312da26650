"""AWS Signature Version 4, for deployments whose callers are known by their AWS credentials.

As the Signature Version 4 reference of AWS describes it; the service of an HTTP API is `execute-api`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote

import httpx

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True, slots=True)
class Credentials:
    """AWS credentials; those of a role have a session token."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


def environment_credentials() -> Credentials:
    """Return the credentials of the environment, as Lambda sets them; raises `KeyError` where there are none."""
    return Credentials(
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"], os.environ.get("AWS_SESSION_TOKEN")
    )


def _now() -> datetime:
    return datetime.now(UTC)


class SigV4Auth(httpx.Auth):
    """Signs every request anew; `credentials` is asked each time, so it may refresh what expires."""

    requires_request_body = True

    def __init__(
        self,
        region: str,
        credentials: Callable[[], Credentials] = environment_credentials,
        *,
        service: str = "execute-api",
        clock: Callable[[], datetime] = _now,
    ) -> None:
        """Sign for `region`, such as `eu-central-1`."""
        self._region = region
        self._credentials = credentials
        self._service = service
        self._clock = clock

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign a request and send it."""
        self.sign(request)
        yield request

    def sign(self, request: httpx.Request) -> None:
        """Add the headers of a signature to a request."""
        credentials, now = self._credentials(), self._clock()
        stamp = now.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/{self._region}/{self._service}/aws4_request"
        signed = {"host": request.url.netloc.decode("ascii"), "x-amz-date": stamp}
        if credentials.session_token:
            signed["x-amz-security-token"] = credentials.session_token
        names = ";".join(sorted(signed))
        canonical = "\n".join(
            [
                request.method,
                quote(request.url.raw_path.partition(b"?")[0].decode("ascii"), safe="/-_.~"),
                _canonical_query(request.url),
                *(f"{name}:{signed[name]}" for name in sorted(signed)),
                "",
                names,
                hashlib.sha256(request.content).hexdigest(),
            ]
        )
        text = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + credentials.secret_key.encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.new(key, text.encode(), "sha256").hexdigest()
        request.headers.update({name: value for name, value in signed.items() if name != "host"})
        request.headers["Authorization"] = (
            f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        )


def _canonical_query(url: httpx.URL) -> str:
    pairs = ((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in url.params.multi_items())
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))
