"""Draws the plots of docs/images from the rules themselves: `python -m tests.documents.plots`, which `make docs` runs.

A test compares the committed plots with what this draws.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Literal
from uuid import UUID

import numpy as np

from dreaming.autonomy.records import Agent, Evidence, Flags, ScoredAction
from dreaming.autonomy.rules import Policy, assess
from dreaming.beliefs.records import DecayClass, Importance, Kind, Source, SourceType
from dreaming.beliefs.rules import Ageing, aged, fades_at, fold
from dreaming.beliefs.words import jaccard, word_set
from dreaming.notes.records import Trust
from dreaming.passes.consolidation.guards import veto
from dreaming.recall.rules import rank
from tests.architecture.modules import ROOT
from tests.documents.drawing import Bars, Bound, Line, Plot

FOLDER = ROOT / "docs" / "images"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
THRESHOLD = 0.7


def drawn() -> Mapping[str, str]:
    """Return every plot by its file's name."""
    return {
        "confidence.svg": _confidence().svg(),
        "ageing.svg": _ageing().svg(),
        "autonomy.svg": _autonomy().svg(),
        "guards.svg": _guards().svg(),
        "fusion.svg": _fusion().svg(),
    }


def _confidence() -> Plot:
    most = 16
    lines = [
        Line(
            f"claimed {base:g}{'' if trust is Trust.TRUSTED else ', untrusted'}",
            [(number, _folded(base, number, trust)) for number in range(1, most + 1)],
            dashed=trust is Trust.UNTRUSTED,
        )
        for base, trust in (
            (0.9, Trust.TRUSTED),
            (0.75, Trust.TRUSTED),
            (0.6, Trust.TRUSTED),
            (0.9, Trust.UNTRUSTED),
            (0.3, Trust.TRUSTED),
        )
    ]
    lines[0] = replace(lines[0], labelled_at=-8)
    lines[1] = replace(lines[1], labelled_at=10)
    return Plot(
        "What each further witness adds",
        ("distinct origins", (1, 4, 7, 10, 13, most)),
        ("confidence", (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        lines,
    )


def _folded(confidence: float, origins: int, trust: Trust) -> float:
    sources = (
        Source(
            source_id=UUID(int=number),
            source_type=SourceType.NOTE,
            origin=f"note {number}",
            trust=trust,
            occurred_at=NOON + timedelta(days=number),
            sequence=number,
            statement="The shed is green.",
            confidence=confidence,
            kind=Kind.FACT,
            importance=Importance.NORMAL,
            decay_class=DecayClass.SLOW,
        )
        for number in range(origins)
    )
    found = fold(sources)
    assert found is not None
    return found.confidence


def _ageing() -> Plot:
    ageing = Ageing()
    lines = []
    for decay_class, confidence, moved in (
        (DecayClass.PERMANENT, 1.0, 0),
        (DecayClass.SLOW, 1.0, -18),
        (DecayClass.SLOW, 0.6, -34),
        (DecayClass.FAST, 1.0, -18),
    ):
        half_life = ageing.half_life(decay_class)
        end = fades_at(confidence, NOON, half_life, ageing.archive_threshold)
        last = 800.0 if end is None else (end - NOON) / timedelta(days=1)
        days = [last * step / 160 for step in range(161)]
        points = [(day, aged(confidence, NOON, half_life, NOON + timedelta(days=day))) for day in days]
        lines.append(Line(f"{decay_class} from {confidence:g}", points, labelled_at=moved))
    return Plot(
        "Confidence by age, and when it is archived",
        ("days since the latest evidence", range(0, 801, 100)),
        ("confidence today", (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        lines,
        [Bound(ageing.archive_threshold, f"archived at {ageing.archive_threshold:g}")],
    )


def _autonomy() -> Plot:
    lines = [
        Line(f"errs 1 in {every}" if every else "never errs", [*enumerate(_scores(every, days=40))])
        for every in (None, 10, 6, 3, 2)
    ]
    return Plot(
        "A score, day by day: ten actions a day, one run a day",
        ("days", range(0, 41, 10)),
        ("score", (40, 50, 60, 70, 80, 90, 100)),
        lines,
    )


def _scores(every: int | None, days: int) -> Iterator[int]:
    """Live day by day with an error in every so many actions; yields the score of each evening."""
    agent = Agent("bot", 75, 0, 0, 0, None, None, None, NOON)
    actions: list[ScoredAction] = []
    flags = _flags(every)
    yield agent.score
    for day in range(days):
        now = NOON + timedelta(days=day)
        actions += [ScoredAction(now, Flags(flag, flag, flag), None) for flag in islice(flags, 10)]
        found = assess(replace(agent, scorings=agent.scorings + 1), Evidence(tuple(actions)), Policy(), now=now)
        agent = replace(agent, score=agent.score + found.adjustment)
        yield agent.score


def _flags(every: int | None) -> Iterator[Literal[0, 1]]:
    number = 0
    while True:
        number += 1
        yield 0 if every and number % every == 0 else 1


def _guards() -> Bars:
    """Of the labelled pairs that words alone call alike, which guard objects first, and what is merged."""
    first: Counter[str] = Counter()
    merged: Counter[bool] = Counter()
    alike = 0
    for left, right, label in _pairs():
        if jaccard(word_set(left), word_set(right)) < THRESHOLD:
            continue
        alike += 1
        objection = veto(left, right)
        if objection is not None:
            first[objection.guard] += 1
        else:
            merged[label == "paraphrase"] += 1
    return Bars(
        f"What guards keep apart, of {alike} labelled pairs with Jaccard ≥ {THRESHOLD:g}",
        [
            ("alike by words", alike, 0),
            *(
                (f"kept apart: {name}", count, 1)
                for name, count in sorted(first.items(), key=lambda one: (-one[1], one[0]))
            ),
            ("merged rightly", merged[True], 2),
            ("merged wrongly", merged[False], 5),
        ],
    )


def _pairs() -> Iterator[tuple[str, str, str]]:
    for name in ("dedup.tsv", "dedup-contradictions.tsv"):
        for line in (ROOT / "tests" / "evaluation" / name).read_text("utf-8").splitlines()[1:]:
            if line.strip() and not line.startswith("#"):
                left, right, label = line.split("\t")[:3]
                yield left, right, label


def _fusion() -> Plot:
    """Four conversations with fixed parts, and how each fares as words count more."""
    found = (
        ("same words, other matter", 9.0, 0.25),
        ("some of both", 7.0, 0.55),
        ("same matter, other words", 2.5, 0.80),
        ("neither", 1.0, 0.20),
    )
    documents = np.arange(len(found))
    lexical = np.array([one[1] for one in found])
    likeness = np.array([one[2] for one in found])
    points: dict[int, list[tuple[float, float]]] = {int(document): [] for document in documents}
    for step in range(101):
        for hit in rank(documents, lexical, likeness, lexical_weight=step / 100, limit=len(found)):
            points[hit.document].append((step / 100, hit.score))
    return Plot(
        "The fused score of four conversations, by what words count",
        ("recall_lexical_weight", (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ("fused score", (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        [Line(name, points[place]) for place, (name, _, _) in enumerate(found)],
        [Bound(0.9, "", upright=True)],
    )


def main() -> int:
    """Write the plots."""
    for name, text in drawn().items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
