"""The AWS CDK app that deploys Dreaming."""

import os

from infra.node import packaged_node

__all__ = ["packaged_node"]

if node := packaged_node():
    # Read by jsii when `aws_cdk` is first imported.
    os.environ.setdefault("JSII_NODE", str(node))
