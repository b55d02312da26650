"""Handlers import nothing that they do not need: each import is paid for at every cold start."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests.architecture.modules import FUNCTIONS, PACKAGE_ROOT
from tests.benchmarks.cold_start import HEAVY, MODEL_CLIENTS, handlers, measure, report
from tests.functions.http import request

PASSES_ONLY = ("dreaming.passes.engine", "dreaming.passes.consolidation.run", "dreaming.lambdas.queue", "json_repair")


@pytest.mark.parametrize("name", handlers())
def test_a_handler_loads_neither_numpy_nor_a_model_client_nor_boto3(name: str) -> None:
    start = measure(name, repeats=1)
    assert start.heavy == []
    assert "dreaming.database.connection" in start.modules
    if name in {"api", "migrate"}:
        assert start.modules.isdisjoint(PASSES_ONLY)
    figures = report([start])["figures"]
    assert figures[f"{name}.modules"]["value"] == len(start.modules)
    assert all(figure["ok"] for figure in figures.values())


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
