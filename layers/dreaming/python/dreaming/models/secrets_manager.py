"""Keys of model providers kept in one secret of AWS Secrets Manager.

The secret is a JSON object of the names and values that a laptop has in its environment, as
`dreaming.models.keys` documents them:

    {"DREAMING_KEY_ANTHROPIC": "…", "DREAMING_KEY_OPENAI__ACME": "…"}

A secret holds 64 KiB (Secrets Manager, "Quotas"), which is several hundred keys.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from dreaming.errors import ProviderMisconfigured
from dreaming.models.aws import broken, common_fate, connect, read_failure
from dreaming.models.keys import EnvironmentKeys

_SERVICE = "Secrets Manager"
_SECONDS = 5.0
_GONE = "marked for deletion"


def connect_secrets_manager() -> Any:
    """Return a client of Secrets Manager; see `dreaming.models.aws.connect`."""
    return connect("secretsmanager", read_timeout=_SECONDS)


class SecretsManagerKeys:
    """Reads keys from one secret; safe to call from several threads.

    The secret is read at most once in `time_to_live` seconds, whoever asks for which key, so that an
    organization without a key costs no call each time.
    """

    def __init__(
        self,
        secret: str,
        *,
        clock: Callable[[], float],
        connect_with: Callable[[], Any] = connect_secrets_manager,
        time_to_live: float = 60.0,
    ) -> None:
        """Take the secret's name or ARN, and a monotonic clock in seconds; nothing is read before the first key."""
        self._secret = secret
        self._clock = clock
        self._connect_with = connect_with
        self._time_to_live = time_to_live
        self._lock = threading.Lock()
        self._client: Any = None
        self._known: tuple[float, EnvironmentKeys] | None = None

    def __repr__(self) -> str:
        return f"SecretsManagerKeys({self._secret!r})"

    def read(self, org_id: str, provider: str) -> str | None:
        """Return the key's text, None when the secret or the key in it does not exist.

        Raises `Hold` when the secret cannot be read: `Throttled`, `ProviderUnavailable`, `MissingKey`
        without AWS credentials, `ProviderMisconfigured` when access is denied or it is no JSON object.
        """
        return self._keys().read(org_id, provider)

    def _keys(self) -> EnvironmentKeys:
        with self._lock:
            if self._known is None or self._clock() >= self._known[0]:
                self._known = (self._clock() + self._time_to_live, EnvironmentKeys(self._fetch()))
            return self._known[1]

    def _fetch(self) -> Mapping[str, str]:
        from botocore.exceptions import (  # noqa: PLC0415 - heavy, and only where AWS is used
            BotoCoreError,
            ClientError,
        )
        from botocore.parsers import ResponseParserError  # noqa: PLC0415 - heavy, and only where AWS is used

        try:
            self._client = self._client or self._connect_with()
            answered = self._client.get_secret_value(SecretId=self._secret)
        except ClientError as error:
            failure = read_failure(error)
            if failure.code == "ResourceNotFoundException" or _GONE in failure.text:
                return {}
            raise common_fate(failure, _SERVICE) or ProviderMisconfigured(
                f"The secret {self._secret} cannot be read ({failure}): allow secretsmanager:GetSecretValue on it "
                "and kms:Decrypt on its key."
            ) from None
        except (BotoCoreError, ResponseParserError) as error:
            raise broken(error, _SERVICE) from None
        return self._parsed(answered.get("SecretString"))

    def _parsed(self, text: str | None) -> Mapping[str, str]:
        try:
            parsed = json.loads(text or "{}")
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict) or not all(isinstance(value, str) for value in parsed.values()):
            raise ProviderMisconfigured(
                f"The secret {self._secret} is no JSON object of texts: write it as names of variables and keys."
            )
        return parsed
