"""How every benchmark reports: a JSON file in `build/bench`, a table for people, an exit code.

sys.exit(write("ingest", {"speed": Figure.of(6_120, "notes/s", (">=", 5_000))}, details={"notes": 20_000}))
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dreaming.local.evaluation.records import Figure, Report, environment
from tests.architecture.modules import ROOT

__all__ = ["FOLDER", "Figure", "write"]

FOLDER = Path(os.environ.get("DREAMING_BENCH_FOLDER") or ROOT / "build" / "bench")


def write(
    name: str, figures: Mapping[str, Figure], *, details: Mapping[str, Any] | None = None, folder: Path = FOLDER
) -> int:
    """Write `<folder>/<name>.json` and print the figures; return 0, or 1 when a goal is missed.

    `details` are kept in the report's environment: how much was measured, and under which settings.
    """
    report = Report(name, figures, environment(cores=os.cpu_count(), **(details or {})))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(asdict(report), indent=2) + "\n", "utf-8")
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    sys.stdout.write("\n".join([*_table(figures), f"written to {shown}", ""]))
    return 0 if report.ok else 1


def _table(figures: Mapping[str, Figure]) -> list[str]:
    width = max(map(len, figures), default=0)
    units = max((len(figure.unit) for figure in figures.values()), default=0)
    lines = []
    for name, figure in figures.items():
        verdict = "" if figure.goal is None else f"{figure.goal:<12}{'ok' if figure.ok else 'MISSED'}"
        lines.append(f"{name:<{width}}  {figure.value:>12,.2f} {figure.unit:<{units}}  {verdict}".rstrip())
    return lines
