"""Builds the chat model that an organization's settings name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from dreaming.errors import InvalidInput, Misconfigured
from dreaming.models.keys import KeyResolver, SecretKey
from dreaming.models.protocols import ChatModel

_OPENAI_HOST = "api.openai.com"


def chat_model(values: Mapping[str, bool | int | float | str], org_id: str, keys: KeyResolver) -> ChatModel:
    """Return the chat model of the settings `chat_provider`, `chat_model` and their siblings.

    A missing key shows at the first call, as `MissingKey`. Raises `InvalidInput` for a setting that
    cannot be used and `Misconfigured` for one that is missing.
    """
    provider = str(values["chat_provider"])
    window = int(values["chat_context_tokens"])
    if provider == "offline":
        from dreaming.models.offline import OfflineExtractor  # noqa: PLC0415 - only where used

        return OfflineExtractor(window)
    if provider == "scripted":
        from dreaming.models.scripted import ScriptedChatModel  # noqa: PLC0415 - only where used

        script = str(values["chat_script"])
        if not script:
            raise Misconfigured("Provider 'scripted' needs a file of answers: set chat_script to its path.")
        return ScriptedChatModel.from_file(Path(script), context_tokens=window)
    if provider == "openai":
        return _openai(str(values["chat_model"]), str(values["chat_base_url"]), window, org_id, keys)
    raise InvalidInput("chat_provider", f"{provider!r} is unknown", "choose offline, scripted or openai")


def _openai(model: str, base_url: str, window: int, org_id: str, keys: KeyResolver) -> ChatModel:
    from dreaming.models.openai_compatible import OpenAIChatModel  # noqa: PLC0415 - httpx is heavy
    from dreaming.models.openai_endpoint import Endpoint  # noqa: PLC0415 - httpx is heavy

    if not model:
        raise Misconfigured("Provider 'openai' needs a model: set chat_model, for example to gpt-5-mini.")
    ours = _host(base_url) == _OPENAI_HOST

    def key() -> SecretKey | None:
        return keys.require(org_id, "openai") if ours else keys.resolve(org_id, "compatible")

    field = "max_completion_tokens" if ours else "max_tokens"
    return OpenAIChatModel(Endpoint(base_url, key), model, context_tokens=window, bound_field=field)


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
