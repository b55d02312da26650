"""What can be chosen for a deployment, what the stages choose, and the one list of passes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import resolve

PREFIX = "dreaming:"
"""Of the context keys that are ours, as in `cdk deploy -c dreaming:stage=prod`."""

LAMBDA_PYTHON = "3.14"
LAMBDA_ARCHITECTURE = "arm64"
VISIBILITY_FACTOR = 6
"""A message stays hidden for this many function time-outs, as AWS advises for queues that invoke Lambda."""

_OUTSIDE_AWS = ("openai", "anthropic")
_GEOGRAPHIES = ("us", "us-gov", "eu", "apac", "jp", "au", "ca", "global")
_LONGEST_TIMEOUT = 900  # seconds, Lambda's limit
_LONGEST_VISIBILITY = 43_200  # seconds, SQS's limit


@dataclass(frozen=True, slots=True)
class PassDefinition:
    """One pass: everything that AWS holds for it is made from this.

    `function` is the folder below `functions/`. `self_enqueuing`: its batches send the next batch to
    their own queue. `calls_models`: it reads provider keys and may call Bedrock.
    """

    function: str
    memory_mb: int
    max_concurrency: int
    self_enqueuing: bool
    calls_models: bool


PASSES = (
    PassDefinition("consolidate", memory_mb=512, max_concurrency=4, self_enqueuing=True, calls_models=True),
)  # fmt: skip
"""All passes. Another one is a folder in `functions/` and a line here."""


class Stage(StrEnum):
    """Where a deployment stands; `local` is an emulator of AWS on this machine."""

    DEV = "dev"
    PROD = "prod"
    LOCAL = "local"


class Egress(StrEnum):
    """How functions reach what is outside: AWS by endpoints only, or everything through NAT."""

    ENDPOINTS = "endpoints"
    NAT = "nat"


class Authorization(StrEnum):
    """Who may call the API: holders of an identity provider's token, or of AWS credentials."""

    JWT = "jwt"
    IAM = "iam"


class Configuration(BaseModel):
    """A deployment's choices; each field is the context key `dreaming:<field>`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Stage
    egress: Egress = Egress.ENDPOINTS
    nat_gateways: int = Field(default=1, ge=1, le=2)

    authorization: Authorization = Authorization.IAM
    jwt_issuer: str | None = None
    jwt_audience: tuple[str, ...] = ()
    requests_per_second: int = Field(default=50, ge=1)

    settings: dict[str, str] = Field(default_factory=dict)
    bedrock_models: tuple[str, ...] = ()

    max_capacity: float = Field(default=2, ge=1, le=256, description="Aurora capacity units")
    pause_after_minutes: int = Field(default=5, ge=5, le=1440)
    backup_days: int = Field(default=7, ge=1, le=35)
    deletion_protection: bool = True

    tick: str = Field(default="cron(0 * * * ? *)", pattern=r"^(cron|rate)\(.+\)$")
    timeout_seconds: int = Field(default=180, ge=1, le=_LONGEST_TIMEOUT)
    visibility_seconds: int | None = Field(default=None, ge=1, le=_LONGEST_VISIBILITY)
    max_receives: int = Field(default=5, ge=1, le=1000)
    reserve_migrator: bool = False

    log_days: int = Field(default=30, ge=1)
    alarm_email: str | None = Field(default=None, pattern=r"^[^@\s]+@[^@\s]+$")
    daily_model_calls: int = Field(default=10_000, ge=1)
    monthly_budget_usd: int | None = Field(default=None, ge=1)

    database_url: str | None = None

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> Configuration:
        """Read the keys that begin with `dreaming:`; what is not named is as the stage has it.

        Raises:
            Misconfigured: a key is unknown, a value is out of range, or choices contradict each other.
        """
        given = {key.removeprefix(PREFIX): value for key, value in context.items() if key.startswith(PREFIX)}
        stage = given.get("stage")
        if stage not in list(Stage):
            names = ", ".join(Stage)
            raise Misconfigured(f"{PREFIX}stage is {stage!r}; name one of {names}: cdk deploy -c {PREFIX}stage=dev")
        try:
            return cls.model_validate({**_OF_STAGE[Stage(stage)], **given})
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            where = f"{PREFIX}{field}: " if field else ""
            problem = first["msg"].removeprefix("Value error, ")
            raise Misconfigured(f"{where}{problem}; correct it in infra/cdk.json or after -c") from error

    @property
    def visibility(self) -> int:
        """Seconds for which a received message is hidden."""
        return self.visibility_seconds or VISIBILITY_FACTOR * self.timeout_seconds

    @property
    def is_local(self) -> bool:
        """Whether this goes to an emulator."""
        return self.stage is Stage.LOCAL

    @property
    def name(self) -> str:
        """The prefix of every name in the account."""
        return f"dreaming-{self.stage}"

    @property
    def metrics_namespace(self) -> str:
        """Where the functions write metrics: one place for each stage, or a stage would answer another's alarms."""
        return f"Dreaming/{self.stage}"

    @property
    def environment(self) -> dict[str, str]:
        """The chosen settings as the functions' environment variables."""
        return {REGISTRY[name].environment: value for name, value in sorted(self.settings.items())}

    @field_validator("jwt_audience", "bedrock_models", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("settings", mode="before")
    @classmethod
    def _read_settings(cls, value: object) -> object:
        if isinstance(value, str):
            value = json.loads(value)
        if not isinstance(value, Mapping):
            raise ValueError("it is not an object of setting names and values")  # noqa: TRY004 - pydantic's contract
        unknown = sorted(set(value) - set(REGISTRY))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no setting; docs/settings.md lists them")
        return {name: _written(given) for name, given in value.items()}

    @model_validator(mode="after")
    def _agree(self) -> Configuration:
        if self.authorization is Authorization.JWT and not (self.jwt_issuer and self.jwt_audience):
            raise ValueError("authorization jwt needs jwt_issuer and jwt_audience")
        if self.is_local != (self.database_url is not None):
            raise ValueError("database_url is for stage local, which needs it; other stages have a database of theirs")
        if self.visibility < self.timeout_seconds or self.visibility > _LONGEST_VISIBILITY:
            raise ValueError(f"visibility_seconds must lie between the time-out and {_LONGEST_VISIBILITY}")
        if not self.is_local and self.visibility < VISIBILITY_FACTOR * self.timeout_seconds:
            raise ValueError(f"visibility_seconds must be at least {VISIBILITY_FACTOR} times timeout_seconds")
        self._check_settings()
        return self

    def _check_settings(self) -> None:
        try:
            values = resolve(self.environment, {})
        except InvalidInput as error:
            raise ValueError(f"settings: {error}") from error
        provider, model = values.text("chat_provider"), values.text("chat_model")
        if provider in _OUTSIDE_AWS and self.egress is Egress.ENDPOINTS and not self.is_local:
            raise ValueError(f"chat_provider {provider} is not reached by an endpoint of AWS; choose egress nat")
        if provider == "bedrock" and model not in self.bedrock_models:
            raise ValueError(f"chat_provider bedrock calls {model!r}, which bedrock_models must name")


def is_inference_profile(model: str) -> bool:
    """Tell whether an id of Bedrock names a profile over several regions, as in `eu.anthropic.…`."""
    return model.partition(".")[0] in _GEOGRAPHIES


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_OF_STAGE: Mapping[Stage, Mapping[str, Any]] = {
    Stage.DEV: {"deletion_protection": False},
    Stage.PROD: {"max_capacity": 8, "backup_days": 14, "log_days": 90, "nat_gateways": 2, "reserve_migrator": True},
    # Short times, so that a test of a dying function waits for seconds.
    Stage.LOCAL: {
        "deletion_protection": False,
        "tick": "rate(1 minute)",
        "timeout_seconds": 20,
        "log_days": 1,
        "settings": {"enabled": True},
    },
}
