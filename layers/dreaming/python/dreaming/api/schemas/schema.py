"""What all bodies have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """A body whose unknown fields are refused, and which can be read from a record."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)
