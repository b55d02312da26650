"""Every setting there is: its type, default, environment names, who may change it, who reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

type_names = {bool: "true or false", int: "whole number", float: "number", str: "text"}


class ChangedBy(StrEnum):
    """Who may change a setting: the deployment's environment only, or each organization too."""

    DEPLOYMENT = "deployment"
    ORGANIZATION = "organization"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `minimum` and `maximum` are inclusive; `reader` is the module that acts on it."""

    name: str
    type: type[bool] | type[int] | type[float] | type[str]
    default: bool | int | float | str
    changed_by: ChangedBy
    reader: str
    sentence: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        """The environment variable that sets the deployment's default."""
        return f"DREAMING_{self.name.upper()}"

    @property
    def aliases(self) -> tuple[str, ...]:
        """Older environment names that still work."""
        return (f"QUOXDREAM_{self.name.upper()}", f"QM_LTM_{self.name.upper()}")


def _setting(
    name: str,
    default: bool | int | float | str,
    sentence: str,
    reader: str,
    *,
    organization: bool = True,
    between: tuple[float, float] | None = None,
    choices: tuple[str, ...] = (),
) -> Setting:
    changed_by = ChangedBy.ORGANIZATION if organization else ChangedBy.DEPLOYMENT
    minimum, maximum = between or (None, None)
    return Setting(name, type(default), default, changed_by, reader, sentence, minimum, maximum, choices)


_SETTINGS = (
    _setting(
        "enabled",
        False,
        "Master switch: without it no pass plans or processes anything.",
        "dreaming.passes.engine",
        organization=False,
    ),
    _setting(
        "chat_provider",
        "offline",
        "Where claims are extracted: offline rules, a script, an OpenAI-compatible server, Bedrock, or Anthropic.",
        "dreaming.models.selection",
        choices=("offline", "scripted", "openai", "bedrock", "anthropic"),
    ),
    _setting(
        "chat_model",
        "",
        "The provider's name of the chat model; for Bedrock, the id or ARN of a model or inference profile.",
        "dreaming.models.selection",
    ),
    _setting(
        "chat_base_url",
        "https://api.openai.com/v1",
        "Address of the OpenAI-compatible server.",
        "dreaming.models.selection",
        organization=False,
    ),
    _setting(
        "chat_context_tokens",
        32_000,
        "The chat model's window; longer notes are split into chunks.",
        "dreaming.models.selection",
        between=(2_000, 2_000_000),
    ),
    _setting(
        "chat_script",
        "",
        "File of the scripted provider's answers.",
        "dreaming.models.selection",
        organization=False,
    ),
    _setting(
        "max_output_tokens",
        4_000,
        "Upper bound of one answer's length.",
        "dreaming.passes.consolidation.extraction",
        between=(200, 64_000),
    ),
    _setting(
        "model_timeout_seconds",
        60,
        "How long one model call may take.",
        "dreaming.passes.consolidation.extraction",
        between=(1, 600),
    ),
    _setting(
        "model_concurrency",
        8,
        "How many model calls of one batch are in flight at once.",
        "dreaming.passes.consolidation.extraction",
        between=(1, 64),
    ),
    _setting(
        "model_calls_per_day",
        10_000,
        "Budget of model calls of the organization in one UTC day; at the limit the cursor holds.",
        "dreaming.passes.consolidation.extraction",
        between=(0, 100_000_000),
    ),
    _setting(
        "batch_notes",
        10,
        "How many notes one invocation consolidates.",
        "dreaming.passes.consolidation.run",
        between=(1, 200),
    ),
    _setting(
        "private_slices_per_run",
        200,
        "How many private slices of an organization one tick plans, the longest unplanned first.",
        "dreaming.passes.consolidation.run",
        organization=False,
        between=(0, 10_000),
    ),
    _setting(
        "jaccard_threshold",
        0.7,
        "Word-set similarity from which two statements are one belief, unless a guard objects.",
        "dreaming.passes.consolidation.run",
        between=(0.5, 1.0),
    ),
    _setting(
        "slow_decay_days",
        180.0,
        "Half-life of beliefs in the decay class slow_decay.",
        "dreaming.beliefs.service",
        between=(0.01, 36_500),
    ),
    _setting(
        "fast_decay_days",
        21.0,
        "Half-life of beliefs in the decay class fast_decay.",
        "dreaming.beliefs.service",
        between=(0.01, 36_500),
    ),
    _setting(
        "archive_threshold",
        0.05,
        "Aged confidence at which a belief has faded.",
        "dreaming.beliefs.service",
        between=(0.0001, 0.9),
    ),
    _setting(
        "max_note_characters",
        2_000_000,
        "Longest note accepted; a longer one is refused at the door.",
        "dreaming.notes.service",
        between=(1_000, 10_000_000),
    ),
    _setting(
        "api_org_claim",
        "org_id",
        "The claim of a caller's token that names the organization.",
        "dreaming.api.routes",
        organization=False,
    ),
    _setting(
        "api_user_claim",
        "sub",
        "The claim of a caller's token that names the user, whose private slices are then visible.",
        "dreaming.api.routes",
        organization=False,
    ),
    _setting(
        "api_iam_organization",
        "",
        "The organization of callers with AWS credentials; they are no user. Empty: such callers are refused.",
        "dreaming.api.routes",
        organization=False,
    ),
)

REGISTRY: Mapping[str, Setting] = {setting.name: setting for setting in _SETTINGS}
"""All settings by name."""
