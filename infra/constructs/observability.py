"""Two dashboards, saved log queries, and the alarms on what all functions spend together."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config import DISPOSITIONS, RUNS_STARTED, Configuration
from infra.constructs.alarms import Alarms
from infra.constructs.function import Function
from infra.constructs.http_api import HttpApi
from infra.constructs.log_queries import QUERIES
from infra.constructs.pass_worker import PassWorker

_HALF = 12
_WHOLE = 24
_CALLS = "model_calls"
_BUDGET_THRESHOLDS = (80, 100)  # per cent


class Observability(Construct):
    """What a person looks at: operations (does it run?) and memory (does it learn?)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        configuration: Configuration,
        workers: Sequence[PassWorker],
        api: HttpApi,
        functions: Sequence[Function],
        alarms: Alarms,
    ) -> None:
        """Make dashboards, queries and budget alarms."""
        super().__init__(scope, construct_id)
        self._alarm_on_spending(configuration, workers, alarms)
        self._operations(configuration, workers, api, functions, alarms)
        self._memory(configuration, workers)
        self._save_queries(configuration, functions)

    def _save_queries(self, configuration: Configuration, functions: Sequence[Function]) -> None:
        for name, query in QUERIES.items():
            logs.CfnQueryDefinition(
                self,
                f"Query{''.join(word.capitalize() for word in name.split())}",
                name=f"{configuration.name}/{name}",
                query_string=query,
                log_group_names=[function.log_group.log_group_name for function in functions],
            )

    def _alarm_on_spending(self, configuration: Configuration, workers: Sequence[PassWorker], alarms: Alarms) -> None:
        day = Duration.days(1)
        for worker in workers:
            if _CALLS in worker.definition.counts:
                alarms.raise_when(
                    f"{worker.definition.function}-model-calls",
                    worker.metric(_CALLS, period=day),
                    at_least=configuration.daily_model_calls,
                    says=f"More than {configuration.daily_model_calls} model calls in one day.",
                )
        if configuration.monthly_budget_usd is None or configuration.alarm_email is None:
            return
        budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=configuration.name,
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=configuration.monthly_budget_usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:application${configuration.name}"]},
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        comparison_operator="GREATER_THAN",
                        notification_type="ACTUAL",
                        threshold=threshold,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[
                        budgets.CfnBudget.SubscriberProperty(
                            address=configuration.alarm_email, subscription_type="EMAIL"
                        )
                    ],
                )
                for threshold in _BUDGET_THRESHOLDS
            ],
        )

    def _operations(
        self,
        configuration: Configuration,
        workers: Sequence[PassWorker],
        api: HttpApi,
        functions: Sequence[Function],
        alarms: Alarms,
    ) -> None:
        period = Duration.minutes(5)
        dashboard = cloudwatch.Dashboard(
            self,
            "Operations",
            dashboard_name=f"{configuration.name}-operations",
            default_interval=Duration.days(1),
        )
        dashboard.add_widgets(cloudwatch.AlarmStatusWidget(title="Alarms", alarms=alarms.all, width=_WHOLE, height=4))
        dashboard.add_widgets(
            _graph("Waiting messages", [w.queue.metric_approximate_number_of_messages_visible() for w in workers]),
            _graph("Age of the oldest message", [w.queue.metric_approximate_age_of_oldest_message() for w in workers]),
        )
        dashboard.add_widgets(
            _graph(
                "Dead letters",
                [w.dead_letters.metric_approximate_number_of_messages_visible() for w in workers],
            ),
            _graph("Hours without success", [w.unsuccessful_hours() for w in workers]),
        )
        dashboard.add_widgets(
            _graph("Errors", [f.function.metric_errors(period=period, label=f.folder) for f in functions]),
            _graph(
                "Duration, 95th percentile",
                [f.function.metric_duration(period=period, statistic="p95", label=f.folder) for f in functions],
            ),
        )
        dashboard.add_widgets(
            _graph("Requests", [api.api.metric_count(), api.api.metric_client_error(), api.api.metric_server_error()]),
            _graph("Latency of the API", [api.api.metric_latency(statistic="p95", period=period)]),
        )
        capacity = cloudwatch.Metric(
            namespace="AWS/RDS",
            metric_name="ServerlessDatabaseCapacity",
            dimensions_map={"DBClusterIdentifier": configuration.name},
            statistic="Average",
            period=period,
        )
        dashboard.add_widgets(_graph("Database capacity units, 0 while it sleeps", [capacity]))

    def _memory(self, configuration: Configuration, workers: Sequence[PassWorker]) -> None:
        dashboard = cloudwatch.Dashboard(
            self,
            "Memory",
            dashboard_name=f"{configuration.name}-memory",
            default_interval=Duration.days(7),
        )
        for worker in workers:
            definition = worker.definition
            graphs = {
                **definition.graphs,
                "Runs": (RUNS_STARTED,),
                "Batches": tuple(f"batch_{disposition}" for disposition in DISPOSITIONS),
            }
            widgets = [_graph(title, [worker.metric(name) for name in names]) for title, names in graphs.items()]
            dashboard.add_widgets(cloudwatch.TextWidget(markdown=f"## {definition.function}", width=_WHOLE, height=1))
            for first in range(0, len(widgets), 2):
                dashboard.add_widgets(*widgets[first : first + 2])


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=_HALF, height=6)
