"""Builds the stacks of one stage from the context: `cdk synth -c dreaming:stage=dev`."""

from __future__ import annotations

import sys

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from dreaming.errors import Misconfigured
from infra.config import Configuration
from infra.stacks.application import ApplicationStack
from infra.stacks.data import DataStack


def add_stacks(app: App, configuration: Configuration) -> None:
    """Add a stage's stacks to `app`."""
    data = None if configuration.is_local else DataStack(app, f"{configuration.name}-data", configuration=configuration)
    ApplicationStack(app, configuration.name, configuration=configuration, data=data)


def main() -> int:
    """Synthesize what the context asks for; returns the exit code."""
    app = App()
    try:
        add_stacks(app, Configuration.from_context(app.node.get_all_context()))
    except Misconfigured as error:
        sys.stderr.write(f"{error}\n")
        return 2
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return 0


if __name__ == "__main__":
    sys.exit(main())
