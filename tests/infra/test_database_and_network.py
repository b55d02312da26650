"""The database is encrypted, reachable by TLS and IAM only, and stands where no route leads out."""

from __future__ import annotations

import pytest

from tests.infra.templates import Assembly, Template


@pytest.fixture(params=["dreaming-prod-data", "dreaming-dev-data"])
def data(request: pytest.FixtureRequest, assembly: Assembly) -> Template:
    return assembly.stack(request.param)


def test_the_database_is_postgresql_17_and_sleeps_when_nobody_asks(data: Template) -> None:
    cluster = data.only("AWS::RDS::DBCluster")
    assert cluster["Engine"] == "aurora-postgresql"
    assert cluster["EngineVersion"].startswith("17.")
    scaling = cluster["ServerlessV2ScalingConfiguration"]
    assert scaling["MinCapacity"] == 0
    assert scaling["SecondsUntilAutoPause"] == 300
    assert data.only("AWS::RDS::DBInstance")["DBInstanceClass"] == "db.serverless"


def test_the_database_is_encrypted_with_a_key_that_rotates(data: Template) -> None:
    cluster = data.only("AWS::RDS::DBCluster")
    assert cluster["StorageEncrypted"] is True
    (key,) = data.of_type("AWS::KMS::Key")
    assert data.target(cluster["KmsKeyId"]) == key
    assert data.only("AWS::KMS::Key")["EnableKeyRotation"] is True


def test_the_database_takes_only_tls_and_iam_and_nobody_knows_a_password(data: Template) -> None:
    cluster = data.only("AWS::RDS::DBCluster")
    assert cluster["EnableIAMDatabaseAuthentication"] is True
    assert data.only("AWS::RDS::DBClusterParameterGroup")["Parameters"]["rds.force_ssl"] == "1"
    assert cluster["ManageMasterUserPassword"] is True
    assert "MasterUserPassword" not in cluster


def test_statements_and_their_values_are_not_logged(data: Template) -> None:
    parameters = data.only("AWS::RDS::DBClusterParameterGroup")["Parameters"]
    assert parameters["log_statement"] == "none"
    assert parameters["log_min_duration_statement"] == "-1"


def test_the_database_is_reached_from_the_functions_only(data: Template) -> None:
    assert data.only("AWS::RDS::DBInstance")["PubliclyAccessible"] is False
    inbound = [rule for rule in data.of_type("AWS::EC2::SecurityGroupIngress").values() if rule["FromPort"] == 5432]
    assert len(inbound) == 1
    assert data.target(inbound[0]["SourceSecurityGroupId"]).startswith("NetworkFunctions")
    for group in data.of_type("AWS::EC2::SecurityGroup").values():
        assert group.get("SecurityGroupIngress", []) == []


def test_no_route_leads_out_of_the_databases_subnets(data: Template) -> None:
    group = data.only("AWS::RDS::DBSubnetGroup")
    subnets = {data.target(subnet) for subnet in group["SubnetIds"]}
    tables = {
        data.target(link["RouteTableId"])
        for link in data.of_type("AWS::EC2::SubnetRouteTableAssociation").values()
        if data.target(link["SubnetId"]) in subnets
    }
    assert len(subnets) == len(tables) == 2
    routed = {data.target(route["RouteTableId"]) for route in data.of_type("AWS::EC2::Route").values()}
    assert tables & routed == set()


def test_production_is_protected_from_deletion(assembly: Assembly) -> None:
    resources = assembly.stack("dreaming-prod-data").resources
    (cluster,) = [resource for resource in resources.values() if resource["Type"] == "AWS::RDS::DBCluster"]
    assert cluster["Properties"]["DeletionProtection"] is True
    assert cluster["Properties"]["BackupRetentionPeriod"] == 14
    assert cluster["DeletionPolicy"] == cluster["UpdateReplacePolicy"] == "Snapshot"
    kept = {
        resource["Type"] for resource in resources.values() if resource.get("DeletionPolicy") in ("Retain", "Snapshot")
    }
    assert {"AWS::KMS::Key", "AWS::SecretsManager::Secret", "AWS::RDS::DBCluster"} <= kept


def test_a_development_stage_can_be_torn_down(assembly: Assembly) -> None:
    resources = assembly.stack("dreaming-dev-data").resources
    assert assembly.stack("dreaming-dev-data").only("AWS::RDS::DBCluster")["DeletionProtection"] is False
    assert {r["Type"] for r in resources.values() if r.get("DeletionPolicy") == "Retain"} == set()


def test_by_endpoints_nothing_reaches_the_internet(assembly: Assembly) -> None:
    data = assembly.stack("dreaming-prod-data")
    for kind in ("NatGateway", "InternetGateway", "Route"):
        assert data.of_type(f"AWS::EC2::{kind}") == {}
    names = {str(endpoint["ServiceName"]) for endpoint in data.of_type("AWS::EC2::VPCEndpoint").values()}
    assert all(any(service in name for name in names) for service in ("sqs", "secretsmanager", "bedrock-runtime"))
    assert len(names) == 3
    for rule in data.of_type("AWS::EC2::SecurityGroupEgress").values():
        assert "DestinationSecurityGroupId" in rule
        assert rule["FromPort"] in (443, 5432)


def test_by_nat_the_functions_reach_https_and_nothing_else(assembly: Assembly) -> None:
    data = assembly.stack("dreaming-dev-data")
    assert len(data.of_type("AWS::EC2::NatGateway")) == 1
    assert data.of_type("AWS::EC2::VPCEndpoint") == {}
    open_rules = [
        rule
        for group in data.of_type("AWS::EC2::SecurityGroup").values()
        for rule in group.get("SecurityGroupEgress", [])
        if rule.get("CidrIp") == "0.0.0.0/0"
    ]
    assert [(rule["FromPort"], rule["ToPort"]) for rule in open_rules] == [(443, 443)]


def test_the_template_holds_no_provider_key(data: Template) -> None:
    assert data.only("AWS::SecretsManager::Secret")["SecretString"] == "{}"


def test_an_emulator_gets_no_network_and_no_database(assembly: Assembly) -> None:
    assert not (assembly.folder / "dreaming-local-data.template.json").exists()
    local = assembly.stack("dreaming-local")
    for function in local.our_functions().values():
        assert "VpcConfig" not in function
        assert function["Environment"]["Variables"]["DATABASE_URL"].startswith("postgresql://")


def test_the_database_keeps_its_place_when_another_way_out_is_chosen(assembly: Assembly) -> None:
    def isolated(name: str) -> dict[str, str]:
        subnets = assembly.stack(name).of_type("AWS::EC2::Subnet")
        return {logical: subnet["CidrBlock"] for logical, subnet in subnets.items() if "isolated" in logical}

    assert len(isolated("dreaming-prod-data")) == 2
    assert isolated("dreaming-prod-data") == isolated("dreaming-dev-data")
