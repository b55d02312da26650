"""What must never be lost: the database, the key that encrypts it, and the keys of model providers."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, Stack, Tags
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.acknowledgements import accept_redundant_dependencies
from infra.config import Configuration
from infra.constructs.database import Database
from infra.constructs.network import Network
from infra.constructs.provider_keys import ProviderKeys


class DataStack(Stack):
    """The stateful stack, and the network that its database stands in."""

    def __init__(self, scope: Construct, construct_id: str, *, configuration: Configuration) -> None:
        """Make key, network, database and secret."""
        super().__init__(
            scope,
            construct_id,
            description="Dreaming: database, network and keys",
            termination_protection=configuration.deletion_protection,
        )
        Tags.of(self).add("application", configuration.name)
        accept_redundant_dependencies(self)
        self.key = self._key(configuration)
        network = Network(self, "Network", configuration=configuration)
        database = Database(self, "Database", configuration=configuration, network=network, key=self.key)
        self.database = database.access
        self.provider_keys = ProviderKeys(self, "ProviderKeys", configuration=configuration, key=self.key)

    def _key(self, configuration: Configuration) -> kms.Key:
        key = kms.Key(
            self,
            "Key",
            alias=configuration.name,
            description="Encrypts the database, the secrets and the alarms of Dreaming",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN if configuration.deletion_protection else RemovalPolicy.DESTROY,
        )
        # Alarms publish to an encrypted topic.
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Alarms",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": self.account}},
            )
        )
        return key
