"""What can be deployed again at any time: functions, queues, schedules, the API, alarms, dashboards."""

from __future__ import annotations

from aws_cdk import CfnOutput, Stack, Tags
from constructs import Construct

from infra.acknowledgements import accept_redundant_dependencies
from infra.config import PASSES, Configuration
from infra.constructs.alarms import Alarms
from infra.constructs.database import DatabaseAccess
from infra.constructs.http_api import HttpApi
from infra.constructs.layers import Layers
from infra.constructs.migration import Migration
from infra.constructs.observability import Observability
from infra.constructs.pass_worker import PassWorker
from infra.stacks.data import DataStack


class ApplicationStack(Stack):
    """The stateless stack. `data` is missing where the database is elsewhere, as on an emulator."""

    def __init__(
        self, scope: Construct, construct_id: str, *, configuration: Configuration, data: DataStack | None
    ) -> None:
        """Make everything from the list of passes and the configuration."""
        super().__init__(scope, construct_id, description="Dreaming: functions, queues, schedules and API")
        Tags.of(self).add("application", configuration.name)
        accept_redundant_dependencies(self)
        database = data.database if data else DatabaseAccess(url=configuration.database_url)
        alarms = Alarms(self, "Alarms", configuration=configuration, key=data.key if data else None)
        layers = Layers(self, "Layers", configuration=configuration)
        self.workers = [
            PassWorker(
                self,
                _pascal(definition.function),
                definition=definition,
                configuration=configuration,
                layers=layers,
                database=database,
                keys=data.provider_keys if data else None,
                alarms=alarms,
            )
            for definition in PASSES
        ]
        api = HttpApi(
            self,
            "Api",
            configuration=configuration,
            layers=layers,
            database=database,
            keys=data.provider_keys if data else None,
            alarms=alarms,
        )
        migration = Migration(
            self,
            "Migration",
            configuration=configuration,
            layers=layers,
            database=database,
            alarms=alarms,
            before=[*(worker.worker.function for worker in self.workers), api.function.function],
        )
        if not configuration.is_local:
            Observability(
                self,
                "Observability",
                configuration=configuration,
                workers=self.workers,
                api=api,
                functions=[*(worker.worker for worker in self.workers), api.function, migration.function],
                alarms=alarms,
            )
        CfnOutput(self, "ApiUrl", value=api.url, description="Address of the API")
        CfnOutput(
            self, "ApiId", value=api.api.api_id, description="Id of the API, of which an emulator makes its own address"
        )
        CfnOutput(self, "MigrateFunction", value=migration.function.name)
        for worker in self.workers:
            name = _pascal(worker.definition.function)
            CfnOutput(self, f"{name}Function", value=worker.worker.name)
            CfnOutput(self, f"{name}QueueUrl", value=worker.queue.queue_url)
            CfnOutput(self, f"{name}DeadLettersUrl", value=worker.dead_letters.queue_url)


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
