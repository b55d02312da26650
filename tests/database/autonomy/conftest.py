"""A world of agents for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.database import Database
from tests.autonomy_world import AutonomyWorld, open_autonomy_world


@pytest.fixture
def agents(database: Database, tmp_path: Path) -> AutonomyWorld:
    """An enrolled, consenting organization whose judge likes everything."""
    return open_autonomy_world(database, tmp_path)
