"""Alarms, each with an entry in the runbook, and the topic that they call."""

from __future__ import annotations

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.config import Configuration

RUNBOOK = "docs/runbook.md"


class Alarms(Construct):
    """All alarms of a stage. On an emulator, which makes no metrics of what functions write, there are none."""

    def __init__(
        self, scope: Construct, construct_id: str, *, configuration: Configuration, key: kms.IKey | None
    ) -> None:
        """Make the topic, encrypted by `key`, and subscribe the address that was named; without a key, nothing."""
        super().__init__(scope, construct_id)
        self._prefix = configuration.name
        self.all: list[cloudwatch.Alarm] = []
        self._topic = self._make_topic(key, configuration.alarm_email) if key is not None else None

    def raise_when(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        *,
        at_least: float,
        says: str,
        datapoints: int = 1,
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """Raise an alarm when `metric` was at or above `at_least` for `datapoints` periods in a row.

        The runbook's entry is the alarm's kind: its name without the function's.
        """
        if self._topic is None:
            return
        name = name.replace("_", "-")
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_name=f"{self._prefix}-{name}",
            alarm_description=f"{says} What to do: {RUNBOOK}",
            metric=metric,
            threshold=at_least,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=datapoints,
            datapoints_to_alarm=datapoints,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(actions.SnsAction(self._topic))
        self.all.append(alarm)

    def _make_topic(self, key: kms.IKey, email: str | None) -> sns.Topic:
        topic = sns.Topic(self, "Topic", topic_name=f"{self._prefix}-alarms", master_key=key, enforce_ssl=True)
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfThisAccount",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )
        if email is not None:
            topic.add_subscription(subscriptions.EmailSubscription(email))
        return topic
