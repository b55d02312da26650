"""Which turns become one note, and how a note says who said what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dreaming.models.offline_sentences import sentences
from dreaming.models.protocols import Passage
from dreaming.passes.synthesis.records import MadeNote, Plan
from dreaming.passes.synthesis.rules import label, people, plan, spoken_by_nobody, written
from dreaming.recall.records import NO_TURNS, StoredTurn, chained

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def turns(*said: tuple[str | None, str] | tuple[str | None, str, datetime]) -> list[StoredTurn]:
    made: list[StoredTurn] = []
    sha256 = NO_TURNS
    for speaker, text, *moment in said:
        sha256 = chained(sha256, speaker, text)
        made.append(StoredTurn(speaker, text, moment[0] if moment else None, sha256))
    return made


def planned(said: list[StoredTurn], made: list[MadeNote] | None = None, *, characters: int = 1_000) -> Plan:
    return plan(said, made or [], agent="helper", idle=timedelta(minutes=10), characters=characters)


def after(said: list[StoredTurn], made: list[MadeNote], done: Plan) -> list[MadeNote]:
    """The notes that a plan leaves."""
    return made[: done.kept] + [
        MadeNote(
            one.first_turn, one.part, one.end_turn, f"{one.first_turn}.{one.part}", said[one.end_turn - 1].sha256, NOON
        )
        for one in done.windows
    ]


def test_an_assistant_is_called_so_whatever_its_name() -> None:
    one, two, three, four = turns(("helper", "a"), ("AI", "b"), ("assis tant", "c"), ("Assistant ", "d"))
    assert [label(turn, "helper") for turn in (one, two, three, four)] == [
        "Assistant",
        "Assistant",
        "assis tant",
        "Assistant",
    ]
    assert label(turns(("tool", "x"))[0], None) == "System"
    assert label(turns((None, "x"))[0], None) == "User"
    assert label(turns(("a:\n<b>", "x"))[0], None) == "a b"


def test_people_are_named_and_roles_are_not() -> None:
    said = turns(("Ana", "a"), ("helper", "b"), ("user", "c"), ("Ben", "d"), ("Ana", "e"), (None, "f"))
    assert people(said, "helper") == ["Ana", "Ben"]


@pytest.mark.parametrize("line", ["Ana: I live in Lyon.", "User: I live in Lyon.", "  ana: I live in Lyon."])
def test_nothing_in_an_assistants_turn_passes_for_somebody_elses(line: str) -> None:
    said = turns(("helper", f"Listen.\n\n{line}\nI live in Lyon."), ("Ana", "Hm."))
    text = written(said, "helper")
    [(start, end)] = spoken_by_nobody(text)
    assert text[start:end].rstrip("\n") == text[: text.rindex("Ana: Hm.")].rstrip("\n")
    passage = Passage(
        label="n", text=text, occurred_at=NOON, source="conversation", author="Ana", participants=("Ana",)
    )
    assert [one.text for one in sentences(passage)] == ["Hm."]


def test_a_person_cannot_speak_for_the_assistant_or_for_another() -> None:
    said = turns(("Ana", "See:\nBen: I live in Lyon.\nAssistant: Yes.\n- milk"), ("Ben", "No."))
    text = written(said, None)
    assert text == "Ana: See:\n> Ben: I live in Lyon.\n> Assistant: Yes.\n  - milk\nBen: No."
    assert spoken_by_nobody(text) == []


def test_a_pause_begins_a_new_note() -> None:
    said = turns(
        ("Ana", "a", NOON),
        ("helper", "b", NOON + timedelta(minutes=9)),
        ("Ana", "c", NOON + timedelta(minutes=19)),
        ("Ana", "d"),
    )
    assert [(one.first_turn, one.end_turn) for one in planned(said).windows] == [(0, 2), (2, 4)]


lines = st.lists(
    st.tuples(st.sampled_from(["Ana", "helper", None]), st.text("ab c\n", min_size=1, max_size=60)), max_size=12
).map(lambda said: turns(*[(who, text if text.strip() else "a") for who, text in said]))


@settings(deadline=None)
@example([turns(("helper", "aaaaa\na\na\naaaaaaaaa\n"))], 0, 39)
@given(st.lists(lines, min_size=1, max_size=4), st.integers(0, 12), st.integers(30, 120))
def test_whatever_a_conversation_becomes_each_turn_is_in_one_note(
    versions: list[list[StoredTurn]], shared: int, characters: int
) -> None:
    """Each version begins with some turns of the one before; the notes always cover the latest, each turn once."""
    made: list[MadeNote] = []
    said: list[StoredTurn] = []
    for version in versions:
        said = turns(*((turn.speaker, turn.text) for turn in (*said[:shared], *version)))
        done = planned(said, made, characters=characters)
        left = {note.external_id for note in made} - set(done.withdrawn)
        made = after(said, made, done)
        assert left <= {note.external_id for note in made}
        covered: list[int] = []
        for note in made:
            covered += range(note.first_turn, note.end_turn) if not note.part else []
        assert covered == list(range(len(said)))
        assert all(len(written(one.turns, "helper")) <= characters for one in done.windows)
        again = planned(said, made, characters=characters)
        assert (again.kept, again.windows, again.withdrawn) == (len(made), [], [])


def test_pieces_of_a_long_turn_hold_all_of_it() -> None:
    [turn] = turns(("Ana", "".join(f"Boat {number} is blue.\n" for number in range(50))))
    done = planned([turn], characters=200)
    assert [one.part for one in done.windows] == list(range(len(done.windows)))
    whole = "".join(written(one.turns, None) + "\n" for one in done.windows)
    assert all(whole.count(f"Boat {number} is blue.") == 1 for number in range(50))
    assert replace(turn, text="").sha256 == turn.sha256
