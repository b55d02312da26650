"""One Lambda function, with a role, a log group and alarms of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.acknowledgements import acknowledge
from infra.config import Configuration
from infra.constructs.alarms import Alarms
from infra.constructs.database import DatabaseAccess
from infra.constructs.layers import ARCHITECTURE, NOT_DEPLOYED, RUNTIME, Layers
from infra.constructs.retention import retention
from infra.paths import FUNCTIONS

_NETWORK_INTERFACES = [
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
]


class Function(Construct):
    """The function of one folder of `functions/`.

    Its role holds only the statements that are given, and what every function needs: its own log
    stream, traces, its one database login, and network interfaces where it runs in a VPC.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        folder: str,
        login: str,
        configuration: Configuration,
        layers: Layers,
        database: DatabaseAccess,
        alarms: Alarms,
        memory_mb: int,
        timeout: Duration,
        environment: Mapping[str, str] | None = None,
        statements: Sequence[iam.PolicyStatement] = (),
        recursive_loop: lambda_.RecursiveLoop | None = None,
        reserved_concurrency: int | None = None,
    ) -> None:
        """Make the function; `login` is the database user that it may become."""
        super().__init__(scope, construct_id)
        self.folder = folder
        self.name = f"{configuration.name}-{folder.replace('_', '-')}"
        self.log_group = logs.LogGroup(
            self,
            "LogGroup",
            log_group_name=f"/aws/lambda/{self.name}",
            retention=retention(configuration.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = self._role([*database.statements(login), *statements], in_network=database.placement is not None)
        placement = database.placement
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=self.name,
            description=f"Dreaming: {folder}",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            handler="handler.handler",
            code=lambda_.Code.from_asset(str(FUNCTIONS / folder), exclude=NOT_DEPLOYED),
            layers=layers.all,
            role=self.role.without_policy_updates(),
            memory_size=memory_mb,
            timeout=timeout,
            environment={
                "POWERTOOLS_SERVICE_NAME": folder,
                "POWERTOOLS_METRICS_NAMESPACE": configuration.metrics_namespace,
                "POWERTOOLS_LOG_LEVEL": "INFO",
                **database.environment(login),
                **configuration.environment,
                **(environment or {}),
            },
            vpc=placement.vpc if placement else None,
            vpc_subnets=placement.subnets if placement else None,
            security_groups=[placement.security_group] if placement else None,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            recursive_loop=recursive_loop,
            reserved_concurrent_executions=reserved_concurrency,
        )
        self.function.node.add_dependency(self.role)
        self._raise_alarms(alarms)

    @property
    def arn(self) -> str:
        """The function's ARN, known from its name so that its own role can speak of it."""
        return Stack.of(self).format_arn(
            service="lambda", resource="function", resource_name=self.name, arn_format=ArnFormat.COLON_RESOURCE_NAME
        )

    def _role(self, statements: Sequence[iam.PolicyStatement], *, in_network: bool) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description=f"What {self.name} may do",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        role.add_to_policy(
            iam.PolicyStatement(
                sid="OwnLogs",
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[self.log_group.log_group_arn],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                sid="Traces", actions=["xray:PutTelemetryRecords", "xray:PutTraceSegments"], resources=["*"]
            )
        )
        if in_network:
            for statement in self._network_interfaces():
                role.add_to_policy(statement)
        for statement in statements:
            role.add_to_policy(statement)
        acknowledge(
            role,
            "AwsSolutions-IAM5[Resource::*]",
            "X-Ray and the network interfaces of Lambda know no resources; the function's own code is denied the "
            "interfaces.",
        )
        return role

    def _network_interfaces(self) -> list[iam.PolicyStatement]:
        """Let Lambda attach the function to the VPC, and deny the same to the function's own code."""
        return [
            iam.PolicyStatement(sid="AttachToNetwork", actions=_NETWORK_INTERFACES, resources=["*"]),
            iam.PolicyStatement(
                sid="ExceptFromCode",
                effect=iam.Effect.DENY,
                actions=_NETWORK_INTERFACES,
                resources=["*"],
                conditions={"ArnEquals": {"lambda:SourceFunctionArn": self.arn}},
            ),
        ]

    def _raise_alarms(self, alarms: Alarms) -> None:
        period = Duration.minutes(5)
        alarms.raise_when(
            f"{self.folder}-errors",
            self.function.metric_errors(period=period, statistic=cloudwatch.Stats.SUM),
            at_least=1,
            says=f"{self.name} ended with an error or ran out of time.",
        )
        alarms.raise_when(
            f"{self.folder}-throttles",
            self.function.metric_throttles(period=period, statistic=cloudwatch.Stats.SUM),
            at_least=1,
            says=f"{self.name} was refused for want of concurrency.",
        )
