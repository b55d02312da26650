"""What the API does and what the `dream` command does are held side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click
import pytest
from aws_lambda_powertools import Logger
from jsonschema import Draft202012Validator

from dreaming.api.application import build
from dreaming.api.operations import OPERATIONS, WITHOUT_ROUTE
from dreaming.local.cli import COMMANDS, dream
from tests.architecture.modules import ROOT
from tests.described import DOCUMENT

PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")


def routes() -> set[tuple[str, str]]:
    """Every route of the application, also those that the description leaves out."""
    app = build(lambda: pytest.fail("no request is made"), Logger(service="test"))
    found = [*app._static_routes, *app._dynamic_routes]
    return {(route.method, re.sub(r"<(\w+)>", r"{\1}", route.path)) for route in found}


def described() -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield (method.upper(), path), operation


def test_every_route_has_a_line_and_no_other() -> None:
    assert set(OPERATIONS) == routes()
    assert len({one.name for one in OPERATIONS.values()}) == len(OPERATIONS)


def test_every_route_has_a_command_or_a_reason_for_none() -> None:
    assert [route for route, one in OPERATIONS.items() if bool(one.command) == bool(one.reason)] == []


@pytest.mark.parametrize("command", sorted({one.command for one in OPERATIONS.values() if one.command}))
def test_a_command_that_is_named_exists(command: str) -> None:
    context = click.Context(dream)
    found: click.Command = dream
    for word in command.split():
        if word.startswith("--"):
            assert word in {option for parameter in found.params for option in parameter.opts}
        else:
            assert isinstance(found, click.Group)
            inner = found.get_command(context, word)
            assert inner is not None, command
            found = inner


def test_every_command_has_a_route_or_a_reason_for_none() -> None:
    served = {one.command.split()[0] for one in OPERATIONS.values() if one.command}
    assert served | set(WITHOUT_ROUTE) == set(COMMANDS)
    assert served & set(WITHOUT_ROUTE) == set()


def test_the_page_shows_every_route_and_every_reason() -> None:
    for (method, path), one in OPERATIONS.items():
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{method} {path}` |")]
        assert (f"`dream {one.command}`" if one.command else one.reason) in line
    for command, reason in WITHOUT_ROUTE.items():
        assert f"| `dream {command}` | {reason} |" in PAGE


def test_every_described_route_says_who_may_call_and_what_comes_back() -> None:
    for route, operation in described():
        assert operation["operationId"] == OPERATIONS[route].name
        assert operation["summary"]
        assert set(operation["tags"]) <= {one["name"] for one in DOCUMENT["tags"]}
        if operation["operationId"] != "get_health":
            assert {"401", "403", "422", "429", "503"} <= set(operation["responses"])
        assert ("{" in route[1]) <= ("404" in operation["responses"])
        keyed = "Idempotency-Key" in {one["name"] for one in operation.get("parameters", ())}
        assert keyed == (route[0] == "POST" and operation["operationId"] != "capture_conversation")
    assert set(DOCUMENT["components"]["securitySchemes"]) == {"token", "aws"}


@pytest.mark.parametrize(("method", "path"), sorted(route for route, _ in described()))
def test_every_described_route_has_examples_that_fit(method: str, path: str) -> None:
    operation = DOCUMENT["paths"][path][method.lower()]
    contents = [operation["responses"]["200"]["content"]["application/json"]]
    if "requestBody" in operation:
        contents.append(operation["requestBody"]["content"]["application/json"])
    for content in contents:
        assert content["example"]
        schema = content["schema"] | {"components": DOCUMENT["components"]}
        validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        assert [error.message for error in validator.iter_errors(content["example"])] == []
    for parameter in operation.get("parameters", ()):
        assert ("example" in parameter) or not (parameter["in"] == "path" or parameter.get("required"))
