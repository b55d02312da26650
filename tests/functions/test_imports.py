"""Handlers import nothing that they do not need: each import is paid for at every cold start."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests.architecture.modules import FUNCTIONS, PACKAGE_ROOT
from tests.benchmarks.cold_start import (
    HEAVY,
    MODEL_CLIENTS,
    PAGE,
    ColdStart,
    figures,
    handlers,
    listed,
    measure,
    page,
)
from tests.functions.http import request

PASSES_ONLY = ("dreaming.passes.engine", "dreaming.passes.consolidation.run", "dreaming.lambdas.queue", "json_repair")


@pytest.mark.parametrize("name", handlers())
def test_a_handler_loads_neither_numpy_nor_a_model_client_nor_boto3(name: str) -> None:
    start = measure(name, repeats=1)
    assert start.heavy == []
    assert "dreaming.database.connection" in start.modules
    if name in {"api", "migrate"}:
        assert start.modules.isdisjoint(PASSES_ONLY)
    measured = figures([start])
    assert measured[f"{name}.modules"].value == len(start.modules)
    assert all(figure.ok is not False for figure in measured.values())
    assert_as_documented(start)


def assert_as_documented(start: ColdStart) -> None:
    """The page's counts hold, but for what differs between versions of Python."""
    told = "docs/cold-start.md is out of date: make bench-cold-start"
    modules, own, packages = listed(PAGE.read_text("utf-8"))[start.name]
    assert start.packages == packages, told
    assert start.own == pytest.approx(own, abs=5), told
    assert len(start.modules) == pytest.approx(modules, rel=0.15), told


def test_the_page_lists_every_handler_and_is_read_as_it_is_written() -> None:
    assert sorted(listed(PAGE.read_text("utf-8"))) == handlers()
    start = ColdStart(
        "api", 1234.5, frozenset({"handler", "dreaming", "dreaming.api", "psycopg", "psycopg.rows", "json"})
    )
    assert listed(page([start])) == {"api": (6, 2, ["psycopg"])}
    assert "about 1200" in page([start])


def test_answering_for_the_first_time_loads_nothing_heavy_either(database_url: str) -> None:
    program = (
        "import json, sys; from handler import handler; from dreaming.local.functions import LocalContext;"
        "answer = handler(json.loads(sys.argv[1]), LocalContext('api', 'request', float('1e9')));"
        "print(json.dumps([answer['statusCode'], sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(request("/brain/dream/status"))],
        cwd=FUNCTIONS / "api",
        env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT), "DATABASE_URL": database_url},
        check=True,
        capture_output=True,
        text=True,
    )
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 200
    assert not {*HEAVY, *MODEL_CLIENTS} & set(modules)


def test_the_list_of_heavy_modules_is_of_modules_that_exist() -> None:
    assert [name for name in (*HEAVY, *MODEL_CLIENTS) if importlib.util.find_spec(name) is None] == []
