"""What holds for every function: runtime, logs, traces, layers, and a login of its own."""

from __future__ import annotations

import pytest

from dreaming.settings.registry import REGISTRY
from infra.config import PASSES
from tests.infra.templates import Assembly, Template

LOGINS = {
    **{definition.function: "dreaming_worker" for definition in PASSES},
    "api": "dreaming_api",
    "migrate": "dreaming_migrator",
}


@pytest.fixture(params=["dreaming-prod", "dreaming-dev"])
def stack(request: pytest.FixtureRequest, assembly: Assembly) -> Template:
    return assembly.stack(request.param)


def test_there_is_a_function_for_every_duty(stack: Template) -> None:
    assert set(stack.our_functions()) == set(LOGINS)


def test_all_run_on_one_runtime_with_both_layers_and_traces(stack: Template) -> None:
    layers = set(stack.of_type("AWS::Lambda::LayerVersion"))
    for function in stack.our_functions().values():
        assert function["Runtime"] == "python3.14"
        assert function["Architectures"] == ["arm64"]
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert {stack.target(layer) for layer in function["Layers"]} == layers
    assert len(layers) == 2


def test_every_log_group_ends_and_every_function_has_its_own(assembly: Assembly) -> None:
    for stack in assembly.stacks:
        groups = stack.of_type("AWS::Logs::LogGroup")
        assert [name for name, group in groups.items() if "RetentionInDays" not in group] == []
        used = [stack.target(f["LoggingConfig"]["LogGroup"]) for f in stack.our_functions().values()]
        assert len(set(used)) == len(used)


def test_the_function_that_the_cdk_brings_for_migrations_has_a_log_group_that_ends(stack: Template) -> None:
    brought = [
        logical
        for logical, function in stack.of_type("AWS::Lambda::Function").items()
        if "FunctionName" not in function
    ]
    names = [group["LogGroupName"] for group in stack.of_type("AWS::Logs::LogGroup").values()]
    assert len(brought) == 1
    assert {"Fn::Join": ["", ["/aws/lambda/", {"Ref": brought[0]}]]} in names


def test_each_may_log_in_as_the_user_that_its_environment_names_and_as_no_other(stack: Template) -> None:
    for folder, function in stack.our_functions().items():
        assert function["Environment"]["Variables"]["DATABASE_USER"] == LOGINS[folder]
        role = stack.target(function["Role"])
        (statement,) = [
            statement
            for policy in stack.of_type("AWS::IAM::Policy").values()
            if [stack.target(role) for role in policy["Roles"]] == [role]
            for statement in policy["PolicyDocument"]["Statement"]
            if statement["Action"] == "rds-db:connect"
        ]
        assert statement["Resource"]["Fn::Join"][1][-1] == f"/{LOGINS[folder]}"
        assert "Ref" not in statement["Resource"]


def test_no_function_of_aws_finds_a_database_password(stack: Template) -> None:
    for function in stack.our_functions().values():
        variables = function["Environment"]["Variables"]
        assert "DATABASE_URL" not in variables
        assert variables["DATABASE_SSLROOTCERT"] == "/opt/certificates/rds-global-bundle.pem"


def test_only_what_calls_models_finds_the_provider_keys(stack: Template) -> None:
    knowing = {
        folder
        for folder, function in stack.our_functions().items()
        if "DREAMING_KEYS_SECRET" in function["Environment"]["Variables"]
    }
    # The API embeds what is searched for.
    assert knowing == {"api", *(d.function for d in PASSES if d.calls_models or d.calls_embedders)}


def test_the_chosen_settings_reach_every_function(assembly: Assembly) -> None:
    for function in assembly.stack("dreaming-dev").our_functions().values():
        variables = function["Environment"]["Variables"]
        assert variables[REGISTRY["chat_provider"].environment] == "openai"
        assert variables[REGISTRY["enabled"].environment] == "true"


def test_functions_run_inside_the_network_and_their_code_cannot_change_it(stack: Template) -> None:
    for function in stack.our_functions().values():
        assert len(function["VpcConfig"]["SubnetIds"]) == 2
    denied = [
        statement
        for policy in stack.of_type("AWS::IAM::Policy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]
    assert len(denied) == len(LOGINS)
    assert all("lambda:SourceFunctionArn" in statement["Condition"]["ArnEquals"] for statement in denied)


def test_a_deployment_migrates_before_any_function_of_its_version_runs(stack: Template) -> None:
    (trigger,) = stack.of_type("Custom::Trigger")
    migrate = next(
        logical
        for logical, function in stack.of_type("AWS::Lambda::Function").items()
        if function.get("FunctionName", "").endswith("-migrate")
    )
    waiting = {
        resource["Properties"]["FunctionName"].removeprefix(f"{stack.name}-").replace("-", "_")
        for resource in stack.resources.values()
        if resource["Type"] == "AWS::Lambda::Function" and trigger in resource.get("DependsOn", [])
    }
    assert waiting == set(LOGINS) - {"migrate"}
    version = stack.target(stack.resources[trigger]["Properties"]["HandlerArn"])
    assert stack.target(stack.resources[version]["Properties"]["FunctionName"]) == migrate


def test_two_migrations_never_run_at_once_in_production(assembly: Assembly) -> None:
    assert assembly.stack("dreaming-prod").our_functions()["migrate"]["ReservedConcurrentExecutions"] == 1


def test_the_layers_hold_a_folder_python_and_no_name_twice(assembly: Assembly) -> None:
    stack = assembly.stack("dreaming-prod")
    names: list[str] = []
    for layer in stack.of_type("AWS::Lambda::LayerVersion"):
        asset = assembly.folder / stack.resources[layer]["Metadata"]["aws:asset:path"]
        names += [path.stem for path in (asset / "python").iterdir()]
    assert sorted(names) == sorted(set(names))
    assert "dreaming" in names


def test_the_command_line_is_not_deployed(assembly: Assembly) -> None:
    packages = [path for path in assembly.folder.glob("asset.*/python/dreaming") if path.is_dir()]
    assert packages
    for package in packages:
        assert not (package / "local").exists()
        assert (package / "database" / "migrations").is_dir()
        assert list(package.rglob("__pycache__")) == []
