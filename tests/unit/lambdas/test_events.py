"""Events go to an EventBridge bus as its own service model wants them, or to the log."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from dreaming.errors import Hold
from dreaming.lambdas import events
from dreaming.lambdas.events import EventBridgeSink, EventBusUnavailable, LoggedEvents, event_sink
from dreaming.passes.outbox.records import Event
from tests.aws_exchange import Answer, Exchange, take_on_credentials

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def event(number: int) -> Event:
    return Event(number, 7, "belief.archived", {"belief_id": f"b{number}", "reason": "faded"}, NOW)


def taken(*numbers: int, refused: int = 0) -> Answer:
    entries: list[dict[str, Any]] = [{"EventId": str(number)} for number in numbers]
    entries += [{"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}] * refused
    return Answer({"FailedEntryCount": refused, "Entries": entries})


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    take_on_credentials(monkeypatch)


def sink(*answers: Answer | Exception) -> tuple[EventBridgeSink, Exchange]:
    exchange = Exchange("events", answers)
    made = EventBridgeSink("memory")
    made.__dict__["_client"] = exchange.connect()
    return made, exchange


def sent(exchange: Exchange) -> list[dict[str, Any]]:
    return [entry for body in exchange.bodies for entry in body["Entries"]]


def test_an_event_carries_ids_and_the_id_by_which_a_repetition_is_known() -> None:
    bus, exchange = sink(taken(1))
    assert bus.send([event(1)]) == [1]
    [entry] = sent(exchange)
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == ("memory", "dreaming", "belief.archived")
    assert json.loads(entry["Detail"]) == {
        "belief_id": "b1",
        "reason": "faded",
        "event_id": "1",
        "slice_id": 7,
        "happened_at": NOW.isoformat(),
    }


def test_events_go_ten_at_a_time() -> None:
    bus, exchange = sink(taken(*range(10)), taken(*range(3)))
    assert bus.send([event(number) for number in range(13)]) == list(range(13))
    assert [len(body["Entries"]) for body in exchange.bodies] == [10, 3]


def test_what_the_bus_refuses_is_not_taken() -> None:
    bus, _ = sink(taken(1, refused=1))
    assert bus.send([event(1), event(2)]) == [1]


def test_a_bus_that_fails_takes_nothing() -> None:
    bus, _ = sink(Answer(status=400, code="AccessDeniedException"))
    with pytest.raises(EventBusUnavailable) as error:
        bus.send([event(1)])
    assert isinstance(error.value, Hold)


def test_what_went_before_a_failure_is_taken() -> None:
    bus, _ = sink(taken(*range(10)), Answer(status=400, code="AccessDeniedException"))
    assert bus.send([event(number) for number in range(13)]) == list(range(10))


def test_without_a_bus_events_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    chosen = event_sink({})
    assert isinstance(chosen, LoggedEvents)
    with caplog.at_level(logging.INFO, logger=events.__name__):
        assert chosen.send([event(1), event(2)]) == [1, 2]
    assert [record.event_detail["belief_id"] for record in caplog.records] == ["b1", "b2"]  # type: ignore[attr-defined]
    assert isinstance(event_sink({"DREAMING_EVENT_BUS": "memory"}), EventBridgeSink)
