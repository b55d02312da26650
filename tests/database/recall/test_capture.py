"""What a capture stores, refuses, throttles and survives."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from dreaming.database import Database
from dreaming.errors import ProviderUnavailable
from dreaming.notes.echo import mark
from dreaming.notes.records import Tenant
from dreaming.recall.capture import Capturing
from dreaming.recall.records import CaptureAnswer
from tests.database.recall.conftest import ACME, ANA, BEN, Memory, WordVectors, conversation

CAPTURED = CaptureAnswer(captured=True)
THROTTLED = CaptureAnswer(captured=False, reason="throttled", pending=True)


class NoDatabase:
    """A database that counts how often it is asked, and cannot answer."""

    asked = 0

    def transaction(self, *args: Any, **options: Any) -> Any:
        self.asked += 1
        raise AssertionError("the database was asked")


@pytest.mark.parametrize("value", ["TRUE", "True", "1", "yes", "on", "false", "", " true", "true\n"])
def test_unless_the_flag_is_exactly_true_nothing_is_read_written_or_embedded(memory: Memory, value: str) -> None:
    memory.environment = {"DREAMING_CONVERSATION_MEMORY": value}
    database: Any = NoDatabase()
    stored, memory.database = memory.database, database
    assert memory.capture("c", "a word") == CaptureAnswer(captured=False, reason="off")
    assert memory.recall("a word").reason == "off"
    memory.database = stored
    assert (database.asked, memory.embedder.texts, memory.counted) == (0, [], [])
    assert memory.rows("select 1 from conversations") == []


def test_a_capture_is_one_row_with_its_words_and_a_vector(memory: Memory) -> None:
    assert memory.capture("c", "The boat leaves at noon.", "I will pack.") == CAPTURED
    query = "select turns, vector is not null, vector_stale, octet_length(conversation_id), user_id from conversations"
    assert memory.rows(query) == [(2, True, False, 32, "ana")]
    memory.check()


def test_a_capture_overwrites_and_its_words_replace_the_former(memory: Memory) -> None:
    memory.capture("c", "The boat leaves at noon.", "I will pack.")
    memory.later(minutes=3)
    assert memory.capture("c", "The plane leaves at noon.") == CAPTURED
    memory.check()
    assert memory.names("plane") == ["c"]
    assert memory.recall("boat").conversations[0].lexical == 0
    assert memory.rows("select count(*) from conversations") == [(1,)]


def test_an_append_embeds_only_the_open_end_and_what_is_new(memory: Memory) -> None:
    texts = [f"turn {number} " + "boat " * 120 for number in range(20)]
    memory.capture("c", *texts)
    once = len(memory.embedder.texts)
    memory.later(minutes=3)
    memory.embedder.texts.clear()
    assert memory.capture("c", *texts, "and a plane") == CAPTURED
    assert once >= 8
    assert len(memory.embedder.texts) <= 2
    memory.check()
    whole = Memory(memory.database, WordVectors(), memory.now)
    whole.capture("d", *texts, "and a plane")
    vectors = memory.rows("select vector::real[] from conversations order by document_id")
    assert np.allclose(vectors[0][0], vectors[1][0], atol=1e-3)


def test_the_same_capture_again_costs_nothing(memory: Memory) -> None:
    memory.capture("c", "a boat")
    memory.embedder.texts.clear()
    assert memory.capture("c", "a boat") == CAPTURED
    assert memory.embedder.texts == []
    memory.check()


def test_a_throttled_capture_is_found_by_its_words_and_waits_for_its_vector(memory: Memory) -> None:
    memory.capture("c", "a boat")
    memory.later(seconds=119)
    assert memory.capture("c", "a boat", "a plane") == THROTTLED
    assert memory.names("plane") == ["c"]
    assert memory.rows("select turns, vector_stale from conversations") == [(2, True)]
    due = memory.rows("select due_at - now() from due_times where pass = 'embedding'")
    assert len(due) == 1
    memory.check()
    memory.later(seconds=1)
    assert memory.capture("c", "a boat", "a plane") == CAPTURED
    assert memory.counted == []


def test_the_throttle_starts_only_after_success(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.embedder.failure = ProviderUnavailable("down")
    with caplog.at_level(logging.WARNING):
        answer = memory.capture("c", "a boat")
    assert answer == CaptureAnswer(captured=False, reason=ProviderUnavailable.reason, pending=True)
    assert (memory.counted, len(caplog.records)) == ([ProviderUnavailable.reason], 1)
    assert "boat" not in caplog.text
    assert memory.names("boat") == ["c"]
    memory.embedder.failure = None
    assert memory.capture("c", "a boat") == CAPTURED


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.full(3, 1.0), "3 dimensions"),
        (np.zeros(64), "no direction"),
        (np.full(64, np.nan), "no direction"),
    ],
)
def test_a_vector_of_another_size_or_without_direction_is_refused(
    memory: Memory, caplog: pytest.LogCaptureFixture, answer: Any, said: str
) -> None:
    memory.embedder.answer = answer.astype(np.float32)
    with caplog.at_level(logging.WARNING):
        captured = memory.capture("c", "a boat")
    assert (captured.captured, captured.pending) == (False, True)
    assert said in caplog.text
    assert len(answer) == 64 or "64" in caplog.text
    assert memory.rows("select vector is null, captured_at from conversations") == [(True, None)]


def test_a_vector_longer_than_those_of_its_model_is_refused_with_both_numbers(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.capture("c", "a boat")
    memory.embedder = WordVectors(32)
    with caplog.at_level(logging.WARNING):
        answer = memory.capture("d", "a plane")
    assert (answer.captured, answer.reason, answer.pending) == (False, "misconfigured", True)
    assert "32" in caplog.text
    assert "64" in caplog.text


def test_nothing_is_thrown_when_the_database_is_gone(database: Database) -> None:
    counted: list[str] = []
    gone = Database("postgresql://nobody@127.0.0.1:1/none", wait_seconds=0.1)
    environment = {"DREAMING_CONVERSATION_MEMORY": "true"}
    capturing = Capturing(
        gone, environment, lambda settings, org_id: None, lambda: Memory(database).now, counted.append
    )
    answer = capturing.capture(ANA, conversation("c", "a boat"))
    assert answer == CaptureAnswer(captured=False, reason="database_unavailable")
    assert counted == ["database_unavailable"]


def test_without_consent_words_are_kept_and_nothing_is_embedded(memory: Memory) -> None:
    memory.consent(given=False)
    assert memory.capture("c", "a boat") == CaptureAnswer(captured=True, reason="no_embedding_consent")
    assert memory.recall("boat").reason == "no_embedding_consent"
    assert memory.names("boat") == ["c"]
    assert memory.embedder.texts == []
    memory.consent()
    memory.exclude("conversation")
    assert memory.capture("c", "a boat", "a plane").reason == "no_embedding_consent"
    assert memory.recall("boat").reason == "no_embedding_consent"
    assert memory.embedder.texts == []


@pytest.mark.parametrize("scope", ["org", "private"])
def test_another_user_cannot_overwrite_or_re_own(memory: Memory, scope: str) -> None:
    memory.capture("c", "a boat", scope=scope)
    memory.later(minutes=3)
    for other in (BEN, ACME):
        for claimed in ("org", "private") if other.user_id else ("org",):
            answer = memory.capture("c", "a plane", by=other, scope=claimed)
            assert answer == CaptureAnswer(captured=False, reason="not_owner")
    assert memory.rows("select user_id, turns from conversations") == [("ana", 1)]
    assert memory.names("boat") == ["c"]
    memory.check()


def test_a_conversation_stays_in_its_scope(memory: Memory) -> None:
    memory.capture("c", "a boat", scope="private")
    assert memory.capture("c", "a boat", "more").reason == "other_scope"


def test_an_unknown_scope_or_a_private_one_of_nobody_is_refused(memory: Memory) -> None:
    assert memory.capture("c", "a boat", scope="privat").reason == "invalid_input"
    assert memory.capture("c", "a boat", by=ACME, scope="private").reason == "invalid_input"
    assert memory.rows("select 1 from conversations") == []


def test_of_two_captures_the_later_text_stays_whichever_comes_last(memory: Memory) -> None:
    memory.capture("c", "a boat", "a plane")
    memory.now -= timedelta(seconds=5)
    assert memory.capture("c", "a boat") == CaptureAnswer(captured=False, reason="superseded")
    assert memory.rows("select turns from conversations") == [(2,)]


def test_what_was_recalled_here_is_not_captured_again(memory: Memory) -> None:
    memory.capture("c", mark("The zephyr rises.", "conversation:1") + "\nThanks, that helps.")
    assert memory.rows("select text from conversation_turns") == [("Thanks, that helps.",)]


def test_secrets_are_neither_stored_nor_embedded(memory: Memory, admin: Any) -> None:
    memory.capture("c", "my key is sk-TEST1234567890abcdef", "密码是hunter2secret99")
    assert memory.capture("e", "  \u200b ") == CaptureAnswer(captured=False, reason="empty")
    stored = str(
        admin.execute(
            "select c::text, t::text from conversations c join conversation_turns t using (document_id)"
        ).fetchall()
    )
    for secret in ("sk-TEST1234567890abcdef", "hunter2secret99"):
        assert secret not in stored
        assert secret not in "".join(memory.embedder.texts)


def test_a_deleted_conversation_leaves_nothing(memory: Memory) -> None:
    memory.capture("c", "a boat", "a plane")
    memory.capture("d", "a train")
    memory.delete("c")
    memory.check()
    assert memory.rows("select count(*) from conversations") == [(1,)]


def test_the_same_id_in_two_organizations_is_two_conversations(memory: Memory) -> None:
    other = Tenant("bakery", "ana")
    memory.consent("bakery")
    assert memory.capture("c", "a boat") == CAPTURED
    assert memory.capture("c", "a plane", by=other) == CAPTURED
    assert (memory.names("boat"), memory.names("plane", other)) == (["c"], ["c"])
    assert memory.recall("boat", other).conversations[0].lexical == 0
    memory.delete("c")
    memory.check(other)
    assert memory.names("plane", other) == ["c"]
