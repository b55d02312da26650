"""Synthesized templates, with the questions that tests ask of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Resource = dict[str, Any]

_HASH = re.compile(r"[0-9A-F]{8}$")


@dataclass(frozen=True)
class Template:
    """One stack's template."""

    name: str
    resources: dict[str, Resource]

    def of_type(self, kind: str) -> dict[str, Any]:
        """The properties of all resources of a type, by logical id."""
        return {
            logical: resource.get("Properties", {})
            for logical, resource in self.resources.items()
            if resource["Type"] == kind
        }

    def only(self, kind: str) -> Any:
        """The properties of the one resource of a type."""
        (properties,) = self.of_type(kind).values()
        return properties

    def target(self, reference: Any) -> str:
        """The logical id that a `Ref` or `Fn::GetAtt` names."""
        if "Ref" in reference:
            return str(reference["Ref"])
        return str(reference["Fn::GetAtt"][0])

    def our_functions(self) -> dict[str, Any]:
        """Our own functions by the name of their folder, without those that the CDK brings."""
        functions = self.of_type("AWS::Lambda::Function").values()
        return {
            properties["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]: properties
            for properties in functions
            if "POWERTOOLS_SERVICE_NAME" in properties.get("Environment", {}).get("Variables", {})
        }


class Assembly:
    """What a synthesis wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stack(self, name: str) -> Template:
        """A stack by its name."""
        return Template(name, json.loads((self.folder / f"{name}.template.json").read_text("utf-8"))["Resources"])

    @cached_property
    def stacks(self) -> list[Template]:
        """All stacks."""
        return [self.stack(path.name.removesuffix(".template.json")) for path in self.paths]

    @property
    def paths(self) -> list[Path]:
        """The files of all templates."""
        return sorted(self.folder.glob("*.template.json"))

    @property
    def report(self) -> Any:
        """What cdk-nag and the CDK's own checks said."""
        return json.loads((self.folder / "validation-report.json").read_text("utf-8"))


def statements(template: Template) -> dict[str, list[str]]:
    """Every statement of every role, as text that does not change with the hashes of logical ids."""
    found: dict[str, list[str]] = {}
    for logical, properties in template.of_type("AWS::IAM::Role").items():
        trust = [_line(statement) for statement in properties["AssumeRolePolicyDocument"]["Statement"]]
        inline = [
            _line(statement)
            for policy in properties.get("Policies", [])
            for statement in policy["PolicyDocument"]["Statement"]
        ]
        managed = [f"managed {_text(arn)}" for arn in properties.get("ManagedPolicyArns", [])]
        found[_HASH.sub("", logical)] = [*trust, *inline, *managed]
    for properties in template.of_type("AWS::IAM::Policy").values():
        lines = [_line(statement) for statement in properties["PolicyDocument"]["Statement"]]
        for role in properties["Roles"]:
            found[_HASH.sub("", template.target(role))] += lines
    return {role: sorted(lines) for role, lines in sorted(found.items())}


# What a resource lets others do, by the property that says so; key policies among them.
_RESOURCE_POLICIES = {
    "AWS::KMS::Key": "KeyPolicy",
    "AWS::SQS::QueuePolicy": "PolicyDocument",
    "AWS::SNS::TopicPolicy": "PolicyDocument",
    "AWS::S3::BucketPolicy": "PolicyDocument",
    "AWS::SecretsManager::ResourcePolicy": "ResourcePolicy",
    "AWS::Logs::ResourcePolicy": "PolicyDocument",
    "AWS::EC2::VPCEndpoint": "PolicyDocument",
}


def resource_policies(template: Template) -> dict[str, list[str]]:
    """Every statement of every policy that stands at a resource, Lambda's permissions among them."""
    found: dict[str, list[str]] = {}
    for kind, name in _RESOURCE_POLICIES.items():
        for logical, properties in template.of_type(kind).items():
            if name in properties:
                document = properties[name]
                document = json.loads(document) if isinstance(document, str) else document
                lines = [_line(statement) for statement in document["Statement"]]
                found[_HASH.sub("", logical)] = sorted(lines)
    for logical, permission in template.of_type("AWS::Lambda::Permission").items():
        source = f" from {_text(permission['SourceArn'])}" if "SourceArn" in permission else ""
        function = _text(permission["FunctionName"])
        line = f"allow {permission['Action']} on {function} to {_text(permission['Principal'])}{source}"
        found[_HASH.sub("", logical)] = [line]
    return dict(sorted(found.items()))


def permissions(template: Template) -> Iterator[tuple[str, Any]]:
    """Each statement of a role's permissions, with the logical id of its role."""
    for properties in template.of_type("AWS::IAM::Policy").values():
        for statement in properties["PolicyDocument"]["Statement"]:
            for role in properties["Roles"]:
                yield template.target(role), statement


def construct(folder: str) -> str:
    """What the names of a function's resources begin with; said here, as importing the stacks starts Node."""
    return "".join(part.capitalize() for part in folder.split("_"))


def listed(value: Any) -> list[Any]:
    """A policy's value, which may stand alone, as a list."""
    return value if isinstance(value, list) else [value]


def _line(statement: Any) -> str:
    actions = ", ".join(sorted(listed(statement["Action"])))
    resources = ", ".join(sorted(_text(resource) for resource in listed(statement.get("Resource", "itself"))))
    principal = f" to {_text(statement['Principal'])}" if "Principal" in statement else ""
    condition = f" when {_text(statement['Condition'])}" if "Condition" in statement else ""
    return f"{statement['Effect'].lower()} {actions} on {resources}{principal}{condition}"


def _text(value: Any) -> str:
    """A template's value as one text: references by name, joins joined."""
    if isinstance(value, list):
        return ", ".join(_text(part) for part in value)
    if not isinstance(value, dict):
        return str(value)
    ((key, inner), *others) = sorted(value.items())
    if not others and key in _INTRINSICS:
        return _INTRINSICS[key](inner)
    return ", ".join(f"{name} {_text(part)}" for name, part in sorted(value.items()))


_INTRINSICS: dict[str, Callable[[Any], str]] = {
    "Ref": lambda name: f"{{{_HASH.sub('', str(name))}}}",
    "Fn::GetAtt": lambda parts: f"{{{_HASH.sub('', parts[0])}.{parts[1]}}}",
    "Fn::Join": lambda parts: str(parts[0]).join(_text(part) for part in parts[1]),
    "Fn::ImportValue": lambda name: f"{{{re.sub(r'[0-9A-F]{8}', '', str(name))}}}",
    "Fn::Sub": str,
}
