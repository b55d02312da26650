"""Builds the chat model and the embedder that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.models.keys import KeyResolver, SecretKey
from dreaming.models.protocols import ChatModel, Embedder

_Values = Mapping[str, bool | int | float | str]

_OPENAI_HOST = "api.openai.com"
_ANTHROPIC_URL = "https://api.anthropic.com"

_MINILM = "offline:minilm-l6-int8"
_MINILM_DIMENSION = 384
_BEDROCK_DIMENSION = 1_024  # offered by every family
_OPENAI_DIMENSIONS = {"text-embedding-3-small": 1_536, "text-embedding-3-large": 3_072, "text-embedding-ada-002": 1_536}


def chat_model(values: _Values, org_id: str, keys: KeyResolver) -> ChatModel:
    """Return the chat model of the settings `chat_provider`, `chat_model` and their siblings.

    A missing key shows at the first call, as `MissingKey`. Raises `InvalidInput` for a setting that
    cannot be used and `Misconfigured` for one that is missing.
    """
    provider = str(values["chat_provider"])
    if provider not in _PROVIDERS:
        *others, last = _PROVIDERS
        raise InvalidInput("chat_provider", f"{provider!r} is unknown", f"choose {', '.join(others)} or {last}")
    return _PROVIDERS[provider](values, org_id, keys)


def is_generative(values: _Values) -> bool:
    """Tell whether the chat model follows instructions; the offline rules extract claims and nothing else."""
    return values["chat_provider"] != "offline"


def _offline(values: _Values, org_id: str, keys: KeyResolver) -> ChatModel:  # noqa: ARG001 - it needs no key
    from dreaming.models.offline import OfflineExtractor  # noqa: PLC0415 - only where used

    return OfflineExtractor(_window(values))


def _scripted(values: _Values, org_id: str, keys: KeyResolver) -> ChatModel:  # noqa: ARG001 - it needs no key
    from dreaming.models.scripted import ScriptedChatModel  # noqa: PLC0415 - only where used

    script = str(values["chat_script"])
    if not script:
        raise Misconfigured("Provider 'scripted' needs a file of answers: set chat_script to its path.")
    return ScriptedChatModel.from_file(Path(script), context_tokens=_window(values))


def _openai(values: _Values, org_id: str, keys: KeyResolver) -> ChatModel:
    from dreaming.models.endpoint import Endpoint  # noqa: PLC0415 - httpx is heavy
    from dreaming.models.openai_compatible import OpenAIChatModel  # noqa: PLC0415 - httpx is heavy

    model = _model(values, "gpt-5-mini")
    base_url = str(values["chat_base_url"])
    ours = _host("chat_base_url", base_url) == _OPENAI_HOST
    key = _openai_key(org_id, keys, ours=ours)
    field = "max_completion_tokens" if ours else "max_tokens"
    return OpenAIChatModel(Endpoint(base_url, key), model, context_tokens=_window(values), bound_field=field)


def _anthropic(values: _Values, org_id: str, keys: KeyResolver) -> ChatModel:
    from dreaming.models.anthropic import AnthropicChatModel, anthropic_headers  # noqa: PLC0415 - httpx is heavy
    from dreaming.models.endpoint import Endpoint  # noqa: PLC0415 - httpx is heavy

    model = _model(values, "claude-haiku-4-5")
    endpoint = Endpoint(_ANTHROPIC_URL, partial(keys.require, org_id, "anthropic"), headers=anthropic_headers)
    return AnthropicChatModel(endpoint, model, context_tokens=_window(values))


def _bedrock(values: _Values, org_id: str, keys: KeyResolver) -> ChatModel:  # noqa: ARG001 - the process has a role
    return _shared_bedrock(_model(values, "us.anthropic.claude-haiku-4-5-20251001-v1:0"), _window(values))


@lru_cache(maxsize=32)
def _shared_bedrock(model: str, window: int) -> ChatModel:
    """Return one object for all who use this model, since it keeps connections and what the model refused."""
    from dreaming.models.bedrock import BedrockChatModel  # noqa: PLC0415 - only where used
    from dreaming.models.bedrock_runtime import BedrockRuntime  # noqa: PLC0415 - only where used

    return BedrockChatModel(BedrockRuntime(), model, context_tokens=window)


_PROVIDERS: Mapping[str, Callable[[_Values, str, KeyResolver], ChatModel]] = {
    "offline": _offline,
    "scripted": _scripted,
    "openai": _openai,
    "bedrock": _bedrock,
    "anthropic": _anthropic,
}


def _window(values: _Values) -> int:
    return int(values["chat_context_tokens"])


def _model(values: _Values, example: str) -> str:
    model = str(values["chat_model"])
    if not model:
        provider = values["chat_provider"]
        raise Misconfigured(f"Provider {provider!r} needs a model: set chat_model, for example to {example}.")
    return model


def _openai_key(org_id: str, keys: KeyResolver, *, ours: bool) -> Callable[[], SecretKey | None]:
    """Return what gives the key at each call: OpenAI's own at its own address only, and needed there."""
    return partial(keys.require, org_id, "openai") if ours else partial(keys.resolve, org_id, "compatible")


def _host(field: str, base_url: str) -> str:
    """Return the host of the address in setting `field`; raises `InvalidInput` for one that cannot be called."""
    remedy = "give an address like https://api.openai.com/v1 or http://localhost:11434/v1"
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput(field, "it is not an address", remedy) from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidInput(field, "it is not an http or https address", remedy)
    if parts.username or parts.password:
        raise InvalidInput(field, "it holds a password", "set DREAMING_KEY_COMPATIBLE to the key")
    return host


@dataclass(frozen=True, slots=True)
class _Space:
    """An embedder by what names it: provider, the provider's name of the model, and the vectors' length."""

    provider: str
    model: str
    dimension: int

    @property
    def name(self) -> str:
        """The name that stands beside each vector, as the embedder says it."""
        return _MINILM if self.provider == "minilm" else f"{self.provider}:{self.model}:{self.dimension}"


def embedding_space(values: _Values) -> tuple[str, int] | None:
    """Return name and dimension of the embedder that `embedder` would build, None when there is to be none.

    Nothing is built and no key is asked for. Raises as `embedder`.
    """
    chosen = _chosen(values)
    return (chosen.name, chosen.dimension) if chosen else None


def embedder(values: _Values, org_id: str, keys: KeyResolver, *, name: str | None = None) -> Embedder | None:
    """Return the embedder of the settings `embedding_provider`, `embedding_model` and their siblings.

    With `name`, return the one that made the vectors of that name, where it can still be built: an
    OpenAI-compatible one is looked for at the address that is set now. None where embedding is off, or
    where the named one is out of reach. A missing key of the chosen one shows at the first call, as
    `MissingKey`.

    Raises:
        InvalidInput: a setting that cannot be used, such as a dimension that the model does not make.
        Misconfigured: a setting that is missing.
    """
    chosen = _chosen(values)
    if chosen is not None and name is not None and chosen.name != name:
        chosen = _named(name)
        if chosen is None or not _within_reach(chosen, values, org_id, keys):
            return None
    return None if chosen is None else _EMBEDDERS[chosen.provider](chosen, values, org_id, keys)


def _chosen(values: _Values) -> _Space | None:
    provider, model = str(values["embedding_provider"]), str(values["embedding_model"])
    dimension = int(values["embedding_dimension"])
    if provider == "none":
        return None
    if provider == "minilm":
        if dimension not in (0, _MINILM_DIMENSION):
            problem = f"is {dimension}, but the packaged model makes vectors of {_MINILM_DIMENSION}"
            raise InvalidInput("embedding_dimension", problem, f"set it to {_MINILM_DIMENSION}, or to 0")
        return _Space("minilm", "", _MINILM_DIMENSION)
    examples = {"openai": "text-embedding-3-small", "bedrock": "amazon.titan-embed-text-v2:0"}
    if provider not in examples:
        raise InvalidInput("embedding_provider", f"{provider!r} is unknown", "choose none, minilm, openai or bedrock")
    if not model:
        raise Misconfigured(
            f"Provider {provider!r} needs a model: set embedding_model, for example to {examples[provider]}."
        )
    known = _BEDROCK_DIMENSION if provider == "bedrock" else _OPENAI_DIMENSIONS.get(model, 0)
    if not dimension and not known:
        raise Misconfigured(
            f"The dimension of {model!r} is not known here: set embedding_dimension to the length of its vectors."
        )
    return _Space(provider, model, dimension or known)


def _named(name: str) -> _Space | None:
    """Read a name as it stands beside vectors; None for one that no provider here has."""
    if name == _MINILM:
        return _Space("minilm", "", _MINILM_DIMENSION)
    start, _, dimension = name.rpartition(":")
    provider, _, model = start.partition(":")
    if provider not in ("openai", "bedrock") or not model or not dimension.isdecimal():
        return None
    return _Space(provider, model, int(dimension))


def _within_reach(space: _Space, values: _Values, org_id: str, keys: KeyResolver) -> bool:
    if space.provider == "minilm":
        from dreaming.models.minilm import is_installed  # noqa: PLC0415 - numpy is heavy

        return is_installed()
    if space.provider == "openai":
        ours = _host("embedding_base_url", str(values["embedding_base_url"])) == _OPENAI_HOST
        return not ours or keys.resolve(org_id, "openai") is not None
    from dreaming.models.bedrock_embeddings import offers  # noqa: PLC0415 - numpy is heavy

    return offers(space.model, space.dimension)


def _minilm_embedder(space: _Space, values: _Values, org_id: str, keys: KeyResolver) -> Embedder:  # noqa: ARG001
    return _shared_minilm()


@lru_cache(maxsize=1)
def _shared_minilm() -> Embedder:
    """Return one object for all, since it loads the model."""
    from dreaming.models.minilm import OfflineEmbedder  # noqa: PLC0415 - numpy is heavy

    return OfflineEmbedder()


def _openai_embedder(space: _Space, values: _Values, org_id: str, keys: KeyResolver) -> Embedder:
    from dreaming.models.endpoint import Endpoint  # noqa: PLC0415 - httpx is heavy
    from dreaming.models.openai_compatible import OpenAIEmbedder  # noqa: PLC0415 - httpx is heavy

    base_url = str(values["embedding_base_url"])
    ours = _host("embedding_base_url", base_url) == _OPENAI_HOST
    endpoint = Endpoint(base_url, _openai_key(org_id, keys, ours=ours))
    shortened = _OPENAI_DIMENSIONS.get(space.model, space.dimension) != space.dimension
    return OpenAIEmbedder(endpoint, space.model, dimension=space.dimension, ask_dimension=shortened)


def _bedrock_embedder(space: _Space, values: _Values, org_id: str, keys: KeyResolver) -> Embedder:  # noqa: ARG001
    return _shared_bedrock_embedder(space.model, space.dimension)


@lru_cache(maxsize=8)
def _shared_bedrock_embedder(model: str, dimension: int) -> Embedder:
    """Return one object for all who use this model, since it keeps connections."""
    from dreaming.models.bedrock_embeddings import BedrockEmbedder  # noqa: PLC0415 - numpy is heavy
    from dreaming.models.bedrock_runtime import BedrockRuntime  # noqa: PLC0415 - only where used

    return BedrockEmbedder(BedrockRuntime(), model, dimension=dimension)


_EMBEDDERS: Mapping[str, Callable[[_Space, _Values, str, KeyResolver], Embedder]] = {
    "minilm": _minilm_embedder,
    "openai": _openai_embedder,
    "bedrock": _bedrock_embedder,
}
