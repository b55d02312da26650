"""The description of the API as a file: `python -m dreaming.api.openapi` writes what `docs/openapi.json` holds."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

from aws_lambda_powertools import Logger

from dreaming.api.application import build
from dreaming.api.description import describe


def document() -> str:
    """Return the description, with sorted names so that a change shows as few lines."""
    described = json.loads(describe(build(_nothing, Logger(service="openapi"))))
    return json.dumps(described, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _nothing() -> NoReturn:
    raise AssertionError("a description needs neither a database nor a clock")


if __name__ == "__main__":
    sys.stdout.write(document())
