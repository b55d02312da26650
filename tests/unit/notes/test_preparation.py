"""What a note becomes at the door, and what is turned away there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import ValidationError

from dreaming.errors import InvalidInput
from dreaming.notes.echo import mark
from dreaming.notes.preparation import fold, prepare
from dreaming.notes.records import IncomingNote, NoteState, PreparedNote, Scope, SliceKey, Trust

PARIS = timezone(timedelta(hours=1))


def incoming(**changes: Any) -> IncomingNote:
    fields = {
        "external_id": "1",
        "source": "mail",
        "text": "We meet at nine.",
        "occurred_at": datetime(2024, 1, 1, tzinfo=UTC),
    }
    return IncomingNote(**(fields | changes))


def prepared(**changes: Any) -> PreparedNote:
    return prepare(incoming(**changes), max_note_characters=1_000)


def test_origin_is_the_note_itself_unless_it_is_named() -> None:
    assert prepared().origin == "mail:1"
    assert prepared(origin="thread-7").origin == "thread-7"


def test_the_time_is_kept_in_utc_with_the_offset_as_written() -> None:
    note = prepared(occurred_at=datetime(2024, 1, 1, 9, tzinfo=PARIS))
    assert note.occurred_at == datetime(2024, 1, 1, 8, tzinfo=UTC)
    assert note.occurred_offset == 3600


@pytest.mark.parametrize(
    "change",
    [
        {"text": "We meet at ten."},
        {"occurred_at": datetime(2024, 1, 2, tzinfo=UTC)},
        {"occurred_at": datetime(2024, 1, 1, 1, tzinfo=PARIS)},
        {"author": "Mia"},
        {"participants": ("Mia",)},
        {"trust": Trust.UNTRUSTED},
        {"origin": "thread-7"},
    ],
)
def test_whatever_reaches_a_model_is_content(change: dict[str, Any]) -> None:
    assert prepared(**change).content_sha256 != prepared().content_sha256


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"folder": "inbox"}},
        {"text": "We meet\x00 at nine."},
        {"author": ""},
        {"author": "\x00"},
        {"participants": ("",)},
        {"origin": "mail:1"},
    ],
)
def test_what_reaches_no_model_is_no_content(change: dict[str, Any]) -> None:
    assert prepared(**change).content_sha256 == prepared().content_sha256


def test_content_of_neighbouring_fields_is_not_mixed_up() -> None:
    assert (
        prepared(author="ab", participants=("c",)).content_sha256
        != prepared(author="a", participants=("bc",)).content_sha256
    )


def test_recalled_text_is_stripped_before_hashing() -> None:
    first = prepared(text=f"Yes. {mark('Tom sails.', 'r1')}")
    second = prepared(text=f"Yes. {mark('Mia rows.', 'r2')}")
    assert first.text == "Yes. \n"
    assert first.content_sha256 == second.content_sha256


def test_a_note_of_recalled_text_alone_is_empty() -> None:
    assert prepared(text=mark("Tom sails.", "r1")).state is NoteState.EMPTY


def test_a_note_too_long_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"text: note 'mail:1' has 1,001 characters, more than the 1,000 allowed"):
        prepared(text="x" * 1_001)
    assert prepared(text="x" * 1_000).text == "x" * 1_000


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"external_id": "\U0001f600" * 512, "source": "\U0001f600" * 200}, "external_id"),
        ({"occurred_at": datetime(1, 1, 1, tzinfo=PARIS)}, "occurred_at"),
        ({"occurred_at": datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2)))}, "occurred_at"),
        ({"metadata": {"a": [{"b": float("inf")}]}}, "metadata"),
    ],
)
def test_what_the_database_could_not_hold_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        prepared(**change)
    assert refused.value.field == field


@pytest.mark.parametrize("change", [{"external_id": "\x00"}, {"source": ""}, {"occurred_at": datetime(2024, 1, 1)}])  # noqa: DTZ001
def test_a_note_without_name_or_offset_is_none(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        incoming(**change)


def test_of_several_posts_of_one_note_the_last_is_kept_at_its_place() -> None:
    posts = [prepared(text="a"), prepared(external_id="2"), prepared(text="b"), prepared(source="chat")]
    assert fold(posts) == posts[1:]


@pytest.mark.parametrize(
    "triple",
    [
        ("", Scope.ORG, None),
        ("a\x00", Scope.ORG, None),
        ("a", Scope.PRIVATE, None),
        ("a", Scope.ORG, "u"),
        ("a", Scope.PRIVATE, ""),
    ],
)
def test_a_slice_needs_an_organization_and_an_owner_only_when_private(triple: tuple[str, Scope, str | None]) -> None:
    with pytest.raises(ValueError, match=r"owner_user_id|org_id"):
        SliceKey(*triple)
