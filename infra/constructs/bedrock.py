"""What lets a function call models of Amazon Bedrock, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from infra.acknowledgements import acknowledge
from infra.config import is_inference_profile

_PROFILES = ("inference-profile", "application-inference-profile")


def allow_models(role: iam.Role, ids: Sequence[str]) -> None:
    """Let `role` call these models and inference profiles, named by id or ARN, and no others.

    A profile sends a call to its model in a region that Bedrock chooses, so the model is granted in
    all regions, but only by way of that profile. Whose model an application's own profile is, its
    name does not tell: by way of that profile, every model is granted.
    """
    stack = Stack.of(role)
    arns = [_arn(stack, model) for model in dict.fromkeys(ids)]
    models = [arn for arn in arns if not _is_profile(arn)]
    if models:
        role.add_to_policy(iam.PolicyStatement(sid="Models", actions=["bedrock:InvokeModel"], resources=models))
    for number, profile in enumerate((arn for arn in arns if _is_profile(arn)), start=1):
        _allow_profile(role, stack, profile, number)


def _arn(place: Stack, model: str) -> str:
    if model.startswith("arn:"):
        return model
    if is_inference_profile(model):
        return f"arn:{place.partition}:bedrock:{place.region}:{place.account}:inference-profile/{model}"
    return f"arn:{place.partition}:bedrock:{place.region}::foundation-model/{model}"


def _is_profile(arn: str) -> bool:
    return arn.rpartition("/")[0].rpartition(":")[2] in _PROFILES


def _allow_profile(role: iam.Role, place: Stack, arn: str, number: int) -> None:
    kind, name = arn.rpartition("/")[0].rpartition(":")[2], arn.rpartition("/")[2]
    model = name.partition(".")[2] if kind == "inference-profile" else "*"
    anywhere = [f"arn:{place.partition}:bedrock:{region}::foundation-model/{model}" for region in ("*", "")]
    role.add_to_policy(iam.PolicyStatement(sid=f"Profile{number}", actions=["bedrock:InvokeModel"], resources=[arn]))
    role.add_to_policy(
        iam.PolicyStatement(
            sid=f"ModelOfProfile{number}",
            actions=["bedrock:InvokeModel"],
            resources=anywhere,
            conditions={"StringEquals": {"bedrock:InferenceProfileArn": arn}},
        )
    )
    for region in ("*", "") if model == "*" else ("*",):
        acknowledge(
            role,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:{region}::foundation-model/{model}]",
            "The inference profile decides in which region its model is called; the model can be called only by it.",
        )
