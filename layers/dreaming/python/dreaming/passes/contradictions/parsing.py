"""From a judge's answer to relations: what was offered and is well formed; the rest is counted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import json_repair

from dreaming.errors import MalformedAnswer
from dreaming.passes.contradictions.records import Relation

_LONGEST = 20_000  # characters; an answer names at most a few candidates
_MAX_REPAIR = 6_000  # characters; the repair library takes quadratic time on hostile text
_MAX_REPAIR_NESTING = 40
_THINKING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_START = re.compile(r"[\[{]")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The relation of each candidate that the judge named, and what of its answer was ignored, by reason."""

    relations: Mapping[str, Relation]
    ignored: Mapping[str, int]


def parse_verdicts(text: str, offered: Collection[str]) -> Verdicts:
    """Return the verdicts of an answer on the candidates that were offered.

    A candidate that was not offered, a relation that is none and a second, different word on the same
    candidate are ignored and counted; of two different words neither counts.

    Raises:
        MalformedAnswer: the answer holds no list of relations in any form.
    """
    entries = _entries(_json(_without_thinking(text)[:_LONGEST]))
    if entries is None:
        raise MalformedAnswer("the answer holds no relations")
    relations: dict[str, Relation] = {}
    contradicted: set[str] = set()
    ignored: Counter[str] = Counter()
    for entry in entries:
        candidate, relation = entry.get("candidate"), str(entry.get("relation", "")).strip().lower()
        if not isinstance(candidate, str) or candidate.strip() not in offered:
            ignored["unknown_candidate"] += 1
        elif relation not in list(Relation):
            ignored["unknown_relation"] += 1
        elif relations.get(candidate.strip(), Relation(relation)) != relation:
            ignored["contradicts_itself"] += 1
            contradicted.add(candidate.strip())
        else:
            relations[candidate.strip()] = Relation(relation)
    return Verdicts({name: found for name, found in relations.items() if name not in contradicted}, ignored)


def _json(text: str) -> Any:
    """Decode the JSON in an answer, by the repair library where plain JSON fails; linear in hostile text."""
    start = _START.search(text)
    last = max(text.rfind("]"), text.rfind("}"))
    found = text[start.start() : last + 1] if start else ""
    for written in dict.fromkeys((text, found)):
        try:
            return json.loads(written)
        except (ValueError, RecursionError):
            continue
    if not found:
        raise MalformedAnswer("the answer holds no JSON")
    if len(found) > _MAX_REPAIR or found.count("{") + found.count("[") > _MAX_REPAIR_NESTING:
        raise MalformedAnswer("the answer is too broken to be read")
    try:
        return json_repair.loads(found, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        raise MalformedAnswer("the answer cannot be repaired") from None


def _without_thinking(text: str) -> str:
    """Return what follows the last end of thinking, if anything there can be an answer."""
    rest = _THINKING_END.split(text)[-1]
    return rest if _START.search(rest) else text


def _entries(value: Any) -> list[dict[str, Any]] | None:
    if isinstance(value, dict) and "candidate" in value:
        return [value]
    if isinstance(value, dict):
        value = value.get("relations")
    if not isinstance(value, list):
        return None
    entries = [entry for entry in value if isinstance(entry, dict)]
    return entries if entries or not value else None
