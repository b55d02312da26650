"""Turns of idle conversations become notes once, and follow what a later capture makes of the past."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from dreaming.errors import InvalidInput
from dreaming.identifiers import uuid7
from dreaming.notes.connectors.talks import Talk, read_talks
from dreaming.notes.connectors.transcript import TranscriptOptions, read_transcripts
from dreaming.notes.records import IncomingNote, Scope, SliceKey, Tenant
from dreaming.notes.service import ingest
from dreaming.passes.records import Deadline
from dreaming.recall.records import IncomingTurn
from tests.database.synthesis.conftest import ANA, FLAG, Talking
from tests.world import KEY, NOON


def test_an_idle_conversation_becomes_one_note_of_one_witness(talking: Talking) -> None:
    talking.say("The shed is green.", "I see.", "The boat is blue.")
    talking.later(minutes=10)
    [report] = talking.synthesize()
    assert report.outcome is not None
    assert report.outcome.counts == {
        "conversations_synthesized": 1,
        "notes_made": 1,
        "notes_edited": 0,
        "notes_withdrawn": 0,
    }
    assert talking.texts() == ["Ana: The shed is green.\nAssistant: I see.\nAna: The boat is blue."]
    [row] = talking.world.rows("select source, trust, author, participants, origin, occurred_at from notes")
    assert row == ("conversation", "trusted", "Ana", ["Ana"], "transcript:chat", NOON)
    talking.check()


def test_nothing_happens_before_the_conversation_has_been_idle(talking: Talking) -> None:
    talking.say("The shed is green.")
    talking.later(minutes=9, seconds=59)
    assert talking.synthesize() == []
    talking.say("The shed is green.", "I see.")
    talking.later(minutes=9, seconds=59)
    talking.synthesize()  # at the time that the former capture has set
    assert talking.synthesize() == []
    assert talking.notes() == []
    talking.later(seconds=1)
    assert len(talking.synthesize()) == 1
    assert len(talking.texts()) == 1


def test_the_time_of_the_last_turn_counts_where_it_is_known(talking: Talking) -> None:
    said = NOON - timedelta(minutes=4)
    talking.say(IncomingTurn(speaker="Ana", text="The shed is green.", said_at=said))
    talking.later(minutes=5)
    assert talking.synthesize() == []
    talking.later(minutes=1)
    talking.synthesize()
    assert talking.world.rows("select occurred_at from notes") == [(said,)]


def test_new_turns_become_a_note_of_their_own_and_old_ones_stay(talking: Talking) -> None:
    talking.say("The shed is green.", "I see.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.say("The shed is green.", "I see.", "The boat is blue.")
    talking.later(minutes=10)
    talking.synthesize()
    assert talking.synthesize() == []
    assert [(place, version) for place, _, version, _ in talking.notes()] == [("0", 1), ("2", 1)]
    assert talking.texts()[1] == "Ana: The boat is blue."
    talking.check()


def test_a_capture_of_the_same_text_makes_nothing_due(talking: Talking) -> None:
    talking.say("The shed is green.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.say("The shed is green.")
    talking.later(hours=1)
    assert talking.synthesize() == []
    assert talking.world.rows("select count(*) from due_times where pass = 'synthesis'") == [(0,)]


def test_a_changed_past_replaces_its_note_and_leaves_the_others(talking: Talking) -> None:
    talking.say("The shed is green.", "I see.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.say("The shed is green.", "I see.", "The boat is blue.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    assert talking.world.statements() == ["Ana: The boat is blue.", "Ana: The shed is green."]
    talking.say("The shed is red.", "I see.", "The boat is blue.")
    talking.later(minutes=10)
    talking.synthesize()
    assert [(place, version) for place, _, version, _ in talking.notes()] == [("0", 2), ("2", 1)]
    talking.world.drain()
    assert talking.world.statements() == ["Ana: The boat is blue.", "Ana: The shed is red."]
    talking.check()
    talking.world.check()


def test_turns_that_are_gone_take_their_beliefs_along(talking: Talking) -> None:
    talking.say("The shed is green.", "I see.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.say("The shed is green.", "I see.", "The boat is blue.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    talking.say("The shed is green.")
    talking.later(minutes=10)
    [report] = talking.synthesize()
    assert report.outcome is not None
    assert report.outcome.counts["notes_withdrawn"] == 1
    assert [state for _, state, _, _ in talking.notes()] == ["waiting", "withdrawn"]
    talking.world.drain()
    assert talking.world.statements() == ["Ana: The shed is green."]
    talking.check()
    talking.world.check()
    talking.say("The shed is green.", "I see.", "The boat is blue.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    assert talking.world.statements() == ["Ana: The boat is blue.", "Ana: The shed is green."]
    talking.check()


@pytest.mark.parametrize("flag", ["True", "1", "yes", "false", "", None])
def test_unless_the_flag_is_exactly_true_nothing_happens(talking: Talking, flag: str | None) -> None:
    talking.say("The shed is green.")
    talking.later(minutes=10)
    message = talking.engine.tick().started[0]
    del talking.world.environment["DREAMING_CONVERSATION_MEMORY"]
    talking.world.environment |= {} if flag is None else {"DREAMING_CONVERSATION_MEMORY": flag}
    with suppress(InvalidInput):  # what is no truth value stops every pass
        assert talking.engine.tick().started == ()
    report = talking.engine.batch(message, holder="one", deadline=Deadline(lambda: 180.0))
    assert report.outcome is None or report.outcome.counts == {}
    assert report.sent is None
    assert talking.notes() == []
    assert talking.world.rows("select synthesis_due_at is null from conversations") == [(False,)]
    talking.world.environment |= FLAG
    talking.later(hours=1)
    talking.synthesize()
    talking.check()


def test_an_organization_that_is_not_enrolled_gets_no_notes(talking: Talking) -> None:
    other = Tenant("bakery", "ana")
    talking.say("The shed is green.", by=other)
    talking.later(minutes=10)
    assert talking.synthesize() == []


def test_a_private_conversation_stays_its_owners(talking: Talking) -> None:
    key = SliceKey("acme", Scope.PRIVATE, "ana")
    talking.say("The shed is green.", scope=Scope.PRIVATE)
    talking.later(minutes=10)
    talking.synthesize()
    assert talking.texts(key) == ["Ana: The shed is green."]
    for other in (SliceKey("acme"), SliceKey("acme", Scope.PRIVATE, "ben"), SliceKey("bakery")):
        assert talking.texts(other) == []
    talking.check(key)


def test_a_slice_of_many_conversations_takes_several_batches(talking: Talking) -> None:
    talking.batch_conversations = 2
    for number in range(5):
        talking.say(f"Shed {number} is green.", name=f"chat{number}")
    talking.later(minutes=10)
    reports = talking.synthesize()
    assert [report.outcome.counts["conversations_synthesized"] for report in reports if report.outcome] == [2, 2, 1]
    assert len(talking.texts()) == 5
    talking.check()


def test_a_long_conversation_is_split_between_turns(talking: Talking) -> None:
    talking.say(*(f"Turn {number} speaks of {'boat ' * 400}" for number in range(20)))
    talking.later(minutes=10)
    talking.synthesize()
    texts = talking.texts()
    assert len(texts) > 2
    assert max(map(len, texts)) <= 12_000
    assert all(line.startswith(("Ana: Turn", "Assistant: Turn")) for text in texts for line in text.splitlines())
    talking.check()


def test_a_turn_longer_than_any_note_is_split_at_its_sentences(talking: Talking) -> None:
    talking.world.environment["DREAMING_MAX_NOTE_CHARACTERS"] = "1000"
    talking.say("Hello.", "I see.", "".join(f"Boat {number} is blue.\n" for number in range(200)))
    talking.later(minutes=10)
    talking.synthesize()
    texts = talking.texts()
    assert max(map(len, texts)) <= 1_000
    whole = "\n".join(texts)
    assert all(whole.count(f"Boat {number} is blue.") == 1 for number in range(200))
    before = talking.notes()
    talking.say("Hello!", "I see.", "".join(f"Boat {number} is blue.\n" for number in range(20)))
    talking.later(minutes=10)
    talking.synthesize()
    assert len(talking.notes()) == len(before)
    assert "".join(talking.texts()).count("is blue.") == 20


def test_a_belief_leads_back_to_its_conversation(talking: Talking) -> None:
    from dreaming.api.service import Reader

    talking.say("The shed is green.", name="garden talk")
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    [(belief_id,)] = talking.world.rows("select belief_id::text from beliefs")
    reader = Reader(talking.database, ANA, talking.world.environment, talking.world.now)
    [source] = reader.explain(belief_id).sources
    assert source.note is not None
    assert source.note.conversation_id == "garden talk"


def test_the_same_words_in_two_conversations_are_two_witnesses_and_in_one_a_single_one(talking: Talking) -> None:
    talking.say("The shed is green.")
    talking.later(minutes=10)
    talking.synthesize()
    talking.say("The shed is green.", "Yes?", "The shed is green.")
    talking.say("The shed is green.", name="other")
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    [(statement, _, sources, origins)] = [row for row in talking.world.beliefs() if "green" in row[0]]
    assert (statement, sources, origins) == ("Ana: The shed is green.", 3, 2)


@pytest.mark.parametrize("ingested_first", [True, False])
def test_a_transcript_that_is_ingested_and_captured_is_one_witness(
    talking: Talking, tmp_path: Path, ingested_first: bool
) -> None:
    """By its name, whichever came first; and two conversations are still two."""
    file = tmp_path / "meeting.txt"
    file.write_text("Ana: The shed is green.\nBen: I see.\n", encoding="utf-8")

    def ingest_it() -> None:
        reading = read_transcripts(file, TranscriptOptions(max_note_characters=10_000))
        notes = [item for item in reading if isinstance(item, IncomingNote)]
        ingest(talking.database, KEY, notes, now=talking.world.now, new_id=uuid7, max_note_characters=10_000)

    if ingested_first:
        ingest_it()
    [talk] = read_talks(file)
    assert isinstance(talk, Talk)
    talking.say(*((turn.speaker, turn.text) for turn in talk.turns), name=talk.name)
    talking.later(minutes=10)
    talking.synthesize()
    if not ingested_first:
        ingest_it()
    talking.world.drain()
    [(statement, before, sources, origins)] = [row for row in talking.world.beliefs() if "green" in row[0]]
    assert (statement, sources, origins) == ("Ana: The shed is green.", 2, 1)
    talking.say("The shed is green.", name="other")
    talking.later(minutes=10)
    talking.synthesize()
    talking.world.drain()
    [(_, after, sources, origins)] = [row for row in talking.world.beliefs() if "green" in row[0]]
    assert (sources, origins) == (3, 2)
    assert after == pytest.approx(before + 0.02)
