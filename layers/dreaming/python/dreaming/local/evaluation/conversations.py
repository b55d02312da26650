"""Readers of labelled conversations: QMSum as JSON lines, LoCoMo, LongMemEval."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreaming.errors import InvalidInput
from dreaming.notes.connectors.turns import parse_turn
from dreaming.recall.preparation import prepare
from dreaming.recall.records import IncomingTurn, StoredTurn

_ADVERSARIAL = 5
"""LoCoMo's category of questions that the conversation does not answer."""


@dataclass(frozen=True, slots=True)
class Query:
    """A text that asks for some of a collection's conversations, by their places in it."""

    text: str
    right: frozenset[int]


@dataclass(frozen=True, slots=True)
class Collection:
    """Conversations searched together, and what is asked of them, by the kind of query.

    `part` names the part of the corpus it belongs to.
    """

    part: str
    conversations: Sequence[Sequence[StoredTurn]]
    queries: Mapping[str, Sequence[Query]]


def read_collections(path: Path) -> list[Collection]:
    """Read a corpus: a folder with `qmsum_*.jsonl.gz`, such a file, or a JSON file of LoCoMo or LongMemEval.

    Raises:
        InvalidInput: nothing there, or something of another form.
    """
    files = sorted(path.glob("qmsum_*.jsonl*")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise InvalidInput("PATH", f"{str(path)!r} holds no corpus", "name a file, or a folder with qmsum_*.jsonl.gz")
    try:
        return [collection for file in files for collection in _read(file)]
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        known = "use QMSum as JSON lines, or LoCoMo's or LongMemEval's JSON file"
        raise InvalidInput("PATH", f"is of another form: {type(error).__name__}", known) from error


def _read(file: Path) -> list[Collection]:
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    if ".jsonl" in file.name:
        return [
            _qmsum(file.name.removeprefix("qmsum_").split(".")[0], [json.loads(line) for line in text.splitlines()])
        ]
    document = json.loads(text)
    if document and "haystack_sessions" in document[0]:
        return [_longmemeval(one) for one in document]
    return [_locomo(one) for one in document]


def _qmsum(part: str, meetings: Sequence[Mapping[str, Any]]) -> Collection:
    """All meetings of a file are searched together; a human summary, and the question it answers, ask for one."""
    queries: dict[str, list[Query]] = {"summary": [], "question": []}
    for place, meeting in enumerate(meetings):
        for query in meeting["queries"]:
            for kind, asked in queries.items():
                asked.append(Query(query[kind], frozenset({place})))
    return Collection(part, [_turns(map(_spoken, meeting["turns"])) for meeting in meetings], queries)


def _locomo(sample: Mapping[str, Any]) -> Collection:
    """The sessions of one pair of speakers are searched together; evidence `D3:7` is turn 7 of session 3."""
    held = sample["conversation"]
    numbers = sorted(
        int(name.removeprefix("session_")) for name in held if name.removeprefix("session_").isdecimal() and held[name]
    )
    places = {number: place for place, number in enumerate(numbers)}
    sessions = [
        _turns(IncomingTurn(speaker=turn["speaker"], text=_with_caption(turn)) for turn in held[f"session_{number}"])
        for number in numbers
    ]
    asked = []
    for one in sample["qa"]:
        named = {int(part.split(":")[0].lstrip("D")) for item in one.get("evidence", ()) for part in _places(item)}
        right = frozenset(places[number] for number in named if number in places)
        if right and one.get("category") != _ADVERSARIAL and "answer" in one:
            asked.append(Query(one["question"], right))
    return Collection("locomo", sessions, {"question": asked})


def _with_caption(turn: Mapping[str, Any]) -> str:
    """A turn with what is to be seen in the picture that it shares."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])


def _places(evidence: str) -> Iterator[str]:
    for part in evidence.replace(";", " ").replace(",", " ").split():
        if part.startswith("D") and part[1:].split(":")[0].isdecimal():
            yield part


def _longmemeval(row: Mapping[str, Any]) -> Collection:
    """Each question has sessions of its own; one that nothing answers, as its id tells, is not asked."""
    sessions = [
        _turns(IncomingTurn(speaker=turn["role"], text=turn["content"]) for turn in session)
        for session in row["haystack_sessions"]
    ]
    wanted = set() if str(row.get("question_id", "")).endswith("_abs") else set(row["answer_session_ids"])
    right = frozenset(place for place, name in enumerate(row["haystack_session_ids"]) if name in wanted)
    return Collection("longmemeval", sessions, {"question": [Query(row["question"], right)] if right else []})


def _spoken(line: str) -> IncomingTurn:
    turn = parse_turn(line)
    return IncomingTurn(speaker=turn.speaker, text=turn.text)


def _turns(turns: Iterator[IncomingTurn]) -> list[StoredTurn]:
    return prepare(turns)
