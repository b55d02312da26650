"""What callers of the API are told speaks of the API: no command, option or placeholder of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreaming.local.cli import COMMANDS
from tests.architecture.modules import ROOT

PACKAGE = ROOT / "layers" / "dreaming" / "python" / "dreaming"
TOLD = {"InvalidInput", "NotFound", "Erased", "NotAllowed", "NotIdentified", "RequestAtWork", "Refusal"}
"""Errors whose words reach a caller of the API."""

OF_THE_COMMAND_LINE = re.compile(rf"\bdream ({'|'.join(COMMANDS)})\b|(?<![\w-])--[a-z]|\b[A-Z]+_ID\b|`dream ")


def sentences() -> Iterator[tuple[str, str]]:
    """Every text in an error that is made outside the command line, with its place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if (PACKAGE / "local") in path.parents or (PACKAGE / "notes" / "connectors") in path.parents:
            continue  # only the command line and whoever calls these from Python gets there
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and name_of(node.func) in TOLD:
                for part in ast.walk(node):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield f"{path.relative_to(PACKAGE)}:{part.lineno}", part.value


def name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_errors_that_reach_callers_do_not_speak_of_the_command_line() -> None:
    found = list(sentences())
    assert len(found) > 290
    assert [(place, text) for place, text in found if OF_THE_COMMAND_LINE.search(text)] == []


@pytest.mark.parametrize("text", ["see `dream beliefs`", "run: dream settings set x", "BELIEF_ID", "give --source"])
def test_words_of_the_command_line_are_known_as_such(text: str) -> None:
    assert OF_THE_COMMAND_LINE.search(text)


def test_the_routes_own_texts_do_not_either() -> None:
    for path in sorted((PACKAGE / "api").rglob("*.py")):
        if path.name != "operations.py":
            assert not re.search(r"`dream (?!up`)", path.read_text("utf-8")), path.relative_to(Path(PACKAGE))
