"""The world of these tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreaming.database import Database
from tests.embedding_world import EmbeddingWorld, open_embedding_world


@pytest.fixture
def embedding(database: Database, tmp_path: Path) -> EmbeddingWorld:
    """Twelve beliefs without a vector, and a consenting organization."""
    return open_embedding_world(database, tmp_path)
