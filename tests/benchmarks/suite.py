"""Every benchmark at three sizes, and the report of it: `make bench`.

    python -m tests.benchmarks.suite [--only growth] [--quick]

Each benchmark runs in processes of its own, one size after another, and writes its figures as JSON. From all of
them together come `docs/benchmarks.json`, the page `docs/benchmarks.md` and its plots. `--only` measures some anew
and keeps the others as they were; `--quick` tries everything at tiny sizes, and writes into a folder of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.architecture.modules import ROOT
from tests.benchmarks.page import PAGE, plots, rendered

RESULTS = ROOT / "docs" / "benchmarks.json"
IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A module of this folder: how it is called at each size, and at a tiny one.

    `sizes` give each run its size; a benchmark that takes all sizes at once has one run and no size of its own.
    """

    name: str
    module: str
    runs: tuple[tuple[str, ...], ...]
    quick: tuple[str, ...]
    sizes: tuple[int, ...] = ()

    def planned(self, *, quick: bool) -> list[tuple[int | None, tuple[str, ...]]]:
        """Size and arguments of every run."""
        if quick:
            return [(None if not self.sizes else int(self.quick[1]), self.quick)]
        return list(zip(self.sizes or (None,) * len(self.runs), self.runs, strict=True))


def _sized(
    name: str, option: str, sizes: tuple[int, ...], tiny: int, *more: str, quick: tuple[str, ...] = ()
) -> Benchmark:
    runs = tuple((option, str(size), *more) for size in sizes)
    return Benchmark(name, name, runs, (option, str(tiny), *(quick or more)), sizes)


BENCHMARKS = (
    _sized("ingest", "--notes", (2_000, 10_000, 50_000), 500),
    _sized("consolidation", "--notes", (192, 576, 1_152), 8, quick=("--lines", "32")),
    Benchmark("growth", "growth", (("--sizes", "1000", "10000", "100000"),), ("--sizes", "100", "--notes", "12")),
    _sized("decay", "--rows", (10_000, 30_000, 100_000), 500),
    Benchmark(
        "contradictions", "contradictions",
        (("--sizes", "1000", "5000", "25000"),), ("--sizes", "100", "--people", "5"),
    ),
    _sized(
        "recall", "--size", (2_000, 6_000, 20_000), 400, "--organizations", "50",
        quick=("--organizations", "4", "--dimension", "16", "--compare", "2"),
    ),
    _sized("status", "--notes", (10_000, 50_000, 250_000), 2_000, quick=("--requests", "5")),
    Benchmark("cold-start", "cold_start", (("--no-page",),), ("--no-page", "--repeats", "1")),
)  # fmt: skip


def main() -> int:
    """Measure, write the results and the page; returns 1 when a goal is missed or a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[one.name for one in BENCHMARKS], default=[])
    parser.add_argument("--quick", action="store_true", help="tiny sizes; the committed report stays as it is")
    given = parser.parse_args()
    chosen = [one for one in BENCHMARKS if not given.only or one.name in given.only]
    if given.quick:
        with tempfile.TemporaryDirectory(prefix="dreaming-bench-") as name:
            results = combined({}, measured(chosen, Path(name), quick=True))
            write(results, Path(name) / "benchmarks.json", Path(name) / "benchmarks.md", Path(name))
        return 1 if any("problem" in run for run in results["runs"]) else 0
    runs = measured(chosen, ROOT / "build" / "bench", quick=False)
    kept = json.loads(RESULTS.read_text("utf-8")) if given.only and RESULTS.exists() else {}
    results = combined(kept, runs)
    write(results, RESULTS, PAGE, IMAGES)
    _say(f"written to {PAGE.relative_to(ROOT)}")
    return 0 if all(fine(run) for run in results["runs"]) else 1


def measured(chosen: Sequence[Benchmark], folder: Path, *, quick: bool) -> list[dict[str, Any]]:
    """Run the chosen benchmarks, one after another."""
    runs = []
    for one in chosen:
        for size, arguments in one.planned(quick=quick):
            runs.append(measured_run(one, size, arguments, folder))
            _say(f"{one.name} {' '.join(arguments)}: {runs[-1].get('problem', runs[-1]['seconds'])}")
    return runs


def combined(kept: dict[str, Any], runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the results of all benchmarks, in which `runs` replace those of the same benchmarks."""
    names = {run["benchmark"] for run in runs}
    together = [run for run in kept.get("runs", []) if run["benchmark"] not in names] + list(runs)
    order = [one.name for one in BENCHMARKS]
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "runs": sorted(together, key=lambda run: (order.index(run["benchmark"]), run["size"] or 0)),
    }


def measured_run(one: Benchmark, size: int | None, arguments: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a benchmark once in a process of its own; a failure is part of the record."""
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f"{one.name}.json"
    written.unlink(missing_ok=True)
    before, start = os.getloadavg()[0], time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{one.module}", *arguments],
        cwd=ROOT, env={**os.environ, "DREAMING_BENCH_FOLDER": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    record: dict[str, Any] = {
        "benchmark": one.name, "size": size, "arguments": list(arguments),
        "seconds": round(time.perf_counter() - start, 1),
        "load": [round(before, 1), round(os.getloadavg()[0], 1)],
    }  # fmt: skip
    if not written.exists():
        return {
            **record,
            "problem": " ".join(ran.stderr.split())[-300:] or f"exit code {ran.returncode}",
            "figures": {},
        }
    return {**record, "figures": json.loads(written.read_text("utf-8"))["figures"]}


def fine(run: dict[str, Any]) -> bool:
    """Whether a run has figures and meets its goals."""
    return "problem" not in run and all(figure["ok"] is not False for figure in run["figures"].values())


def write(results: dict[str, Any], path: Path, page: Path, images: Path) -> None:
    """Write results, page and plots."""
    path.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    page.write_text(rendered(results), "utf-8")
    for name, drawing in plots(results).items():
        (images / name).write_text(drawing, "utf-8")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
