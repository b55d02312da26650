"""What does not fit a schema is told in the product's words, at its place in what was sent."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from dreaming.api.schemas import autonomy, conflicts, conversations, erasure, notes, settings
from dreaming.api.wording import misfits, unknown_names
from dreaming.local.assistant import Cursor, OneScope, Query
from tests.described import DOCUMENT

BODIES: tuple[type[BaseModel], ...] = (
    notes.NewNotes,
    notes.NotesGone,
    notes.Retry,
    autonomy.NewActions,
    autonomy.NewScore,
    autonomy.JudgeAgain,
    conversations.Conversation,
    settings.NewValue,
    erasure.Confirmation,
    erasure.NotesToErase,
    erasure.NotesToLift,
    conflicts.Resolution,
)
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    10**30,
    "",
    "x\0",
    "x" * 30_000,
    [],
    {},
    [None],
    [1] * 600,
    {"a": 1},
    "½",
)
OURS = re.compile(r"(is|has|cannot|does not) [^;]+; \S.*")
PYDANTICS = re.compile(r"Input|should|valid|Tuple|Value error|Extra|Field|Assertion|decode|dict|model|instance")


def told(model: Any, value: Any) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(model).validate_python(value)
    errors = [{**one, "loc": ("body", *one["loc"])} for one in caught.value.errors()]
    return {one.place: one.problem for one in misfits(errors, value)}


def mutants(value: Any) -> list[Any]:
    """Every value with one place changed into each wrong one."""
    found: list[Any] = list(WRONG)
    if isinstance(value, dict):
        found += [{**value, name: other} for name, one in value.items() for other in mutants(one)]
        found += [{k: v for k, v in value.items() if k != name} for name in value] + [{**value, "notess": 1}]
    if isinstance(value, list):
        found += [[other, *value[1:]] for other in mutants(value[0])] if value else []
    return found


GOOD: dict[str, Any] = {
    "NewNotes": {
        "notes": [{"text": "a", "occurred_at": "x", "trust": "x", "participants": ["a"], "metadata": {"a": 1}}]
    },
    "NewActions": {"actions": [{"agent_id": "a", "external_id": "1", "tool": "t", "summary": "s", "risk": "low"}]},
    "NewScore": {"score": 1, "reason": "r", "new": True},
    "Conversation": {"conversation_id": "c", "turns": [{"text": "t", "said_at": "2026-06-01T12:00:00"}]},
    "NotesToErase": {"note_ids": ["x"]},
    "Resolution": {"left_id": "x", "right_id": "x", "keep": "x"},
    "NotesGone": {"source": "s", "external_ids": ["a"]},
}


@pytest.mark.parametrize("model", BODIES, ids=lambda one: one.__name__)
def test_every_wrong_value_of_every_body_is_told_in_our_words(model: type[BaseModel]) -> None:
    tried = 0
    for value in mutants(GOOD.get(model.__name__, {})):
        try:
            TypeAdapter(model).validate_python(value)
        except ValidationError:
            for place, problem in told(model, value).items():
                assert OURS.fullmatch(problem), (place, problem)
                assert not PYDANTICS.search(problem), (place, problem)
                assert "cannot be accepted" not in problem, (place, problem)
            tried += 1
    assert tried > 10


@pytest.mark.parametrize(
    ("model", "value", "expected"),
    [
        (notes.NewNotes, {"notes": []}, {"notes": "has too few entries; send at least 1"}),
        (notes.NewNotes, {}, {"notes": "is missing; send it"}),
        (notes.NewNotes, {"notes": [{"txt": "a"}]}, {
            "notes.0.text": "is missing; send it",
            "notes.0.txt": "is no field here; leave it out, or see GET /openapi.json",
        }),
        (notes.NewNotes, [], {"body": "is no JSON object; send one, in braces"}),
        (autonomy.NewScore, {"score": 101, "reason": ""}, {
            "score": "is too large; send at most 100",
            "reason": "is too short; send at least 1 character",
        }),
        (settings.NewValue, {"value": {"a": 1}}, {"value": "is of no kind that fits here; see GET /openapi.json"}),
        (conflicts.Resolution, {"left_id": "x", "right_id": "x", "keep": "up"}, {
            "left_id": "is no id; send one as it was answered",
            "right_id": "is no id; send one as it was answered",
            "keep": "is none of the values there are; send 'left', 'right', 'both' or 'merge'",
        }),
    ],
)  # fmt: skip
def test_a_misfit_has_its_place_its_problem_and_its_remedy(model: Any, value: Any, expected: dict[str, str]) -> None:
    assert told(model, value) == expected


@pytest.mark.parametrize("kind", [Query, OneScope, Cursor])
def test_arguments_of_tools_are_told_in_the_same_words(kind: Any) -> None:
    for value in WRONG:
        try:
            TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            for one in misfits(error.errors(), see="the tool's schema"):
                assert OURS.fullmatch(one.problem), one
                assert not PYDANTICS.search(one.problem), one


def test_what_only_the_caller_knows_stays_out_of_the_place_for_the_log() -> None:
    with pytest.raises(ValidationError) as caught:
        notes.NewNotes.model_validate({"notes": [{"text": "a", "my secret": 1}]})
    (one,) = misfits(caught.value.errors(), {"notes": [{"text": "a", "my secret": 1}]})
    assert (one.place, one.place_for_log) == ("notes.0.my secret", "notes.0")
    (name,) = unknown_names(["my secret"], ["scope"], of="parameter of this route")
    assert "secret" not in f"{name.place_for_log} {name.problem}"


@pytest.mark.parametrize(
    ("given", "meant"),
    [("stat", "state"), ("minConfidence", "min_confidence"), ("min-confidence", "min_confidence"), ("scop", "scope")],
)
def test_the_nearest_name_is_the_remedy(given: str, meant: str) -> None:
    (one,) = unknown_names([given], ["state", "scope", "min_confidence", "limit"], of="parameter of this route")
    assert one.problem == f"is no parameter of this route; did you mean {meant}?"


def test_without_a_near_name_all_are_told() -> None:
    (one,) = unknown_names(["zebra"], ["scope", "limit"], of="parameter of this route")
    assert one.problem.endswith("it takes limit, scope")
    (one,) = unknown_names(["zebra"], [], of="parameter of this route")
    assert one.problem.endswith("it takes none, leave it out")
    assert unknown_names(["scope"], ["scope"], of="x") == ()


def test_every_body_of_the_api_is_tried() -> None:
    described = [one for methods in DOCUMENT["paths"].values() for one in methods.values() if "requestBody" in one]
    sent = {one["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] for one in described}
    assert sent == {one.__name__ for one in BODIES}
