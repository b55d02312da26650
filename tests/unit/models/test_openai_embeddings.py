"""The wire format of embeddings: batches, order, and vectors that must not be stored."""

import json
from typing import Any

import httpx
import numpy as np
import pytest
import respx

from dreaming.errors import (
    Hold,
    Misconfigured,
    MissingKey,
    ProviderMisconfigured,
    ProviderUnavailable,
    RefusedText,
    Throttled,
    UnusableVector,
)
from dreaming.models.endpoint import Endpoint
from dreaming.models.openai_compatible import OpenAIEmbedder

URL = "https://model.test/v1/embeddings"


def embedder(**options: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(Endpoint("https://model.test/v1", lambda: None), "e-1", dimension=2, **options)


def vectors(*rows: object) -> httpx.Response:
    # Written by hand: json= would refuse NaN, which servers do send.
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return httpx.Response(200, content=json.dumps({"data": data}))


def test_texts_go_in_batches_and_come_back_in_their_order_at_unit_length(server: respx.MockRouter) -> None:
    def lengths(sent: httpx.Request) -> httpx.Response:
        texts = json.loads(sent.content)["input"]
        data = [{"index": place, "embedding": [len(text), 0.5]} for place, text in enumerate(texts)]
        return httpx.Response(200, json={"data": data[::-1]})

    route = server.post(URL).mock(side_effect=lengths)
    rows = embedder(batch=2).embed(["a", "bb", "ccc", "dddd", "eeeee"], timeout=5)
    assert route.call_count == 3
    assert rows.shape == (5, 2)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.allclose(rows[:, 0] / rows[:, 1], [2, 4, 6, 8, 10])


def test_no_texts_cost_no_call(server: respx.MockRouter) -> None:
    route = server.post(URL)
    assert embedder().embed([], timeout=5).shape == (0, 2)
    assert route.call_count == 0


def test_a_chosen_dimension_is_asked_for_and_every_one_is_named(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=vectors([1, 0]))
    chosen = embedder(ask_dimension=True)
    chosen.embed(["a"], timeout=5)
    assert json.loads(route.calls.last.request.content)["dimensions"] == 2
    assert (chosen.name, embedder().name) == ("openai:e-1:2", "openai:e-1:2")
    embedder().embed(["a"], timeout=5)
    assert "dimensions" not in json.loads(route.calls.last.request.content)


def test_another_dimension_names_both_numbers(server: respx.MockRouter) -> None:
    server.post(URL).mock(return_value=vectors([1, 0, 0]))
    with pytest.raises(Misconfigured, match=r"3 dimensions, but 2"):
        embedder().embed(["a"], timeout=5)


@pytest.mark.parametrize(
    "row", [[0, 0], [float("nan"), 1], [float("inf"), 1], ["a", "b"], [10**400, 1], "AAAA", None, [None, 1]]
)
def test_a_vector_without_a_direction_is_refused(server: respx.MockRouter, row: object) -> None:
    server.post(URL).mock(return_value=vectors(row))
    with pytest.raises(UnusableVector):
        embedder().embed(["a"], timeout=5)


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        [{"index": 0, "embedding": [1, 0]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [0, 1]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 7, "embedding": [0, 1]}],
        [{"index": [], "embedding": [1, 0]}, {"index": {}, "embedding": [0, 1]}],
    ],
)
def test_missing_or_doubled_vectors_are_refused(server: respx.MockRouter, data: object) -> None:
    server.post(URL).mock(return_value=httpx.Response(200, json={"data": data}))
    with pytest.raises(ProviderUnavailable, match="for 2 texts"):
        embedder().embed(["a", "b"], timeout=5)


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.Response(429, headers={"retry-after": "7"}), Throttled),
        (httpx.Response(400, json={}), RefusedText),
        (httpx.Response(413), RefusedText),
        (httpx.Response(422), RefusedText),
        (httpx.Response(401), MissingKey),
        (httpx.Response(404), ProviderMisconfigured),
        (httpx.Response(500), ProviderUnavailable),
        (httpx.Response(503, headers={"retry-after": "3"}), ProviderUnavailable),
        (httpx.Response(200, content=b"no json"), ProviderUnavailable),
        (httpx.ReadTimeout("slow"), ProviderUnavailable),
        (httpx.ConnectError("refused"), ProviderUnavailable),
    ],
)
def test_every_failure_of_the_server_holds(
    server: respx.MockRouter, response: httpx.Response | Exception, error: type[Exception]
) -> None:
    server.post(URL).mock(side_effect=[response])
    with pytest.raises(Hold) as raised:
        embedder().embed(["a"], timeout=5)
    assert type(raised.value) is error


def test_a_throttled_server_says_how_long_to_wait(server: respx.MockRouter) -> None:
    server.post(URL).mock(return_value=httpx.Response(429, headers={"retry-after": "7"}))
    with pytest.raises(Throttled) as raised:
        embedder().embed(["a"], timeout=5)
    assert raised.value.retry_after == 7


def test_a_failure_in_the_middle_stops_the_rest(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(side_effect=[vectors([1, 0]), httpx.Response(500)])
    with pytest.raises(ProviderUnavailable):
        embedder(batch=1).embed(["a", "b", "c"], timeout=5)
    assert route.call_count == 2


def test_time_is_for_all_calls_together(server: respx.MockRouter) -> None:
    route = server.post(URL).mock(return_value=vectors([1, 0]))
    ticks = iter([0.0, 0.0, 3.0])
    embedder(batch=1, clock=lambda: next(ticks)).embed(["a", "b"], timeout=5)
    assert [call.request.extensions["timeout"]["read"] for call in route.calls] == [5.0, 2.0]
