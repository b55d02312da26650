"""Identifiers of rows: time-ordered UUIDs, made by the program because PostgreSQL 16 has none."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from uuid import UUID

NewId = Callable[[], UUID]
"""A source of fresh identifiers, passed in so that tests can decide them."""


def uuid7() -> UUID:
    """Return a version 7 UUID: 48 bits of Unix milliseconds, then random bits (RFC 9562, 5.7)."""
    milliseconds = time.time_ns() // 1_000_000
    random_bits = secrets.randbits(74)
    value = (milliseconds & (1 << 48) - 1) << 80
    value |= 0x7 << 76 | (random_bits >> 62) << 64
    value |= 0b10 << 62 | random_bits & (1 << 62) - 1
    return UUID(int=value)
