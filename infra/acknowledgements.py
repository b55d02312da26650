"""Exceptions from the checks of cdk-nag and cfn-lint, each with its reason; cdk-nag's at the narrowest construct."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Accept that `construct` breaks a rule, for a reason that a reader can check."""
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))


def accept_redundant_dependencies(stack: Stack) -> None:
    """Tell cfn-lint not to mind W3005: the CDK writes a dependency beside each reference that implies it."""
    stack.template_options.metadata = {"cfn-lint": {"config": {"ignore_checks": ["W3005"]}}}
