"""What all bodies have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

WITHOUT_NUL = r"^[^\x00]*$"
"""The pattern of names: PostgreSQL keeps every character but NUL."""

Name = Annotated[str, Field(pattern=WITHOUT_NUL)]
"""A text by which something is found again."""


class Schema(BaseModel):
    """A body whose unknown fields are refused, and which can be read from a record."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)
