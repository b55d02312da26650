"""The network that the functions and the database stand in, and the ways out of it."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config import Configuration, Egress
from infra.constructs.retention import retention

_HTTPS = ec2.Port.tcp(443)
_ZONES = 2


@dataclass(frozen=True, slots=True)
class Placement:
    """Where in the network a function runs."""

    vpc: ec2.IVpc
    subnets: ec2.SubnetSelection
    security_group: ec2.ISecurityGroup


class Network(Construct):
    """A VPC over two zones, in which the database has no route out.

    With egress `endpoints` nothing has one: AWS services are reached by endpoints in the VPC. With
    egress `nat` the functions, and only they, reach the internet.
    """

    def __init__(self, scope: Construct, construct_id: str, *, configuration: Configuration) -> None:
        """Make the VPC, its flow log, the functions' security group and the ways out."""
        super().__init__(scope, construct_id)
        nat = configuration.egress is Egress.NAT
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            vpc_name=configuration.name,
            max_azs=_ZONES,
            nat_gateways=configuration.nat_gateways if nat else 0,
            restrict_default_security_group=False,  # nothing uses it, and closing it takes a function of its own
            subnet_configuration=_with_nat() if nat else [_isolated()],
        )
        self._log_flows(configuration)
        self._functions = ec2.SecurityGroup(
            self,
            "Functions",
            vpc=self.vpc,
            description="Functions of Dreaming",
            allow_all_outbound=False,
        )
        if nat:
            self._functions.add_egress_rule(ec2.Peer.any_ipv4(), _HTTPS, "AWS services and model providers")
        else:
            self._add_endpoints(configuration)
        subnets = ec2.SubnetSelection(subnet_group_name="functions" if nat else "isolated")
        self.functions = Placement(self.vpc, subnets, self._functions)
        self.isolated = ec2.SubnetSelection(subnet_group_name="isolated")

    def _log_flows(self, configuration: Configuration) -> None:
        group = logs.LogGroup(
            self,
            "FlowLogGroup",
            log_group_name=f"/{configuration.name}/network",
            retention=retention(configuration.log_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(group),
            traffic_type=ec2.FlowLogTrafficType.REJECT,
        )

    def _add_endpoints(self, configuration: Configuration) -> None:
        group = ec2.SecurityGroup(
            self,
            "EndpointAccess",
            vpc=self.vpc,
            description="Endpoints of AWS services for the functions of Dreaming",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(self._functions, _HTTPS, "from the functions")
        self._functions.add_egress_rule(group, _HTTPS, "to the endpoints of AWS services")
        services = {
            "Sqs": ec2.InterfaceVpcEndpointAwsService.SQS,
            "SecretsManager": ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
        }
        if configuration.bedrock_models or configuration.bedrock_embedders:
            services["BedrockRuntime"] = ec2.InterfaceVpcEndpointAwsService.BEDROCK_RUNTIME
        if configuration.event_bus is not None:
            services["Events"] = ec2.InterfaceVpcEndpointAwsService.EVENTBRIDGE
        for name, service in services.items():
            self.vpc.add_interface_endpoint(name, service=service, security_groups=[group], open=False)


def _isolated() -> ec2.SubnetConfiguration:
    return ec2.SubnetConfiguration(name="isolated", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24)


def _with_nat() -> list[ec2.SubnetConfiguration]:
    # The isolated ones first, so that the database keeps its place when another way out is chosen.
    return [
        _isolated(),
        ec2.SubnetConfiguration(name="functions", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=24),
        ec2.SubnetConfiguration(
            name="gateways", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=28, map_public_ip_on_launch=False
        ),
    ]
