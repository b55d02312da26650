"""Keys in a secret: read seldom, missing without an error, and held for what is not the key's fault."""

import json
import logging
from collections.abc import Sequence

import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError

from dreaming.errors import DreamingError, MissingKey, ProviderMisconfigured, ProviderUnavailable, Throttled
from dreaming.models import aws
from dreaming.models.keys import KeyResolver
from dreaming.models.secrets_manager import SecretsManagerKeys
from tests.aws_exchange import Answer, Exchange, take_on_credentials

SECRET = "dreaming/provider-keys"
KEY = "sk-ant-very-secret-4711"


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    take_on_credentials(monkeypatch)


def secret(text: str) -> Answer:
    return Answer({"Name": SECRET, "SecretString": text})


def keys_in(answers: Sequence[Answer | Exception], clock: Clock | None = None) -> tuple[SecretsManagerKeys, Exchange]:
    exchange = Exchange("secretsmanager", answers)
    return SecretsManagerKeys(SECRET, clock=clock or Clock(), connect_with=exchange.connect), exchange


def test_the_secret_holds_what_a_laptop_has_in_its_environment() -> None:
    kept = {"DREAMING_KEY_ANTHROPIC__ACME": "own", "ANTHROPIC_API_KEY": "general"}
    keys, exchange = keys_in([secret(json.dumps(kept))])
    assert keys.read("acme", "anthropic") == "own"
    assert keys.read("other", "anthropic") == "general"
    assert keys.read("acme", "openai") is None
    assert exchange.bodies == [{"SecretId": SECRET}]


def test_the_secret_is_read_again_after_its_time() -> None:
    clock = Clock()
    keys, exchange = keys_in([secret("{}"), secret('{"OPENAI_API_KEY": "new"}')], clock)
    assert keys.read("acme", "openai") is None
    clock.seconds = 59.9
    assert keys.read("acme", "openai") is None
    clock.seconds = 60
    assert keys.read("acme", "openai") == "new"
    assert (len(exchange.requests), exchange.timeouts) == (2, [5.0])


@pytest.mark.parametrize(
    "answer",
    [
        Answer({}, 400, "ResourceNotFoundException"),
        Answer({"message": "You can't perform this: it was marked for deletion."}, 400, "InvalidRequestException"),
        Answer({"Name": SECRET}),
        secret("{}"),
    ],
)
def test_no_secret_is_no_key(answer: Answer) -> None:
    assert keys_in([answer])[0].read("acme", "openai") is None


@pytest.mark.parametrize(
    ("answer", "fate", "named"),
    [
        (Answer({}, 400, "AccessDeniedException"), ProviderMisconfigured, "secretsmanager:GetSecretValue"),
        (Answer({}, 400, "DecryptionFailure"), ProviderMisconfigured, "kms:Decrypt"),
        (Answer({}, 400, "InvalidRequestException"), ProviderMisconfigured, "cannot be read"),
        (Answer({}, 400, "ThrottlingException"), Throttled, "fewer calls"),
        (Answer({}, 500, "InternalServiceError"), ProviderUnavailable, "failed"),
        (Answer({}, 400, "UnrecognizedClientException"), MissingKey, "credentials"),
        (secret("[]"), ProviderMisconfigured, "no JSON object of texts"),
        (secret('{"OPENAI_API_KEY": 7}'), ProviderMisconfigured, "no JSON object of texts"),
        (secret(KEY), ProviderMisconfigured, "no JSON object of texts"),
        (ConnectTimeoutError(endpoint_url="https://x"), ProviderUnavailable, "gives no answer"),
        (ReadTimeoutError(endpoint_url="https://x"), ProviderUnavailable, "gives no answer"),
    ],
)
def test_what_is_not_the_keys_fault_holds_and_says_what_to_do(
    answer: Answer | Exception, fate: type[DreamingError], named: str
) -> None:
    keys, exchange = keys_in([answer])
    with pytest.raises(fate) as raised:
        keys.read("acme", "openai")
    assert type(raised.value) is fate
    assert named in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(exchange.requests) == 1


def test_an_outage_is_not_remembered() -> None:
    keys, _ = keys_in([Answer({}, 500, "InternalServiceError"), secret('{"OPENAI_API_KEY": "k"}')])
    with pytest.raises(ProviderUnavailable):
        keys.read("acme", "openai")
    assert keys.read("acme", "openai") == "k"


def test_without_credentials_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    aws._session.cache_clear()
    with pytest.raises(MissingKey, match="Secrets Manager needs AWS credentials"):
        keys_in([secret("{}")])[0].read("acme", "openai")


def test_a_key_reaches_no_log_and_no_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    keys, _ = keys_in([secret(json.dumps({"ANTHROPIC_API_KEY": KEY}))])
    resolver = KeyResolver(keys, clock=Clock())
    assert resolver.require("acme", "anthropic").reveal() == KEY
    assert KEY not in caplog.text
    assert KEY not in f"{keys!r}"
