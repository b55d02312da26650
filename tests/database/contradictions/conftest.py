"""Fixtures of the contradictions pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.database.contradictions.worlds import Examined
from tests.world import World


@pytest.fixture
def examined(world: World, tmp_path: Path) -> Examined:
    """A world whose contradictions are decided by rules alone."""
    return Examined(world, tmp_path)
