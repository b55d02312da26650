"""The map of known faults names a test for each case, and every test it names exists."""

from __future__ import annotations

import ast
import re

from tests.architecture.modules import ROOT

PAGE = ROOT / "docs" / "known-faults.md"
PROMISES = ROOT / "docs" / "SECURITY.md"
CASES = 52
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def missing(text: str) -> list[tuple[str, str]]:
    """The tests that a page names and that do not exist."""
    return [(path, name) for path, name in NAMED.findall(text) if name not in _tests_of(path)]


def _tests_of(path: str) -> set[str]:
    file = ROOT / path
    if not file.is_file():
        return set()
    return {node.name for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_every_case_has_a_test_that_exists() -> None:
    text = PAGE.read_text("utf-8")
    rows = re.findall(r"(?m)^\| (\d+) \| .+ \| (.+) \|$", text)
    assert [int(number) for number, _ in rows] == list(range(1, CASES + 1))
    assert [number for number, tests in rows if not NAMED.search(tests)] == []
    assert missing(text) == []


def test_every_promise_names_a_test_that_exists() -> None:
    text = PROMISES.read_text("utf-8")
    assert len(NAMED.findall(text)) >= 20
    assert missing(text) == []


def test_a_test_that_is_gone_is_found() -> None:
    assert missing("`tests/gone.py::test_x` `tests/architecture/test_known_faults.py::test_gone`") == [
        ("tests/gone.py", "test_x"),
        ("tests/architecture/test_known_faults.py", "test_gone"),
    ]
