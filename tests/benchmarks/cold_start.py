"""What a cold start of each handler imports, and for how long: `make bench-cold-start`.

Each handler is imported in fresh interpreters, with only the package and its dependencies on the path.
Milliseconds are of this machine, with a warm disk: they compare handlers and versions, and are no
forecast for Lambda. The goals are about what is imported, which is the same everywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tests.architecture.modules import FUNCTIONS, PACKAGE_ROOT, ROOT
from tests.benchmarks.report import Figure, write

NAME = "cold-start"
PAGE = ROOT / "docs" / "cold-start.md"
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

_PRIVATE = re.compile(r"^_|^cython_runtime$|_binary$|__mypyc$|\.libs$")

_PAGE = """# Cold start

What importing each handler costs, written by `make bench-cold-start`. Milliseconds are the median of {repeats} fresh
interpreters (Python {python}, {machine}, warm disk), rounded to a magnitude: they compare handlers with each other and
are no forecast for Lambda. What is imported is the same everywhere, and a test compares it with this table.

| function | milliseconds | modules | of ours | packages |
|---|---|---|---|---|
{rows}

No handler imports boto3, numpy, httpx or the client of a model at its start: each would cost between 0.15 and 0.5
seconds. A pass imports what it needs of them when it first needs it; the status API never does.
"""

_PROGRAM = """
import sys, time
before = set(sys.modules)
start = time.perf_counter()
import {module}
milliseconds = 1000 * (time.perf_counter() - start)
import json
print(json.dumps({{"milliseconds": milliseconds, "modules": sorted(set(sys.modules) - before)}}))
"""


@dataclass(frozen=True)
class ColdStart:
    """One handler's import: the median time, and every module that it brought in."""

    name: str
    milliseconds: float
    modules: frozenset[str]

    @property
    def own(self) -> int:
        """How many modules of our package it imported."""
        return sum(name.partition(".")[0] == "dreaming" for name in self.modules)

    @property
    def packages(self) -> list[str]:
        """The other packages that it imported of, without the standard library and private parts."""
        tops = {name.partition(".")[0] for name in self.modules} - {"dreaming", "handler"}
        return sorted(name for name in tops if name not in sys.stdlib_module_names and not _PRIVATE.search(name))

    @property
    def heavy(self) -> list[str]:
        """What it imported of the heavy modules and the model clients."""
        return sorted(self.modules & {*HEAVY, *MODEL_CLIENTS})


def handlers() -> list[str]:
    """The names of all functions."""
    return sorted(path.parent.name for path in FUNCTIONS.glob("*/handler.py"))


def measure(name: str, *, repeats: int = REPEATS, module: str = "handler") -> ColdStart:
    """Import a handler as Lambda does, `repeats` times, or another module in its place."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_ROOT), "POWERTOOLS_TRACE_DISABLED": "true"}
    found = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(module=module)],
            cwd=FUNCTIONS / name,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        found.append(json.loads(done.stdout))
    return ColdStart(name, statistics.median(one["milliseconds"] for one in found), frozenset(found[-1]["modules"]))


def figures(starts: Sequence[ColdStart], boto3: float | None = None) -> dict[str, Figure]:
    """The figures of all handlers, and beside the milliseconds of importing boto3; the goals are about modules."""
    found: dict[str, Figure] = {}
    for start in starts:
        if boto3 is not None:
            found[f"{start.name} / importing boto3"] = Figure.of(start.milliseconds / boto3, "times", None)
        found[f"{start.name}.milliseconds"] = Figure.of(round(start.milliseconds), "ms", None)
        found[f"{start.name}.modules"] = Figure.of(len(start.modules), "modules", None)
        found[f"{start.name}.heavy_modules"] = Figure.of(len(start.heavy), "modules", ("<=", 0))
    return found


def page(starts: Sequence[ColdStart]) -> str:
    """The page for people, in which milliseconds are magnitudes."""
    rows = [
        f"| `{start.name}` | {_magnitude(start.milliseconds)} | {len(start.modules)} | {start.own} "
        f"| {', '.join(start.packages)} |"
        for start in starts
    ]
    return _PAGE.format(
        rows="\n".join(rows), repeats=REPEATS, python=".".join(platform.python_version_tuple()[:2]),
        machine=platform.machine(),
    )  # fmt: skip


def listed(text: str) -> dict[str, tuple[int, int, list[str]]]:
    """What the page says of each handler: all modules, our own, and packages."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\d+) \| (\d+) \| ([^|]+) \|$", text, re.MULTILINE)
    return {name: (int(modules), int(own), packages.split(", ")) for name, modules, own, packages in rows}


def _magnitude(milliseconds: float) -> str:
    """One significant figure, or two where it begins with a 1."""
    step = 10 ** (len(str(round(milliseconds))) - 1)
    step = step // 10 if milliseconds < 2 * step else step
    return f"about {round(milliseconds / step) * step}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write figures and page, print a table; returns 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description="What a cold start of each handler imports, and for how long.")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--no-page", action="store_true", help="leave docs/cold-start.md as it is")
    given = parser.parse_args(arguments)
    starts = [measure(name, repeats=given.repeats) for name in handlers()]
    boto3 = measure(starts[0].name, repeats=given.repeats, module="boto3").milliseconds
    if not given.no_page:
        PAGE.write_text(page(starts), "utf-8")
    return write(NAME, figures(starts, boto3), details={"repeats": given.repeats})


if __name__ == "__main__":
    sys.exit(main())
