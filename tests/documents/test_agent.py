"""The models that the tutorial's assistant can ask: each gets the prompt and the turns, in its own form."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import boto3
import httpx
import pytest
import respx
from botocore.stub import Stubber

from tests.architecture.modules import ROOT

TURNS = [
    {"speaker": "user", "text": "Good morning."},
    {"speaker": "helper", "text": "Good morning!"},
    {"speaker": "user", "text": "Where does Lena work?"},
]
SAID = [("user", "Good morning."), ("assistant", "Good morning!"), ("user", "Where does Lena work?")]


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name, value in {
        "ASSISTANT_MODEL": "a-model",
        "OPENAI_API_KEY": "key-o",
        "ANTHROPIC_API_KEY": "key-a",
        "AWS_ACCESS_KEY_ID": "key-b",
        "AWS_SECRET_ACCESS_KEY": "secret-b",
    }.items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location("agent", ROOT / "docs" / "tutorial" / "agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "agent", module)
    spec.loader.exec_module(module)
    return module


@respx.mock
def test_openai_is_asked(agent: ModuleType) -> None:
    answer = {"choices": [{"message": {"content": "At the bike shop."}}]}
    route = respx.post("https://api.openai.com/v1/chat/completions").mock(httpx.Response(200, json=answer))
    assert agent.openai("Be kind.", TURNS) == "At the bike shop."
    sent = json.loads(route.calls.last.request.content)
    assert route.calls.last.request.headers["authorization"] == "Bearer key-o"
    assert sent["model"] == "a-model"
    assert [(one["role"], one["content"]) for one in sent["messages"]] == [("system", "Be kind."), *SAID]


@respx.mock
def test_anthropic_is_asked(agent: ModuleType) -> None:
    answer = {"content": [{"type": "text", "text": "At the bike shop."}]}
    route = respx.post("https://api.anthropic.com/v1/messages").mock(httpx.Response(200, json=answer))
    assert agent.anthropic("Be kind.", TURNS) == "At the bike shop."
    sent = json.loads(route.calls.last.request.content)
    assert route.calls.last.request.headers["x-api-key"] == "key-a"
    assert (sent["system"], sent["max_tokens"]) == ("Be kind.", 1000)
    assert [(one["role"], one["content"]) for one in sent["messages"]] == SAID


def test_bedrock_is_asked_as_its_service_model_says(agent: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    client = boto3.client("bedrock-runtime", region_name="eu-central-1")
    expected: dict[str, Any] = {
        "modelId": "a-model",
        "system": [{"text": "Be kind."}],
        "messages": [{"role": role, "content": [{"text": text}]} for role, text in SAID],
        "inferenceConfig": {"maxTokens": 1000},
    }
    answer: dict[str, Any] = {
        "output": {"message": {"role": "assistant", "content": [{"text": "At the bike shop."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }
    make: Callable[[str], Any] = {"bedrock-runtime": client}.__getitem__
    monkeypatch.setattr(boto3, "client", make)
    with Stubber(client) as stubber:
        stubber.add_response("converse", answer, expected)
        assert agent.bedrock("Be kind.", TURNS) == "At the bike shop."


def test_the_scripted_one_repeats_what_fits_or_says_that_nothing_does(agent: ModuleType) -> None:
    prompt = "- Lena works at the bakery. (sure 0.49)\n- The shed is green. (sure 0.90)\n- Lena works (0.3)"
    assert agent.scripted(prompt, TURNS) == "I remember: Lena works at the bakery. (sure 0.49)"
    assert agent.scripted(prompt, [{"speaker": "user", "text": "Who is mayor?"}]) == "I remember nothing about that."


def test_the_page_shows_what_the_file_says() -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    code = (ROOT / "docs" / "tutorial" / "agent.py").read_text("utf-8")
    shown = [block.split("\n```", 1)[0] for block in page.split("```text\n")[1:]]
    assert len(shown) == 2
    for block in shown:
        assert "\n".join(f"    {line}" for line in block.splitlines()) in code
