"""A deployment in which everything runs, and other tenants that must not notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.database import Database
from tests.erasure_world import Everything, open_everything


@pytest.fixture
def everything(database: Database, tmp_path: Path) -> Everything:
    return open_everything(database, tmp_path)
