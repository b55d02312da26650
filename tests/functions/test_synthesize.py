"""The synthesis function: a tick and a batch through the real handler, without a word of what was said in its logs."""

from __future__ import annotations

from datetime import timedelta

from dreaming.local.functions import failed_items, schedule_event
from dreaming.notes.records import Tenant
from dreaming.recall.capture import Capturing
from dreaming.recall.records import IncomingConversation, IncomingTurn
from tests.functions.sandbox import load_sandbox, sqs_event
from tests.world import World


def test_a_tick_and_its_batch_turn_an_idle_conversation_into_a_note(installed: World) -> None:
    installed.environment["DREAMING_CONVERSATION_MEMORY"] = "true"
    said = IncomingConversation(conversation_id="c", turns=(IncomingTurn(speaker="Ana", text="The shed is green."),))
    capturing = Capturing(
        installed.database, installed.environment, lambda settings, org_id: None, installed.clock, lambda reason: None
    )
    assert capturing.capture(Tenant("acme", "ana"), said).captured
    installed.now += timedelta(minutes=10)
    function = load_sandbox("synthesize")
    (message,) = function.invoke(dict(schedule_event(None)))["started"]
    assert message["batch"] == 1
    received = installed.queue.receive(holder="sqs", visibility_timeout=1080)
    assert received is not None
    assert failed_items(function.invoke(sqs_event(received))) == []
    assert installed.rows("select source, text from notes") == [("conversation", "Ana: The shed is green.")]
    assert "shed" not in str(function.lines)
