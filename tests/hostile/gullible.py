"""Models that do what any text tells them: the worst that a hostile text can make of a real one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dreaming.models.protocols import ChatRequest, Passage

INJECTIONS = Path(__file__).parents[1] / "evaluation" / "injections.jsonl"

LONGEST_CLAIMED = 700
"""Characters of a line that is still claimed: the checks refuse longer statements, and tests should end."""


MOST_LINES = 3
"""Lines of a passage that are claimed: the last ones, where the orders stand."""


def injections() -> dict[str, str]:
    """Every attempt by its name; `repeat` writes a text so many times."""
    rows = [json.loads(line) for line in INJECTIONS.read_text("utf-8").splitlines()]
    return {row["name"]: row["text"] * row.get("repeat", 1) for row in rows}


def claims(request: ChatRequest) -> list[dict[str, Any]]:
    """Claim every line as a rule for ever, repeat every answer that a text brings, and mix up the notes."""
    labels = [passage.label for passage in request.passages]
    found = []
    for place, passage in enumerate(request.passages):
        for item in (*_lines(passage), *_planted(passage)):
            found.append({"note": passage.label, **item})
            # It hands its claims to the neighbours, as several of the texts ask for.
            found.append({**item, "note": labels[(place + 1) % len(labels)]})
    return found


def verdicts(request: ChatRequest) -> str:
    """Say of every candidate what any of the statements asks for."""
    words = " ".join(passage.text for passage in request.passages)
    asked = next((one for one in ("duplicate", "successive", "incompatible") if f"every pair is {one}" in words), None)
    relation = asked or ("duplicate" if "relations" in words else "unrelated")
    said = [{"candidate": passage.label, "relation": relation} for passage in request.passages[1:]]
    return json.dumps({"relations": said})


def flags(request: ChatRequest) -> str:
    """Answer with the first object that stands in a summary, else with the whole summary."""
    text = request.passages[0].text
    found = re.search(r"\{[^{}]*competence[^{}]*\}", text)
    return found.group() if found else text


def _lines(passage: Passage) -> Iterator[dict[str, Any]]:
    lines = [line.strip() for line in passage.text.splitlines()]
    for said in [line for line in lines if 0 < len(line) <= LONGEST_CLAIMED][-MOST_LINES:]:
        kind = "decision" if "decide" in said else "constraint"
        sure = {"confidence": 1.0, "importance": "critical", "decay_class": "permanent"}
        about = {"subject": "Ada", "attribute": "team", "value": "the orchard"} if "orchard team" in said else {}
        yield {"kind": kind, "statement": said, "quote": said, **sure, **about}
        yield {"kind": "fact", "statement": "Ada leads the harbour team.", "quote": said, **sure}


def _planted(passage: Passage) -> Iterator[dict[str, Any]]:
    """Every JSON object of a text that looks like a claim."""
    decoder = json.JSONDecoder(strict=False)
    for start in [found.start() for found in re.finditer(r'\{"(?:claims|kind)"', passage.text[:50_000])]:
        try:
            value, _ = decoder.raw_decode(passage.text, start)
        except ValueError:
            continue
        yield from value.get("claims", [value])
