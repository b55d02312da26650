"""The function that brings the database up to date, and its call at every deployment that changes it."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import CfnResource, Duration, RemovalPolicy, Stack, triggers
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from infra.config import Configuration
from infra.constructs.alarms import Alarms
from infra.constructs.database import DatabaseAccess
from infra.constructs.function import Function
from infra.constructs.layers import Layers

_TIMEOUT = Duration.minutes(14)  # within the 15 minutes that a deployment waits for it
_MEMORY_MB = 256
_CALLER = "AWSCDK.TriggerCustomResourceProviderCustomResourceProvider"


class Migration(Construct):
    """`functions/migrate`, alone in being able to change the schema.

    On AWS a deployment calls it before any function of the new version is in use, and fails with it.
    On an emulator it is invoked by hand.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        configuration: Configuration,
        layers: Layers,
        database: DatabaseAccess,
        alarms: Alarms,
        before: Sequence[IConstruct],
    ) -> None:
        """Make the function; what is in `before` waits for it."""
        super().__init__(scope, construct_id)
        self.function = Function(
            self,
            "Function",
            folder="migrate",
            login="dreaming_migrator",
            configuration=configuration,
            layers=layers,
            database=database,
            alarms=alarms,
            memory_mb=_MEMORY_MB,
            timeout=_TIMEOUT,
            reserved_concurrency=1 if configuration.reserve_migrator else None,
        )
        if not configuration.is_local:
            self._call_on_deployment(before)

    def _call_on_deployment(self, before: Sequence[IConstruct]) -> None:
        trigger = triggers.Trigger(
            self,
            "OnDeployment",
            handler=self.function.function,
            invocation_type=triggers.InvocationType.REQUEST_RESPONSE,
            timeout=_TIMEOUT,
            execute_on_handler_change=True,
        )
        for construct in before:
            construct.node.add_dependency(trigger)
        self._keep_log_of(trigger)

    def _keep_log_of(self, trigger: triggers.Trigger) -> None:
        """Give the CDK's own function that calls ours a log group that ends, before it makes one that does not."""
        provider = Stack.of(self).node.find_child(_CALLER).node.find_child("Handler")
        if not isinstance(provider, CfnResource):
            raise TypeError("the CDK calls triggers in another way than this version did")
        log_group = logs.LogGroup(
            self,
            "CallerLog",
            log_group_name=f"/aws/lambda/{provider.ref}",
            retention=logs.RetentionDays.ONE_WEEK,
            removal_policy=RemovalPolicy.DESTROY,
        )
        trigger.node.add_dependency(log_group)
