"""The autonomy function: a tick and a batch through the real handler."""

from __future__ import annotations

from dreaming.autonomy import service
from dreaming.autonomy.records import IncomingAction, Outcome, Risk
from dreaming.identifiers import uuid7
from dreaming.local.functions import failed_items, schedule_event
from tests.functions.sandbox import load_sandbox, sqs_event
from tests.world import KEY, World


def test_a_tick_and_its_batch_score_actions_and_move_the_score(installed: World) -> None:
    actions = [
        IncomingAction(
            agent_id="bot",
            external_id=f"a{number}",
            tool="mail",
            summary="Answered a letter.",
            risk=Risk.LOW,
            acted_at=installed.now,
            outcome=Outcome.APPROVED,
        )
        for number in range(30)
    ]
    service.log_actions(installed.database, KEY.org_id, actions, now=installed.now, new_id=uuid7)
    function = load_sandbox("score_autonomy")
    (message,) = function.invoke(dict(schedule_event(None)))["started"]
    assert message["batch"] == 1
    received = installed.queue.receive(holder="sqs", visibility_timeout=1080)
    assert received is not None
    assert failed_items(function.invoke(sqs_event(received))) == []
    found = service.may_act(installed.database, KEY.org_id, "bot", Risk.HIGH)
    assert (found.allowed, found.score) == (True, 80)
    assert "Answered" not in str(function.lines)
