"""AWS without a network: real boto3 clients, whose requests are answered just before they would be sent.

boto3 checks each request against its own service model and parses each answer by it, so a field that
the service does not know fails the test.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from dreaming.models.aws import connect


class _Body(io.BytesIO):
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


@dataclass
class Answer:
    """An HTTP answer: `code` makes it an error of that name."""

    body: Any = field(default_factory=dict)
    status: int = 200
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def sent(self, url: str) -> AWSResponse:
        body = self.body | {"__type": self.code} if self.code else self.body
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", "content-length": str(len(content)), **self.headers}
        if self.code:  # the services' protocols differ in where they look for it
            headers["x-amzn-errortype"] = self.code
        return AWSResponse(url, self.status, headers, _Body(content))


@dataclass
class Exchange:
    """Answers the requests of one service in turn, the last answer for ever; remembers what was sent."""

    service: str
    answers: Sequence[Answer | Exception]
    requests: list[AWSPreparedRequest] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    def connect(self, read_timeout: float = 5.0) -> Any:
        self.timeouts.append(read_timeout)
        client = connect(self.service, read_timeout=read_timeout)
        client.meta.events.register("before-send", self._answer)
        return client

    def _answer(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer.sent(request.url)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was sent, in order."""
        return [json.loads(request.body) for request in self.requests]

    @property
    def paths(self) -> list[str]:
        """Where it was sent, in order."""
        return [unquote(request.url.split("/", 3)[3]) for request in self.requests]


def take_on_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this process credentials and a region of no account, and none of the machine's own."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "eu-central-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, value)
