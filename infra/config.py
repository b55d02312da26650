"""What can be chosen for a deployment, what the stages choose, and the one list of passes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.settings.registry import REGISTRY
from dreaming.settings.resolution import resolve

PREFIX = "dreaming:"
"""Of the context keys that are ours, as in `cdk deploy -c dreaming:stage=prod`."""

LAMBDA_PYTHON = "3.14"
VISIBILITY_FACTOR = 6
"""A message stays hidden for this many function time-outs, as AWS advises for queues that invoke Lambda."""

_OUTSIDE_AWS = ("openai", "anthropic")
_GEOGRAPHIES = ("us", "us-gov", "eu", "apac", "jp", "au", "ca", "global")
_SCHEDULE = re.compile(r"cron\(\S+( \S+){5}\)|rate\(\d+ (minute|hour|day)s?\)")
_MODEL = re.compile(r"(arn:[\w-]+:bedrock:[\w-]+:\d*:[\w-]+/)?(?!arn:)[\w.:-]+")
_LONGEST_TIMEOUT = 900  # seconds, Lambda's limit
_LONGEST_VISIBILITY = 43_200  # seconds, SQS's limit


HOURLY = "cron(0 * * * ? *)"
"""The usual schedule. All of a stage tick in one minute, so that a database at rest is woken once."""


@dataclass(frozen=True, slots=True)
class PassDefinition:
    """One pass: everything that AWS holds for it is made from this.

    `function` is the folder below `functions/`. `self_enqueuing`: its batches send the next batch to
    their own queue. `calls_models`, `calls_embedders`: it reads provider keys and may call chat or
    embedding models of Bedrock. `announces`: it sends events to the bus that the deployment names.
    `tick`: its schedule, unless the deployment chooses another. `graphs`: what its batches count, as
    metrics by the title of their graph.
    """

    function: str
    memory_mb: int
    max_concurrency: int
    self_enqueuing: bool
    calls_models: bool
    calls_embedders: bool = False
    announces: bool = False
    tick: str = HOURLY
    graphs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def counts(self) -> tuple[str, ...]:
        """The metrics that its batches write, beside those of every pass."""
        return tuple(name for names in self.graphs.values() for name in names)


RUNS_STARTED = "runs_started"
DISPOSITIONS = ("done", "held", "repeated", "stale", "stopped", "busy", "failed")
"""What becomes of a batch's message; the metric is `batch_` and this."""

PASSES = (
    PassDefinition(
        "consolidate",
        memory_mb=512,
        max_concurrency=4,
        self_enqueuing=True,
        calls_models=True,
        calls_embedders=True,
        graphs={
            "Notes": ("notes_consolidated", "notes_empty", "notes_retired"),
            "Claims": ("claims_extracted", "claims_rejected", "claims_suppressed", "partial_chunks"),
            "Beliefs": (
                "beliefs_created",
                "beliefs_corroborated",
                "beliefs_restored",
                "beliefs_archived",
                "conflict_candidates",
                "candidates_left_out",
            ),
            "Likeness by meaning": ("semantic_matches", "texts_embedded", "embedder_failures"),
            "Relationships": ("relationships_restored", "relationships_archived", "relations_refused"),
            "Model calls": ("model_calls",),
            "Tokens": ("input_tokens", "output_tokens"),
        },
    ),
    PassDefinition(
        "embed",
        memory_mb=512,
        max_concurrency=2,
        self_enqueuing=True,
        calls_models=False,
        calls_embedders=True,
        graphs={
            "Vectors": ("texts_embedded", "texts_refused", "texts_left_out", "vectors_removed", "spaces_switched"),
            "Model calls": ("model_calls",),
        },
    ),
    PassDefinition(
        "resolve_contradictions",
        memory_mb=512,
        max_concurrency=2,
        self_enqueuing=True,
        calls_models=True,
        calls_embedders=True,
        graphs={
            "Pairs": ("pairs_decided", "pairs_open", "pairs_dropped", "conflicts_for_review", "verdicts_ignored"),
            "Beliefs": ("beliefs_merged", "beliefs_superseded", "beliefs_rejected", "beliefs_restored"),
            "Model calls": ("model_calls",),
            "Tokens": ("input_tokens", "output_tokens"),
        },
    ),
    PassDefinition(
        "decay",
        memory_mb=256,
        max_concurrency=2,
        self_enqueuing=True,
        calls_models=False,
        announces=True,
        graphs={
            "Fading": ("beliefs_warned", "beliefs_archived", "relationships_archived"),
            "Ageing": ("beliefs_ageing", "relationships_ageing", "moments_recomputed"),
        },
    ),
    PassDefinition(
        "score_autonomy",
        memory_mb=256,
        max_concurrency=2,
        self_enqueuing=True,
        calls_models=True,
        graphs={
            "Actions": ("actions_scored", "actions_judged", "actions_dead", "judgements_unreadable"),
            "Agents": ("agents_adjusted", "agents_blocked"),
            "Model calls": ("model_calls",),
            "Tokens": ("input_tokens", "output_tokens"),
        },
    ),
    PassDefinition(
        "synthesize",
        memory_mb=256,
        max_concurrency=2,
        self_enqueuing=True,
        calls_models=False,
        graphs={"Conversations": ("conversations_synthesized", "notes_made", "notes_edited", "notes_withdrawn")},
    ),
)
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
    jwt_issuer: str | None = Field(default=None, pattern=r"^https://[^\s/]+(/\S*)?$")
    jwt_audience: tuple[str, ...] = ()
    requests_per_second: int = Field(default=50, ge=1)

    settings: dict[str, str] = Field(default_factory=dict)
    bedrock_models: tuple[str, ...] = ()
    bedrock_embedders: tuple[str, ...] = ()

    event_bus: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._/-]+$", max_length=256)

    max_capacity: float = Field(default=2, ge=1, le=256, multiple_of=0.5, description="Aurora capacity units")
    pause_after_minutes: int = Field(default=5, ge=5, le=1440)
    backup_days: int = Field(default=7, ge=1, le=35)
    deletion_protection: bool = True

    tick: str | None = None
    ticks: dict[str, str] = Field(default_factory=dict)
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

    def schedule(self, definition: PassDefinition) -> str:
        """When a pass ticks: as chosen for it, else as chosen for all, else as the pass has it."""
        return self.ticks.get(definition.function) or self.tick or definition.tick

    @field_validator("jwt_audience", "bedrock_models", "bedrock_embedders", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("bedrock_models", "bedrock_embedders")
    @classmethod
    def _name_models(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for model in value:
            if not _MODEL.fullmatch(model):
                raise ValueError(f"{model!r} is no id and no ARN of a model or inference profile")
        return value

    @field_validator("tick")
    @classmethod
    def _tick(cls, value: str | None) -> str | None:
        return None if value is None else _schedule(value)

    @field_validator("ticks", mode="before")
    @classmethod
    def _read_ticks(cls, value: object) -> object:
        value = _object(value, "passes and schedules")
        unknown = sorted(set(value) - {definition.function for definition in PASSES})
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no pass; infra/config.py lists them")
        return {name: _schedule(str(given)) for name, given in value.items()}

    @field_validator("settings", mode="before")
    @classmethod
    def _read_settings(cls, value: object) -> object:
        value = _object(value, "setting names and values")
        unknown = sorted(set(value) - set(REGISTRY))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no setting; docs/settings.md lists them")
        return {name: _written(given) for name, given in value.items()}

    @model_validator(mode="after")
    def _agree(self) -> Configuration:
        if self.authorization is Authorization.JWT and not (self.jwt_issuer and self.jwt_audience):
            raise ValueError("authorization jwt needs jwt_issuer and jwt_audience")
        if self.monthly_budget_usd is not None and self.alarm_email is None:
            raise ValueError("monthly_budget_usd needs alarm_email, or nobody would hear of it")
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
        self._check_provider("chat", values.text("chat_provider"), values.text("chat_model"), "bedrock_models")
        embedding = values.text("embedding_provider")
        self._check_provider("embedding", embedding, values.text("embedding_model"), "bedrock_embedders")
        if embedding == "minilm":
            raise ValueError("embedding_provider minilm is for the laptop: its model is in no layer")

    def _check_provider(self, what: str, provider: str, model: str, named: str) -> None:
        if provider in _OUTSIDE_AWS and self.egress is Egress.ENDPOINTS and not self.is_local:
            raise ValueError(f"{what}_provider {provider} is not reached by an endpoint of AWS; choose egress nat")
        if provider == "bedrock" and model not in getattr(self, named):
            raise ValueError(f"{what}_provider bedrock calls {model!r}, which {named} must name")


def is_inference_profile(model: str) -> bool:
    """Tell whether an id of Bedrock names a profile over several regions, as in `eu.anthropic.…`."""
    return model.partition(".")[0] in _GEOGRAPHIES


def _object(value: object, of_what: str) -> Mapping[str, Any]:
    """Return a context value that is an object, or the JSON text of one."""
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"it is not an object of {of_what}")  # noqa: TRY004 - pydantic's contract
    return value


def _schedule(expression: str) -> str:
    if not _SCHEDULE.fullmatch(expression):
        raise ValueError(f"{expression!r} is no schedule of six fields or a rate, as in {HOURLY} or rate(4 hours)")
    return expression


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
