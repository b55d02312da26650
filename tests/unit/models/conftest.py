"""A stand-in for the HTTP servers of providers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import respx


@pytest.fixture
def server() -> Iterator[respx.MockRouter]:
    with respx.mock(assert_all_called=False) as router:
        yield router
