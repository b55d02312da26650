"""Embeddings by Bedrock: Titan Text V2, Cohere Embed v3 and v4, Nova.

Request and answer of each family, its lengths and its limits are those of the Bedrock and Nova user
guides ("Amazon Titan Embeddings", "Cohere Embed", "Complete embeddings request and response schema").
Texts are always embedded as things to be found, so that all vectors of a space can be compared.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dreaming.errors import (
    InvalidInput,
    MalformedAnswer,
    ModelTimeout,
    ProviderMisconfigured,
    ProviderUnavailable,
    RefusedText,
)
from dreaming.models.bedrock_runtime import BedrockRuntime
from dreaming.models.vectors import unit_rows
from dreaming.models.wire import Refusal

_INVALID = 400  # ValidationException: of the request, and so perhaps of one text


@dataclass(frozen=True, slots=True)
class _Family:
    """Models that share a wire format: `batch` texts a call, `characters` of each, the rest is left out."""

    pattern: re.Pattern[str]
    dimensions: tuple[int, ...]
    batch: int
    characters: int
    body: Callable[[list[str], int], dict[str, Any]]
    vectors: Callable[[Mapping[str, Any]], object]


def _titan_body(texts: list[str], dimension: int) -> dict[str, Any]:
    return {"inputText": texts[0], "dimensions": dimension, "normalize": True}


def _titan_vectors(answered: Mapping[str, Any]) -> object:
    return [answered.get("embedding")]


def _cohere_3_body(texts: list[str], dimension: int) -> dict[str, Any]:  # noqa: ARG001 - it has one length
    return {"texts": texts, "input_type": "search_document", "truncate": "END"}


def _cohere_4_body(texts: list[str], dimension: int) -> dict[str, Any]:
    return {
        "texts": texts,
        "input_type": "search_document",
        "truncate": "RIGHT",
        "embedding_types": ["float"],
        "output_dimension": dimension,
    }


def _cohere_vectors(answered: Mapping[str, Any]) -> object:
    """Return the vectors, which stand under their type when a type was asked for."""
    found = answered.get("embeddings")
    return found.get("float") if isinstance(found, dict) else found


def _nova_body(texts: list[str], dimension: int) -> dict[str, Any]:
    return {
        "schemaVersion": "nova-multimodal-embed-v1",
        "taskType": "SINGLE_EMBEDDING",
        "singleEmbeddingParams": {
            "embeddingPurpose": "GENERIC_INDEX",
            "embeddingDimension": dimension,
            "text": {"truncationMode": "END", "value": texts[0]},
        },
    }


def _nova_vectors(answered: Mapping[str, Any]) -> object:
    found = answered.get("embeddings")
    return [one.get("embedding") for one in found if isinstance(one, dict)] if isinstance(found, list) else None


# Titan takes 8,192 tokens and cuts nothing itself; a character is rarely more than one token.
_FAMILIES = (
    _Family(re.compile(r"amazon\.titan-embed-text-v2"), (256, 512, 1024), 1, 8_000, _titan_body, _titan_vectors),
    _Family(
        re.compile(r"cohere\.embed-(?:english|multilingual)-v3"), (1024,), 96, 2_048, _cohere_3_body, _cohere_vectors
    ),
    _Family(re.compile(r"cohere\.embed-v4"), (256, 512, 1024, 1536), 96, 100_000, _cohere_4_body, _cohere_vectors),
    _Family(
        re.compile(r"amazon\.nova-2-multimodal-embeddings"),
        (256, 384, 1024, 3072),
        1,
        8_192,
        _nova_body,
        _nova_vectors,
    ),
)


class BedrockEmbedder:
    """An `Embedder` over `InvokeModel`; families that take one text a call are asked several times at once."""

    def __init__(
        self,
        runtime: BedrockRuntime,
        model: str,
        *,
        dimension: int,
        concurrency: int = 8,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Embed with `model`, an id that names its family; raises `InvalidInput` for a family's other lengths."""
        self._family = _family(model)
        if dimension not in self._family.dimensions:
            offered = " or ".join(str(length) for length in self._family.dimensions)
            raise InvalidInput("embedding_dimension", f"{dimension} is not offered by {model!r}", f"choose {offered}")
        self._runtime = runtime
        self._model = model
        self._dimension = dimension
        self._concurrency = concurrency
        self._clock = clock

    @property
    def name(self) -> str:
        """Provider, model and dimension: another length, another space."""
        return f"bedrock:{self._model}:{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._dimension

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:
        """Return one unit vector for each text; `timeout` in seconds is for all calls together.

        No text may be empty. Raises `RefusedText` or `UnusableVector` for what lies with one of the
        texts, another `Hold` when Bedrock fails, and `Misconfigured` when its vectors have another length.
        """
        deadline = self._clock() + timeout
        shortened = [text[: self._family.characters] for text in texts]
        parts = [shortened[start : start + self._family.batch] for start in range(0, len(texts), self._family.batch)]
        if not parts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        failures: list[Exception] = []
        pool = ThreadPoolExecutor(min(self._concurrency, len(parts)))
        try:
            return np.concatenate(list(pool.map(lambda part: self._unless(failures, part, deadline), parts)))
        finally:
            pool.shutdown(cancel_futures=True)

    def _unless(self, failures: list[Exception], texts: list[str], deadline: float) -> NDArray[np.float32]:
        """Embed `texts` unless a call failed: the executor would begin many more before it can be stopped."""
        if failures:
            raise failures[0]
        try:
            return self._part(texts, deadline)
        except Exception as failure:
            failures.append(failure)
            raise

    def _part(self, texts: list[str], deadline: float) -> NDArray[np.float32]:
        remaining = deadline - self._clock()
        if remaining <= 0:
            raise ProviderUnavailable("Bedrock did not embed all texts in time.")
        try:
            answered = self._runtime.invoke(self._model, self._family.body(texts, self._dimension), remaining)
        except ModelTimeout as problem:
            raise ProviderUnavailable(str(problem)) from None
        except MalformedAnswer as problem:  # the model itself failed over the request
            raise RefusedText(str(problem)) from None
        except Refusal as refusal:
            if refusal.status == _INVALID:
                raise RefusedText(f"Bedrock refuses to embed with {self._model!r} ({refusal}).") from None
            raise ProviderMisconfigured(
                f"Bedrock refuses to embed with {self._model!r} ({refusal}): allow bedrock:InvokeModel on it, "
                "and enable the model for this account and region."
            ) from None
        vectors = self._family.vectors(answered)
        if not isinstance(vectors, list) or len(vectors) != len(texts):
            raise ProviderUnavailable(f"Bedrock answered other than {len(texts)} vectors for {len(texts)} texts.")
        return unit_rows(vectors, self._dimension)


def offers(model: str, dimension: int) -> bool:
    """Whether `model` is an embedding model known here and makes vectors of this length."""
    return any(family.pattern.search(model) and dimension in family.dimensions for family in _FAMILIES)


def _family(model: str) -> _Family:
    found = next((family for family in _FAMILIES if family.pattern.search(model)), None)
    if found is None:
        raise InvalidInput(
            "embedding_model",
            f"{model!r} is no embedding model of Bedrock that is known here",
            "choose amazon.titan-embed-text-v2:0, cohere.embed-multilingual-v3, cohere.embed-english-v3, "
            "cohere.embed-v4:0 or amazon.nova-2-multimodal-embeddings-v1:0",
        )
    return found
