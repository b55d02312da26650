"""Every benchmark still runs, at sizes that say nothing about speed."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from tests.benchmarks import report
from tests.benchmarks.suite import BENCHMARKS, Benchmark

_IN_THIS_PROCESS = [one for one in BENCHMARKS if one.name not in {"recall", "cold-start"}]
"""Recall starts a server of its own, and the functions' tests import the handlers."""


@pytest.mark.parametrize("benchmark_", _IN_THIS_PROCESS, ids=[one.name for one in _IN_THIS_PROCESS])
def test_a_benchmark_runs_and_writes_its_figures(
    benchmark_: Benchmark, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DREAMING_BENCH_SERVER", server_url)
    module = importlib.import_module(f"tests.benchmarks.{benchmark_.module}")
    monkeypatch.setattr(module, "write", lambda *given, **named: report.write(*given, **{**named, "folder": tmp_path}))
    module.main(benchmark_.quick)
    written = json.loads((tmp_path / f"{benchmark_.name}.json").read_text("utf-8"))
    assert written["figures"]
    counted = [one for one in written["figures"].values() if one["unit"] in {"calls", "beliefs", "rows"}]
    assert all(one["ok"] is not False for one in counted), counted
