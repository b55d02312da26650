"""Every alarm that was promised is there, calls somebody, and has an entry in the runbook."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infra.config import PASSES
from tests.architecture.modules import ROOT
from tests.infra.templates import Assembly, Template

OF_EVERY_FUNCTION = {"errors", "throttles"}
OF_EVERY_PASS = {"dead-letters", "backlog-age", "retired-notes", "no-successful-run", "model-calls"}
OF_THE_API = {"server-errors"}


@pytest.fixture(scope="module")
def stack(assembly: Assembly) -> Template:
    return assembly.stack("dreaming-prod")


def alarms(stack: Template) -> dict[str, Any]:
    """Alarms by name, without the stage's."""
    return {
        alarm["AlarmName"].removeprefix("dreaming-prod-"): alarm
        for alarm in stack.of_type("AWS::CloudWatch::Alarm").values()
    }


def test_every_function_and_every_pass_has_its_alarms(stack: Template) -> None:
    expected = {f"{folder}-{kind}" for folder in stack.our_functions() for kind in OF_EVERY_FUNCTION}
    expected |= {f"{definition.function}-{kind}" for definition in PASSES for kind in OF_EVERY_PASS}
    expected |= {f"api-{kind}" for kind in OF_THE_API}
    assert set(alarms(stack)) == expected


def test_every_alarm_calls_the_topic_which_is_encrypted(stack: Template) -> None:
    (topic,) = stack.of_type("AWS::SNS::Topic")
    assert "KmsMasterKeyId" in stack.only("AWS::SNS::Topic")
    for alarm in alarms(stack).values():
        assert [stack.target(action) for action in alarm["AlarmActions"]] == [topic]
    assert stack.only("AWS::SNS::Subscription")["Endpoint"] == "operators@example.test"


def test_every_kind_of_alarm_has_an_entry_in_the_runbook_and_there_are_no_others() -> None:
    runbook = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    entries = set(re.findall(r"^## `([a-z-]+)`", runbook, re.MULTILINE))
    assert entries == OF_EVERY_FUNCTION | OF_EVERY_PASS | OF_THE_API


def test_the_topic_can_be_used_by_alarms(assembly: Assembly) -> None:
    policy = assembly.stack("dreaming-prod-data").only("AWS::KMS::Key")["KeyPolicy"]["Statement"]
    assert any(statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"} for statement in policy)


def test_a_day_and_two_hours_without_success_is_noticed_even_when_nothing_is_written(stack: Template) -> None:
    alarm = alarms(stack)["consolidate-no-successful-run"]
    assert alarm["EvaluationPeriods"] == alarm["DatapointsToAlarm"] == 26
    assert alarm["TreatMissingData"] == "breaching"
    periods = {metric["MetricStat"]["Period"] for metric in alarm["Metrics"] if "MetricStat" in metric}
    assert periods == {3600}


@pytest.mark.parametrize(
    ("ticks", "started", "done", "bad"),
    [(1, 0, 0, 0), (1, 3, 2, 0), (1, 3, 0, 1), (None, None, None, 1), (None, None, 4, 1)],
)
def test_an_hour_is_bad_without_a_tick_or_with_runs_that_get_nowhere(
    stack: Template, ticks: float | None, started: float | None, done: float | None, bad: int
) -> None:
    alarm = alarms(stack)["consolidate-no-successful-run"]
    (expression,) = [metric["Expression"] for metric in alarm["Metrics"] if "Expression" in metric]
    # CloudWatch's functions, in the words of Python.
    words = expression.replace(" OR ", " or ").replace(" AND ", " and ")
    names: dict[str, Any] = {
        "IF": lambda condition, yes, no: yes if condition else no,
        "FILL": lambda value, other: other if value is None else value,
        "ticks": ticks,
        "started": started,
        "done": done,
    }
    assert eval(words, {"__builtins__": {}}, names) == bad


def test_the_metrics_that_alarms_watch_are_written_by_the_pass(stack: Template) -> None:
    source = (ROOT / "layers/dreaming/python/dreaming/lambdas/pass_events.py").read_text("utf-8")
    dispositions = (ROOT / "layers/dreaming/python/dreaming/passes/records.py").read_text("utf-8")
    for alarm in alarms(stack).values():
        watched = [m["MetricStat"]["Metric"] for m in alarm.get("Metrics", []) if "MetricStat" in m] or [alarm]
        for metric in watched:
            if metric["Namespace"] == "Dreaming/prod":
                name = metric["MetricName"]
                assert f'"{name}"' in source or f'"{name.removeprefix("batch_")}"' in dispositions


def test_handlers_write_metrics_where_alarms_look(assembly: Assembly) -> None:
    for folder, function in assembly.stack("dreaming-prod").our_functions().items():
        assert function["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"] == "Dreaming/prod"
        handler = (ROOT / "functions" / folder / "handler.py").read_text("utf-8")
        assert re.findall(r'service="(\w+)"', handler) in ([], [folder], [folder, folder])
        assert "namespace=" not in handler


def test_there_are_two_dashboards_and_the_saved_queries(stack: Template) -> None:
    names = {dashboard["DashboardName"] for dashboard in stack.of_type("AWS::CloudWatch::Dashboard").values()}
    assert names == {"dreaming-prod-operations", "dreaming-prod-memory"}
    queries = {query["Name"]: query for query in stack.of_type("AWS::Logs::QueryDefinition").values()}
    page = (ROOT / "docs" / "observability.md").read_text("utf-8")
    documented = re.findall(r"^\| `(.+?)` \|", page.partition("## Saved queries")[2], re.MULTILINE)
    assert set(queries) == {f"dreaming-prod/{name}" for name in documented}
    for query in queries.values():
        assert len(query["LogGroupNames"]) == len(stack.our_functions())


def test_a_budget_is_watched_where_one_was_named(assembly: Assembly, stack: Template) -> None:
    budget = stack.only("AWS::Budgets::Budget")
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 50, "Unit": "USD"}
    assert [n["Notification"]["Threshold"] for n in budget["NotificationsWithSubscribers"]] == [80, 100]
    assert assembly.stack("dreaming-dev").of_type("AWS::Budgets::Budget") == {}


def test_widgets_name_metrics_that_exist(stack: Template) -> None:
    bodies = json.dumps([d["DashboardBody"] for d in stack.of_type("AWS::CloudWatch::Dashboard").values()])
    for name in ("notes_consolidated", "beliefs_created", "batch_held", "ServerlessDatabaseCapacity"):
        assert name in bodies
