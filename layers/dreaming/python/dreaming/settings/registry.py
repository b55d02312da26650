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
        "embedding_provider",
        "none",
        "What makes vectors of text: nothing, the packaged MiniLM, an OpenAI-compatible server, or Bedrock.",
        "dreaming.models.selection",
        organization=False,
        choices=("none", "minilm", "openai", "bedrock"),
    ),
    _setting(
        "embedding_model",
        "",
        "The provider's name of the embedding model; another one means that everything is embedded anew.",
        "dreaming.models.selection",
        organization=False,
    ),
    _setting(
        "embedding_base_url",
        "https://api.openai.com/v1",
        "Address of the OpenAI-compatible server of embeddings.",
        "dreaming.models.selection",
        organization=False,
    ),
    _setting(
        "embedding_dimension",
        0,
        "Length of the vectors, one for the deployment; 0 is the model's own, where that is known.",
        "dreaming.models.selection",
        organization=False,
        between=(0, 4_000),
    ),
    _setting(
        "embedding_batch",
        100,
        "How many texts one invocation of the embedding pass embeds.",
        "dreaming.passes.embedding.run",
        organization=False,
        between=(1, 1_000),
    ),
    _setting(
        "embedding_timeout_seconds",
        60,
        "How long the embedding of one batch may take.",
        "dreaming.passes.embedding.run",
        organization=False,
        between=(1, 600),
    ),
    _setting(
        "embedding_calls_per_day",
        10_000,
        "Budget of the embedding pass in one UTC day, in requests of one batch each; at the limit it holds.",
        "dreaming.passes.embedding.run",
        between=(0, 100_000_000),
    ),
    _setting(
        "max_output_tokens",
        4_000,
        "Upper bound of one answer's length.",
        "dreaming.passes.calls.limits",
        between=(200, 64_000),
    ),
    _setting(
        "model_timeout_seconds",
        60,
        "How long one model call may take.",
        "dreaming.passes.calls.limits",
        between=(1, 600),
    ),
    _setting(
        "model_concurrency",
        8,
        "How many model calls of one batch are in flight at once.",
        "dreaming.passes.calls.limits",
        between=(1, 64),
    ),
    _setting(
        "model_calls_per_day",
        10_000,
        "Budget of model calls of the organization in one UTC day; at the limit the cursor holds.",
        "dreaming.passes.calls.limits",
        between=(0, 100_000_000),
    ),
    _setting(
        "packing",
        True,
        "Whether short notes of equal trust share a model call.",
        "dreaming.passes.consolidation.extraction",
    ),
    _setting(
        "packing_tokens",
        2_000,
        "Most tokens of notes in a shared model call; a note of more than half of it has a call of its own.",
        "dreaming.passes.consolidation.extraction",
        between=(100, 100_000),
    ),
    _setting(
        "batch_notes",
        40,
        "How many notes one invocation consolidates at most; a whole batch is applied in one transaction.",
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
        "semantic_dedup",
        False,
        "Whether claims are also compared by their vectors; it needs an embedder and the consent to embed.",
        "dreaming.passes.consolidation.semantic",
    ),
    _setting(
        "semantic_threshold",
        0.85,
        "Cosine from which two statements are one belief, unless a guard objects; measured models have their own.",
        "dreaming.passes.consolidation.semantic",
        between=(0.5, 1.0),
    ),
    _setting(
        "semantic_grey",
        0.60,
        "Cosine from which a pair is left for adjudication; measured models have their own.",
        "dreaming.passes.consolidation.semantic",
        between=(0.0, 1.0),
    ),
    _setting(
        "contradiction_judge",
        True,
        "Whether pairs that no rule decides are put to the chat model; the offline model is never asked.",
        "dreaming.passes.contradictions.run",
    ),
    _setting(
        "contradiction_batch",
        50,
        "How many new or changed beliefs one invocation of the contradictions pass examines.",
        "dreaming.passes.contradictions.run",
        between=(1, 1_000),
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
        "warn_days",
        7.0,
        "How many days before it fades an important belief is announced, and how long it then stays at least.",
        "dreaming.beliefs.service",
        between=(0, 365),
    ),
    _setting(
        "warn_relationships",
        5,
        "Live relationships from which a belief is important enough to be announced before it fades.",
        "dreaming.passes.decay.run",
        between=(1, 1_000_000),
    ),
    _setting(
        "autonomy_half_life_days",
        30.0,
        "How fast the evidence behind an autonomy score loses weight: an action this old weighs half.",
        "dreaming.autonomy.service",
        between=(1, 3_650),
    ),
    _setting(
        "autonomy_min_actions",
        30,
        "How many scored actions it takes before an autonomy score moves.",
        "dreaming.autonomy.service",
        between=(1, 500),
    ),
    _setting(
        "autonomy_max_step",
        5,
        "How far one run moves an autonomy score at most.",
        "dreaming.autonomy.service",
        between=(1, 100),
    ),
    _setting(
        "autonomy_cool_down_days",
        7.0,
        "How long an autonomy score that a person has set stays as it is.",
        "dreaming.autonomy.service",
        between=(0, 365),
    ),
    _setting(
        "conversation_memory",
        False,
        "Whether conversations are captured and recalled; only exactly true is yes.",
        "dreaming.recall.switch",
        organization=False,
    ),
    _setting(
        "conversation_throttle_ms",
        120_000,
        "Least time between two captures of one conversation that make its vector; its words are stored by each.",
        "dreaming.recall.capture",
        between=(0, 86_400_000),
    ),
    _setting(
        "conversation_idle_minutes",
        10.0,
        "How long nothing must be said until a conversation's new turns become a note; a longer pause divides notes.",
        "dreaming.recall.idleness",
        between=(0, 10_080),
    ),
    _setting(
        "brief_characters",
        2_000,
        "Longest brief, in characters; it ends with the last line that fits whole.",
        "dreaming.beliefs.briefs.service",
        between=(200, 50_000),
    ),
    _setting(
        "search_lexical_weight",
        0.5,
        "How much words count in a search of beliefs, from 0 to 1; the rest is what the vectors say.",
        "dreaming.api.search.service",
        between=(0.0, 1.0),
    ),
    _setting(
        "search_least_likeness",
        0.35,
        "Cosine from which a search finds a belief that shares no word with it; it depends on the embedding model.",
        "dreaming.api.search.service",
        between=(-1.0, 1.0),
    ),
    _setting(
        "recall_lexical_weight",
        0.9,
        "How much words count in a recall, from 0 to 1; the rest is what the vectors say.",
        "dreaming.recall.service",
        between=(0.0, 1.0),
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
        "dreaming.api.door",
        organization=False,
    ),
    _setting(
        "api_user_claim",
        "sub",
        "The claim of a caller's token that names the user, whose private slices are then visible.",
        "dreaming.api.door",
        organization=False,
    ),
    _setting(
        "api_admin_claim",
        "dreaming_admin",
        "The claim of a caller's token that, when it is `true`, allows changes to the whole organization.",
        "dreaming.api.door",
        organization=False,
    ),
    _setting(
        "api_iam_organization",
        "",
        "The organization of callers with AWS credentials; they are no user. Empty: such callers are refused.",
        "dreaming.api.door",
        organization=False,
    ),
    _setting(
        "dashboard_oidc_issuer",
        "",
        "The issuer at which the page signs people in, as its discovery names it. Empty: the page cannot.",
        "dreaming.api.routes.dashboard",
        organization=False,
    ),
    _setting(
        "dashboard_oidc_client_id",
        "",
        "The page's client at the issuer: a public one, with the page's address as its redirect.",
        "dreaming.api.routes.dashboard",
        organization=False,
    ),
    _setting(
        "dashboard_oidc_scope",
        "openid",
        "What the page asks the issuer for, separated by spaces; `openid` is always among it.",
        "dreaming.api.routes.dashboard",
        organization=False,
    ),
    _setting(
        "dashboard_oidc_token_origin",
        "",
        "The origin of the issuer's token endpoint (https://host), where it is not the issuer's own.",
        "dreaming.api.routes.dashboard",
        organization=False,
    ),
)

REGISTRY: Mapping[str, Setting] = {setting.name: setting for setting in _SETTINGS}
"""All settings by name."""
