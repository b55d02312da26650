"""What lets a function call models of Amazon Bedrock, one by one."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from infra.acknowledgements import acknowledge
from infra.config import is_inference_profile


def allow_models(role: iam.Role, ids: Sequence[str]) -> None:
    """Let `role` call these models and inference profiles, and no others.

    A profile sends a call to its model in a region that Bedrock chooses, so the model is granted in
    all regions, but only by way of that profile.
    """
    stack = Stack.of(role)
    models = [model for model in ids if not is_inference_profile(model)]
    if models:
        resources = [f"arn:{stack.partition}:bedrock:{stack.region}::foundation-model/{model}" for model in models]
        role.add_to_policy(iam.PolicyStatement(sid="Models", actions=["bedrock:InvokeModel"], resources=resources))
    for number, profile in enumerate((model for model in ids if is_inference_profile(model)), start=1):
        _allow_profile(role, stack, profile, number)


def _allow_profile(role: iam.Role, place: Stack, profile: str, number: int) -> None:
    arn = f"arn:{place.partition}:bedrock:{place.region}:{place.account}:inference-profile/{profile}"
    model = profile.partition(".")[2]
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
    acknowledge(
        role,
        f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/{model}]",
        "The inference profile decides in which region its model is called; the model can be called only by it.",
    )
