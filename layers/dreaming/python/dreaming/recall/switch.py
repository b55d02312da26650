"""Whether conversations are remembered at all."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from dreaming.errors import InvalidInput
from dreaming.settings.resolution import resolve_some

_log = logging.getLogger(__name__)


def is_on(environment: Mapping[str, str]) -> bool:
    """Return whether the flag is exactly `true`; whatever else it is, or cannot be read as, is no."""
    try:
        settings = resolve_some(environment, "conversation_memory")
    except InvalidInput as problem:
        _log.warning("conversations are not remembered: %s", problem)
        return False
    variable = settings.resolved("conversation_memory").variable
    return settings.flag("conversation_memory") and variable is not None and environment[variable] == "true"
