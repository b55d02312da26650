"""The keys of model providers, in one secret that only the functions which call models may read."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, SecretValue, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.acknowledgements import acknowledge
from infra.config import Configuration


class ProviderKeys(Construct):
    """A secret that holds a JSON object of the names and values that the laptop has in its environment.

    For example `{"DREAMING_KEY_OPENAI": "sk-…", "DREAMING_KEY_OPENAI__ACME": "sk-…"}`.
    """

    def __init__(self, scope: Construct, construct_id: str, *, configuration: Configuration, key: kms.IKey) -> None:
        """Make the secret with no key in it; a person puts them there, never a template."""
        super().__init__(scope, construct_id)
        self._key = key
        self.secret = secretsmanager.Secret(
            self,
            "Secret",
            secret_name=f"{configuration.name}/provider-keys",
            description="Keys of model providers: a JSON object, see docs/deploy.md",
            encryption_key=key,
            secret_string_value=SecretValue.unsafe_plain_text("{}"),
            removal_policy=RemovalPolicy.RETAIN if configuration.deletion_protection else RemovalPolicy.DESTROY,
        )
        acknowledge(
            self.secret,
            "AwsSolutions-SMG4",
            "Model providers issue these keys and have no interface that could rotate them; docs/deploy.md says how "
            "a person does.",
        )

    @property
    def environment(self) -> dict[str, str]:
        """The variable that tells a function where the keys are."""
        return {"DREAMING_KEYS_SECRET": self.secret.secret_arn}

    def statements(self) -> list[iam.PolicyStatement]:
        """Return what lets a function read this one secret."""
        return [
            iam.PolicyStatement(
                sid="ProviderKeys",
                actions=["secretsmanager:GetSecretValue"],
                resources=[self.secret.secret_arn],
            ),
            decrypt_secrets(self._key),
        ]


def decrypt_secrets(key: kms.IKey) -> iam.PolicyStatement:
    """Return what lets Secrets Manager, and nobody else, use the key for the function that asks."""
    service = f"secretsmanager.{Stack.of(key).region}.amazonaws.com"
    return iam.PolicyStatement(
        sid="DecryptSecrets",
        actions=["kms:Decrypt"],
        resources=[key.key_arn],
        conditions={"StringEquals": {"kms:ViaService": service}},
    )
