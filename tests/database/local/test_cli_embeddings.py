"""`dream embeddings` and `dream drain embedding`, with the packaged model: what people see of vectors."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
import respx

from tests.database.local.conftest import Dream

AT = "2026-11-01T10:00:00+01:00"
STATEMENTS = (
    "The office lease ends in June.",
    "Ana prefers short meetings.",
    "The bakery buys its flour from Tobin.",
)


@pytest.fixture(autouse=True)
def embed_loaded_anew() -> None:
    """A handler that another test of this process loaded keeps its logger's stream."""
    logging.Logger.manager.loggerDict.pop("embed", None)


@pytest.fixture
def believing(dream: Dream) -> Dream:
    """Three beliefs, and nothing set for embedding."""
    dream.switch_on()
    claims = [{"kind": "fact", "statement": one, "quote": one, "confidence": 0.8} for one in STATEMENTS]
    dream.script(*({"when": one["statement"], "claims": [one]} for one in claims))
    dream.notes(*({"id": str(place), "text": text, "at": AT, "author": "Ana"} for place, text in enumerate(STATEMENTS)))
    dream("drain", "consolidation")
    return dream


def of_slice(dream: Dream) -> dict[str, Any]:
    found: dict[str, Any] = dream.json("embeddings")["slices"][0]
    return found


def test_what_is_missing_is_shown_with_the_reason_and_then_embedded(believing: Dream) -> None:
    assert believing.json("embeddings")["configured"] is None
    assert of_slice(believing)["stopped"] == "embedding_off"
    assert "settings set embedding_provider minilm" in believing("embeddings").stdout
    believing("settings", "set", "embedding_provider", "minilm")
    found = of_slice(believing)
    assert found["stopped"] == "no_embedding_consent"
    assert (found["sources"]["beliefs"]["missing"], found["active"]) == (3, None)
    assert "settings set embedding_consent true" in believing("embeddings").stdout
    believing("settings", "set", "embedding_consent", "true")
    assert "the next run embeds what is missing" in believing("embeddings").stdout
    believing("drain", "embedding")
    found = of_slice(believing)
    assert found["active"] == {"model": "offline:minilm-l6-int8", "dimension": 384}
    assert found["sources"]["beliefs"] == {
        "live": 3,
        "embedded": 3,
        "missing": 0,
        "excluded": 0,
        "refused": 0,
        "left_out": 0,
    }
    shown = believing("embeddings").stdout
    assert "█" * 30 + " 3 of 3" in shown
    assert "stopped" not in shown


def test_without_notes_it_says_so(dream: Dream) -> None:
    assert "has no notes yet" in dream("embeddings").stdout
    assert dream.json("embeddings")["slices"] == []


def test_a_wrong_dimension_is_named_with_both_numbers(believing: Dream) -> None:
    believing("settings", "set", "embedding_provider", "minilm")
    result = believing("embeddings", code=2, DREAMING_EMBEDDING_DIMENSION="512")
    assert "512" in result.stderr
    assert "384" in result.stderr


def embedder_checks(
    dream: Dream, environment: Mapping[str, str] | None = None, *, code: int = 0
) -> list[tuple[str, str]]:
    found = dream.json("doctor", code=code, **(environment or {}))["checks"]
    return [(check["state"], check["found"]) for check in found if check["name"] in ("embedder", "vectors")]


OPENAI = {"DREAMING_EMBEDDING_PROVIDER": "openai", "DREAMING_EMBEDDING_MODEL": "text-embedding-3-small"}
LOCAL = OPENAI | {"DREAMING_EMBEDDING_BASE_URL": "http://model.test/v1", "DREAMING_EMBEDDING_DIMENSION": "2"}


def test_doctor_names_the_embedder_and_slices_in_another_space(believing: Dream) -> None:
    assert embedder_checks(believing) == [("ok", "nothing is embedded: embedding_provider is none")]
    believing("settings", "set", "embedding_provider", "minilm")
    believing("settings", "set", "embedding_consent", "true")
    believing("drain", "embedding")
    assert embedder_checks(believing) == [("ok", "offline:minilm-l6-int8 answers, 384 dimensions")]
    with respx.mock:
        answer = {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}
        respx.post("http://model.test/v1/embeddings").mock(return_value=httpx.Response(200, json=answer))
        assert embedder_checks(believing, LOCAL) == [
            ("ok", "openai:text-embedding-3-small:2 answers, 2 dimensions"),
            ("warning", "1 slice in another space than openai:text-embedding-3-small:2"),
        ]


def test_doctor_misses_the_embedders_key(believing: Dream) -> None:
    (found,) = embedder_checks(believing, OPENAI, code=5)
    assert found[0] == "problem"
    assert "OPENAI_API_KEY" in found[1]


def test_doctor_finds_another_dimension_than_the_one_set(believing: Dream) -> None:
    with respx.mock:
        answer = {"data": [{"index": 0, "embedding": [1.0, 0.0, 0.0]}]}
        respx.post("http://model.test/v1/embeddings").mock(return_value=httpx.Response(200, json=answer))
        (found,) = embedder_checks(believing, LOCAL, code=5)
    assert found[0] == "problem"
    assert "3 dimensions, but 2" in found[1]


def test_doctor_tells_an_embedder_that_is_down_from_one_that_is_wrong(believing: Dream) -> None:
    with respx.mock:
        respx.post("http://model.test/v1/embeddings").mock(return_value=httpx.Response(503))
        assert embedder_checks(believing, LOCAL)[0][0] == "warning"


def test_without_consent_nothing_is_called_excluded(believing: Dream) -> None:
    talk = believing.home.parent / "talk.txt"
    talk.write_text("Ana: The roof leaks.\nBo: I will call Tobin.\n", "utf-8")
    believing("converse", str(talk), DREAMING_CONVERSATION_MEMORY="true")
    for _ in ("off", "without consent"):
        assert [(one["missing"], one["excluded"]) for one in of_slice(believing)["sources"].values()] == [
            (3, 0),
            (1, 0),
        ]
        assert "excluded" not in believing("embeddings").stdout
        believing("settings", "set", "embedding_provider", "minilm")
    believing("settings", "set", "embedding_excluded_sources", "conversation")
    assert of_slice(believing)["sources"]["conversations"]["excluded"] == 1
