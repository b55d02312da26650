"""What a cold start of each handler imports, and for how long: `make bench-cold-start`.

Each handler is imported in fresh interpreters, with only the package and its dependencies on the path.
Milliseconds are of this machine, with a warm disk: they compare handlers and versions, and are no
forecast for Lambda. The goals are about what is imported, which is the same everywhere.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.architecture.modules import FUNCTIONS, PACKAGE_ROOT, ROOT

NAME = "cold-start"
REPEATS = 5
HEAVY = ("boto3", "botocore.session", "httpx", "numpy", "onnxruntime")
"""Each costs a cold start between 0.15 and 0.5 seconds."""

MODEL_CLIENTS = (
    "dreaming.models.anthropic",
    "dreaming.models.bedrock",
    "dreaming.models.endpoint",
    "dreaming.models.offline",
    "dreaming.models.openai_compatible",
    "dreaming.models.scripted",
    "dreaming.models.selection",
)

_PROGRAM = """
import sys, time
before = set(sys.modules)
start = time.perf_counter()
import handler
milliseconds = 1000 * (time.perf_counter() - start)
import json
print(json.dumps({"milliseconds": milliseconds, "modules": sorted(set(sys.modules) - before)}))
"""


@dataclass(frozen=True)
class ColdStart:
    """One handler's import: the median time, and every module that it brought in."""

    name: str
    milliseconds: float
    modules: frozenset[str]

    @property
    def heavy(self) -> list[str]:
        """What it imported of the heavy modules and the model clients."""
        return sorted(self.modules & {*HEAVY, *MODEL_CLIENTS})


def handlers() -> list[str]:
    """The names of all functions."""
    return sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py"))


def measure(name: str, *, repeats: int = REPEATS) -> ColdStart:
    """Import a handler as Lambda does, `repeats` times."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT), "POWERTOOLS_TRACE_DISABLED": "true"}
    found = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            cwd=FUNCTIONS / name,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        found.append(json.loads(done.stdout))
    return ColdStart(name, statistics.median(one["milliseconds"] for one in found), frozenset(found[-1]["modules"]))


def report(starts: list[ColdStart]) -> dict[str, Any]:
    """The figures in the shape that all measurements share."""
    figures: dict[str, dict[str, Any]] = {}
    for start in starts:
        figures[f"{start.name}.milliseconds"] = figure(round(start.milliseconds), "ms")
        figures[f"{start.name}.modules"] = figure(len(start.modules), "modules")
        figures[f"{start.name}.heavy_modules"] = figure(len(start.heavy), "modules", goal=0)
    return {
        "name": NAME,
        "figures": figures,
        "environment": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "system": platform.system(),
            "cores": os.cpu_count(),
            "repeats": REPEATS,
        },
    }


def figure(value: float, unit: str, *, goal: float | None = None) -> dict[str, Any]:
    """One figure; without a goal it is for information."""
    return {"value": value, "unit": unit, "goal": goal, "ok": goal is None or value <= goal}


def main(folder: Path = ROOT / "build" / "bench") -> int:
    """Measure, write the figures, print a table; returns 1 when a goal is missed."""
    starts = [measure(name) for name in handlers()]
    written = report(starts)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}.json"
    path.write_text(json.dumps(written, indent=2) + "\n", "utf-8")
    lines = [f"{'handler':<14}{'ms':>6}{'modules':>9}  heavy"]
    lines += [
        f"{start.name:<14}{start.milliseconds:>6.0f}{len(start.modules):>9}  {', '.join(start.heavy) or 'none'}"
        for start in starts
    ]
    sys.stdout.write("\n".join([*lines, f"written to {path.relative_to(ROOT)}", ""]))
    return 0 if all(one["ok"] for one in written["figures"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
