"""The shipped sample is a month of notes that shows what the passes must cope with."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

import dreaming.local
from dreaming.notes.records import IncomingNote, Trust

SAMPLE = Path(dreaming.local.__file__).parent / "samples" / "team-month.jsonl"


@pytest.fixture(scope="module")
def notes() -> list[IncomingNote]:
    return [IncomingNote.model_validate_json(line) for line in SAMPLE.read_text("utf-8").splitlines()]


def test_every_line_is_a_note_of_its_own(notes: list[IncomingNote]) -> None:
    assert len({(note.source, note.external_id) for note in notes}) == len(notes) >= 30


def test_the_notes_are_one_month_in_order(notes: list[IncomingNote]) -> None:
    moments = [note.occurred_at for note in notes]
    assert moments == sorted(moments)
    assert {(moment.year, moment.month, moment.utcoffset()) for moment in moments} == {(2026, 5, timedelta(hours=2))}


def test_there_are_meetings_chats_documents_mails_and_a_journal(notes: list[IncomingNote]) -> None:
    sources = Counter(note.source for note in notes)
    assert set(sources) == {"meetings", "assistant-chat", "handbook", "mail", "journal"}
    assert min(sources.values()) >= 4


def test_only_mail_from_outside_is_untrusted_and_one_tries_to_give_orders(notes: list[IncomingNote]) -> None:
    untrusted = [note for note in notes if note.trust is Trust.UNTRUSTED]
    assert {note.source for note in untrusted} == {"mail"}
    assert [note.external_id for note in untrusted if "SYSTEM:" in note.text] == ["mail-inbound-partner-offer"]


def test_one_note_is_empty_and_two_are_not_english(notes: list[IncomingNote]) -> None:
    assert [note.external_id for note in notes if not note.text.strip(" \n\t\u200b")] == ["journal-scan-05-09"]
    assert sorted(str(note.metadata["language"]) for note in notes if "language" in note.metadata) == ["de", "zh"]


def test_witnesses_repeat_and_contradict_each_other(notes: list[IncomingNote]) -> None:
    def witnesses(phrase: str) -> set[str]:
        return {note.origin or note.external_id for note in notes if phrase in note.text}

    for repeated in (
        "runs on two AA batteries",
        "must be watertight to IP67",
        "Firmware 2.4 contains the Bluetooth mesh",
        "LoRa fails behind the metal shelves at Van Dael",
    ):
        assert len(witnesses(repeated)) >= 2, repeated
    for one, other in (("starts on 18 May", "starts on 25 May"), ("is 89 euros", "is 99 euros")):
        assert witnesses(one)
        assert witnesses(other)
        assert not witnesses(one) & witnesses(other)
