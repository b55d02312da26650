"""The API's description, made once for all tests of a process that read it."""

from __future__ import annotations

import json
from typing import Any

from dreaming.api.openapi import document

DOCUMENT: dict[str, Any] = json.loads(document())
