"""The settings choose the chat model; what is wrong with them is said by name."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
import respx

from dreaming.errors import InvalidInput, Misconfigured, MissingKey
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.models.protocols import ChatModel, ChatRequest
from dreaming.models.selection import chat_model
from dreaming.settings.registry import REGISTRY

DEFAULTS = {name: setting.default for name, setting in REGISTRY.items()}
REQUEST = ChatRequest("", "", (), max_tokens=9, timeout=5)
ANSWER = httpx.Response(200, json={"choices": [{"message": {"content": "[]"}, "finish_reason": "stop"}]})


def chosen(environment: Mapping[str, str] | None = None, /, **values: bool | float | str) -> ChatModel:
    keys = KeyResolver(EnvironmentKeys(environment or {}), clock=lambda: 0.0)
    return chat_model(DEFAULTS | values, "acme", keys)


def test_the_default_is_the_offline_extractor() -> None:
    assert (chosen().name, chosen().context_tokens) == ("offline:rules-1", DEFAULTS["chat_context_tokens"])


def test_a_script_answers(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"default": {"answer": "hello"}}')
    model = chosen(chat_provider="scripted", chat_script=str(tmp_path / "script.json"), chat_context_tokens=5_000)
    assert (model.answer(REQUEST).text, model.context_tokens) == ("hello", 5_000)


@pytest.mark.parametrize(
    ("values", "error", "named"),
    [
        ({"chat_provider": "oracle"}, InvalidInput, "choose offline, scripted, openai, bedrock or anthropic"),
        ({"chat_provider": "scripted"}, Misconfigured, "chat_script"),
        (
            {"chat_provider": "scripted", "chat_script": "/no/s.json"},
            InvalidInput,
            "/no/s.json cannot be read",
        ),
        ({"chat_provider": "openai"}, Misconfigured, "chat_model"),
        ({"chat_provider": "bedrock"}, Misconfigured, "set chat_model, for example to us.anthropic."),
        ({"chat_provider": "anthropic"}, Misconfigured, "set chat_model, for example to claude-"),
        ({"chat_provider": "openai", "chat_model": "m", "chat_base_url": "localhost"}, InvalidInput, "chat_base_url"),
        ({"chat_provider": "openai", "chat_model": "m", "chat_base_url": "ftp://x/v1"}, InvalidInput, "http or https"),
        (
            {"chat_provider": "openai", "chat_model": "m", "chat_base_url": "http://x:y/v1"},
            InvalidInput,
            "not an address",
        ),
        ({"chat_provider": "openai", "chat_model": "m", "chat_base_url": "https://a:b@x/"}, InvalidInput, "password"),
    ],
)
def test_what_cannot_be_used_is_named(values: dict[str, str], error: type[Exception], named: str) -> None:
    with pytest.raises(error) as raised:
        chosen(**values)
    assert named in str(raised.value)


def test_openai_itself_needs_a_key_at_the_first_call() -> None:
    model = chosen(chat_provider="openai", chat_model="m-1")
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        model.answer(REQUEST)


@respx.mock
def test_openai_itself_gets_the_organizations_key() -> None:
    route = respx.post("https://api.openai.com/v1/chat/completions").mock(return_value=ANSWER)
    model = chosen({"DREAMING_KEY_OPENAI__ACME": "own"}, chat_provider="openai", chat_model="m-1")
    assert model.answer(REQUEST).model == "openai:m-1"
    assert route.calls.last.request.headers["authorization"] == "Bearer own"
    assert "max_completion_tokens" in json.loads(route.calls.last.request.content)


@respx.mock
def test_a_local_server_works_without_a_key_and_never_sees_the_openai_key() -> None:
    route = respx.post("http://localhost:11434/v1/chat/completions").mock(return_value=ANSWER)
    values = {"chat_provider": "openai", "chat_model": "m-1", "chat_base_url": "http://localhost:11434/v1"}
    chosen({"OPENAI_API_KEY": "sk-1"}, **values).answer(REQUEST)
    assert "authorization" not in route.calls.last.request.headers
    chosen({"DREAMING_KEY_COMPATIBLE": "sk-2"}, **values).answer(REQUEST)
    assert route.calls.last.request.headers["authorization"] == "Bearer sk-2"
    assert "max_tokens" in json.loads(route.calls.last.request.content)


def test_every_choice_of_the_setting_is_built() -> None:
    for provider in REGISTRY["chat_provider"].choices:
        if provider != "scripted":
            assert chosen(chat_provider=provider, chat_model="m-1").name.startswith(f"{provider}:")


def test_anthropic_needs_a_key_at_the_first_call() -> None:
    model = chosen({"OPENAI_API_KEY": "other"}, chat_provider="anthropic", chat_model="claude-1")
    with pytest.raises(MissingKey, match="set DREAMING_KEY_ANTHROPIC or ANTHROPIC_API_KEY"):
        model.answer(REQUEST)


@respx.mock
def test_anthropic_gets_the_organizations_key() -> None:
    body = {"content": [{"type": "text", "text": "[]"}], "stop_reason": "end_turn"}
    route = respx.post("https://api.anthropic.com/v1/messages").mock(return_value=httpx.Response(200, json=body))
    environment = {"DREAMING_KEY_ANTHROPIC__ACME": "own", "ANTHROPIC_API_KEY": "general"}
    model = chosen(environment, chat_provider="anthropic", chat_model="claude-1", chat_context_tokens=9_000)
    assert (model.answer(REQUEST).model, model.context_tokens) == ("anthropic:claude-1", 9_000)
    assert route.calls.last.request.headers["x-api-key"] == "own"


def test_bedrock_is_one_object_for_all_organizations_of_a_process() -> None:
    values = {"chat_provider": "bedrock", "chat_model": "m-1"}
    assert chosen(**values) is chosen(**values)
    assert chosen(**values) is not chosen(**values, chat_context_tokens=9_000)


def test_the_default_loads_no_http_client_and_no_runtime() -> None:
    program = (
        "import sys; from dreaming.models.selection import chat_model; from dreaming.models.keys import *; "
        "chat_model({'chat_provider': 'offline', 'chat_context_tokens': 2000}, 'a', "
        "KeyResolver(EnvironmentKeys({}), clock=lambda: 0.0)); "
        "print([name for name in ('httpx', 'numpy', 'boto3', 'onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_choosing_bedrock_loads_no_boto3_before_the_first_call() -> None:
    program = (
        "import sys; from dreaming.models.selection import chat_model; from dreaming.models.keys import *; "
        "chat_model({'chat_provider': 'bedrock', 'chat_model': 'm', 'chat_context_tokens': 2000}, 'a', "
        "KeyResolver(EnvironmentKeys({}), clock=lambda: 0.0)); "
        "print([name for name in ('httpx', 'numpy', 'boto3', 'botocore') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
