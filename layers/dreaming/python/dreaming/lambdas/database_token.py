"""The short-lived password with which an IAM identity logs in to Aurora.

It is a presigned URL of the action `rds-db:connect` without its scheme, signed with AWS Signature
Version 4 ("Authenticating requests: using query parameters", AWS General Reference; "IAM database
authentication", Amazon Aurora User Guide). Signing takes a few hashes, while importing boto3 would
cost each cold start of the API about half a second.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from urllib.parse import quote, urlencode

from dreaming.errors import Misconfigured

TOKEN_SECONDS = 900
"""How long a token lets in, from the moment it was made."""

_SERVICE = "rds-db"
_ALGORITHM = "AWS4-HMAC-SHA256"
_EMPTY_BODY = sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Credentials:
    """The identity of a function, as Lambda puts it into its environment."""

    region: str
    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Credentials:
        """Read what Lambda sets; raises `Misconfigured` naming the variable that is missing."""
        names = ("AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
        for name in names:
            if not environment.get(name):
                raise Misconfigured(f"{name} is not set; without it no token for the database can be signed")
        region, access_key, secret_key = (environment[name] for name in names)
        return cls(region, access_key, secret_key, environment.get("AWS_SESSION_TOKEN") or None)


def database_token(credentials: Credentials, *, host: str, port: int, user: str, now: datetime) -> str:
    """Return the password of `user` at `host:port`, good for `TOKEN_SECONDS` from `now`."""
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{credentials.region}/{_SERVICE}/aws4_request"
    parameters = {
        "Action": "connect",
        "DBUser": user,
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{credentials.access_key}/{scope}",
        "X-Amz-Date": moment,
        "X-Amz-Expires": str(TOKEN_SECONDS),
        "X-Amz-SignedHeaders": "host",
    }
    if credentials.session_token:
        parameters["X-Amz-Security-Token"] = credentials.session_token
    query = urlencode(sorted(parameters.items()), quote_via=quote, safe="-_.~")
    request = f"GET\n/\n{query}\nhost:{host}:{port}\n\nhost\n{_EMPTY_BODY}"
    to_sign = f"{_ALGORITHM}\n{moment}\n{scope}\n{sha256(request.encode()).hexdigest()}"
    signature = hmac.new(_signing_key(credentials, moment[:8]), to_sign.encode(), sha256).hexdigest()
    return f"{host}:{port}/?{query}&X-Amz-Signature={signature}"


def _signing_key(credentials: Credentials, day: str) -> bytes:
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (day, credentials.region, _SERVICE, "aws4_request"):
        key = hmac.new(key, part.encode(), sha256).digest()
    return key
