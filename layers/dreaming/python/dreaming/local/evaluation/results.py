"""Results of `dream evaluate` as files, and two of them side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dreaming.errors import InvalidInput
from dreaming.local.evaluation.records import Figure, Report

VERSION, SET = "evaluation_version", "set"
"""Names in a report's environment: the evaluator's version, and a hash of what it was asked."""

_REMEDY = "name a file that `dream evaluate ... --save FILE` has written"

_LOWER_IS_BETTER = frozenset(
    {
        *("wrong_merges", "wrong_merge_rate", "others_queued", "retired", "traps", "fabricated", "fabricated_kept"),
        *("rejected", "calls", "tokens_in", "tokens_out", "cost", "notes_failed", "bad_above_floor", "never_below"),
        *("false_blocks", "band_distance"),
    }
)
_HIGHER_IS_BETTER = frozenset(
    {
        *("paraphrases_merged", "paraphrases_found", "contradictions_queued", "answers", "intervals", "hit5", "hit1"),
        *("precision", "recall", "kinds", "silent", "rank", "right_band"),
    }
)


class Verdict(StrEnum):
    """How a figure changed; `changed` is one of which neither direction is better."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Delta:
    """A figure in an earlier result and in this one, in its unit."""

    before: float
    now: float
    change: float
    unit: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """This result beside an earlier one: what both have by name, and what only one of them has."""

    deltas: Mapping[str, Delta]
    only_now: tuple[str, ...]
    only_before: tuple[str, ...]
    before: Mapping[str, Any]

    @property
    def worse(self) -> tuple[str, ...]:
        """The figures that are worse now."""
        return tuple(name for name, delta in self.deltas.items() if delta.verdict is Verdict.WORSE)

    def count(self, verdict: Verdict) -> int:
        """Return how many figures changed in this way."""
        return sum(delta.verdict is verdict for delta in self.deltas.values())


class _SavedFigure(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    value: float
    unit: str
    goal: str | None
    ok: bool | None


class _Saved(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    figures: dict[str, _SavedFigure] = Field(min_length=1)
    environment: dict[str, Any]


def digest(texts: Iterable[str]) -> str:
    """Return a short hash of what an evaluator was asked, by which results of one set are known."""
    whole = sha256()
    for text in texts:
        whole.update(text.encode("utf-8", "surrogatepass"))
        whole.update(b"\0")
    return whole.hexdigest()[:16]


def write_file(path: Path, text: str) -> None:
    """Write a file as a whole: who reads it meanwhile sees the one before, and a full disk destroys nothing."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, "utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_result(path: Path, report: Report) -> None:
    """Write a result as the JSON document that `--json` prints."""
    write_file(path, json.dumps(asdict(report), ensure_ascii=False, indent=2, default=str) + "\n")


def read_result(path: Path) -> Report:
    """Read a result; raises `InvalidInput` with the field for a file that is none."""
    try:
        saved = _Saved.model_validate(json.loads(path.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise InvalidInput(str(path), f"is no result: {place}: {first['msg']}", _REMEDY) from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InvalidInput(str(path), f"is no result: not JSON ({error})", _REMEDY) from None
    figures = {name: Figure(one.value, one.unit, one.goal, one.ok) for name, one in saved.figures.items()}
    return Report(saved.name, figures, saved.environment)


def require_comparable(path: Path, before: Report, name: str, environment: Mapping[str, Any]) -> None:
    """Refuse an earlier result of another evaluator, of another version of it, or of another set.

    Another version of this package, another model or another machine is what one compares.
    """
    if before.name != name:
        raise InvalidInput(
            "--against", f"{path} is a result of {before.name}, this is {name}", f"name a result of {name}"
        )
    for key, what in ((VERSION, "version of the evaluator"), (SET, "labelled set")):
        then, now = before.environment.get(key), environment.get(key)
        if then != now:
            raise InvalidInput(
                "--against",
                f"{path} is of another {what} ({_shown(before.environment, key)}) "
                f"than this one ({_shown(environment, key)})",
                "measure both with the same package, file, half and limit",
            )


def _shown(environment: Mapping[str, Any], key: str) -> str:
    """Return what people know a set by: its file and half beside the hash."""
    parts = [str(environment.get(key))]
    if key == SET:
        parts += [str(environment[name]) for name in ("file", "path", "half") if name in environment]
    return ", ".join(parts)


def compare(now: Report, before: Report, *, tolerance: float = 0.0) -> Comparison:
    """Hold two results against each other; a change of at most `tolerance`, in the figure's unit, is none."""
    deltas = {}
    for name, figure in now.figures.items():
        if name in before.figures:
            change = round(figure.value - before.figures[name].value, 2)
            verdict = _verdict(name, change, tolerance)
            deltas[name] = Delta(before.figures[name].value, figure.value, change, figure.unit, verdict)
    return Comparison(
        deltas,
        tuple(name for name in now.figures if name not in before.figures),
        tuple(name for name in before.figures if name not in now.figures),
        before.environment,
    )


def better_when_lower(name: str) -> bool | None:
    """Say whether less of a figure is better; None where neither direction is."""
    metric = name.rsplit(".", 1)[-1]
    if metric in _LOWER_IS_BETTER:
        return True
    return False if metric in _HIGHER_IS_BETTER else None


def _verdict(name: str, change: float, tolerance: float) -> Verdict:
    lower = better_when_lower(name)
    if abs(change) <= tolerance:
        return Verdict.SAME
    if lower is None:
        return Verdict.CHANGED
    return Verdict.BETTER if (change < 0) is lower else Verdict.WORSE
