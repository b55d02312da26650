"""The settings choose the embedder; the one that made stored vectors is found again by its name."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

import httpx
import pytest
import respx

from dreaming.errors import InvalidInput, Misconfigured, MissingKey
from dreaming.models import minilm
from dreaming.models.keys import EnvironmentKeys, KeyResolver
from dreaming.models.protocols import Embedder
from dreaming.models.selection import embedder, embedding_space
from dreaming.settings.registry import REGISTRY

DEFAULTS = {name: setting.default for name, setting in REGISTRY.items()}
MINILM: dict[str, float | str] = {"embedding_provider": "minilm"}
TITAN: dict[str, float | str] = {"embedding_provider": "bedrock", "embedding_model": "amazon.titan-embed-text-v2:0"}
SMALL: dict[str, float | str] = {"embedding_provider": "openai", "embedding_model": "text-embedding-3-small"}
LOCAL: dict[str, float | str] = {
    "embedding_provider": "openai",
    "embedding_model": "bge-m3",
    "embedding_base_url": "http://localhost:11434/v1",
    "embedding_dimension": 2,
}


def chosen(
    values: Mapping[str, float | str] | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    name: str | None = None,
) -> Embedder | None:
    keys = KeyResolver(EnvironmentKeys(environment or {}), clock=lambda: 0.0)
    return embedder(DEFAULTS | dict(values or {}), "acme", keys, name=name)


def test_by_default_nothing_is_embedded() -> None:
    assert chosen() is None
    assert embedding_space(DEFAULTS) is None
    assert chosen(name="offline:minilm-l6-int8") is None  # also not what was embedded before


@pytest.mark.parametrize(
    ("values", "name", "dimension"),
    [
        (MINILM, "offline:minilm-l6-int8", 384),
        (MINILM | {"embedding_dimension": 384}, "offline:minilm-l6-int8", 384),
        (TITAN, "bedrock:amazon.titan-embed-text-v2:0:1024", 1024),
        (TITAN | {"embedding_dimension": 256}, "bedrock:amazon.titan-embed-text-v2:0:256", 256),
        (SMALL, "openai:text-embedding-3-small:1536", 1536),
        (SMALL | {"embedding_dimension": 512}, "openai:text-embedding-3-small:512", 512),
        (LOCAL, "openai:bge-m3:2", 2),
    ],
)
def test_a_space_is_named_as_its_embedder_names_it(values: dict[str, float | str], name: str, dimension: int) -> None:
    built = chosen(values)
    assert built is not None
    assert (built.name, built.dimension) == (name, dimension) == embedding_space(DEFAULTS | values)


def test_every_choice_of_the_setting_is_built() -> None:
    models = {"minilm": "", "openai": "text-embedding-3-large", "bedrock": "cohere.embed-v4:0"}
    for provider in REGISTRY["embedding_provider"].choices:
        built = chosen({"embedding_provider": provider, "embedding_model": models.get(provider, "")})
        assert (built is None) == (provider == "none")


@pytest.mark.parametrize(
    ("values", "error", "named"),
    [
        ({"embedding_provider": "oracle"}, InvalidInput, "choose none, minilm, openai or bedrock"),
        (MINILM | {"embedding_dimension": 512}, InvalidInput, "is 512, but the packaged model makes vectors of 384"),
        ({"embedding_provider": "openai"}, Misconfigured, "set embedding_model, for example to text-embedding-3-small"),
        ({"embedding_provider": "bedrock"}, Misconfigured, "for example to amazon.titan-embed-text-v2:0"),
        (LOCAL | {"embedding_dimension": 0}, Misconfigured, "set embedding_dimension"),
        (TITAN | {"embedding_dimension": 384}, InvalidInput, "choose 256 or 512 or 1024"),
        (TITAN | {"embedding_model": "m-1"}, InvalidInput, "embedding_model"),
        (SMALL | {"embedding_base_url": "localhost"}, InvalidInput, "embedding_base_url"),
        (SMALL | {"embedding_base_url": "https://a:b@x/"}, InvalidInput, "password"),
    ],
)
def test_what_cannot_be_used_is_named(values: dict[str, float | str], error: type[Exception], named: str) -> None:
    with pytest.raises(error) as raised:
        chosen(values)
    assert named in str(raised.value)


def test_openai_itself_needs_a_key_at_the_first_call() -> None:
    built = chosen(SMALL)
    assert built is not None
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        built.embed(["a"], timeout=5)


@respx.mock
def test_openai_gets_the_organizations_key_and_a_shorter_dimension_is_asked_for() -> None:
    answer = {"data": [{"index": 0, "embedding": [1.0] * 512}]}
    route = respx.post("https://api.openai.com/v1/embeddings").mock(return_value=httpx.Response(200, json=answer))
    built = chosen(SMALL | {"embedding_dimension": 512}, {"DREAMING_KEY_OPENAI__ACME": "own"})
    assert built is not None
    assert built.embed(["a"], timeout=5).shape == (1, 512)
    assert route.calls.last.request.headers["authorization"] == "Bearer own"
    assert json.loads(route.calls.last.request.content)["dimensions"] == 512


@respx.mock
def test_another_server_never_sees_the_openai_key_and_is_not_asked_for_a_dimension() -> None:
    answer = {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}
    route = respx.post("http://localhost:11434/v1/embeddings").mock(return_value=httpx.Response(200, json=answer))
    for environment, sent in (({"OPENAI_API_KEY": "sk-1"}, None), ({"DREAMING_KEY_COMPATIBLE": "sk-2"}, "Bearer sk-2")):
        built = chosen(LOCAL, environment)
        assert built is not None
        built.embed(["a"], timeout=5)
        assert route.calls.last.request.headers.get("authorization") == sent
        assert "dimensions" not in json.loads(route.calls.last.request.content)


@pytest.mark.parametrize(
    ("name", "dimension"),
    [
        ("offline:minilm-l6-int8", 384),
        ("bedrock:cohere.embed-multilingual-v3:1024", 1024),
        ("bedrock:amazon.titan-embed-text-v2:0:256", 256),
        ("openai:text-embedding-3-large:3072", 3072),
        ("openai:text-embedding-3-large:1024", 1024),
    ],
)
def test_the_embedder_of_stored_vectors_is_built_by_its_name(name: str, dimension: int) -> None:
    built = chosen(TITAN, {"OPENAI_API_KEY": "sk-1"}, name=name)
    assert built is not None
    assert (built.name, built.dimension) == (name, dimension)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "fake:one:8",
        "openai:m",
        "bedrock:m-1:1024",
        "bedrock:amazon.titan-embed-text-v2:0",
        "openai::8",
        "x",
        "openai:m:1",
    ],
)
def test_an_embedder_out_of_reach_is_none(name: str) -> None:
    assert chosen(TITAN, name=name) is None  # openai:m:1 for want of a key


def test_the_packaged_one_is_out_of_reach_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "is_installed", lambda: False)
    assert chosen(TITAN, name="offline:minilm-l6-int8") is None


def test_bedrock_and_the_packaged_one_are_one_object_for_all_organizations_of_a_process() -> None:
    assert chosen(TITAN) is chosen(TITAN)
    assert chosen(MINILM) is chosen(MINILM)
    assert chosen(TITAN) is not chosen(TITAN | {"embedding_dimension": 256})


def test_naming_the_space_loads_nothing_heavy() -> None:
    program = (
        "import sys; from dreaming.models.selection import embedding_space; "
        "from dreaming.settings.registry import REGISTRY; "
        "values = {name: setting.default for name, setting in REGISTRY.items()}; "
        f"print(embedding_space(values | {TITAN!r})); "
        "print([name for name in ('httpx', 'numpy', 'boto3', 'onnxruntime') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["('bedrock:amazon.titan-embed-text-v2:0:1024', 1024)", "[]"]
