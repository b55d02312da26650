"""Every alarm that was promised is there, calls somebody, and has an entry in the runbook."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from dreaming.passes.records import PASS_FUNCTIONS, Disposition
from infra.config import DISPOSITIONS, PASSES, RUNS_STARTED, PassDefinition
from tests.architecture.modules import ROOT, package_modules
from tests.infra.templates import Assembly, Template

OF_EVERY_FUNCTION = {"errors", "throttles"}
OF_EVERY_PASS = {"dead-letters", "backlog-age", "no-successful-run"}
OF_SOME_PASSES: dict[str, Callable[[PassDefinition], bool]] = {
    "retired-notes": lambda definition: "notes_retired" in definition.counts,
    "model-calls": lambda definition: "model_calls" in definition.counts,
}
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
    expected = {f"{folder.replace('_', '-')}-{kind}" for folder in stack.our_functions() for kind in OF_EVERY_FUNCTION}
    for definition in PASSES:
        kinds = OF_EVERY_PASS | {kind for kind, has in OF_SOME_PASSES.items() if has(definition)}
        expected |= {f"{definition.function.replace('_', '-')}-{kind}" for kind in kinds}
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
    assert entries == OF_EVERY_FUNCTION | OF_EVERY_PASS | set(OF_SOME_PASSES) | OF_THE_API


def test_the_topic_can_be_used_by_alarms(assembly: Assembly) -> None:
    policy = assembly.stack("dreaming-prod-data").only("AWS::KMS::Key")["KeyPolicy"]["Statement"]
    assert any(statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"} for statement in policy)


@pytest.mark.parametrize("definition", PASSES, ids=lambda definition: str(definition.function))
def test_a_day_and_two_hours_without_success_is_noticed_even_when_nothing_is_written(
    stack: Template, definition: PassDefinition
) -> None:
    alarm = alarms(stack)[f"{definition.function.replace('_', '-')}-no-successful-run"]
    assert alarm["EvaluationPeriods"] == alarm["DatapointsToAlarm"] == 26
    assert alarm["TreatMissingData"] == "breaching"
    measured = [metric["MetricStat"] for metric in alarm["Metrics"] if "MetricStat" in metric]
    assert {metric["Period"] for metric in measured} == {3600}
    assert {str(metric["Metric"]["Dimensions"]) for metric in measured} == {
        str([{"Name": "service", "Value": definition.function}])
    }


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
        "consolidate_ticks": ticks,
        "consolidate_started": started,
        "consolidate_done": done,
    }
    assert eval(words, {"__builtins__": {}}, names) == bad


def test_alarms_watch_metrics_that_functions_write(stack: Template) -> None:
    written = {definition.function: names_written(definition) for definition in PASSES}
    for alarm in alarms(stack).values():
        watched = [m["MetricStat"]["Metric"] for m in alarm.get("Metrics", []) if "MetricStat" in m] or [alarm]
        for metric in watched:
            if metric["Namespace"] == "Dreaming/prod":
                (dimension,) = metric["Dimensions"]
                assert metric["MetricName"] in written[dimension["Value"]]


def names_written(definition: PassDefinition) -> set[str]:
    """The metrics that the function of a pass writes."""
    return {RUNS_STARTED, *(f"batch_{disposition}" for disposition in DISPOSITIONS), *definition.counts}


def names_counted(pass_name: str) -> set[str]:
    """The names under which the modules of a pass count, all of which its function writes as metrics."""
    found: list[ast.AST | None] = []
    for module in package_modules():
        if module.name.startswith(f"dreaming.passes.{pass_name}."):
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "counts":
                    found += ast.walk(node.slice)
                elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Counter":
                    found += [ast.Constant(keyword.arg) for keyword in node.keywords]
                elif is_counting(node):
                    found += [key for one in ast.walk(node) if isinstance(one, ast.Dict) for key in one.keys]
    return {node.value for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def is_counting(node: ast.AST) -> bool:
    """Whether a statement makes counts: it returns them, gives them the name, or hands them to `Step`."""
    if isinstance(node, ast.FunctionDef):
        return node.returns is not None and ast.unparse(node.returns) in {"dict[str, int]", "Counter[str]"}
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return ast.unparse(target) == "counts"
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "Step"


@pytest.mark.parametrize("definition", PASSES, ids=lambda definition: str(definition.function))
def test_a_pass_has_graphs_of_what_it_counts_and_of_nothing_else(definition: PassDefinition) -> None:
    (pass_name,) = (name for name, function in PASS_FUNCTIONS.items() if function == definition.function)
    assert names_counted(pass_name) == set(definition.counts)


def test_what_becomes_of_a_batch_is_counted_under_the_names_of_the_package() -> None:
    """Two are of the function alone: an invocation that came second, and one that failed."""
    assert set(DISPOSITIONS) == {*Disposition, "busy", "failed"}


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


def test_the_memory_dashboard_shows_everything_that_passes_write(stack: Template) -> None:
    (dashboard,) = [
        json.dumps(d["DashboardBody"])
        for d in stack.of_type("AWS::CloudWatch::Dashboard").values()
        if d["DashboardName"].endswith("-memory")
    ]
    for definition in PASSES:
        shown = set(
            re.findall(rf'"Dreaming/prod","(\w+)","service","{definition.function}"', dashboard.replace('\\"', '"'))
        )
        assert shown == names_written(definition)


def test_every_metric_is_documented() -> None:
    page = (ROOT / "docs" / "observability.md").read_text("utf-8").partition("## Metrics")[2].partition("## ")[0]
    documented = set(re.findall(r"`(\w+)`", page)) - {"service"}
    assert documented == set().union(*(names_written(definition) for definition in PASSES))


def reasons(base: str) -> set[str]:
    """The machine words of an error of the tree and of all that stand below it, wherever they are defined."""
    words: dict[str, str] = {}
    parents: dict[str, set[str]] = {}
    for module in package_modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                parents[node.name] = {ast.unparse(parent).rpartition(".")[2] for parent in node.bases}
                for line in node.body:
                    if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "reason":
                        words[node.name] = ast.literal_eval(line.value)
    found = {base}
    while grown := {name for name, above in parents.items() if above & found} - found:
        found |= grown
    return {words[name] for name in found if name in words}


def rows(heading: str) -> set[str]:
    """The words in the first column of the table below a heading of the runbook."""
    runbook = (ROOT / "docs" / "runbook.md").read_text("utf-8").partition(f"## `{heading}`")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.+?) \|", runbook, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


def test_the_runbook_knows_every_reason_for_a_hold_and_no_other() -> None:
    assert reasons("Hold") >= {"throttled", "queue_unavailable", "database_unavailable"}
    assert rows("no-successful-run") == reasons("Hold") | {"misconfigured"}


def test_the_runbook_knows_every_reason_for_a_retirement_and_no_other() -> None:
    assert reasons("RetireNote") >= {"failed", "malformed"}
    # A killed function raises nothing: the next one finds the call that it did not finish.
    assert rows("retired-notes") == reasons("RetireNote") | {"crash"}
