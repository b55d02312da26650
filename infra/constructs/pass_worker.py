"""Everything that AWS holds for one pass: function, queue, dead letters, schedule, alarms."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledgements import acknowledge
from infra.config import RUNS_STARTED, Configuration, PassDefinition
from infra.constructs.alarms import Alarms
from infra.constructs.bedrock import allow_models
from infra.constructs.database import DatabaseAccess
from infra.constructs.function import Function
from infra.constructs.layers import Layers
from infra.constructs.provider_keys import ProviderKeys

_DEAD_LETTERS_KEPT = Duration.days(14)  # SQS's longest
_TICK_MAX_AGE = Duration.minutes(15)
_HOURS_WITHOUT_SUCCESS = 26
_RETIRED = "notes_retired"
_OLDEST_WAITING = Duration.hours(2)


class PassWorker(Construct):
    """One pass. The schedule invokes the function with a tick, its queue with one batch of one slice."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        definition: PassDefinition,
        configuration: Configuration,
        layers: Layers,
        database: DatabaseAccess,
        keys: ProviderKeys | None,
        alarms: Alarms,
    ) -> None:
        """Make what `definition` asks for."""
        super().__init__(scope, construct_id)
        self.definition = definition
        self.configuration = configuration
        self.dead_letters = self._queue("dead", retention=_DEAD_LETTERS_KEPT)
        self.queue = self._queue(
            None,
            visibility=Duration.seconds(configuration.visibility),
            dead_letters=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=configuration.max_receives),
        )
        self.worker = self._function(layers, database, keys, alarms)
        self.worker.function.add_event_source_mapping(
            "Batches",
            event_source_arn=self.queue.queue_arn,
            batch_size=1,
            report_batch_item_failures=True,
            max_concurrency=definition.max_concurrency,
        )
        # A failed tick is tried once more; after that the next hour's does the same work.
        self.worker.function.configure_async_invoke(retry_attempts=1, max_event_age=_TICK_MAX_AGE)
        self._schedule()
        self._raise_alarms(alarms)

    def metric(self, name: str, *, statistic: str = "Sum", period: Duration | None = None) -> cloudwatch.Metric:
        """Return a metric that the pass's function writes."""
        return cloudwatch.Metric(
            namespace=self.configuration.metrics_namespace,
            metric_name=name,
            dimensions_map={"service": self.definition.function},
            statistic=statistic,
            period=period or Duration.hours(1),
        )

    def _queue(
        self,
        suffix: str | None,
        *,
        visibility: Duration | None = None,
        retention: Duration | None = None,
        dead_letters: sqs.DeadLetterQueue | None = None,
    ) -> sqs.Queue:
        parts = [self.configuration.name, self.definition.function.replace("_", "-"), *([suffix] if suffix else [])]
        return sqs.Queue(
            self,
            "DeadLetters" if suffix else "Queue",
            queue_name=f"{'-'.join(parts)}.fifo",
            fifo=True,
            # By content, a batch that is sent again on purpose would vanish for five minutes.
            content_based_deduplication=False,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=visibility,
            retention_period=retention,
            dead_letter_queue=dead_letters,
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _function(
        self, layers: Layers, database: DatabaseAccess, keys: ProviderKeys | None, alarms: Alarms
    ) -> Function:
        definition, configuration = self.definition, self.configuration
        statements = [
            iam.PolicyStatement(
                sid="OwnQueue",
                actions=[
                    "sqs:ChangeMessageVisibility",
                    "sqs:DeleteMessage",
                    "sqs:GetQueueAttributes",
                    "sqs:ReceiveMessage",
                    "sqs:SendMessage",  # a tick sends each slice's first message, whoever sends the next
                ],
                resources=[self.queue.queue_arn],
            )
        ]
        environment = {"DREAMING_QUEUE_URL": self.queue.queue_url}
        if (definition.calls_models or definition.calls_embedders) and keys is not None:
            statements += keys.statements()
            environment |= keys.environment
        if definition.announces and configuration.event_bus is not None:
            bus = Stack.of(self).format_arn(
                service="events", resource="event-bus", resource_name=configuration.event_bus
            )
            statements.append(iam.PolicyStatement(sid="Events", actions=["events:PutEvents"], resources=[bus]))
            environment["DREAMING_EVENT_BUS"] = configuration.event_bus
        function = Function(
            self,
            "Worker",
            folder=definition.function,
            login="dreaming_worker",
            configuration=configuration,
            layers=layers,
            database=database,
            alarms=alarms,
            memory_mb=definition.memory_mb,
            timeout=Duration.seconds(configuration.timeout_seconds),
            environment=environment,
            statements=statements,
            # Lambda stops a chain of its own messages after about 16 hops; a long drain is such a chain.
            recursive_loop=lambda_.RecursiveLoop.ALLOW if definition.self_enqueuing else None,
        )
        allow_models(
            function.role,
            [
                *(configuration.bedrock_models if definition.calls_models else ()),
                *(configuration.bedrock_embedders if definition.calls_embedders else ()),
            ],
        )
        return function

    def _schedule(self) -> None:
        function = self.worker.function
        role = iam.Role(
            self,
            "ScheduleRole",
            description=f"Lets the schedule invoke {self.worker.name}",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            ),
        )
        role.add_to_policy(
            iam.PolicyStatement(sid="Tick", actions=["lambda:InvokeFunction"], resources=[function.function_arn])
        )
        scheduler.CfnSchedule(
            self,
            "Schedule",
            name=self.worker.name,
            description=f"Ticks of {self.worker.name}, all of a stage in the same minute so that the database sleeps",
            schedule_expression=self.configuration.schedule(self.definition),
            schedule_expression_timezone="UTC",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=function.function_arn,
                role_arn=role.role_arn,
                input="{}",
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_retry_attempts=2, maximum_event_age_in_seconds=int(_TICK_MAX_AGE.to_seconds())
                ),
            ),
        ).node.add_dependency(role)
        acknowledge(
            self.dead_letters,
            "AwsSolutions-SQS3",
            "This is the dead-letter queue itself.",
        )

    def _raise_alarms(self, alarms: Alarms) -> None:
        name = self.definition.function
        alarms.raise_when(
            f"{name}-dead-letters",
            self.dead_letters.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(5), statistic=cloudwatch.Stats.MAXIMUM
            ),
            at_least=1,
            says=f"A message of {name} failed {self.configuration.max_receives} times.",
        )
        alarms.raise_when(
            f"{name}-backlog-age",
            self.queue.metric_approximate_age_of_oldest_message(
                period=Duration.minutes(5), statistic=cloudwatch.Stats.MAXIMUM
            ),
            at_least=_OLDEST_WAITING.to_seconds(),
            datapoints=3,
            says=f"A message of {name} has waited for two hours.",
        )
        if _RETIRED in self.definition.counts:
            alarms.raise_when(
                f"{name}-retired-notes",
                self.metric(_RETIRED),
                at_least=1,
                says="A note failed three times and was retired.",
            )
        alarms.raise_when(
            f"{name}-no-successful-run",
            self.unsuccessful_hours(),
            at_least=1,
            datapoints=_HOURS_WITHOUT_SUCCESS,
            missing=cloudwatch.TreatMissingData.BREACHING,
            says=f"For {_HOURS_WITHOUT_SUCCESS} hours no tick of {name} succeeded, or none of its runs got anywhere.",
        )

    def unsuccessful_hours(self) -> cloudwatch.MathExpression:
        """Return 1 for each hour without a tick, or in which runs were started and no batch was done.

        A tick that finds nothing to do writes `runs_started` 0: an idle deployment is a healthy one.
        """
        # One graph shows those of all passes, and knows its metrics by these names.
        ticks, started, done = (f"{self.definition.function}_{name}" for name in ("ticks", "started", "done"))
        return cloudwatch.MathExpression(
            expression=f"IF(FILL({ticks}, 0) < 1 OR (FILL({started}, 0) > 0 AND FILL({done}, 0) < 1), 1, 0)",
            label=f"{self.definition.function}: unsuccessful hour",
            period=Duration.hours(1),
            using_metrics={
                ticks: self.metric(RUNS_STARTED, statistic="SampleCount"),
                started: self.metric(RUNS_STARTED),
                done: self.metric("batch_done"),
            },
        )
