"""Who may import what, and proof that each rule bites.

The contracts are in pyproject.toml and run in `make lint`; the rules that name what is allowed, rather
than what is forbidden, are here.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.architecture.modules import FUNCTIONS, PACKAGE_ROOT, ROOT, imported, package_modules

CLIENT = ROOT / "layers" / "client" / "python" / "dreaming_client"
BESIDE = "../../../client/python/dreaming_client"
"""The client, as the package's folder sees it."""

PURE_NAMES = ("records", "rules")
PURE_MODULES = {
    "dreaming.errors",
    "dreaming.models.protocols",
    "dreaming.settings.registry",
    "dreaming.settings.resolution",
}
PURE_THIRD_PARTY = {"numpy", "pydantic"}
# Of the standard library, what reads a clock, a file, a network or chance.
IMPURE_STANDARD = {"asyncio", "io", "os", "pathlib", "random", "secrets", "socket", "sqlite3", "subprocess", "time"}
HANDLERS_MAY_IMPORT = {"dreaming", "aws_lambda_powertools"}


def is_pure(name: str) -> bool:
    return name in PURE_MODULES or name.rpartition(".")[2] in PURE_NAMES


def impurities(tree: ast.Module, modules: Mapping[str, ast.Module]) -> set[str]:
    """What a pure module reaches and must not, over the package's own `modules` that it imports."""
    found: set[str] = set()
    seen: set[str] = set()
    trees = [tree]
    while trees:
        for name in imported(trees.pop()) - seen:
            seen.add(name)
            top = name.partition(".")[0]
            if name in modules:
                trees.append(modules[name])
            elif top != "dreaming" and top not in PURE_THIRD_PARTY and not _is_pure_standard(top):
                found.add(name)
    return found


def _is_pure_standard(top: str) -> bool:
    return top in sys.stdlib_module_names and top not in IMPURE_STANDARD


def clocks_read(tree: ast.Module) -> set[str]:
    """The calls by which a module reads the clock or draws an id."""
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return attributes & {"now", "today", "utcnow", "uuid4", "uuid1"}


PACKAGE = {module.name: module.tree for module in package_modules()}
PURE = [name for name in PACKAGE if is_pure(name)]


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_reach_only_numpy_pydantic_and_pure_parts_of_the_standard_library(name: str) -> None:
    assert impurities(PACKAGE[name], PACKAGE) == set()
    assert clocks_read(PACKAGE[name]) == set()


def test_every_module_named_pure_exists() -> None:
    assert set(PURE) >= PURE_MODULES


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import psycopg", {"psycopg"}),
        ("import time", {"time"}),
        ("from random import choice", {"random", "random.choice"}),
        ("from pathlib import Path", {"pathlib", "pathlib.Path"}),
        ("from dreaming.notes.store import find", {"psycopg"}),
        ("from dreaming.notes import store", {"psycopg"}),
        ("def f():\n    import httpx", {"httpx"}),
        ("from . import store", {".", "..store"}),
    ],
)
def test_the_rule_of_purity_bites(line: str, found: set[str]) -> None:
    modules = {"dreaming.notes.store": ast.parse("import psycopg")}
    assert impurities(ast.parse(line), modules) == found


def test_the_rule_of_purity_lets_pure_imports_pass() -> None:
    allowed = "import re\nimport numpy as np\nfrom pydantic import BaseModel\nfrom dreaming.notes.records import Scope"
    assert impurities(ast.parse(allowed), {"dreaming.notes.records": ast.parse("import enum")}) == set()


def test_the_rule_against_clocks_bites() -> None:
    assert clocks_read(ast.parse("from datetime import datetime\nx = datetime.now()")) == {"now"}


def foreign_to_handlers(tree: ast.Module) -> set[str]:
    """What a handler imports and must not."""
    tops = {name.partition(".")[0] for name in imported(tree)}
    return tops - HANDLERS_MAY_IMPORT - sys.stdlib_module_names


def test_handlers_import_only_the_package_powertools_and_the_standard_library() -> None:
    handlers = sorted(FUNCTIONS.glob("*/handler.py"))
    assert handlers
    found = {handler.parent.name: foreign_to_handlers(ast.parse(handler.read_text("utf-8"))) for handler in handlers}
    assert found == {handler.parent.name: set() for handler in handlers}


@pytest.mark.parametrize("line", ["import boto3", "from psycopg import connect", "from .other import x"])
def test_the_rule_for_handlers_bites(line: str) -> None:
    assert foreign_to_handlers(ast.parse(line))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and of the contracts, to plant violations in."""
    root = tmp_path_factory.mktemp("copy of the tree")
    shutil.copy(ROOT / "pyproject.toml", root)
    package = root / PACKAGE_ROOT.relative_to(ROOT) / "dreaming"
    for folder in (PACKAGE_ROOT / "dreaming", CLIENT):
        shutil.copytree(folder, root / folder.relative_to(ROOT), ignore=shutil.ignore_patterns("__pycache__"))
    return package


@pytest.mark.parametrize(
    ("contract", "files"),
    [
        ("psycopg", {"beliefs/planted.py": "import psycopg"}),
        ("aws", {"notes/planted.py": "import botocore.session"}),
        ("http", {"passes/planted.py": "def call():\n    import httpx"}),
        ("local", {"lambdas/planted.py": "from dreaming.local import queue"}),
        ("client", {f"{BESIDE}/planted.py": "from dreaming.notes.records import Scope"}),
        ("client_users", {"lambdas/planted.py": "from dreaming_client import Dreaming"}),
        (
            "pure",
            {
                "notes/planted/__init__.py": "",
                "notes/planted/records.py": "from dreaming.notes.planted import store",
                "notes/planted/store.py": "import psycopg",
            },
        ),
    ],
)
def test_each_contract_bites(planted: Path, contract: str, files: dict[str, str]) -> None:
    paths = [planted / name for name in files]
    try:
        for path, text in zip(paths, files.values(), strict=True):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + "\n", "utf-8")
        output = run_contract(planted, contract)
    finally:
        for path in paths:
            path.unlink()
    assert re.search(r"^Contracts: 0 kept, 1 broken\.$", output, re.MULTILINE), output
    assert "planted" in output


def run_contract(package: Path, contract: str) -> str:
    """Check one contract on the copy and return what the linter printed."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache", "--contract", contract],
        cwd=package.parents[3],
        env={**os.environ, "PYTHONPATH": f"{package.parent}{os.pathsep}{(package / BESIDE).parent}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_every_contract_is_shown_to_bite() -> None:
    declared = set(re.findall(r'^id = "(\w+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE))
    assert declared == {"psycopg", "aws", "http", "local", "client", "client_users", "pure"}
