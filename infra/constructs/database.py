"""Aurora PostgreSQL, and how a function gets into it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_rds as rds
from aws_cdk import custom_resources as cr
from constructs import Construct

from infra.acknowledgements import acknowledge
from infra.config import Configuration
from infra.constructs.network import Network, Placement
from infra.constructs.provider_keys import decrypt_secrets
from infra.constructs.retention import retention
from infra.paths import CERTIFICATES_IN_LAYER

DATABASE_NAME = "dreaming"
_PORT = 5432
_LOGINS = (Path(__file__).parent / "database_logins.sql").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class DatabaseAccess:
    """How functions reach a database: by `url` on an emulator, else as an IAM login of a cluster."""

    url: str | None = None
    host: str = ""
    port: str = ""
    login_arn: str = ""
    placement: Placement | None = None

    def environment(self, login: str) -> dict[str, str]:
        """Return the variables that tell a function where its database is and who it is there."""
        if self.url is not None:
            return {"DATABASE_URL": self.url}
        return {
            "DATABASE_HOST": self.host,
            "DATABASE_PORT": self.port,
            "DATABASE_NAME": DATABASE_NAME,
            "DATABASE_USER": login,
            "DATABASE_SSLROOTCERT": f"/opt/{CERTIFICATES_IN_LAYER.as_posix()}",
        }

    def statements(self, login: str) -> list[iam.PolicyStatement]:
        """Return what lets a function in as this one login, and as no other."""
        if self.url is not None:
            return []
        resources = [f"{self.login_arn}/{login}"]
        return [iam.PolicyStatement(sid="DatabaseLogin", actions=["rds-db:connect"], resources=resources)]


class Database(Construct):
    """An Aurora Serverless v2 cluster that sleeps when nobody asks, and lets in only IAM logins over TLS."""

    def __init__(
        self, scope: Construct, construct_id: str, *, configuration: Configuration, network: Network, key: kms.IKey
    ) -> None:
        """Make the cluster, its logins and its log groups."""
        super().__init__(scope, construct_id)
        self._key = key
        access = ec2.SecurityGroup(
            self, "Access", vpc=network.vpc, description="Database of Dreaming", allow_all_outbound=False
        )
        functions = network.functions.security_group
        access.add_ingress_rule(functions, ec2.Port.tcp(_PORT), "from the functions")
        functions.add_egress_rule(access, ec2.Port.tcp(_PORT), "to the database")
        self.cluster = self._cluster(configuration, network, access)
        self._make_logins()
        stack = Stack.of(self)
        self.access = DatabaseAccess(
            host=self.cluster.cluster_endpoint.hostname,
            port=str(_PORT),
            login_arn=stack.format_arn(
                service="rds-db", resource="dbuser", resource_name=self.cluster.cluster_resource_identifier,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
            placement=network.functions,
        )  # fmt: skip

    def _cluster(
        self, configuration: Configuration, network: Network, access: ec2.ISecurityGroup
    ) -> rds.DatabaseCluster:
        engine = rds.DatabaseClusterEngine.aurora_postgres(version=rds.AuroraPostgresEngineVersion.VER_17_7)
        # Made before the cluster, which would make one that keeps its lines for ever.
        log_group = logs.LogGroup(
            self,
            "LogGroup",
            log_group_name=f"/aws/rds/cluster/{configuration.name}/postgresql",
            retention=retention(configuration.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        keep = configuration.deletion_protection
        cluster = rds.DatabaseCluster(
            self,
            "Cluster",
            cluster_identifier=configuration.name,
            engine=engine,
            writer=rds.ClusterInstance.serverless_v2("Writer", publicly_accessible=False),
            serverless_v2_min_capacity=0,
            serverless_v2_max_capacity=configuration.max_capacity,
            serverless_v2_auto_pause_duration=Duration.minutes(configuration.pause_after_minutes),
            vpc=network.vpc,
            vpc_subnets=network.isolated,
            security_groups=[access],
            port=_PORT,
            default_database_name=DATABASE_NAME,
            credentials=rds.Credentials.from_username("dreaming_admin", encryption_key=self._key),
            manage_master_user_password=True,
            iam_authentication=True,
            enable_data_api=True,
            storage_encrypted=True,
            storage_encryption_key=self._key,
            parameter_group=rds.ParameterGroup(
                self,
                "Parameters",
                engine=engine,
                description="TLS for every connection",
                parameters={"rds.force_ssl": "1", "log_min_duration_statement": "-1", "log_statement": "none"},
            ),
            cloudwatch_logs_exports=["postgresql"],
            backup=rds.BackupProps(retention=Duration.days(configuration.backup_days)),
            copy_tags_to_snapshot=True,
            deletion_protection=keep,
            removal_policy=RemovalPolicy.SNAPSHOT if keep else RemovalPolicy.DESTROY,
        )
        cluster.node.add_dependency(log_group)
        acknowledge(
            cluster,
            "AwsSolutions-RDS11",
            "The port is no secret: the database has no route in but from the functions' security group.",
        )
        if not keep:
            acknowledge(
                cluster,
                "AwsSolutions-RDS10",
                "A development stage is meant to be torn down; stage prod has deletion protection.",
            )
        return cluster

    def _make_logins(self) -> None:
        """Run the script as the administrator through the Data API, which needs no function in the VPC."""
        secret = self.cluster.secret
        if secret is None:
            raise ValueError("the cluster has no administrator's secret")
        call = cr.AwsSdkCall(
            service="rds-data",
            action="executeStatement",
            parameters={
                "resourceArn": self.cluster.cluster_arn,
                "secretArn": secret.secret_arn,
                "database": DATABASE_NAME,
                "sql": _LOGINS,
            },
            physical_resource_id=cr.PhysicalResourceId.of("database-logins"),
            output_paths=["numberOfRecordsUpdated"],
        )
        log_group = logs.LogGroup(
            self, "LoginsLog", retention=logs.RetentionDays.ONE_WEEK, removal_policy=RemovalPolicy.DESTROY
        )
        logins = cr.AwsCustomResource(
            self,
            "Logins",
            on_create=call,
            on_update=call,
            install_latest_aws_sdk=False,
            timeout=Duration.minutes(2),
            log_group=log_group,
            role=self._logins_role(secret.secret_arn, log_group),
        )
        logins.node.add_dependency(self.cluster)

    def _logins_role(self, secret_arn: str, log_group: logs.ILogGroup) -> iam.IRole:
        role = iam.Role(
            self,
            "LoginsRole",
            description="Makes the database logins once, as the administrator",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        role.add_to_policy(
            iam.PolicyStatement(
                sid="OwnLogs",
                actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[log_group.log_group_arn],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                sid="Statement", actions=["rds-data:ExecuteStatement"], resources=[self.cluster.cluster_arn]
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(sid="Administrator", actions=["secretsmanager:GetSecretValue"], resources=[secret_arn])
        )
        role.add_to_policy(decrypt_secrets(self._key))
        return role.without_policy_updates()
