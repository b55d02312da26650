"""Embeddings of Bedrock: what each family is sent, its limits, and vectors that must not be stored."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from botocore.exceptions import ReadTimeoutError

from dreaming.errors import (
    DreamingError,
    InvalidInput,
    Misconfigured,
    MissingKey,
    ProviderMisconfigured,
    ProviderUnavailable,
    RefusedText,
    Throttled,
    UnusableVector,
)
from dreaming.models.bedrock_embeddings import BedrockEmbedder
from dreaming.models.bedrock_runtime import BedrockRuntime
from tests.aws_exchange import Answer, Exchange, take_on_credentials

TITAN = "amazon.titan-embed-text-v2:0"
COHERE_3 = "cohere.embed-multilingual-v3"
COHERE_4 = "eu.cohere.embed-v4:0"
NOVA = "amazon.nova-2-multimodal-embeddings-v1:0"


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    take_on_credentials(monkeypatch)


def vector(dimension: int = 256, first: float = 1.0) -> list[float]:
    return [first, *[0.0] * (dimension - 1)]


def embedder(
    answers: Sequence[Answer | Exception], model: str = TITAN, dimension: int = 256, **options: Any
) -> tuple[BedrockEmbedder, Exchange]:
    exchange = Exchange("bedrock-runtime", answers)
    runtime = BedrockRuntime(exchange.connect)
    return BedrockEmbedder(runtime, model, dimension=dimension, **options), exchange


@pytest.mark.parametrize(
    ("model", "dimension", "body", "answer"),
    [
        (TITAN, 256, {"inputText": "a", "dimensions": 256, "normalize": True}, {"embedding": vector()}),
        (
            COHERE_3,
            1024,
            {"texts": ["a"], "input_type": "search_document", "truncate": "END"},
            {"embeddings": [vector(1024)], "response_type": "embeddings_floats"},
        ),
        (
            COHERE_4,
            512,
            {
                "texts": ["a"],
                "input_type": "search_document",
                "truncate": "RIGHT",
                "embedding_types": ["float"],
                "output_dimension": 512,
            },
            {"embeddings": {"float": [vector(512)]}, "response_type": "embeddings_by_type"},
        ),
        (
            NOVA,
            384,
            {
                "schemaVersion": "nova-multimodal-embed-v1",
                "taskType": "SINGLE_EMBEDDING",
                "singleEmbeddingParams": {
                    "embeddingPurpose": "GENERIC_INDEX",
                    "embeddingDimension": 384,
                    "text": {"truncationMode": "END", "value": "a"},
                },
            },
            {"embeddings": [{"embeddingType": "TEXT", "embedding": vector(384)}]},
        ),
    ],
)
def test_each_family_is_sent_its_own_form(model: str, dimension: int, body: object, answer: object) -> None:
    chosen, exchange = embedder([Answer(answer)], model, dimension)
    rows = chosen.embed(["a"], timeout=5)
    assert exchange.bodies == [body]
    assert exchange.paths == [f"model/{model}/invoke"]
    assert exchange.requests[0].headers["Accept"] == b"application/json"
    assert rows.shape == (1, dimension)
    assert rows.dtype == np.float32


def test_titan_is_asked_for_each_text_and_the_order_stays() -> None:
    class Lengths(Exchange):
        def _answer(self, request: Any, **_: Any) -> Any:
            length = len(json.loads(request.body)["inputText"])
            self.requests.append(request)
            return Answer({"embedding": [float(length), 0.5, *[0.0] * 254]}).sent(request.url)

    exchange = Lengths("bedrock-runtime", [])
    rows = BedrockEmbedder(BedrockRuntime(exchange.connect), TITAN, dimension=256).embed(
        ["x" * length for length in range(1, 21)], timeout=5
    )
    assert len(exchange.requests) == 20
    assert np.allclose(rows[:, 0] / rows[:, 1], [2 * length for length in range(1, 21)], rtol=1e-4)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_cohere_takes_96_texts_a_call() -> None:
    answers = [Answer({"embeddings": [vector(1024, 1.0)] * 96}), Answer({"embeddings": [vector(1024, -1.0)] * 4})]
    chosen, exchange = embedder(answers, COHERE_3, 1024, concurrency=1)
    rows = chosen.embed(["a"] * 100, timeout=5)
    assert [len(body["texts"]) for body in exchange.bodies] == [96, 4]
    assert rows[:, 0].tolist() == [1.0] * 96 + [-1.0] * 4


def test_a_text_is_shortened_to_what_the_family_takes() -> None:
    chosen, exchange = embedder([Answer({"embeddings": [vector(1024)]})], COHERE_3, 1024)
    chosen.embed(["é" * 3_000], timeout=5)
    assert exchange.bodies[0]["texts"] == ["é" * 2_048]


def test_no_texts_cost_no_call() -> None:
    chosen, exchange = embedder([])
    assert chosen.embed([], timeout=5).shape == (0, 256)
    assert not exchange.requests


def test_another_dimension_is_another_space() -> None:
    assert embedder([])[0].name == f"bedrock:{TITAN}:256"
    assert embedder([], COHERE_3, 1024)[0].name == f"bedrock:{COHERE_3}:1024"
    assert embedder([])[0].dimension == 256


@pytest.mark.parametrize(
    ("model", "dimension", "named"),
    [
        (TITAN, 1536, "choose 256 or 512 or 1024"),
        (COHERE_3, 384, "choose 1024"),
        (COHERE_4, 384, "choose 256 or 512 or 1024 or 1536"),
        (NOVA, 512, "choose 256 or 384 or 1024 or 3072"),
        ("amazon.titan-embed-text-v1", 1536, "titan-embed-text-v2"),
    ],
)
def test_what_is_not_offered_is_refused_with_what_is(model: str, dimension: int, named: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        embedder([], model, dimension)
    assert named in str(raised.value)


def test_another_length_names_both_numbers() -> None:
    with pytest.raises(Misconfigured, match=r"512 dimensions, but 256"):
        embedder([Answer({"embedding": vector(512)})])[0].embed(["a"], timeout=5)


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"embedding": vector(first=0.0)}),
        Answer({"embedding": None}),
        Answer({"embedding": ["a"] * 256}),
        Answer({}),
        Answer(b'{"embedding": [' + b"NaN," * 255 + b"1]}"),
    ],
)
def test_a_vector_without_a_direction_is_refused(answer: Answer) -> None:
    with pytest.raises(UnusableVector):
        embedder([answer])[0].embed(["a"], timeout=5)


@pytest.mark.parametrize("answer", [Answer(b"no json"), Answer(b"[1]")])
def test_what_is_no_answer_holds(answer: Answer) -> None:
    with pytest.raises(ProviderUnavailable) as raised:
        embedder([answer])[0].embed(["a"], timeout=5)
    assert type(raised.value) is ProviderUnavailable


@pytest.mark.parametrize("embeddings", [[], None, {"int8": []}, [vector(1024)] * 3, "text"])
def test_missing_or_doubled_vectors_are_refused(embeddings: object) -> None:
    with pytest.raises(ProviderUnavailable, match="for 2 texts"):
        embedder([Answer({"embeddings": embeddings})], COHERE_3, 1024)[0].embed(["a", "b"], timeout=5)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer({}, 429, "ThrottlingException"), Throttled),
        (Answer({}, 400, "ServiceQuotaExceededException"), Throttled),
        (Answer({}, 503, "ServiceUnavailableException"), ProviderUnavailable),
        (Answer({}, 408, "ModelTimeoutException"), ProviderUnavailable),
        (Answer({}, 400, "ValidationException"), RefusedText),
        (Answer({}, 404, "ResourceNotFoundException"), ProviderMisconfigured),
        (Answer({}, 500, "InternalServerException"), ProviderUnavailable),
        (Answer({}, 429, "ModelNotReadyException"), ProviderUnavailable),
        (Answer({"originalStatusCode": 400}, 424, "ModelErrorException"), RefusedText),
        (Answer({"originalStatusCode": 500}, 424, "ModelErrorException"), ProviderUnavailable),
        (Answer({}, 403, "AccessDeniedException"), ProviderMisconfigured),
        (Answer({}, 403, "ExpiredTokenException"), MissingKey),
        (ReadTimeoutError(endpoint_url="https://x"), ProviderUnavailable),
    ],
)
def test_every_failure_holds_and_stops_the_rest(answer: Answer | Exception, error: type[DreamingError]) -> None:
    chosen, exchange = embedder([answer], concurrency=1)
    with pytest.raises(error) as raised:
        chosen.embed(["a"] * 200, timeout=5)
    assert type(raised.value) is error
    assert len(exchange.requests) == 1


def test_time_is_for_all_calls_together() -> None:
    ticks = iter([0.0, 0.0, 3.0, 6.0])
    chosen, exchange = embedder([Answer({"embedding": vector()})], concurrency=1, clock=lambda: next(ticks))
    with pytest.raises(ProviderUnavailable, match="in time"):
        chosen.embed(["a", "b", "c"], timeout=5)
    assert exchange.timeouts == [5.0, 2.0]
