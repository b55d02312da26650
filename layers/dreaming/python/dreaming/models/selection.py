"""Builds the chat model that an organization's settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from urllib.parse import urlsplit

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.models.keys import KeyResolver, SecretKey
from dreaming.models.protocols import ChatModel

_Values = Mapping[str, bool | int | float | str]

_OPENAI_HOST = "api.openai.com"
_ANTHROPIC_URL = "https://api.anthropic.com"


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
    ours = _host(base_url) == _OPENAI_HOST

    def key() -> SecretKey | None:
        return keys.require(org_id, "openai") if ours else keys.resolve(org_id, "compatible")

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


def _host(base_url: str) -> str:
    """Return the host of an address; raises `InvalidInput` for one that cannot be called."""
    remedy = "give an address like https://api.openai.com/v1 or http://localhost:11434/v1"
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput("chat_base_url", "it is not an address", remedy) from None
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidInput("chat_base_url", "it is not an http or https address", remedy)
    if parts.username or parts.password:
        raise InvalidInput("chat_base_url", "it holds a password", "set DREAMING_KEY_COMPATIBLE to the key")
    return host
