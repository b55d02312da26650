"""What the stub model answers: the same sentences of a note, in the form that each system asks for.

It does what each prompt demands of a model. It extracts up to three sentences word for word; where it is
shown memories that hold a sentence already, it leaves the sentence out or attaches it, as that prompt says.
The forms were read from the systems' installed source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

MOST = 3
"""Statements of a note."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORDS = range(6, 36)

_PASSAGE = re.compile(r"BEGIN (?P<code>[0-9a-f]{16})\n(?P<header>\{.*?\})\n(?P<text>.*?)\nEND (?P=code)\n", re.DOTALL)
_MEM0_NEW = "## New Messages\n"
_MEM0_KNOWN = "## Existing Memories\n"
_HINDSIGHT_FACTS = "Extract facts from the following chunk."
_HINDSIGHT_NEW = "### New facts\n\n"
_HINDSIGHT_KNOWN = "\n\n### Existing observations\n\n"
_HINDSIGHT_PAIR = re.compile(r"^\[NEW\] (?P<new>.*)\n\[EXISTING\] (?P<existing>.*)$", re.MULTILINE)
_FACT_LINE = re.compile(
    r"^\[(?P<id>[0-9a-f-]{36})\] (?P<text>.*?)(?: \((?:occurred_start|occurred_end|mentioned_at)=[^()]*\))?$"
)


class UnknownPromptError(Exception):
    """The prompt has none of the known forms."""


def statements(text: str) -> list[str]:
    """Return the first sentences of 6 to 35 words that begin with a capital and end with a full stop."""
    found: list[str] = []
    for sentence in _SENTENCE.split(text):
        one = sentence.strip()
        fits = len(one.split()) in _WORDS and len(one) <= 250 and one[:1].isupper() and one.endswith(".")
        if fits and one not in found:
            found.append(one)
    return found[:MOST]


def answer(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the answer to a chat request; raises `UnknownPromptError`."""
    last = str(messages[-1]["content"])
    if _PASSAGE.search(last):
        return json.dumps({"claims": [claim for part in _PASSAGE.finditer(last) for claim in _claims(part)]})
    if _MEM0_NEW in last and _MEM0_KNOWN in last:
        return json.dumps({"memory": _memories(last)})
    if _HINDSIGHT_FACTS in last:
        return json.dumps({"facts": [_fact(one) for one in statements(last.split("\nContent:\n", 1)[1])]})
    if _HINDSIGHT_NEW in last:
        return json.dumps(_observations(last))
    if pair := _HINDSIGHT_PAIR.search(last):
        same = pair["new"] == pair["existing"]
        return json.dumps(
            {"action": "merge" if same else "keep", "text": pair["new"] if same else "", "reason": "Read."}
        )
    raise UnknownPromptError(last[:80])


def _claims(passage: re.Match[str]) -> list[dict[str, Any]]:
    label = json.loads(passage["header"])["label"]
    return [
        {
            "note": label, "kind": "fact", "statement": one, "quote": one, "confidence": 0.8, "importance": "normal",
            "decay_class": "permanent", "subject": None, "attribute": None, "value": None, "multi_valued": False,
            "relations": [], "valid_from": None, "valid_until": None,
        }
        for one in statements(passage["text"])
    ]  # fmt: skip


def _memories(prompt: str) -> list[dict[str, Any]]:
    """Mem0 asks for what is new, and shows what it holds on the matter."""
    known = {one["text"] for one in _json_after(prompt, _MEM0_KNOWN)}
    text = prompt.split(_MEM0_NEW, 1)[1].rsplit("\n\n## Observation Date\n", 1)[0].strip().removeprefix("user: ")
    new = [one for one in statements(text) if one not in known]
    return [{"id": str(at), "text": one, "attributed_to": "user"} for at, one in enumerate(new)]


def _fact(sentence: str) -> dict[str, Any]:
    """One of Hindsight's facts, with up to two capitalized words as entities."""
    names = re.findall(r"(?<=\s)[A-Z][A-Za-z]{2,}", sentence)
    return {
        "what": sentence, "when": "N/A", "where": "N/A", "who": "N/A", "why": "N/A", "fact_kind": "conversation",
        "occurred_start": None, "occurred_end": None, "fact_type": "world", "entities": list(dict.fromkeys(names))[:2],
        "causal_relations": None,
    }  # fmt: skip


def _observations(prompt: str) -> dict[str, Any]:
    """Hindsight asks to attach each new fact to an observation that says it, or to make one."""
    facts, _, known = prompt.split(_HINDSIGHT_NEW, 1)[1].partition(_HINDSIGHT_KNOWN)
    places = {one["text"]: one["id"] for one in json.loads(known)}
    creates: dict[str, dict[str, Any]] = {}
    updates: dict[str, dict[str, Any]] = {}
    for line in filter(None, map(_FACT_LINE.match, facts.splitlines())):
        text = line["text"].split(" | ")[0]
        if text in places:
            entry = updates.setdefault(text, {"observation_id": places[text], "current_text": text})
        else:
            entry = creates.setdefault(text, {})
        entry |= {"text": text, "reason": "It says the same." if text in places else "It is new."}
        entry.setdefault("source_fact_ids", []).append(line["id"])
    return {"creates": list(creates.values()), "updates": list(updates.values()), "deletes": []}


def _json_after(prompt: str, heading: str) -> Any:
    return json.JSONDecoder().raw_decode(prompt.split(heading, 1)[1])[0]
