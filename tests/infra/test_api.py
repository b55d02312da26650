"""Nobody calls the API unknown, except for its health and its page, which hold no data."""

from __future__ import annotations

import json

import pytest

from tests.infra.templates import Assembly


@pytest.mark.parametrize(
    ("name", "kind"), [("dreaming-prod", "JWT"), ("dreaming-dev", "AWS_IAM"), ("dreaming-local", "AWS_IAM")]
)
def test_every_route_with_data_is_authorized(assembly: Assembly, name: str, kind: str) -> None:
    routes = assembly.stack(name).of_type("AWS::ApiGatewayV2::Route").values()
    assert {route["RouteKey"]: route["AuthorizationType"] for route in routes} == {
        "ANY /{proxy+}": kind,
        "GET /brain/beliefs": kind,
        "GET /brain/recall": kind,
        "POST /brain/conversations": kind,
        "GET /brain/dashboard": "NONE",
        "GET /health": "NONE",
    }


def test_tokens_are_checked_for_issuer_and_audience(assembly: Assembly) -> None:
    authorizer = assembly.stack("dreaming-prod").only("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["JwtConfiguration"] == {"Audience": ["dreaming"], "Issuer": "https://login.example.test/"}
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]


def test_requests_are_throttled_and_logged_without_their_paths(assembly: Assembly) -> None:
    stage = assembly.stack("dreaming-prod").only("AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"] == {"ThrottlingBurstLimit": 100, "ThrottlingRateLimit": 50}
    embedding = {"ThrottlingBurstLimit": 20, "ThrottlingRateLimit": 10}
    assert stage["RouteSettings"] == dict.fromkeys(
        ["GET /brain/beliefs", "GET /brain/recall", "POST /brain/conversations"], embedding
    )
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert "$context.requestId" in logged.values()
    assert not any("path" in value.lower() for value in logged.values())


def test_the_function_answers_before_the_gateway_gives_up(assembly: Assembly) -> None:
    assert assembly.stack("dreaming-prod").our_functions()["api"]["Timeout"] < 30


def test_queries_can_be_embedded_and_nothing_else_is_called(assembly: Assembly) -> None:
    stack = assembly.stack("dreaming-prod")
    function = stack.our_functions()["api"]
    assert "DREAMING_KEYS_SECRET" in function["Environment"]["Variables"]
